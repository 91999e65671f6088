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

// TestACountFromTheAPIIsNotExecuted: bash takes what stands between (( and )) for
// a program.
func TestACountFromTheAPIIsNotExecuted(t *testing.T) {
	t.Parallel()
	l := generated(t)
	for answer, want := range map[string]bool{"1": true, "12": true, "0": false, "": false, "BASH_VERSINFO[$(touch executed)]": false, "-1": false} {
		dir, said, status := l.calls(t, "scripts/smoke-test.sh", `ANSWER='`+answer+`'
cluster() { if [[ $2 == deployment ]]; then echo "${ANSWER}"; else echo '{"items": []}'; fi; }
pod_is_ready`)
		if (status == 0) != want {
			t.Errorf("%q: status %d, said %q", answer, status, said)
		}
		if _, err := os.Stat(filepath.Join(dir, "executed")); err == nil {
			t.Errorf("%q was executed", answer)
		}
	}
}

// TestTheObjectsOfTheSmokeTestAreShown: what is shown can be typed.
func TestTheObjectsOfTheSmokeTestAreShown(t *testing.T) {
	t.Parallel()
	_, said, status := generated(t).calls(t, "scripts/smoke-test.sh", "MODE=dry-run\nimage_for() { echo image; }\ndo_stage")
	for _, want := range []string{"create -f - << 'EOF'\napiVersion: v1\nkind: Namespace\n", "\nkind: Route\n", "to: {kind: Service, name: smoke-test}}\nEOF\n"} {
		if status != 0 || !strings.Contains(said, want) {
			t.Errorf("status %d; %q is not in\n%s", status, want, said)
		}
	}
}

