package scripts

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootlab/labs"
)

// generated is a lab of the default kind, whose scripts are called function by
// function: that needs neither podman nor a cluster.
func generated(t *testing.T) *Lab {
	t.Helper()
	l := &Lab{Dir: filepath.Join(t.TempDir(), "mylab")}
	for _, args := range [][]string{{"init", l.Dir}, {"generate", l.Dir}} {
		if _, err := Bootlab(args...); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

var hostRoot = regexp.MustCompile(`(?m)^readonly HOST_ROOT=.*$`)

// calls runs shell text behind the functions of a script, in a directory of its
// own. The script is named below out/, as scripts/smoke-test.sh.
func (l *Lab) calls(t *testing.T, script, text string) (dir, said string, status int) {
	t.Helper()
	file := filepath.Join(l.Dir, "out", filepath.FromSlash(script))
	functions, found := strings.CutSuffix(string(mustRead(t, file)), "\nstage_main \"$@\"\n")
	if !found {
		t.Fatalf("%s does not end with stage_main", script)
	}
	dir = t.TempDir()
	// What a script writes on the bootstrap node must not land on this one.
	functions = hostRoot.ReplaceAllLiteralString(functions, "readonly HOST_ROOT='"+dir+"'")
	if err := os.WriteFile(file+".called", []byte(functions+"\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", file+".called")
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	return dir, string(out), cmd.ProcessState.ExitCode()
}

// where is a stage's script below out/.
func where(s *labs.Stage) string {
	if s.In(labs.OnNode) {
		return "node/" + s.ScriptName()
	}
	return "scripts/" + s.ScriptName()
}

// smokeStandIn answers smoke-test.sh as a cluster whose Deployment has as many
// replicas as the file available says. The namespace is the file namespace.
const smokeStandIn = `echo "$*" | head -n 1 >> "${DIR}/called"
case "$*" in
  *'delete namespace'*) rm "${DIR}/namespace" ;;
  *'get namespace'*) cat "${DIR}/namespace" 2> /dev/null || true ;;
  *'create -f -'*) cat > "${DIR}/objects" && echo 'bootlab-mylab bootlab' > "${DIR}/namespace" ;;
  *'get deployment'*) cat "${DIR}/available" ;;
  *'get pods'*) echo '{"items": []}' ;;
  *' logs '*) echo 'This is mylab.bootlab.test. kubernetes: 172.30.0.1      x' ;;
  *'get --raw'*) echo 'This is mylab.bootlab.test.' ;;
esac
`

func smokeAlone(t *testing.T) *scriptAlone {
	t.Helper()
	s := newScriptAlone(t, labs.Workstation, "smoke-test.sh", map[string]string{"oc": smokeStandIn, "curl": "echo This is mylab.bootlab.test.\n"})
	s.Put(t, "assets/tools/oc", "#!/bin/bash\nexec oc \"$@\"\n")
	s.Put(t, "assets/install/auth/kubeconfig", "")
	s.Put(t, "assets/release-info/images", "tools quay.io/example/tools\n")
	return s
}

// TestACountFromTheAPIIsNotExecuted: bash takes what stands between (( and )) for
// a program.
func TestACountFromTheAPIIsNotExecuted(t *testing.T) {
	t.Parallel()
	s := smokeAlone(t)
	for answer, want := range map[string]int{"1": 0, "12": 0, "0": 1, "": 1, "BASH_VERSINFO[$(touch executed)]": 1, "-1": 1} {
		s.Put(t, "available", answer)
		r := s.Run(t, "--timeout=1")
		if r.Status != want || s.Read("namespace") != "" {
			t.Errorf("%q: status %d, namespace %q, said\n%s", answer, r.Status, s.Read("namespace"), r.All)
		}
		if _, err := os.Stat(s.Asset("executed")); err == nil {
			t.Errorf("%q was executed", answer)
		}
	}
}

// TestTheSmokeTestLeavesOnlyWhatItShould: what it made goes, after TERM too; what
// an environment variable says keeps nothing, and a foreign namespace stays.
func TestTheSmokeTestLeavesOnlyWhatItShould(t *testing.T) {
	t.Parallel()
	s := smokeAlone(t)
	s.Put(t, "available", "1")
	s.Put(t, "kept.sh", "KEEP=--keep exec "+s.file+"\n")
	r := s.run(t, filepath.Join(s.Dir, "kept.sh"))
	if r.Status != 0 || s.Read("namespace") != "" {
		t.Errorf("status %d, namespace %q:\n%s", r.Status, s.Read("namespace"), r.All)
	}
	s.Run(t, "--keep").Want(t, 0, "the application stays")
	if s.Read("namespace") == "" {
		t.Error("it was not kept")
	}
	s.Run(t).Want(t, 0, "an earlier run left the namespace", "smoke-test is done")
	s.Put(t, "namespace", "bootlab-mylab ")
	s.Put(t, "called", "")
	s.Run(t).Want(t, 1, "is not this script's")
	if strings.Contains(s.Read("called"), "delete") {
		t.Error("a foreign namespace was to be deleted")
	}
	s.Put(t, "namespace", "")
	s.Put(t, "available", "0")
	cmd := exec.Command("bash", "-c", `bash "$1" & pid=$!
until grep --quiet 'get pods' "$2/called"; do sleep 0.1; done
kill -TERM "$pid"; wait "$pid"`, "bash", s.file, s.Dir)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.Dir, "bin")+":"+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "interrupted") || s.Read("namespace") != "" {
		t.Errorf("status %d, namespace %q:\n%s", cmd.ProcessState.ExitCode(), s.Read("namespace"), out)
	}
}

// TestTheObjectsOfTheSmokeTestAreShown: what is shown is what runs.
func TestTheObjectsOfTheSmokeTestAreShown(t *testing.T) {
	t.Parallel()
	s := smokeAlone(t)
	s.Put(t, "available", "1")
	dry := s.Run(t, "--dry-run")
	dry.Want(t, 0, "\nkind: Namespace\n", "\nkind: Route\n", "to: {kind: Service, name: smoke-test}}\nEOF\n", "trap remove_application EXIT")
	s.Run(t).Want(t, 0)
	ran := s.Read("called")
	s.Put(t, "called", "")
	s.Put(t, "dry-run.sh", dry.Out)
	s.run(t, filepath.Join(s.Dir, "dry-run.sh")).Want(t, 0)
	for _, line := range strings.Split(strings.TrimSpace(s.Read("called")), "\n") {
		if !strings.Contains(ran, line) {
			t.Errorf("the run does not call %s", line)
		}
	}
	if !strings.Contains(s.Read("called"), "delete namespace") || s.Read("namespace") != "" {
		t.Errorf("the dry run leaves %q", s.Read("namespace"))
	}
}

// mastersAlone is a script of the node about masters, in a cluster that answers
// with the files nodes and csrs.
func mastersAlone(t *testing.T, script string) *scriptAlone {
	t.Helper()
	s := newScriptAlone(t, labs.OnNode, script, map[string]string{"systemctl": "echo inactive", "oc": `echo "$*" >> "${DIR}/called"
case "$*" in
  *'get nodes'*) cat "${DIR}/nodes" ;;
  *'get csr'*) cat "${DIR}/csrs" ;;
  *) exit 1 ;;
esac
`})
	s.Put(t, "assets/auth/kubeconfig", "")
	s.Put(t, "assets/auth/kubeconfig-loopback", "")
	s.Put(t, "nodes", `{"items": []}`)
	s.Put(t, "csrs", `{"items": []}`)
	return s
}

// TestGarbageIsNoProofOfNoForeignNode: a question that was not answered has not
// been answered with no.
func TestGarbageIsNoProofOfNoForeignNode(t *testing.T) {
	t.Parallel()
	s := mastersAlone(t, "wait-for-masters.sh")
	for nodes, good := range map[string]bool{
		`{"items": [{"metadata": {"name": "master-0"}}]}`: true, `{"items": []}`: true,
		"garbage": false, "{}": false, "": false, `{"items": [{"metadata": {"name": "stranger"}}]}`: false,
	} {
		s.Put(t, "nodes", nodes)
		r := s.Run(t, "--verify")
		if strings.Contains(r.Out, "\nok 3 - foreign") != good || strings.Contains(r.Out, "\nnot ok 3 - foreign") == good {
			t.Errorf("%q:\n%s", nodes, r.All)
		}
	}
}

// TestRecordsAreNotExecuted: how long a stage took is arithmetic for render-all.sh.
func TestRecordsAreNotExecuted(t *testing.T) {
	t.Parallel()
	l := generated(t)
	s := stageOf(t, release, "render-etcd")
	file := filepath.Join(l.Dir, "out", "work", "host", "var", "log", "openshift", "bootkube.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	executed := filepath.Join(t.TempDir(), "executed")
	entry := func(stage, time, phase string) string {
		return `{"timestamp": "2026-01-01T00:00:` + time + `Z", "stage": "` + stage + `", "phase": "stage ` + phase + `", "result": "success"}`
	}
	hostile := s.RecordName() + ` BASH_VERSINFO[$(touch ` + executed + `)]+`
	text := "[" + strings.Join([]string{entry("", "00", "start"), entry("", "07", "end"), entry(hostile, "00", "start"), entry(hostile, "07", "end"), entry("release-image", "00", "start")}, ",") + "]"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(l.Dir, "out", "scripts", "render-all.sh"), "--list").CombinedOutput()
	if err != nil || !strings.Contains(string(out), s.ID) {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(executed); err == nil {
		t.Errorf("a record was executed:\n%s", out)
	}
}

// wireRequest is a pending request as the API tells of it.
func wireRequest(name, signer, user string, groups, usages []string, request []byte, status string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q, "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"request": %q, "signerName": %q, "username": %q, "groups": ["%s"], "usages": ["%s"]}, "status": %s}`,
		name, base64.StdEncoding.EncodeToString(request), signer, user, strings.Join(groups, `", "`), strings.Join(usages, `", "`), status)
}

const (
	issuedStatus = `{"conditions": [{"type": "Approved"}], "certificate": "eA=="}`
	deniedStatus = `{"conditions": [{"type": "Denied"}]}`
)

// clientWire asks for a client certificate as the first kubelet of a node does.
func clientWire(name string, request []byte, status string) string {
	return wireRequest(name, clientSigner, "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		[]string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"},
		[]string{"digital signature", "client auth"}, request, status)
}

