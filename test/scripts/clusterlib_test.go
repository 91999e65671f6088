package scripts

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
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
		[]string{"it cannot be seen, and waiting does not fix that", "now is after 2025"}, "current time"},
	"another CA":                   {`echo 'x509: certificate signed by unknown authority'; return 1`, 1, []string{"waiting does not fix that"}, ""},
	"a certificate of other names": {`echo 'x509: certificate is valid for a, not b'; return 1`, 1, []string{"waiting does not fix that"}, ""},
	"expired twice, then good": {
		`((n > 2)) || { echo 'certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is after 2025-01-01T00:00:00Z'; return 1; }; echo good`, 0, []string{"s  good"}, "does not fix"},
	"a clock that is behind and catches up": {
		`((n > 4)) || { echo "x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:0${n}Z is before 2026-01-01T00:00:09Z"; return 1; }; echo good`, 0,
		[]string{"now is before 2026-01-01T00:00:09Z", "s  good"}, "does not fix"},
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
// no stage that wants to repeat it.
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

// TestTheTimeOutIsThatOfAllWaitsTogether: what --timeout=S gives up after is the
// run, and what takes away what a run has made has a limit of its own.
func TestTheTimeOutIsThatOfAllWaitsTogether(t *testing.T) {
	t.Parallel()
	s := newScriptAlone(t, labs.Workstation, "smoke-test.sh", map[string]string{"oc": `case "$*" in
  *'get deployment'*) sleep 0.1; [[ $(wc -l < "${DIR}/looks") -gt ${LOOKS:-3} ]] && echo 1; echo >> "${DIR}/looks" ;;
  *'get namespace'*) [[ -e ${DIR}/asked && $(wc -l < "${DIR}/asked") -gt 4 ]] || echo Terminating; echo >> "${DIR}/asked" ;;
esac
`})
	s.Put(t, "looks", "")
	// Each of the waits needs less than the limit, both together need more.
	began := time.Now()
	r := s.Calls(t, `OC=oc TIMEOUT=3 POLL=1
look() { echo "$SECONDS"; ((SECONDS - began >= 2)); }
began=$SECONDS; wait_for 100 one look
began=$SECONDS; wait_for 100 another look`)
	r.Want(t, 1, "no sign of another within 3 s")
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
	r = s.Calls(t, `OC=oc TIMEOUT=2 POLL=1
look() { true; }
wait_for 100 one look
sleep 2
wait_for 100 another look
take_away
echo "and on: ${TIMEOUT}"`)
	r.Want(t, 0, "the namespace bootlab-mylab to be gone, at most 300 s", "and on: 2")
}

// TestWhatIsMissingIsSoughtWhereItComesFrom: nothing is installed on CoreOS.
func TestWhatIsMissingIsSoughtWhereItComesFrom(t *testing.T) {
	t.Parallel()
	s := newScriptAlone(t, labs.OnNode, "finish-bootstrap.sh", nil)
	for _, name := range []string{"no-such-oc", "no-such-podman"} {
		r := s.Calls(t, "need "+name)
		r.Want(t, 4, "the command "+name+" is missing", "apt-get install "+name)
		library := filepath.Dir(s.file)
		out, _ := exec.Command("bash", "-c", "set -Eeuo pipefail\nHOST_ROOT=''\nsource "+library+"/command-lib.sh\nneed "+name).CombinedOutput()
		if said := string(out); strings.Contains(said, "apt-get") || !strings.Contains(said, "the node's image") || !strings.Contains(said, "node-image-overlay") {
			t.Errorf("on the node it says\n%s", said)
		}
	}
}
