package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// inTopology generates the lab's scripts for another topology; its keys stay.
func (l *Lab) inTopology(tb testing.TB, topology string) *Lab {
	tb.Helper()
	file := filepath.Join(l.Dir, "lab.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	text := strings.Replace(string(data), "topology: compact\n", "topology: "+topology+"\n", 1)
	if text == string(data) {
		tb.Fatal("lab.yaml names no topology compact")
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	if _, err := Bootlab("generate", l.Dir); err != nil {
		tb.Fatal(err)
	}
	return l
}

// ownRecords are those of a stage that runs beside others.
func (l *Lab) ownRecords(tb testing.TB, stage string) []Record {
	tb.Helper()
	data, err := os.ReadFile(l.Asset("/var/log/openshift/bootlab/" + stage + ".json"))
	if err != nil {
		tb.Fatal(err)
	}
	records, err := ParseRecords(data)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, data)
	}
	return records
}

// stageIn finds a stage of a lab's topology.
func stageIn(tb testing.TB, from, id string) *labs.Stage {
	tb.Helper()
	s := planOf(tb, release, from).Stage(id)
	if s == nil {
		tb.Fatalf("%s has no stage %s", from, id)
	}
	return s
}

// fixed does the damage of a check's fixture, looks that exactly this check
// fails, and takes the damage back.
func fixed(t *testing.T, l *Lab, s *labs.Stage, check string, fix func()) {
	t.Helper()
	t.Run(s.ID+" "+check, func(t *testing.T) { breaks(t, l, s, check, fixtures(t, s.ID)[check]) })
	fix()
	allGood(t, l, s)
}

// TestMastersJoinWhileTwoScriptsLookOn is the life of three masters: one script
// tells it, the other approves.
func TestMastersJoinWhileTwoScriptsLookOn(t *testing.T) {
	t.Parallel()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	c.AllowNodes(t)
	approve, wait := clusterStage(t, release, "approve-csrs"), clusterStage(t, release, "wait-for-masters")

	told := l.Start(t, wait.ScriptName(), "--timeout=120")
	approving := l.Start(t, approve.ScriptName(), "--watch", "--timeout=120")
	stop := c.StartSigner(t)
	k := joiner{l, "master-0", addressOf(t, l, "master-0")}
	k.join(t)
	// Nothing signs: what is approved stays so.
	stop()
	l.mustSend(t, l.clientRequest(t, "csr-client-master-1", "master-1"))
	until(t, "the approval of master-1", func() bool { return requestState(t, c, "csr-client-master-1") == "Approved" })
	until(t, "word of it", func() bool { return strings.Contains(approving.said.String(), "Approved and not Issued") })
	c.StartSigner(t)
	until(t, "its signature", func() bool { return requestState(t, c, "csr-client-master-1") == "Approved,Issued" })
	c.Kubectl(t, "delete", "csr", "csr-client-master-1")
	for _, name := range []string{"master-1", "master-2"} {
		joiner{l, name, addressOf(t, l, name)}.join(t)
	}

	r := told.Wait(t)
	r.Want(t, 0, "wait-for-masters is done",
		"master-1: nothing on port 22", "client certificates asked for: ", " Approved,Issued",
		"master-0: Node master-0 at "+k.address+", Ready, serving certificate Approved,Issued")
	approving.Wait(t).Want(t, 0, "approve-csrs is done", "csr-serving-master-2: Approved,Issued", "every rule holds")
	for _, s := range []*labs.Stage{approve, wait} {
		allGood(t, l, s)
		if records := l.ownRecords(t, s.ID); Last(records, s.ID) != "success" {
			t.Errorf("%s recorded %+v", s.ID, records)
		}
	}
	if _, err := os.Stat(l.Asset("/var/log/openshift/bootkube.json")); err == nil {
		t.Error("what runs beside bootkube's stages was recorded among them")
	}
	again := l.RunStage(t, approve)
	again.Want(t, 0, "approve-csrs is done", "master-2: Node master-2")
	l.shown(t, approve.ID, again)
	if said := judgements(again); len(said) > 0 || strings.Contains(again.All, " approved\n") {
		t.Errorf("with nothing pending it judged %v:\n%s", said, again.All)
	}
	l.RunStage(t, approve, "--watch", "--timeout=5").Want(t, 0, "approve-csrs is done")
	again = l.RunStage(t, wait, "--timeout=5")
	again.Want(t, 0, "wait-for-masters is done")
	l.shown(t, wait.ID, again)

	afterwards(t, l, c, approve, wait)
}