func clientPEM(t *testing.T, node string) []byte {
	t.Helper()
	text, _ := requestFor(t, x509.CertificateRequest{Subject: nodeSubject(node)})
	return text
}

// judges is what lib/csr.sh finds about requests while there is no Node, and how
// often it called openssl.
func judges(t *testing.T, requests ...string) (said string, calls int) {
	t.Helper()
	s := mastersAlone(t, "approve-csrs.sh")
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Fatal(err)
	}
	s.Put(t, "bin/openssl", "#!/bin/bash\necho >> "+s.Dir+"/calls\nexec "+openssl+" \"$@\"\n")
	s.Put(t, "csrs", `{"items": [`+strings.Join(requests, ",")+`]}`)
	s.Put(t, "judge.sh", "cd "+s.Asset("")+"\nexport MACHINES=$'master-0 192.168.126.20\\nmaster-1 192.168.126.21' CLUSTER_DOMAIN=mylab.bootlab.test\nbash "+
		filepath.Join(filepath.Dir(s.file), "lib", "csr.sh")+"\n")
	r := s.run(t, filepath.Join(s.Dir, "judge.sh"))
	r.Want(t, 0)
	return r.Out, strings.Count(s.Read("calls"), "\n")
}

// TestOneHostileRequestStopsNoOther: whatever is inside one, the others are
// judged, and the good one is good.
func TestOneHostileRequestStopsNoOther(t *testing.T) {
	t.Parallel()
	block := func(der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	}
	nulls := func(n int) []byte {
		return block(append([]byte{0x30, 0x82, byte(2 * n >> 8), byte(2 * n)}, bytes.Repeat([]byte{5, 0}, n)...))
	}
	cut := authorityRequest("master-1")
	cut.ExtraExtensions[0].Id, cut.ExtraExtensions[0].Value = []int{2, 5, 29, 17}, []byte{0x30, 0x82}
	cut.ExtraExtensions[0].Critical = false
	torn, _ := requestFor(t, cut)
	for what, request := range map[string][]byte{
		"many small elements": nulls(5500), "as many as are opened": nulls(2000), "names that are cut off": torn,
		"no base64 inside": []byte("-----BEGIN CERTIFICATE REQUEST-----\n====\n-----END CERTIFICATE REQUEST-----\n"),
		"no text":          {0xff, 0xfe, 0, 1}, "nothing": {},
	} {
		said, _ := judges(t, clientWire("csr-good", clientPEM(t, "master-0"), "{}"), clientWire("csr-hostile", request, "{}"))
		if !strings.Contains(said, "csr-good\tgood\t") || !strings.Contains(said, "csr-hostile\trefused\t") {
			t.Errorf("%s:\n%s", what, said)
		}
	}
}

