package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
)

// waits are answers of a cluster to a script that asks until it gets a good one.
var waits = map[string]struct {
	answers string // shell: what the n-th look sees
	status  int
	says    []string
	silent  string // what must not be said
}{
	"each change is told once": {
		`case $n in 1 | 2) echo one ;; 3) echo two ;; *) echo three; return 0 ;; esac; return 1`, 0,
		[]string{"s  one\n", "s  two\n", "s  three\n"}, ""},
	"oc's own log is no answer": {
		`((n < 3)) || return 0; echo "E1121 19:00:0$n.123456   77 memcache.go:265] \"Unhandled Error\""; echo refused; return 1`, 0,
		[]string{"s  refused\n"}, "memcache"},
	"another port is no other answer": {
		`((n < 3)) || return 0; echo "read udp 127.0.0.1:4$n->127.0.0.1:53: i/o timeout"; return 1`, 0,
		[]string{"read udp 127.0.0.1->127.0.0.1:53: i/o timeout\n"}, ":41"},
	"the terminal is not steered": {`printf 'a\033[31mb\a'; return 0`, 0, []string{"a[31mb"}, "\033"},
	"nothing":                     {`return 0`, 0, []string{"s  nothing\n"}, ""},
	"an expired certificate": {
		`echo "x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:0$n is after 2025"; return 1`, 1,
		[]string{"the patch to be taken cannot be seen, and waiting does not fix that", "now is after 2025"}, "current time"},
	"a torn kubeconfig":            {`echo 'error: error loading config file "auth/kubeconfig": yaml: line 2: did not find'; return 1`, 1, []string{"waiting does not fix that"}, ""},
	"another CA":                   {`echo 'x509: certificate signed by unknown authority'; return 1`, 1, []string{"waiting does not fix that"}, ""},
	"a certificate of other names": {`echo 'x509: certificate is valid for a, not b'; return 1`, 1, []string{"waiting does not fix that"}, ""},
	"expired twice, then good": {
		`((n > 2)) || { echo 'certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is after 2025-01-01T00:00:00Z'; return 1; }; echo good`, 0, []string{"s  good"}, "does not fix"},
	"a clock that is behind and catches up": {
		`((n > 4)) || { echo "x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:0${n}Z is before 2026-01-01T00:00:09Z"; return 1; }; echo good`, 0,
		[]string{"now is before 2026-01-01T00:00:09Z", "s  good"}, "does not fix"},
	"never": {`echo "$n"; return 1`, 1, []string{"no sign of the patch to be taken within 1 s", "waits again"}, "within 2"},
}

// TestWaitingForACluster runs what restore-cvo-overrides.sh shows as its commands,
// without a cluster and without pauses.
func TestWaitingForACluster(t *testing.T) {
	t.Parallel()
	for name, w := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScriptAlone(t, labs.OnNode, "restore-cvo-overrides.sh", map[string]string{
				"sleep": "exit 0\n",
				"oc":    "echo >> \"${DIR}/looks\"; n=$(wc -l < \"${DIR}/looks\")\nanswer() { " + w.answers + "; }\nanswer\n",
			})
			args := []string{"--dry-run"}
			if name == "never" {
				args = append(args, "--timeout=1")
			}
			shown := s.Run(t, args...)
			shown.Want(t, 0)
			s.Put(t, "shown.sh", shown.Out)
			r := s.run(t, filepath.Join(s.Dir, "shown.sh"))
			if r.Status != w.status || w.silent != "" && strings.Contains(r.All, w.silent) {
				t.Errorf("status %d, said %q", r.Status, r.All)
			}
			for _, text := range w.says {
				if strings.Count(r.All, text) != 1 {
					t.Errorf("%q was not said once: %q", text, r.All)
				}
			}
		})
	}
}

// TestTheTimeOutIsThatOfAllWaitsTogether: the first wait takes the whole time, so
// the second looks once. What removes the application has a limit of its own.
func TestTheTimeOutIsThatOfAllWaitsTogether(t *testing.T) {
	t.Parallel()
	s := smokeAlone(t)
	s.Put(t, "available", "1")
	s.Put(t, "bin/oc", "#!/bin/bash\n# stand-in\nDIR="+s.Dir+"\n[[ $* != *'get deployment'* ]] || sleep 2.1\n"+smokeStandIn)
	s.Put(t, "bin/curl", "#!/bin/bash\n# stand-in\necho >> "+s.Dir+"/looks\nexit 7\n")
	s.Run(t, "--timeout=2").Want(t, 1, "1 available", "no sign of the router to know the route within 2 s")
	if looks := s.Read("looks"); looks != "\n" {
		t.Errorf("it looked for the route %d times", len(looks))
	}
	if called := s.Read("called"); !strings.Contains(called, "delete namespace --timeout=300s") || s.Read("namespace") != "" {
		t.Errorf("the application is still there; oc was called\n%s", called)
	}
}

// TestWhatIsMissingIsSoughtWhereItComesFrom: nothing is installed on CoreOS.
func TestWhatIsMissingIsSoughtWhereItComesFrom(t *testing.T) {
	t.Parallel()
	s := newScriptAlone(t, labs.OnNode, "finish-bootstrap.sh", nil)
	text, found := string(mustRead(t, s.file)), "\nneeds "
	if strings.Count(text, found) != 1 {
		t.Fatalf("%s does not say once what it needs", s.file)
	}
	text = strings.Replace(text, found, found+"no-such-program ", 1)
	s.Put(t, "mylab/out/node/elsewhere.sh", text)
	s.run(t, filepath.Join(filepath.Dir(s.file), "elsewhere.sh")).Want(t, 4, "the command no-such-program is missing", "install the package no-such-program")
	if os.Geteuid() != 0 {
		t.Skip("on the bootstrap node scripts run as root")
	}
	root := "\nHOST_ROOT='" + filepath.Join(s.Dir, "host") + "'\n"
	if strings.Count(text, root) != 1 {
		t.Fatalf("%s does not set HOST_ROOT once", s.file)
	}
	host := filepath.Join(filepath.Dir(s.file), "lib", "host.sh")
	if err := os.Rename(host+".node", host); err != nil {
		t.Fatal(err)
	}
	s.Put(t, "mylab/out/node/node.sh", strings.Replace(text, root, "\nHOST_ROOT=''\n", 1))
	r := s.run(t, filepath.Join(filepath.Dir(s.file), "node.sh"))
	r.Want(t, 4, "the command no-such-program is missing", "the node's image", "node-image-overlay")
	if strings.Contains(r.All, "install") {
		t.Errorf("on the node it says\n%s", r.All)
	}
}
