package balancer

import (
	"slices"
	"testing"
)

// The beginning of what HAProxy 2.6 answers, with fewer columns.
const table = `# pxname,svname,qcur,qmax,scur,status,check_status,
api,FRONTEND,,,1,OPEN,,
api,bootstrap,0,0,1,UP,L7OK,
api,master-0,0,0,0,DOWN,* L4CON,
api,BACKEND,0,0,1,UP,,

`

func TestServersAreReadByTheNamesOfColumns(t *testing.T) {
	want := []Server{{"api", "bootstrap", "UP", "L7OK", "1"}, {"api", "master-0", "DOWN", "L4CON", "0"}}
	if got, err := parseServers(table); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "Permission denied\n", "\n"} {
		if got, err := parseServers(text); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}