// TestOnlyWhatIsJudgedIsOpened: a look every few seconds must not cost more with
// each request that was ever made.
func TestOnlyWhatIsJudgedIsOpened(t *testing.T) {
	t.Parallel()
	var done []string
	for i := range 20 {
		done = append(done, clientWire(fmt.Sprintf("csr-issued-%d", i), clientPEM(t, "worker-9"), issuedStatus),
			clientWire(fmt.Sprintf("csr-denied-%d", i), clientPEM(t, "master-1"), deniedStatus),
			wireRequest(fmt.Sprintf("csr-serving-%d", i), servingSigner, "system:node:master-1", nil, nil, clientPEM(t, "master-1"), issuedStatus),
			wireRequest(fmt.Sprintf("csr-other-%d", i), "example.test/other", "u", nil, nil, clientPEM(t, "master-1"), "{}"))
	}
	said, calls := judges(t, done...)
	if calls != 0 {
		t.Errorf("openssl was called %d times, and nothing of a kubelet is pending", calls)
	}
	if strings.Count(said, "\trefused\t") != 20 || strings.Count(said, "this signer makes no certificates of kubelets") != 20 || strings.Contains(said, "openssl cannot read it") {
		t.Errorf("it says\n%s", said)
	}
	// Who asks for a client certificate is held against those that were given out.
	said, _ = judges(t, clientWire("csr-first", clientPEM(t, "master-0"), issuedStatus), clientWire("csr-second", clientPEM(t, "master-0"), "{}"))
	if !strings.Contains(said, "this name was given a certificate by csr-first already") {
		t.Errorf("it says\n%s", said)
	}
}

