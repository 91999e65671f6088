package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bootlab/cmd/bootlab/machines"
	"bootlab/vms"
	"bootlab/vms/doctor"
	"bootlab/vms/provision"
)

func TestTheMachinesClockComesFromTheirIgnition(t *testing.T) {
	lab := t.TempDir()
	putCertificates(t, lab, "assets/tls/a.crt", 10*time.Hour, 5*time.Hour)
	text, err := os.ReadFile(filepath.Join(lab, "out/work/assets/tls/a.crt"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"storage": map[string]any{"files": []any{map[string]any{"path": "/opt/openshift/tls/a.crt",
		"contents": map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString(text)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	up := []provision.Status{{Role: vms.Master, State: "running"}, {Role: vms.Bootstrap, State: "running"}}
	if got := machines.IgnitionClock(lab, up, time.Now()); got != "" {
		t.Errorf("without a file: %s", got)
	}
	putRecord(t, filepath.Join(lab, "out", "work", "assets", "ignition", "bootstrap.ign"), string(config))
	at := func(all []provision.Status, later time.Duration) string {
		return machines.IgnitionClock(lab, all, time.Now().Add(later))
	}
	_, ends, err := doctor.FirstToEnd(config)
	if err != nil {
		t.Fatal(err)
	}
	end := ends.UTC().Format("2006-01-02 15:04")
	for _, c := range []struct{ got, want string }{
		{at(up, -10*time.Second), "certificates: a.crt ends first, at " + end + " UTC, in 5h"},
		{at(up, 6*time.Hour), "certificates: a.crt has ended, 1h ago; what was not handed over by then cannot be"},
		{at(up[:1], 0), ""},
		{at([]provision.Status{{Role: vms.Bootstrap, State: "not made"}}, 0), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