// afterwards breaks each check of both scripts on a cluster that is whole, and
// sends what only a whole one has.
func afterwards(t *testing.T, l *Lab, c *controlplane.ControlPlane, approve, wait *labs.Stage) {
	node := func(name string) { c.Node(t, name, addressOf(t, l, name), true) }
	serve := func(name string) {
		l.mustSend(t, l.servingRequest(t, "csr-serving-"+name, name, name, addressOf(t, l, name)))
		l.RunStage(t, approve).Want(t, 0, "csr-serving-"+name+": Approved,Issued")
	}
	fixed(t, l, approve, "refused", func() { c.Kubectl(t, "delete", "csr", "csr-stranger") })
	fixed(t, l, approve, "nodes", func() { node("master-1") })
	fixed(t, l, approve, "serving", func() { serve("master-2") })
	fixed(t, l, wait, "nodes", func() { node("master-0") })
	fixed(t, l, wait, "foreign", func() { c.Kubectl(t, "delete", "node", "stranger") })
	fixed(t, l, wait, "serving", func() { serve("master-2") })

	// The API server forgets requests; then the kubelet itself is asked.
	c.Kubectl(t, "delete", "csr", "csr-serving-master-2")
	l.serveKubelet(t, c, "master-2")
	allGood(t, l, approve)
	allGood(t, l, wait)
	l.RunStage(t, approve).Want(t, 0, "master-2: Node master-2 at "+addressOf(t, l, "master-2")+", Ready, serving certificate in use")

	// A certificate was given to this name, and its Node is not there.
	c.Kubectl(t, "delete", "node", "master-1")
	l.mustSend(t, l.clientRequest(t, "csr-again", "master-1"))
	r := l.RunStage(t, approve)
	r.Want(t, 0, "this name was given a certificate by csr-client-master-1 already")
	if state := requestState(t, c, "csr-again"); state != "Pending" {
		t.Errorf("csr-again is %s", state)
	}
	c.Kubectl(t, "delete", "csr", "csr-again")
	// Its Node has another address than the lab's list.
	c.Node(t, "master-1", "192.168.126.99", true)
	l.mustSend(t, l.servingRequest(t, "csr-elsewhere", "master-1", "master-1", addressOf(t, l, "master-1")))
	l.RunStage(t, approve).Want(t, 0, "the Node has another address")
	if state := requestState(t, c, "csr-elsewhere"); state != "Pending" {
		t.Errorf("csr-elsewhere is %s", state)
	}
}

// TestWorkersAreApprovedFromTheWorkstation does the same in a lab with workers,
// through the name api.
func TestWorkersAreApprovedFromTheWorkstation(t *testing.T) {
	t.Parallel()
	node := KeyedNode(t).inTopology(t, "ha")
	c := node.WithControlPlane(t)
	c.AllowNodes(t)
	c.StartSigner(t)
	w := node.workstation(t)
	s := stageIn(t, "ha", "approve-worker-csrs")

	node.mustSend(t, node.clientRequest(t, "csr-a-master", "master-0"))
	approving := w.Start(t, s.ScriptName(), "--watch", "--timeout=120")
	for _, m := range node.keys(t).Others {
		joiner{node, m.Name, m.Address}.join(t)
	}
	// A master is none of the workers, and one check says so in the end.
	approving.Wait(t).Want(t, 3, "csr-a-master: refused: the subject is not exactly", "csr-serving-worker-1: Approved,Issued", "not ok 1 - refused")
	if state := requestState(t, c, "csr-a-master"); state != "Pending" {
		t.Errorf("a master's request is %s", state)
	}
	c.Kubectl(t, "delete", "csr", "csr-a-master")
	w.RunStage(t, s, "--watch", "--timeout=5").Want(t, 0, "approve-worker-csrs is done")
	allGood(t, w, s)
	if records := w.ownRecords(t, s.ID); Last(records, s.ID) != "success" {
		t.Errorf("recorded %+v", records)
	}

	fixed(t, w, s, "refused", func() { c.Kubectl(t, "delete", "csr", "csr-stranger") })
	fixed(t, w, s, "nodes", func() { c.Node(t, "worker-1", addressOf(t, node, "worker-1"), true) })
	fixed(t, w, s, "serving", func() {
		node.mustSend(t, node.servingRequest(t, "csr-serving-worker-0", "worker-0", "worker-0", addressOf(t, node, "worker-0")))
		w.RunStage(t, s).Want(t, 0, "csr-serving-worker-0: Approved,Issued")
	})
	failsInItsOwnWords(t, w, c, s, controlplane.ForAPI)
}