// TestWhatNodesSayOfThemselvesSteersNoTerminal: a Node's kubelet writes its
// addresses, and operators write the messages of conditions.
func TestWhatNodesSayOfThemselvesSteersNoTerminal(t *testing.T) {
	t.Parallel()
	l := generated(t)
	const condition = `{"status": {"conditions": [{"type": "EtcdRunningInCluster", "status": "False", "message": "a\u001b[31mb\u009b31m"}, {"type": "EtcdBootstrapMemberRemoved", "status": "False", "message": "a\u001b[31mb\nc"}]}}`
	for what, c := range map[string]struct{ script, text string }{
		"EtcdRunningInCluster": {"node/finish-bootstrap.sh", "cluster() { echo '" + condition + "'; }\netcd_can_do_without || true"},
	} {
		_, said, status := l.calls(t, c.script, c.text)
		if found := control.FindString(said); found != "" || status != 0 || !strings.Contains(said, "31mb") {
			t.Errorf("%s: status %d, %q in %q", what, status, found, said)
		}
	}
	hostile := `{"items": [{"metadata": {"name": "master-0"}, "status": {"addresses": [{"type": "InternalIP", "address": "a\u001b[31mb"}]}}]}`
	for _, script := range []string{"approve-csrs.sh", "wait-for-masters.sh"} {
		m := mastersAlone(t, script)
		m.Put(t, "nodes", hostile)
		r := m.Run(t, "--timeout=1")
		if found := control.FindString(r.All); found != "" || !strings.Contains(r.All, "31mb") {
			t.Errorf("%s: %q in\n%s", script, found, r.All)
		}
	}
	w := newScriptAlone(t, labs.Workstation, "remove-bootstrap.sh", nil)
	w.Put(t, "assets/install/auth/kubeconfig", "")
	w.Put(t, "assets/tools/oc", "#!/bin/bash\ncase \"$*\" in *configmap*) printf 'a\\033[31mb' ;; esac\n")
	r := w.Run(t)
	if found := control.FindString(r.All); r.Status != 1 || found != "" || !strings.Contains(r.All, "31mb") {
		t.Errorf("status %d, %q in\n%s", r.Status, found, r.All)
	}
	w.Put(t, "assets/tools/oc", "#!/bin/bash\ncase \"$*\" in *configmap*) printf complete ;; *) echo '"+condition+"' ;; esac\n")
	r = w.Run(t)
	if found := control.FindString(r.All); r.Status != 1 || found != "" || !strings.Contains(r.All, "31mb") {
		t.Errorf("status %d, %q in\n%s", r.Status, found, r.All)
	}
	w.Put(t, "assets/tools/oc", "#!/bin/bash\ntrue\n")
	w.Run(t).Want(t, 1, "has status nothing")
}

