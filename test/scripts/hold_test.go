package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// unit is what the stand-in says of a unit.
func (l *Lab) unit(tb testing.TB, name string) string {
	tb.Helper()
	r := l.Exec(tb, "systemctl", "show", "--property=ActiveState", "--value", name+".service")
	return strings.TrimSpace(r.Out)
}

// slowBootkube marks the first stages of the release one after the other, with a
// second for each, and ends there; a stage in the file broken fails.
const slowBootkube = `#!/usr/bin/env bash
set -eu
for marker in openshift-manifests api-bootstrap auth-api-bootstrap config-bootstrap; do
  [ -e "${marker}.done" ] && continue
  sleep "$(cat /opt/stand-in/pace)"
  if grep --quiet --file=/opt/stand-in/broken <<< "${marker}"; then exit 1; fi
  touch "${marker}.done"
done
until [ -e /opt/stand-in/etcd-is-healthy ]; do sleep 0.1; done
touch /opt/openshift/.bootkube.done
`

// holdNode gives a bootstrap node with units, holds and a bootkube.sh that
// only marks.
func holdNode(t *testing.T) *Lab {
	t.Helper()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	l := NewLab(t, podman.New(t, account), Options{Place: labs.OnNode, Release: &standin.Release{ID: release, Image: someRelease}})
	l.services(t, slowBootkube)
	l.put(t, "manifests/cluster-dns-02-config.yml", "spec:\n  baseDomain: mylab.bootlab.test\n")
	l.tell(t, "pace", "0.3")
	l.tell(t, "broken", "nothing")
	return l
}

