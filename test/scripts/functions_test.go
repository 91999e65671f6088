package scripts

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// generated is a lab of the default kind, for tests that need neither podman nor a
// cluster.
func generated(t *testing.T) *Lab {
	t.Helper()
	l := &Lab{Dir: filepath.Join(t.TempDir(), "mylab")}
	if err := errors.Join(initialize(l.Dir), generate(l.Dir)); err != nil {
		t.Fatal(err)
	}
	return l
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
	if cmd.ProcessState.ExitCode() != 143 || !strings.Contains(string(out), "interrupted") || s.Read("namespace") != "" {
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
	const condition = `{"status": {"conditions": [{"type": "EtcdRunningInCluster", "status": "False", "message": "a\u001b[31mb\u009b31m"}, {"type": "EtcdBootstrapMemberRemoved", "status": "False", "message": "a\u001b[31mb\nc"}]}}`
	f := finishAlone(t, condition)
	if r := f.Run(t); r.Status != 1 || control.MatchString(r.All) || !strings.Contains(r.All, "31mb") {
		t.Errorf("finish-bootstrap.sh: status %d, %q in\n%s", r.Status, control.FindString(r.All), r.All)
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

// itself are messages of failures that no component prints: the stage's script says
// them, because nobody else tells of that failure.
var itself = map[string][]string{
	"approve-csrs":          {"Approved and not Issued"},
	"approve-worker-csrs":   {"Approved and not Issued"},
	"finish-bootstrap":      {"status.infrastructureTopology of the infrastructures/cluster object is empty", "no answer within 20 s"},
	"make-ignition":         {"was made from another install-config.yaml", "the certificates of install/ have expired"},
	"make-manifests":        {"is not a pull secret", "no bcrypt in crypt()"},
	"resolve-api":           {"Unable to resolve API_URL", "Unable to resolve API_INT_URL"},
	"restore-cvo-overrides": {"Trying again to restore CVO overrides"},
	"verify-api":            {"Unable to reach API_URL's https endpoint at", "Unable to reach API_INT_URL's https endpoint at"},
	"wait-for-ceo":          {"has no such condition yet", "no answer within 20 s"},
	"wait-for-masters":      {"nothing on port 22", "ssh login fails", "first boot; next: it pulls the OS image"},
}

var (
	says     = regexp.MustCompile(`\b(die|give_up|echo|printf|log|needs_input|never_reruns|never_after|invalidates|option)\b`)
	oneSays  = regexp.MustCompile(`\b(echo|printf|FAILURE=)`)
	library  = regexp.MustCompile(`lib/[a-z-]+\.(?:sh|jq)\b`)
	stepOpen = regexp.MustCompile(`^(if|  &&) step `)
)

// printable gives the lines of a script that may come into its log: its steps, which
// the answer c to --step prints, and outside of them what prints or dies, with the
// lines that go on with it.
func printable(text string) []string {
	var out []string
	inStep, goesOn := false, false
	for _, line := range strings.Split(text, "\n") {
		inStep = inStep && !strings.HasPrefix(line, "fi") || stepOpen.MatchString(line)
		goesOn = goesOn || says.MatchString(line)
		if inStep || goesOn {
			out = append(out, line)
		}
		goesOn = goesOn && strings.HasSuffix(line, "\\")
	}
	return out
}

// advice is checks/STAGE.json.
type advice struct {
	Checks   map[string]struct{ Expect, Hint string }
	Failures []struct{ Message, Cause, Fix string }
}

// messageIn is how likely_causes finds the message of a failure in a line.
func messageIn(line, message string) bool {
	for _, part := range strings.Split(message, "…") {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return true
}

// ownMessages lists the messages of the stage's failures that are in its own words,
// with the line, and counts the sentences of its script that are one of itself.
func ownMessages(t *testing.T, script string) (found []string, sentences map[string]int) {
	t.Helper()
	dir, name := filepath.Dir(script), filepath.Base(script)
	id := strings.TrimSuffix(name, ".sh")
	var a advice
	if err := json.Unmarshal(mustRead(t, filepath.Join(dir, "checks", id+".json")), &a); err != nil {
		t.Fatal(err)
	}
	text := string(mustRead(t, script))
	lines := printable(text)
	sources := append(library.FindAllString(text, -1), "lib/stage.sh", "lib/host.sh", "lib/record.sh")
	slices.Sort(sources)
	for _, file := range slices.Compact(sources) {
		lines = append(lines, printable(string(mustRead(t, filepath.Join(dir, file))))...)
	}
	lines = append(lines, strings.Split(string(mustRead(t, filepath.Join(dir, "checks", name))), "\n")...)
	for _, c := range a.Checks {
		lines = append(lines, c.Expect, c.Hint)
	}
	for _, f := range a.Failures {
		lines = append(lines, f.Cause, f.Fix)
	}
	sentences = map[string]int{}
	for _, f := range a.Failures {
		for _, line := range lines {
			switch {
			case !messageIn(line, f.Message):
			case slices.Contains(itself[id], f.Message) && oneSays.MatchString(line) && sentences[f.Message] == 0:
				sentences[f.Message]++
			default:
				found = append(found, fmt.Sprintf("%s: %q is in %q", id, f.Message, line))
			}
		}
	}
	return found, sentences
}

// TestAScriptsOwnWordsAreNoCause: a log holds what the script says beside what
// components say. No hint, expectation or command may pass for a component's.
func TestAScriptsOwnWordsAreNoCause(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, dir := range shipped(t) {
		advices, err := filepath.Glob(filepath.Join(dir, "checks", "*.json"))
		if err != nil || len(advices) == 0 {
			t.Fatalf("%s has no checks: %v", dir, err)
		}
		for _, file := range advices {
			id := strings.TrimSuffix(filepath.Base(file), ".json")
			found, sentences := ownMessages(t, filepath.Join(dir, id+".sh"))
			for message := range sentences {
				told[id+": "+message] = true
			}
			for _, text := range found {
				if !told[text] {
					t.Error(text)
				}
				told[text] = true
			}
		}
	}
	for id, messages := range itself {
		for _, message := range messages {
			if !told[id+": "+message] {
				t.Errorf("%s.sh does not say %q any more", id, message)
			}
		}
	}
}

// TestAScriptsOwnWordsAreFound wherever a stage may print them.
func TestAScriptsOwnWordsAreFound(t *testing.T) {
	t.Parallel()
	for what, plant := range map[string]struct{ file, at, text string }{
		"a step's comment":         {"wait-for-ceo.sh", "fi 9>&-\n", "  # connection refused\n"},
		"a step's output":          {"wait-for-ceo.sh", "fi 9>&-\n", "  echo 'a connection refused is normal here'\n"},
		"a hint":                   {"wait-for-ceo.sh", "\nHOPELESS=", "\ngive_up 'it does not end' \\\n  'connection refused: look at the kubelet'"},
		"a sentence said twice":    {"wait-for-ceo.sh", "fi 9>&-\n", "  echo 'there is has no such condition yet'\n"},
		"the library":              {"lib/host.sh", "\ntake_lock", "\nlater() { die 1 late 'connection refused'; }\n"},
		"a library of some stages": {"lib/registries.sh", "\n", "\necho 'connection refused'\n"},
		"the title of a check":     {"checks/wait-for-ceo.sh", "\nend_of_checks", "\ncheck x 'no connection refused' <<< true\n"},
		"an expectation":           {"checks/wait-for-ceo.json", `"expect": "`, `"expect": "connection refused, or `},
		"advice":                   {"checks/wait-for-ceo.json", `"fix": "`, `"fix": "connection refused: `},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			node := filepath.Join(generated(t).Dir, "out", "node")
			advice := filepath.Join(node, "checks", "wait-for-ceo.json")
			replaceIn(t, advice, `"failures": [`, `"failures": [{"message": "connection…refused", "cause": "x", "fix": "x"},`)
			if found, _ := ownMessages(t, filepath.Join(node, "wait-for-ceo.sh")); len(found) > 0 {
				t.Fatalf("found %q before anything was planted", found)
			}
			text := plant.text
			if !strings.HasPrefix(plant.at, `"`) {
				text += plant.at
			}
			replaceIn(t, filepath.Join(node, filepath.FromSlash(plant.file)), plant.at, text)
			if found, _ := ownMessages(t, filepath.Join(node, "wait-for-ceo.sh")); len(found) != 1 {
				t.Errorf("found %q", found)
			}
		})
	}
}

// replaceIn replaces the first occurrence of a text in a file, which has to hold it.
func replaceIn(t *testing.T, file, old, text string) {
	t.Helper()
	before := string(mustRead(t, file))
	if !strings.Contains(before, old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(before, old, text, 1)), 0o755); err != nil {
		t.Fatal(err)
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
