package inspect

import (
	"strings"
	"testing"

	"bootlab/labs/inspect/connectivity"
)

func TestConnectivityTellsWhatIsBrokenFromWhatIsNotYet(t *testing.T) {
	r := &connectivity.Report{Unreached: map[string]string{"master-1": "no route"}, Paths: []*connectivity.Path{
		{From: "workstation", To: "bootstrap", Address: "192.0.2.1", Port: "6443", Component: "kube-apiserver", State: connectivity.Refused, Expected: true, Because: "pod kube-apiserver-pod.yaml on bootstrap"},
		{From: "workstation", To: "bootstrap", Address: "192.0.2.1", Port: "22623", Component: "machine-config-server", State: connectivity.Refused, Because: "nothing there opens it yet"},
		{From: "bootstrap", To: "master-0", Address: "192.0.2.2", Port: "22", Component: "sshd", State: connectivity.Open, Expected: true, Because: "always on master-0"},
	}}
	var out strings.Builder
	printPaths(&out, r)
	for i, want := range []string{"BROKEN ", "not yet ", "ok "} {
		if line := strings.Split(out.String(), "\n")[i+1]; !strings.HasPrefix(line, want) {
			t.Errorf("line %d is %q, not %q", i+1, line, want)
		}
	}
	for _, want := range []string{"master-1 cannot be asked: no route", "1 of 2 ways"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing of %q in\n%s", want, out.String())
		}
	}
}