// tell writes a file that stand-ins look at.
func (l *Lab) tell(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(l.Asset("/opt/stand-in/"+name), []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (l *Lab) there(path string) bool {
	_, err := os.Stat(l.Asset(path))
	return err == nil
}

const released = "/etc/bootlab/automatic/"

func TestAHoldIsReleased(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	// Without it the start is skipped, and nothing has failed.
	l.Exec(t, "systemctl", "start", "approve-csr.service", "progress.service").Want(t, 0)
	for _, unit := range []string{"bootkube", "approve-csr", "progress"} {
		if state := l.unit(t, unit); state != "inactive" {
			t.Errorf("%s is %s before its hold is released", unit, state)
		}
	}
	l.Run(t, "release-hold.sh", "bootkube", "--verify").Want(t, 3, "not ok 1 - released", "not ok 2 - running")
	r := l.Run(t, "release-hold.sh", "bootkube")
	r.Want(t, 0, "release-hold is done", "approve-csrs.sh", "journalctl --follow --unit=bootkube.service")
	l.shown(t, "release-hold", r)
	if l.unit(t, "bootkube") != "active" || l.unit(t, "approve-csr") != "inactive" || l.there(released+"progress") {
		t.Error("bootkube alone was to be released")
	}
	// What a person does in a second terminal, services may do beside.
	l.Run(t, "release-hold.sh", "approve-csr").Want(t, 0, "release-hold is done")
	l.Run(t, "release-hold.sh", "all").Want(t, 0, "release-hold is done")
	if l.unit(t, "approve-csr") != "active" || l.unit(t, "progress") != "active" {
		t.Error("all were to be released")
	}
	l.tell(t, "etcd-is-healthy", "")
	until(t, "the end of bootkube", func() bool { return l.unit(t, "bootkube") == "inactive" })
	until(t, "the end of progress", func() bool { return l.unit(t, "progress") == "inactive" })
	l.Run(t, "release-hold.sh", "all", "--verify").Want(t, 0)
	if l.there("/var/log/openshift/bootkube.json") {
		t.Error("bootkube.json has two writers")
	}
}

func TestAllPullsBootkubeIn(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	l.Run(t, "release-hold.sh", "all").Want(t, 0, "release-hold is done")
	for _, unit := range []string{"bootkube", "approve-csr", "progress"} {
		if state := l.unit(t, unit); state != "active" {
			t.Errorf("%s is %s", unit, state)
		}
	}
}

func TestScriptAndBootkubeExcludeEachOther(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	// A script holds the lock: the hold stays, and systemd skips the start.
	holder := l.inside([]string{"flock", "--no-fork", "/opt/openshift/.bootlab.lock", "sleep", "60"})
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { holder.Process.Kill(); holder.Wait() }()
	until(t, "the lock", func() bool {
		return l.Exec(t, "flock", "--nonblock", "/opt/openshift/.bootlab.lock", "true").Status == 1
	})
	for _, call := range [][]string{{"release-hold.sh", "bootkube"}, {"release-hold.sh", "all"}, {"run-bootkube-until.sh", "render-api"}} {
		l.Run(t, call[0], call[1:]...).Want(t, 1, "is running")
	}
	if l.there(released + "bootkube") {
		t.Error("the hold was released all the same")
	}
	if err := os.WriteFile(l.Asset(released+"bootkube"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l.Exec(t, "systemctl", "start", "bootkube.service").Want(t, 0)
	show := []string{"systemctl", "show", "--property=ActiveState,Result", "bootkube.service"}
	l.Exec(t, show...).Want(t, 0, "ActiveState=inactive", "Result=exec-condition")
	l.Run(t, "release-hold.sh", "bootkube", "--verify").Want(t, 3, "not ok 2 - running")
}

func TestNoScriptBeginsWhileBootkubeIsAtWork(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	l.tell(t, "pace", "60")
	l.Run(t, "release-hold.sh", "bootkube").Want(t, 0)
	for _, script := range []string{"release-info.sh", "copy-manifests.sh"} {
		r := l.Run(t, script)
		if r.Status == 0 {
			t.Errorf("%s ran beside bootkube.sh:\n%s", script, r.All)
		}
	}
	l.Run(t, "release-info.sh").Want(t, 1, "bootkube.service is running on this node")
	l.Run(t, "run-bootkube-until.sh", "render-config").Want(t, 1, "bootkube.service is running on this node")
	l.Wrap(t, "systemctl", "exit 1")
	l.Run(t, "release-info.sh").Want(t, 4, "cannot ask systemd for bootkube.service")
}

// TestANodeOfAnotherLabIsLeftAlone: nodes look alike, and nothing is changed before
// domain and release are compared.
func TestANodeOfAnotherLabIsLeftAlone(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	l.put(t, "release-info/version", "4.1.0\n")
	before := l.Snapshot(t)
	l.Run(t, "release-info.sh").Want(t, 4, "this node has release 4.1.0, these scripts are for "+release)
	before.Same(t, l.Snapshot(t))
	l.put(t, "manifests/cluster-dns-02-config.yml", "spec:\n  baseDomain: other.example.com\n")
	before = l.Snapshot(t)
	l.Run(t, "release-info.sh").Want(t, 4, "this node does not belong to mylab.bootlab.test", "other.example.com")
	before.Same(t, l.Snapshot(t))
}

func TestBootkubeIsStoppedBehindAStage(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	l.tell(t, "pace", "3")
	r := l.Run(t, "run-bootkube-until.sh", "render-api")
	r.Want(t, 0, "run-bootkube-until is done", "bootkube.sh is stopped")
	l.shown(t, "run-bootkube-until", r)
	l.stopped(t)
	for marker, want := range map[string]bool{"openshift-manifests.done": true, "api-bootstrap.done": true, "config-bootstrap.done": false} {
		if l.there(marker) != want {
			t.Errorf("%s: %v", marker, !want)
		}
	}
	l.Run(t, "run-bootkube-until.sh", "render-api", "--verify").Want(t, 0)
	// By bootkube's name, and what is done is not started again.
	l.Run(t, "run-bootkube-until.sh", "api-bootstrap").Want(t, 0, "is done already", "nothing is started")
	l.Run(t, "run-bootkube-until.sh", "--force", "api-bootstrap").Want(t, 0, "nothing is started")
	l.stopped(t)
	l.Run(t, "run-bootkube-until.sh", "auth-api-bootstrap").Want(t, 0, "run-bootkube-until is done")
	l.stopped(t)
	if l.there("/var/log/openshift/bootkube.json") {
		t.Error("bootkube.json has two writers")
	}
}

// stopped: nothing of bootkube.sh is running, and the hold is on.
func (l *Lab) stopped(t *testing.T) {
	t.Helper()
	if state := l.unit(t, "bootkube"); state != "inactive" || l.there(released+"bootkube") {
		t.Errorf("bootkube.service is %s, released: %v", state, l.there(released+"bootkube"))
	}
	if l.Exec(t, "flock", "--nonblock", "/opt/openshift/.bootlab.lock", "true").Status != 0 {
		t.Error("the lock is held")
	}
}

func TestWhereBootkubeMayNotBeStopped(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	for stage, says := range map[string]string{
		"render-cvo": "would land in etcd-bootstrap", "cvo-bootstrap": "would land in etcd-bootstrap",
		"start-bootstrap": "would land in cvo-overrides", "wait-for-etcd": "no marker", "wait-for-ceo.sh": "no marker",
		"nonsense": "unknown stage", "": "up to which stage",
	} {
		r := l.Run(t, "run-bootkube-until.sh", strings.Fields(stage)...)
		r.Want(t, 2, says)
	}
	// What is done is skipped, so the stop lands behind it.
	for _, marker := range []string{"config-bootstrap.done", "cvo-bootstrap.done"} {
		l.put(t, marker, "")
	}
	l.Run(t, "run-bootkube-until.sh", "render-auth-api").Want(t, 2, "would land in etcd-bootstrap")
	help := l.Run(t, "run-bootkube-until.sh", "--help")
	help.Want(t, 0, "render-api             api-bootstrap", "restore-cvo-overrides  cvo-overrides", "--timeout=S")
	for _, not := range []string{"render-cvo", "start-bootstrap", "wait-for"} {
		if strings.Contains(help.Out, "  "+not) {
			t.Errorf("--help offers %s", not)
		}
	}
	l.put(t, ".bootkube.done", "")
	l.Run(t, "run-bootkube-until.sh", "render-api").Want(t, 1, "is done with everything")
	if l.unit(t, "bootkube") != "inactive" {
		t.Error("it was started")
	}
}

func TestABootkubeThatComesToNothingIsStopped(t *testing.T) {
	t.Parallel()
	t.Run("too slow", func(t *testing.T) {
		t.Parallel()
		l := holdNode(t)
		l.tell(t, "pace", "60")
		l.Run(t, "run-bootkube-until.sh", "render-api", "--timeout=2").Want(t, 1, "render-api was not done within 2 s")
		l.stopped(t)
	})
	t.Run("it fails", func(t *testing.T) {
		t.Parallel()
		l := holdNode(t)
		l.tell(t, "broken", "^api-bootstrap")
		l.Run(t, "run-bootkube-until.sh", "render-config").Want(t, 1, "bootkube.service ended before render-config was done", "journalctl")
		l.stopped(t)
		l.tell(t, "broken", "nothing")
		l.tell(t, "pace", "3")
		l.Run(t, "run-bootkube-until.sh", "render-auth-api").Want(t, 0, "run-bootkube-until is done")
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		t.Parallel()
		l := holdNode(t)
		l.tell(t, "pace", "60")
		cmd := l.inside([]string{filepath.Join(l.Scripts(), "run-bootkube-until.sh"), "render-api"})
		var said locked
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "bootkube running", func() bool { return strings.Contains(said.String(), "waiting for api-bootstrap.done") })
		(&Session{cmd: cmd}).Interrupt()
		err := cmd.Wait()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "interrupted") {
			t.Errorf("%v: %s", err, said.String())
		}
		l.stopped(t)
	})
	t.Run("kill -9", func(t *testing.T) {
		t.Parallel()
		l := holdNode(t)
		l.tell(t, "pace", "2")
		cmd := l.inside([]string{filepath.Join(l.Scripts(), "run-bootkube-until.sh"), "render-api"})
		var said locked
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "bootkube running", func() bool { return strings.Contains(said.String(), "waiting for api-bootstrap.done") })
		(&Session{cmd: cmd, ended: closedChannel()}).KillGroup()
		cmd.Wait()
		// bootkube.sh goes on, but nothing would start it again.
		if l.there(released+"bootkube") || l.unit(t, "bootkube") != "active" {
			t.Error("something is left released, or bootkube was killed too")
		}
		l.Run(t, "run-bootkube-until.sh", "render-api").Want(t, 1, "bootkube.service is running on this node")
	})
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestHoldsHaveEveryMode(t *testing.T) {
	t.Parallel()
	l := holdNode(t)
	before := l.Snapshot(t)
	for id, word := range map[string]string{"release-hold": "bootkube", "run-bootkube-until": "render-api"} {
		s := planOf(t, release, usualLab).Stage(id)
		l.Run(t, id+".sh", "--help").Want(t, 0, append(modes, "Usage: "+s.ScriptName())...)
		if said := words(l.Run(t, id+".sh", "--explain").Out); !strings.Contains(said, words(s.Why)) {
			t.Errorf("--explain says %s", said)
		}
		l.Run(t, id+".sh", word, "--dry-run").Want(t, 0, "systemctl start ", "/etc/bootlab/automatic/", "touch ")
		l.Run(t, id+".sh", "--frobnicate").Want(t, 2, "--help")
		l.Run(t, id+".sh").Want(t, 2)
		l.Run(t, id+".sh", "--verify").Want(t, 2, "hint: ")
	}
	before.Same(t, l.Snapshot(t))
	l.Run(t, "release-hold.sh", "bootkube", "--step").Want(t, 1, "stopped before step 1")
	l.Run(t, "run-bootkube-until.sh", "render-api", "--step").Want(t, 1, "stopped before step 1")
	l.stopped(t)
	if err := os.Remove(l.Asset("/etc/systemd/system/bootkube.service.d/10-bootlab.conf")); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "release-hold.sh", "bootkube").Want(t, 4, "overlay.ign")
	l.Run(t, "run-bootkube-until.sh", "render-api").Want(t, 4, "overlay.ign")
}

func TestEveryCheckOfTheHoldsFailsOnItsFixture(t *testing.T) {
	t.Parallel()
	for id, word := range map[string]string{"release-hold": "bootkube", "run-bootkube-until": "render-api"} {
		s := planOf(t, release, usualLab).Stage(id)
		all := fixtures(t, id)
		for _, c := range s.Checks {
			t.Run(id+" "+c.ID, func(t *testing.T) {
				t.Parallel()
				l := holdNode(t)
				l.tell(t, "pace", "0.2")
				l.Run(t, id+".sh", word).Want(t, 0)
				f := all[c.ID]
				script := filepath.Join(l.Dir, "break.sh")
				text := "set -eu\nexport HOST_ROOT='' SYSTEMCTL=systemctl\ncd /opt/openshift\n" + f.Break
				if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
				l.Exec(t, "bash", script).Want(t, 0)
				r := l.Run(t, id+".sh", word, "--verify")
				points, err := ParseTAP(r.Out)
				if err != nil {
					t.Fatal(err)
				}
				if got := Failed(points); r.Status != 3 || !slices.Equal(got, append([]string{c.ID}, f.Also...)) {
					t.Errorf("status %d, failed are %v", r.Status, got)
				}
			})
		}
	}
}

// TestSystemdTakesTheDropIns asks the real systemd of this machine.
func TestSystemdTakesTheDropIns(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze on this machine")
	}
	l := holdNode(t)
	for _, unit := range []string{"bootkube", "approve-csr", "progress"} {
		out, err := exec.Command(program, "verify", "--man=no", "--recursive-errors=no", l.Asset("/etc/systemd/system/"+unit+".service")).CombinedOutput()
		text := strings.ReplaceAll(string(out), "/opt/stand-in/", "")
		if err != nil && !strings.Contains(text, "is not executable") || strings.Contains(text, "10-bootlab.conf") {
			t.Errorf("%s: %v: %s", unit, err, out)
		}
	}
}

