package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// onPaper is a bootstrap node for start-bootstrap.sh on which podman, oc and
// crictl are shell: what podman runs is the file "run" of its directory, and the
// file "state" there says that a container exists. It shows moments that no
// running container can be held in.
type onPaper struct {
	*Lab
	stage *labs.Stage
	dir   string
}

// paperPodman runs the file "run" detached, as the container: its output is the
// log. logs --follow does not end with the container, as it may with the journal
// as the log.
const paperPodman = `case "$1 $2" in
  "image exists") ;;
  "container exists") [ -e state ] ;;
  "container inspect")
    [ -e state ] || exit 1
    case $* in *State.Status*) cat state ;; *ExitCode*) cat status 2> /dev/null || echo 0 ;; *Running*) grep -q running state && echo true || echo false ;; *) echo /opt/openshift: ;; esac ;;
  "rm --force")
    rm -f state
    [ ! -s pid ] || kill -- "-$(cat pid)" 2> /dev/null || true ;;
  "wait "*)
    [ ! -e deaf ] || kill -KILL $$
    while grep -q running state 2> /dev/null; do sleep 0.1; done
    cat status ;;
  "logs --follow")
    echo $$ >> logs
    exec tail --lines=+1 --follow log ;;
  "run --quiet")
    case " $* " in *" --detach "*) ;; *) exit 125 ;; esac
    echo $$ > client
    [ ! -e slow ] || sleep 3
    echo running > state
    : > log
    setsid sh -c '{ . ./run; } 2>&1 | while IFS= read -r line; do echo "$(date --iso-8601=seconds) ${line}"; done >> log
      echo 0 > status
      echo exited > state' < /dev/null > /dev/null 2>&1 &
    echo $! > pid ;;
  *) exec "${REAL}" "$@" ;;
esac`

// paperOC knows the event of a good end and the required pods.
const paperOC = `[ ! -e asked ] || { touch checking; sleep 60; }
case $* in
  *"get event bootstrap-finished"*) [ -e event ] ;;
  *"get pods"*)
    printf '{"items":['
    for name in kube-apiserver openshift-kube-scheduler kube-controller-manager cluster-version-operator; do
      printf '%s{"metadata":{"name":"%s-master-0"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}' "${comma}" "${name}"
      comma=,
    done
    echo ']}' ;;
  *) exit 1 ;;
esac`

// paperCrictl: a pod is seen twice more when its manifest is gone.
const paperCrictl = `ls /etc/kubernetes/manifests | grep -q kube-apiserver && { echo id; rm -f looks; exit; }
[ -e going ] || exit 0
echo >> looks
[ "$(wc -l < looks)" -gt 2 ] || echo id`

func newOnPaper(t *testing.T) *onPaper {
	t.Helper()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	l := NewLab(t, podman.New(t, account, Registry(t)), Options{Place: labs.OnNode, Release: &standin.Release{
		ID: release, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64),
	}})
	p := &onPaper{Lab: l, stage: clusterStage(t, release, "start-bootstrap"), dir: filepath.Join(l.Env.Dir, "paper")}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for program, text := range map[string]string{"podman": paperPodman, "oc": paperOC, "crictl": paperCrictl} {
		l.Wrap(t, program, "PAPER="+p.dir+`
[ -d "${PAPER}" ] || exec "${REAL}" "$@"
cd "${PAPER}" || exit
`+text)
	}
	t.Cleanup(func() { // what killed scripts left
		for _, pid := range p.readers() {
			syscall.Kill(pid, syscall.SIGTERM)
		}
	})
	l.Wrap(t, "systemctl", "echo inactive")
	for _, name := range []string{"auth/kubeconfig", "auth/kubeconfig-loopback", "tls/ca.crt", "manifests/cluster-config.yaml", "release-info/digest",
		"/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml", "/etc/kubernetes/kubeconfig", "/etc/kubernetes/manifests/etcd-member-pod.yaml"} {
		p.write(t, l.Asset(name), "x\n")
	}
	p.write(t, l.Asset("release-info/images"), "cluster-bootstrap quay.io/example/cluster-bootstrap@sha256:1\n")
	l.put(t, "manifests/cluster-dns-02-config.yml", "spec:\n  baseDomain: mylab.bootlab.test\n")
	for manifest, pod := range staticPodNames {
		p.write(t, l.Asset("bootstrap-manifests/"+manifest), "kind: Pod\nmetadata:\n  name: "+pod+"\n")
	}
	return p
}

func (p *onPaper) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// put writes a file that the stubs look at, has says that there is one, and drop
// removes it.
func (p *onPaper) put(t *testing.T, name, text string) { p.write(t, filepath.Join(p.dir, name), text) }
func (p *onPaper) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}
func (p *onPaper) drop(name string) { os.Remove(filepath.Join(p.dir, name)) }