// ownWords are what a script itself says, taken out of its text: log lines, and
// the hints of die. A message of die may be that of a failure: who says it has
// failed in this way.
var ownWords = regexp.MustCompile(`(?m)\blog ('[^']*'|"[^"]*")|\bdie [0-9] (?:'[^']*'|"[^"]*") (?:\\\n +)?('[^']*'|"[^"]*")`)

// TestAScriptsOwnWordsAreNoCause: a log holds what the script says beside what
// components say. No hint, expectation or command may pass for a component's.
func TestAScriptsOwnWordsAreNoCause(t *testing.T) {
	t.Parallel()
	l := generated(t)
	for _, dir := range []string{"node", "scripts"} {
		files, err := filepath.Glob(filepath.Join(l.Dir, "out", dir, "*.sh"))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, file := range files {
			text := string(mustRead(t, file))
			if !strings.HasSuffix(text, "\nstage_main \"$@\"\n") {
				continue
			}
			said := ""
			for _, m := range ownWords.FindAllStringSubmatch(text, -1) {
				if m[1] != "" {
					said += "==> " + m[1][1:len(m[1])-1] + "\n"
				} else {
					said += "  hint: " + m[2][1:len(m[2])-1] + "\n"
				}
			}
			words := filepath.Join(t.TempDir(), "words")
			if err := os.WriteFile(words, []byte(said), 0o644); err != nil {
				t.Fatal(err)
			}
			_, causes, _ := l.calls(t, dir+"/"+filepath.Base(file), `mkdir --parents "${LOG%/*}"
eval "$(declare -f check | sed '1s/check/genuine_check/')"
check() { genuine_check "${@:1:4}" false; }
trap - ERR; set +Ee
{ cat `+words+`; verify; (MODE=dry-run do_stage); } > "${LOG}" 2> /dev/null < /dev/null
usual_failures; cluster_failures`)
			if causes != "" {
				t.Errorf("%s explains its own words:\n%s", filepath.Base(file), causes)
			}
		}
	}
}

// TestAComponentsWordsAreACause where the log of the run holds them, and not in
// the script's own words.
func TestAComponentsWordsAreACause(t *testing.T) {
	t.Parallel()
	s := newScriptAlone(t, labs.Workstation, "wait-for-operators.sh", nil)
	s.Put(t, "assets/install/auth/kubeconfig", "")
	for words, want := range map[string]bool{
		"dial tcp: lookup api on 127.0.0.1:53: no such host": true, "something else": false,
	} {
		s.Put(t, "assets/tools/oc", "#!/bin/bash\necho '"+words+"' >&2\nexit 1\n")
		r := s.Run(t, "--timeout=1")
		if r.Status != 1 || strings.Contains(r.All, "cause: The name of the API does not resolve") != want {
			t.Errorf("%s: status %d\n%s", words, r.Status, r.All)
		}
	}
}