// recordsOf reads bootkube.json without judging it: bootkube.sh writes it too.
func (l *Lab) recordsOf(t *testing.T) []Record {
	t.Helper()
	data, err := os.ReadFile(l.Asset("/var/log/openshift/bootkube.json"))
	if err != nil {
		t.Fatal(err)
	}
	var records []Record
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	return records
}

// noStageIsOpen: each stage that began has ended, in the records of both hands.
// One that was stopped while its start was being written may have an end alone.
func (l *Lab) noStageIsOpen(t *testing.T) {
	t.Helper()
	open := ""
	for _, r := range l.recordsOf(t) {
		switch r.Phase {
		case "stage start":
			if open != "" {
				t.Errorf("%s begins while %s is open", r.Stage, open)
			}
			open = r.Stage
		case "stage end":
			if open != "" && r.Stage != open {
				t.Errorf("%s ends while %q is open", r.Stage, open)
			}
			open = ""
		}
	}
	if open != "" {
		t.Errorf("%s never ends", open)
	}
}

// TestAWordIsMissing: which service, and which stage, is for the caller to say.
func TestAWordIsMissing(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{"release-hold.sh": "which service may start", "run-bootkube-until.sh": "up to which stage"} {
		s := newScriptAlone(t, labs.OnNode, script, map[string]string{"systemctl": "echo ActiveState=inactive", "podman": "exit 1"})
		for _, mode := range [][]string{{"--verify"}, {"--dry-run"}, {}} {
			s.Run(t, mode...).Want(t, 2, says, "hint: ")
		}
	}
}

