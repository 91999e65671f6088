package scripts

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// waits are calls of wait_for with a command that answers with its lines, one
// after the other, and ends well with the last.
var waits = map[string]struct {
	answers string // shell: what the n-th look sees
	status  int
	says    []string
	silent  string // what must not be said
}{
	"each change is told once": {
		`case $n in 1 | 2) echo one ;; 3) echo two ;; *) echo three; return 0 ;; esac; return 1`, 0,
		[]string{"s  one\n", "s  two\n", "s  three\n"}, "one\n      0 s  one"},
	"oc's own log is no answer": {
		`echo "E1121 19:00:0$n.123456   77 memcache.go:265] \"Unhandled Error\""; echo refused; ((n > 2))`, 0,
		[]string{"s  refused\n"}, "memcache"},
	"another port is no other answer": {
		`echo "read udp 127.0.0.1:4$n->127.0.0.1:53: i/o timeout"; ((n > 2))`, 0,
		[]string{"read udp 127.0.0.1->127.0.0.1:53: i/o timeout\n"}, ":41"},
	"the terminal is not steered": {`printf 'a\033[31mb\a'; return 0`, 0, []string{"a[31mb"}, "\033"},
	"nothing":                     {`return 0`, 0, []string{"s  nothing\n"}, ""},
	"an expired certificate": {
		`echo "x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:0$n is after 2025"; return 1`, 1,
		[]string{"it cannot be seen, and waiting does not mend that", "now is after 2025"}, "current time"},
	"another CA":                   {`echo 'x509: certificate signed by unknown authority'; return 1`, 1, []string{"waiting does not mend that"}, ""},
	"a certificate of other names": {`echo 'x509: certificate is valid for a, not b'; return 1`, 1, []string{"waiting does not mend that"}, ""},
	"expired twice, then good": {
		`((n > 2)) || { echo 'certificate has expired'; return 1; }; echo good`, 0, []string{"s  good"}, "does not mend"},
	"never": {`echo "$n"; return 1`, 1, []string{"no sign of it within 1 s", "waits again"}, "within 2"},
}

// TestWaitingForACluster calls what waits are made of, without a cluster.
func TestWaitingForACluster(t *testing.T) {
	t.Parallel()
	lab := filepath.Join(t.TempDir(), "mylab")
	for _, args := range [][]string{{"init", lab}, {"generate", lab}} {
		if _, err := Bootlab(args...); err != nil {
			t.Fatal(err)
		}
	}
	library := filepath.Join(lab, "out", "scripts")
	for name, w := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "set -Eeuo pipefail\nMODE=run CALL=wait.sh HOST_ROOT=/nowhere\nsource " + library + "/command-lib.sh\nsource " + library + "/cluster-lib.sh\n" +
				"POLL=0 " + map[bool]string{true: "TIMEOUT=1"}[name == "never"] + "\nlook() { local n; echo >> looks; n=$(wc -l < looks); " + w.answers + "; }\nwait_for 30 it look\n"
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir = t.TempDir()
			out, _ := cmd.CombinedOutput()
			said := string(out)
			if cmd.ProcessState.ExitCode() != w.status || w.silent != "" && strings.Contains(said, w.silent) {
				t.Errorf("status %d, said %q", cmd.ProcessState.ExitCode(), said)
			}
			for _, text := range w.says {
				if strings.Count(said, text) != 1 {
					t.Errorf("%q was not said once: %q", text, said)
				}
			}
		})
	}
}

// TestAChangeOfTheClusterIsShownAsItIsTyped: the name of a shell function helps
// nobody who wants to repeat it.
func TestAChangeOfTheClusterIsShownAsItIsTyped(t *testing.T) {
	t.Parallel()
	lab := filepath.Join(t.TempDir(), "mylab")
	for _, args := range [][]string{{"init", lab}, {"generate", lab}} {
		if _, err := Bootlab(args...); err != nil {
			t.Fatal(err)
		}
	}
	library := filepath.Join(lab, "out", "scripts")
	for root, want := range map[string]string{"": "  $ oc --kubeconfig /k patch x", "/out/work/host": "  $ tools/oc --kubeconfig /k patch x"} {
		script := "set -Eeuo pipefail\nMODE=dry-run CALL=x HOST_ROOT=" + root + "\nsource " + library + "/command-lib.sh\nsource " + library + "/cluster-lib.sh\n" +
			"KUBECONFIG_FILE=/k\nrun cluster patch x\n"
		if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil || strings.TrimRight(string(out), "\n") != want {
			t.Errorf("%v, shows %q", err, out)
		}
	}
}