func TestALabWithoutSuchMachinesHasNothingToApprove(t *testing.T) {
	t.Parallel()
	node := KeyedNode(t)
	c := node.WithControlPlane(t)
	w := node.workstation(t)
	worker := stageIn(t, "compact", "approve-worker-csrs")
	w.RunStage(t, worker).Want(t, 0, "this lab has no workers", "approve-worker-csrs is done")
	w.RunStage(t, worker, "--watch").Want(t, 0, "this lab has no workers")
	allGood(t, w, worker)

	node.inTopology(t, "bootstrap-only")
	for _, id := range []string{"approve-csrs", "wait-for-masters"} {
		s := stageIn(t, "bootstrap-only", id)
		node.RunStage(t, s).Want(t, 0, "this lab has no masters")
		node.RunStage(t, s, "--dry-run").Want(t, 0)
		allGood(t, node, s)
		if records := node.ownRecords(t, id); Last(records, id) != "success" {
			t.Errorf("%s recorded %+v", id, records)
		}
	}
	// What comes all the same is a stranger, and the checks say so.
	breaks(t, node, stageIn(t, "bootstrap-only", "approve-csrs"), "refused", fixtures(t, "approve-csrs")["refused"])
	breaks(t, node, stageIn(t, "bootstrap-only", "wait-for-masters"), "foreign", fixtures(t, "wait-for-masters")["foreign"])
	c.StopAPIServer(t)
	node.RunStage(t, stageIn(t, "bootstrap-only", "wait-for-masters")).Want(t, 0, "this lab has no masters")
}

// failsInItsOwnWords holds a script that asks the cluster against each way in
// which that goes wrong. One look says it at once, a wait when it is over.
func failsInItsOwnWords(t *testing.T, l *Lab, c *controlplane.ControlPlane, s *labs.Stage, certificate string) {
	t.Helper()
	looks := [][]string{{}, {"--watch"}}
	if s.Kind == "wait" {
		looks = [][]string{{}}
	}
	fails := func(what, answer, says string, args ...string) {
		t.Helper()
		for _, look := range looks {
			r := l.RunStage(t, s, slices.Concat(look, args)...)
			r.Want(t, 1, answer)
			if len(look) > 0 || s.Kind == "wait" {
				r.Says(t, says)
			} else {
				r.Says(t, "the cluster does not say what is asked of it")
			}
			if t.Failed() {
				t.Fatalf("%s %v: %s", s.ID, look, what)
			}
		}
		if records := l.ownRecords(t, s.ID); Last(records, s.ID) != "failure" {
			t.Errorf("%s: recorded %+v", what, records)
		}
		l.RunStage(t, s, "--verify").Want(t, 3, answer)
	}
	const noWaiting, noSign = "waiting does not fix that", "within 2 s"
	restore := c.ServeExpired(t, certificate)
	fails("an expired certificate", "certificate has expired", noWaiting)
	restore()
	restore = c.ServeStranger(t, certificate)
	fails("another CA", "certificate signed by unknown authority", noWaiting)
	restore()
	c.StopAPIServer(t)
	fails("nothing listens", "refused", noSign, "--timeout=2")
	restore = c.AnswerGarbage(t, "garbage\x1b[31m\n")
	fails("garbage", "does not look like a TLS handshake", noSign, "--timeout=2")
	restore()
	c.StartAPIServer(t)
}

func TestWhoWaitsForMastersFailsInItsOwnWords(t *testing.T) {
	t.Parallel()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	c.AllowNodes(t)
	for _, id := range []string{"approve-csrs", "wait-for-masters"} {
		s := clusterStage(t, release, id)
		failsInItsOwnWords(t, l, c, s, controlplane.ForLocalhost)
		watch := []string{}
		if s.Kind != "wait" {
			watch = []string{"--watch"}
		}
		// Nothing happens.
		r := l.RunStage(t, s, append(watch, "--timeout=2")...)
		r.Want(t, 1, "within 2 s", s.ScriptName()+" waits again", "master-0: no")
		if n := strings.Count(r.All, "master-0: no"); n != 1 {
			t.Errorf("what only repeats was told %d times:\n%s", n, r.All)
		}
		// Ctrl-C.
		session := l.Start(t, s.ScriptName(), watch...)
		until(t, "the wait", func() bool { return strings.Contains(session.said.String(), "master-0: no") })
		session.Interrupt()
		session.Wait(t).Want(t, 1, "error: interrupted", "hint: ")
		if records := l.ownRecords(t, id); Last(records, id) != "failure" {
			t.Errorf("recorded %+v", records)
		}
		modesOfAsking(t, l, s)
	}
	// Without localhost the way leads through api-int, as after the pivot.
	l.mustSend(t, l.clientRequest(t, "csr-late", "master-0"))
	thaw := c.FreezeAPIServer(t)
	r := l.RunStage(t, clusterStage(t, release, "approve-csrs"))
	thaw()
	r.Want(t, 1, "the cluster does not say what is asked of it", "TLS handshake timeout", "cause: Somebody takes the connection and says nothing")
}