// holdAlone is run-bootkube-until.sh with a bootkube.service that marks api-bootstrap
// when it starts, and podman containers of the lab and of somebody else.
func holdAlone(t *testing.T) *scriptAlone {
	t.Helper()
	s := newScriptAlone(t, labs.OnNode, "run-bootkube-until.sh", map[string]string{
		"systemctl": `echo "systemctl $*" >> "${DIR}/called"
[[ ! -e ${DIR}/broken ]] || exit 1
case "$*" in
  *--value*) cat "${DIR}/state" ;;
  show*) echo "ActiveState=$(cat "${DIR}/state")" ;;
  start*) echo active > "${DIR}/state"; [[ -e ${DIR}/slow ]] || touch "${DIR}"/assets/{openshift-manifests,api-bootstrap}.done ;;
  stop*) echo inactive > "${DIR}/state" ;;
esac
`,
		"podman": `echo "podman $*" >> "${DIR}/called"
case "$*" in
  *' inspect '*mco-render) echo "${DIR}/assets:" ;;
  *' inspect '*etcdctl) echo "${DIR}/assets/tls:" ;;
  *' inspect '*kube-apiserver-render) echo /somewhere/else: ;;
  'rm '*) ;;
  *) exit 1 ;;
esac
`})
	s.Put(t, "state", "inactive\n")
	s.Put(t, "host/etc/systemd/system/bootkube.service.d/10-bootlab.conf", "")
	return s
}