// left are the static pods that the kubelet has, and the secrets.
func (p *onPaper) left(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"/etc/kubernetes/manifests/*", "/etc/kubernetes/bootstrap-secrets"} {
		files, err := filepath.Glob(p.Asset(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			out = append(out, filepath.Base(file))
		}
	}
	return out
}

func (p *onPaper) onlyEtcdIsLeft(t *testing.T) {
	t.Helper()
	if left := p.left(t); !slices.Equal(left, []string{"etcd-member-pod.yaml"}) {
		t.Errorf("left are %v", left)
	}
}

// done: it is marked, and recorded as a success.
func (p *onPaper) done(t *testing.T) {
	t.Helper()
	if !slices.Equal(p.marked(p.stage), []bool{true}) || Last(p.Records(t), "cb-bootstrap") != "success" {
		t.Errorf("markers %v, records %+v", p.marked(p.stage), p.Records(t))
	}
}

// copies is what cluster-bootstrap does first.
const copies = `mkdir -p /etc/kubernetes/bootstrap-secrets
cp /opt/openshift/bootstrap-manifests/* /etc/kubernetes/manifests/
`

func TestCtrlCBeforeThereIsAContainerLeavesNoClient(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "slow", "")
	p.put(t, "run", copies+"sleep 600\n")
	session := p.Start(t, startScript)
	until(t, "the start of podman", func() bool { return p.has("client") })
	session.Interrupt()
	session.Wait(t).Want(t, 1, "taking back what cluster-bootstrap began", "error: interrupted")
	time.Sleep(4 * time.Second)
	p.onlyEtcdIsLeft(t)
	if p.has("state") {
		t.Error("the client made its container")
	}
}

// TestPodsThatDoNotEndAreNamed: where the kubelet is down nothing ends them.
func TestPodsThatDoNotEndAreNamed(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.Wrap(t, "crictl", "echo 0123456789ab")
	p.Wrap(t, "timeout", `[ "$2" != 300 ] || set -- "$1" 1 "${@:3}"
exec "$REAL" "$@"`)
	p.Run(t, startScript).Want(t, 1, "still run after 300 s", "journalctl --unit kubelet")
	if p.has("state") {
		t.Error("cluster-bootstrap was started beside them")
	}
	if Last(p.Records(t), "cb-bootstrap") != "failure" {
		t.Errorf("recorded %+v", p.Records(t))
	}
}

// TestAGoodEndThatNobodySawIsTidiedUp: from 4.18 on the event comes before the
// tear-down, so a node that goes down in between keeps the control plane.
func TestAGoodEndThatNobodySawIsTidiedUp(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "event", "")
	p.put(t, "going", "")
	p.write(t, p.Asset("/var/log/openshift/bootlab/start-bootstrap.log"), "Starting temporary bootstrap control plane...\n")
	for manifest := range staticPodNames {
		p.write(t, p.Asset("/etc/kubernetes/manifests/"+manifest), "x\n")
	}
	p.write(t, p.Asset("/etc/kubernetes/bootstrap-secrets/kubeconfig"), "x\n")
	r := p.Run(t, startScript)
	r.Want(t, 0, "an earlier cluster-bootstrap ended well", "none is started", "start-bootstrap is done")
	p.onlyEtcdIsLeft(t)
	p.done(t)
}

// TestAFollowedContainerEndsThoughItsLogDoesNot: with the journal as its log,
// podman logs --follow may go on behind the container's end.
func TestAFollowedContainerEndsThoughItsLogDoesNot(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "state", "running\n")
	p.put(t, "status", "0\n")
	p.put(t, "log", "2026-01-02T03:04:05.000000000+00:00 API is up\n")
	p.put(t, "pid", "")
	session := p.begin(t, "    | The 20 minutes start.")
	time.Sleep(3 * time.Second)
	p.put(t, "state", "exited\n")
	select {
	case <-session.ended:
	case <-time.After(30 * time.Second):
		t.Fatalf("it does not end:\n%s", session.said.String())
	}
	session.Wait(t).Want(t, 0, "start-bootstrap is done")
	p.done(t)
	if !p.has("logs") {
		t.Error("there was no podman logs")
	}
	until(t, "the end of podman logs", func() bool { return len(p.readers()) == 0 })
}

// readers are the podman logs that run.
func (p *onPaper) readers() []int {
	var out []int
	text, _ := os.ReadFile(filepath.Join(p.dir, "logs"))
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		directory, _ := os.Readlink(filepath.Join("/proc", word, "cwd"))
		if err == nil && directory == p.dir {
			out = append(out, pid)
		}
	}
	return out
}