// modesOfAsking are those that change nothing.
func modesOfAsking(t *testing.T, l *Lab, s *labs.Stage) {
	t.Helper()
	before := l.Snapshot(t)
	l.RunStage(t, s, "--help").Want(t, 0, append(modes, "Usage: "+s.Call()+" [OPTION]", "--timeout=S")...)
	if said := words(l.RunStage(t, s, "--explain").Out); !strings.Contains(said, s.Title) || !strings.Contains(said, words(s.Why)) {
		t.Errorf("--explain says %s", said)
	}
	l.RunStage(t, s, "--dry-run").Want(t, 0)
	l.RunStage(t, s, "--frobnicate").Want(t, 2, s.Call()+" --help")
	l.RunStage(t, s, "--timeout=x").Want(t, 2)
	before.Same(t, l.Snapshot(t))
	for _, program := range s.Needs {
		if _, err := os.Stat("/usr/bin/" + program); err == nil {
			l.RunWith(t, []string{l.PathWithout(t, program) + ":" + l.ControlPlane.Bin}, s.ScriptName()).Want(t, 4, program+" is missing")
		}
	}
}

// TestAPersonHasTheLastWord answers at a terminal: no to the first request, yes
// to the second.
func TestAPersonHasTheLastWord(t *testing.T) {
	t.Parallel()
	l, c := judgedNode(t)
	for _, name := range []string{"master-0", "master-1"} {
		l.mustSend(t, l.clientRequest(t, "csr-"+name, name))
	}
	l.mustSend(t, l.clientRequest(t, "csr-stranger", "stranger"))
	if _, err := os.Stat("/usr/bin/script"); err != nil {
		podman.Unavailable(t, "no script(1), which makes a terminal, on this machine")
	}
	terminal := l.inside([]string{"script", "--quiet", "--return", "--command", filepath.Join(l.Scripts(), "approve-csrs.sh"), "/dev/null"})
	keyboard, err := terminal.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var screen locked
	terminal.Stdout, terminal.Stderr = &screen, &screen
	if err := terminal.Start(); err != nil {
		t.Fatal(err)
	}
	for _, a := range [][2]string{{"csr-master-0", "n"}, {"csr-master-1", "y"}} {
		question := "approve " + a[0] + "? [y/N]"
		until(t, question, func() bool { return strings.Contains(screen.String(), question) })
		if _, err := keyboard.Write([]byte(a[1] + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "its end", func() bool { return strings.Contains(screen.String(), "approve-csrs is done") })
	keyboard.Close()
	if err := terminal.Wait(); err != nil {
		t.Errorf("%v: %s", err, screen.String())
	}
	for name, want := range map[string]string{"csr-master-0": "Pending", "csr-master-1": "Approved", "csr-stranger": "Pending"} {
		if state := requestState(t, c, name); state != want {
			t.Errorf("%s is %s:\n%s", name, state, screen.String())
		}
	}
	if strings.Contains(screen.String(), "approve csr-stranger?") {
		t.Error("it asked about a request that is refused")
	}
	// Without a terminal the step waits for Enter instead.
	stepping := l.Start(t, "approve-csrs.sh", "--step")
	if title, _ := stepping.Step(t); title != "Judge each pending request, and approve what every rule allows" {
		t.Errorf("the step is %q", title)
	}
	time.Sleep(300 * time.Millisecond)
	if state := requestState(t, c, "csr-master-0"); state != "Pending" {
		t.Errorf("before Enter it is %s", state)
	}
	stepping.Enter()
	stepping.Wait(t).Want(t, 0, "approve-csrs is done")
	if state := requestState(t, c, "csr-master-0"); state != "Approved" {
		t.Errorf("after Enter it is %s", state)
	}
}