// TestGarbageIsNoProofOfNoForeignNode: a question that was not answered has not
// been answered with no.
func TestGarbageIsNoProofOfNoForeignNode(t *testing.T) {
	t.Parallel()
	l := generated(t)
	for nodes, want := range map[string]string{
		`{"items": [{"metadata": {"name": "master-0"}}]}`: "none", `{"items": []}`: "none",
		"garbage": "", "{}": "", `{"items": [{"metadata": {"name": "stranger"}}]}`: "Node stranger\n",
	} {
		_, said, status := l.calls(t, "node/wait-for-masters.sh", "look() { NODES='"+nodes+"' CSRS='{\"items\": []}'; }\nno_node_is_foreign")
		if (status == 0) != (want == "none") || !strings.Contains(said, want) {
			t.Errorf("%s: status %d, said %q", nodes, status, said)
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

// judges is what approve-csrs.sh finds about requests while there is no Node, and
// how often it called openssl.
func (l *Lab) judges(t *testing.T, requests ...string) (said string, calls int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"csrs": `{"items": [` + strings.Join(requests, ",") + `]}`, "nodes": `{"items": []}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, said, status := l.calls(t, "node/approve-csrs.sh", `cluster() { cat "`+dir+`/${2/csr/csrs}"; }
openssl() { echo >> "`+dir+`/calls"; command openssl "$@"; }
look || { echo "it cannot look"; exit 1; }
judged`)
	if status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
	lines, _ := os.ReadFile(filepath.Join(dir, "calls"))
	return said, bytes.Count(lines, []byte("\n"))
}

// TestOneHostileRequestStopsNoOther: whatever is inside one, the others are
// judged, and the good one is good.
func TestOneHostileRequestStopsNoOther(t *testing.T) {
	t.Parallel()
	l := generated(t)
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
		said, _ := l.judges(t, clientWire("csr-good", clientPEM(t, "master-0"), "{}"), clientWire("csr-hostile", request, "{}"))
		if !strings.Contains(said, "csr-good\tgood\t") || !strings.Contains(said, "csr-hostile\trefused\t") {
			t.Errorf("%s:\n%s", what, said)
		}
	}
}

// TestOnlyWhatIsJudgedIsOpened: a look every few seconds must not cost more with
// each request that was ever made.
func TestOnlyWhatIsJudgedIsOpened(t *testing.T) {
	t.Parallel()
	l := generated(t)
	var done []string
	for i := range 20 {
		done = append(done, clientWire(fmt.Sprintf("csr-issued-%d", i), clientPEM(t, "worker-9"), issuedStatus),
			clientWire(fmt.Sprintf("csr-denied-%d", i), clientPEM(t, "master-1"), deniedStatus),
			wireRequest(fmt.Sprintf("csr-serving-%d", i), servingSigner, "system:node:master-1", nil, nil, clientPEM(t, "master-1"), issuedStatus),
			wireRequest(fmt.Sprintf("csr-other-%d", i), "example.test/other", "u", nil, nil, clientPEM(t, "master-1"), "{}"))
	}
	said, calls := l.judges(t, done...)
	if calls != 0 {
		t.Errorf("openssl was called %d times, and nothing of a kubelet is pending", calls)
	}
	if strings.Count(said, "\trefused\t") != 20 || strings.Count(said, "this signer makes no certificates of kubelets") != 20 || strings.Contains(said, "openssl cannot read it") {
		t.Errorf("it says\n%s", said)
	}
	// Who asks for a client certificate is held against those that were given out.
	said, _ = l.judges(t, clientWire("csr-first", clientPEM(t, "master-0"), issuedStatus), clientWire("csr-second", clientPEM(t, "master-0"), "{}"))
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
		"addresses": {"node/approve-csrs.sh", `NODES='{"items": [{"metadata": {"name": "master-0"}, "status": {"addresses": [{"type": "InternalIP", "address": "a\u001b[31mb"}]}}]}'
CSRS='{"items": []}' MODE=run
signed`},
		"conditions of requests": {"node/approve-csrs.sh", `NODES='{"items": []}' MODE=run APPROVED=(csr-a)
look() { CSRS='{"items": [{"metadata": {"name": "csr-a"}, "spec": {}, "status": {"conditions": [{"type": "a\u001b[31mb"}], "certificate": "x"}}]}'; }
signed`},
		"EtcdRunningInCluster":       {"node/finish-bootstrap.sh", "cluster() { echo '" + condition + "'; }\netcd_can_do_without || true"},
		"EtcdBootstrapMemberRemoved": {"scripts/remove-bootstrap.sh", "cluster() { echo '" + condition + "'; }\nmember_is_removed || true"},
		"kube-system/bootstrap":      {"scripts/remove-bootstrap.sh", "cluster() { printf 'a\\033[31mb'; }\nbootstrap_is_complete || true"},
		"the console":                {"scripts/wait-for-operators.sh", "cluster() { printf 'https://a\\033[31mb'; }\ntell_the_way_in"},
	} {
		_, said, status := l.calls(t, c.script, c.text)
		if found := control.FindString(said); found != "" || status != 0 || !strings.Contains(said, "31mb") {
			t.Errorf("%s: status %d, %q in %q", what, status, found, said)
		}
	}
	for text, want := range map[string]string{
		"cluster() { :; }\ntell_the_way_in":           "console: there is no route",
		"cluster() { :; }\nbootstrap_is_complete":     "has status nothing",
		"cluster() { return 1; }\ntell_the_way_in":    "console: there is no route",
		"cluster() { false; }\nbootstrap_is_complete": "",
	} {
		if _, said, _ := l.calls(t, "scripts/wait-for-operators.sh", text); !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%s says %q", text, said)
		}
	}
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

// TestAComponentsWordsAreACause in whatever way they came into the log.
func TestAComponentsWordsAreACause(t *testing.T) {
	t.Parallel()
	l := generated(t)
	const tap = `check a b 'c THE-WORDS' 'd THE-WORDS' `
	for text, want := range map[string]bool{
		"echo THE-WORDS":                              true,
		"echo '  error: THE-WORDS'":                   true,
		tap + "echo x":                                false,
		tap + "false":                                 false,
		tap + "false; echo THE-WORDS":                 true,
		tap + "eval 'echo THE-WORDS; false'":          true,
		"log THE-WORDS":                               false,
		"show '' THE-WORDS":                           false,
		"(die 1 x 'THE-WORDS') || true":               false,
		"(die 1 'oc says THE-WORDS' x) || true":       true,
		"told 5 THE-WORDS":                            true,
		"told 5 $'a\nTHE-WORDS'":                      true,
		tap + "false; told 5 $'a\n  hint: THE-WORDS'": true,
	} {
		_, said, status := l.calls(t, "scripts/wait-for-operators.sh", `mkdir --parents "${LOG%/*}"
{ `+text+`; } > "${LOG}" 2>&1
usual_failure THE-WORDS cause fix`)
		if status != 0 || strings.Contains(said, "cause: cause") != want {
			t.Errorf("%s: status %d, said %q", text, status, said)
		}
	}
}