// TestAKilledPodmanLogsLosesNoLine: what cluster-bootstrap said by then, and what it
// says later, is printed, and the log has one reader.
func TestAKilledPodmanLogsLosesNoLine(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "run", "echo began\nwhile [ ! -e go ]; do sleep 0.1; done\necho 'API is up'\n")
	session := p.begin(t, "began")
	for _, pid := range p.readers() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	p.put(t, "go", "")
	session.Wait(t).Want(t, 0, "API is up", "    | The 20 minutes start.", "start-bootstrap is done")
	p.done(t)
	until(t, "the end of podman logs", func() bool { return len(p.readers()) == 0 })
}

// TestAKilledPodmanWaitIsNoEnd: the container goes on, and so does the control plane.
func TestAKilledPodmanWaitIsNoEnd(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "deaf", "")
	p.put(t, "run", copies+"echo began\nwhile [ ! -e go ]; do sleep 0.1; done\nrm -r /etc/kubernetes/bootstrap-secrets\ncd /opt/openshift/bootstrap-manifests && for file in *; do rm /etc/kubernetes/manifests/$file; done\n")
	r := p.Run(t, startScript)
	r.Want(t, 1, "error: cluster-bootstrap is still running: the watch is over", "a rerun follows it again")
	if slices.Equal(p.marked(p.stage), []bool{true}) || Last(p.Records(t), "cb-bootstrap") != "failure" || !p.has("state") {
		t.Errorf("markers %v, records %+v, container %t", p.marked(p.stage), p.Records(t), p.has("state"))
	}
	p.drop("deaf")
	session := p.begin(t, "an earlier cluster-bootstrap is running-0: none is started")
	p.put(t, "go", "")
	session.Wait(t).Want(t, 0, "began", "start-bootstrap is done")
	p.onlyEtcdIsLeft(t)
	p.done(t)
}

func (p *onPaper) begin(t *testing.T, until string) *Session {
	t.Helper()
	session := p.Start(t, startScript)
	session.saysOnce(t, until)
	return session
}

// TestAFullLogDirectoryDoesNotEndTheControlPlane: bootkube.sh's output goes to
// the journal, so a full /var/log costs it lines and nothing else.
func TestAFullLogDirectoryDoesNotEndTheControlPlane(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	log := p.Asset("/var/log")
	if err := syscall.Mount("tmpfs", log, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(log, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	// Written as podman does: it ends when its output cannot be written.
	p.put(t, "run", `set -e
say() { printf '%s\n' "$1" || exit 126; }
say 'Starting temporary bootstrap control plane...'
while [ ! -e full ]; do sleep 0.1; done
for i in 1 2 3 4 5; do say "line ${i} $(printf '%8000s' x)"; done
say 'API is up'
while [ ! -e roomy ]; do sleep 0.1; done
say 'the end'
`)
	session := p.begin(t, "Starting temporary bootstrap control plane...")
	file := filepath.Join(log, "filler")
	os.WriteFile(file, make([]byte, 1<<20), 0o644) // as much as there is room for
	p.put(t, "full", "")
	session.saysOnce(t, "    | The 20 minutes start.")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.put(t, "roomy", "")
	session.Wait(t).Want(t, 0, "the end\n", "start-bootstrap is done")
	p.done(t)
}

// TestAKilledScriptEndsNoContainer: what runs detached needs no reader, and a rerun
// sees how it ended.
func TestAKilledScriptEndsNoContainer(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "run", "echo began\nwhile [ ! -e go ]; do sleep 0.1; done\necho 'API is up'\ntouch whole\n")
	p.begin(t, "began").KillGroup()
	p.put(t, "go", "")
	until(t, "the end of the container", func() bool { return p.has("whole") })
	p.Run(t, startScript).Want(t, 0, "began", "    | The 20 minutes start.", "start-bootstrap is done")
	p.done(t)
}

func TestCtrlCDuringTheChecksTakesNothingBack(t *testing.T) {
	t.Parallel()
	p := newOnPaper(t)
	p.put(t, "run", "echo 'API is up'\n")
	p.put(t, "asked", "")
	session := p.Start(t, startScript)
	until(t, "the checks", func() bool { return p.has("checking") })
	session.Interrupt()
	r := session.Wait(t)
	r.Want(t, 1, "error: interrupted", "run start-bootstrap.sh again")
	if strings.Contains(r.All, "taking back") || strings.Contains(r.All, "podman rm") {
		t.Errorf("it takes something back:\n%s", r.All)
	}
	p.done(t)
	p.drop("asked")
	p.Run(t, startScript).Want(t, 0, "done already")
}