// TestOnlyTheLabsContainersAreRemoved: a container of bootkube's name may belong
// to somebody else.
func TestOnlyTheLabsContainersAreRemoved(t *testing.T) {
	t.Parallel()
	s := holdAlone(t)
	s.Run(t, "render-api").Want(t, 0, "kube-apiserver-render belongs elsewhere: /somewhere/else", "run-bootkube-until is done")
	called := s.Read("called")
	for _, want := range []string{"podman rm --force mco-render", "podman rm --force etcdctl", "systemctl stop bootkube.service"} {
		if !strings.Contains(called, want) {
			t.Errorf("%s is not in\n%s", want, called)
		}
	}
	if strings.Contains(called, "rm --force kube-apiserver-render") {
		t.Errorf("it called\n%s", called)
	}
}

// TestBootkubeIsStartedOnlyWhenNothingElseRuns: not while it runs, while a script
// does, or when systemd does not say.
func TestBootkubeIsStartedOnlyWhenNothingElseRuns(t *testing.T) {
	t.Parallel()
	s := holdAlone(t)
	refused := func(why string) {
		t.Helper()
		s.Run(t, "render-api").Want(t, 1, why)
		if called := s.Read("called"); strings.Contains(called, "start bootkube") || strings.Contains(called, "stop bootkube") {
			t.Errorf("it called\n%s", called)
		}
	}
	for _, state := range []string{"active", "activating", "reloading", "deactivating", ""} {
		s.Put(t, "state", state+"\n")
		refused("bootkube.service is running on this node")
	}
	s.Put(t, "state", "inactive\n")
	s.Put(t, "broken", "")
	refused("step 1")
	os.Remove(filepath.Join(s.Dir, "broken"))
	holder := exec.Command("flock", "--no-fork", s.Asset(".bootlab.lock"), "sleep", "60")
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { holder.Process.Kill(); holder.Wait() }()
	until(t, "the lock", func() bool {
		return exec.Command("flock", "--nonblock", s.Asset(".bootlab.lock"), "true").Run() != nil
	})
	refused("a stage script is running")
	// Nor does an environment variable make a stage one for a second terminal.
	stage := newScriptAlone(t, labs.OnNode, "copy-manifests.sh", map[string]string{"systemctl": "echo inactive"})
	other := exec.Command("flock", "--no-fork", stage.Asset(".bootlab.lock"), "sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	until(t, "the other lock", func() bool {
		return exec.Command("flock", "--nonblock", stage.Asset(".bootlab.lock"), "true").Run() != nil
	})
	for _, f := range planOf(t, release, usualLab).Stage("copy-manifests").Reads {
		stage.Put(t, filepath.Join("assets", f.Path, map[bool]string{true: "x"}[strings.HasSuffix(f.Path, "/")]), "")
	}
	stage.Put(t, "beside.sh", "BESIDE=1 PARALLEL=yes exec "+stage.file+"\n")
	stage.run(t, filepath.Join(stage.Dir, "beside.sh")).Want(t, 1, "another stage script is running")
}

// TestATermStopsBootkube, and what it leaves is removed.
func TestATermStopsBootkube(t *testing.T) {
	t.Parallel()
	s := holdAlone(t)
	s.Put(t, "slow", "")
	cmd := exec.Command("bash", "-c", `bash "$1" render-api & pid=$!
until grep --quiet 'systemctl start' "$2/called" 2> /dev/null && [[ ! -e $2/host/etc/bootlab/automatic/bootkube ]]; do sleep 0.1; done
sleep 0.5; kill -TERM "$pid"; wait "$pid"`, "bash", s.file, s.Dir)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.Dir, "bin")+":"+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) || !strings.Contains(string(out), "interrupted") || s.Read("state") != "inactive\n" {
		t.Errorf("status %d, state %q:\n%s", cmd.ProcessState.ExitCode(), s.Read("state"), out)
	}
	if called := s.Read("called"); !strings.Contains(called, "podman rm --force mco-render") {
		t.Errorf("it called\n%s", called)
	}
}
