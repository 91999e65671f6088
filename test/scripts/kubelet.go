package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bootlab/test/controlplane"
)

// Kubelet stands in for the kubelet of a bootstrap node, as far as a start of the
// bootstrap control plane needs one. The static pod of the API server is the real
// API server: it runs while the manifest and the secrets are there. That of the
// cluster version operator makes the namespaces that manifests/ does not bring.
// All others run in name only. The stand-in crictl tells which pods there are.
type Kubelet struct {
	lab *Lab
	c   *controlplane.ControlPlane

	stop, stopped chan struct{}

	mu sync.Mutex
	// idle: no pod is started, as by a kubelet that cannot pull.
	idle bool
	// keeps: the API server stays when its manifest goes, in the place of those
	// that masters run by then.
	keeps bool
	// slow: pods end only when this is taken back.
	slow bool
	// ready: the API server that it started answers well.
	ready bool
}

// staticPodNames are the pods that cluster-bootstrap starts, by their manifest.
var staticPodNames = map[string]string{
	"kube-apiserver-pod.yaml":            "bootstrap-kube-apiserver",
	"kube-controller-manager-pod.yaml":   "bootstrap-kube-controller-manager",
	"kube-scheduler-pod.yaml":            "bootstrap-kube-scheduler",
	"bootstrap-pod.yaml":                 "bootstrap-cluster-version-operator",
	"cloud-credential-operator-pod.yaml": "cloud-credential-operator",
}

const apiServerManifest = "kube-apiserver-pod.yaml"

// WithKubelet lets the stand-in work on the node until the test ends.
func (l *Lab) WithKubelet(tb testing.TB, c *controlplane.ControlPlane) *Kubelet {
	tb.Helper()
	k := &Kubelet{lab: l, c: c, stop: make(chan struct{}), stopped: make(chan struct{})}
	l.Wrap(tb, "crictl", `[ "$#" = 6 ] && [ "$1 $2 $3 $4 $5" = "pods --quiet --state ready --name" ] || { echo "stand-in crictl: $*" >&2; exit 1; }
[ ! -e `+k.list()+` ] || sed -nE "/$6/s/.*/&-id/p" `+k.list())
	go k.work(tb)
	tb.Cleanup(func() {
		close(k.stop)
		<-k.stopped
	})
	return k
}

// Set changes one of its switches.
func (k *Kubelet) Set(which *bool, to bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	*which = to
}

func (k *Kubelet) is(which *bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return *which
}

// list is the file with the names of the running pods.
func (k *Kubelet) list() string { return filepath.Join(k.lab.Env.Dir, "tmp", "pods") }

func (k *Kubelet) has(path string) bool {
	_, err := os.Stat(k.lab.Asset("/etc/kubernetes/" + path))
	return err == nil
}

func (k *Kubelet) work(tb testing.TB) {
	defer close(k.stopped)
	running := map[string]bool{}
	versioned := false
	for {
		select {
		case <-k.stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
		for manifest, pod := range staticPodNames {
			wanted := k.has("manifests/" + manifest)
			switch {
			case wanted && !running[pod] && !k.is(&k.idle):
				if manifest == apiServerManifest && !k.has("bootstrap-secrets/kubeconfig") {
					continue // it would die of what it mounts
				}
				running[pod] = true
				k.tell(tb, running) // the pod is there before it is ready
				if manifest == apiServerManifest {
					k.c.StartAPIServer(tb)
					k.Set(&k.ready, true)
				}
			case !wanted && running[pod] && !k.is(&k.slow):
				if manifest == apiServerManifest && !k.is(&k.keeps) {
					k.Set(&k.ready, false)
					k.c.StopAPIServer(tb)
				}
				delete(running, pod)
				k.tell(tb, running)
			}
		}
		if running["bootstrap-cluster-version-operator"] && running["bootstrap-kube-apiserver"] && !versioned {
			versioned = true
			k.makeNamespaces(tb)
		}
	}
}

// makeNamespaces makes those that objects of manifests/ are in and that no file
// there makes. The real operator brings them with the payload's manifests.
func (k *Kubelet) makeNamespaces(tb testing.TB) {
	files, err := filepath.Glob(k.lab.Asset("manifests/*"))
	if err != nil || len(files) == 0 {
		tb.Error("no manifests", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Error(err)
		}
		for _, line := range strings.Split(strings.NewReplacer(`"`, "", "{", "\n", ",", "\n", "}", "\n").Replace(string(data)), "\n") {
			if name, found := strings.CutPrefix(strings.TrimSpace(line), "namespace:"); found && strings.TrimSpace(name) != "" {
				k.c.Namespace(tb, strings.TrimSpace(name))
			}
		}
	}
}

// tell writes the names of the running pods, for crictl.
func (k *Kubelet) tell(tb testing.TB, running map[string]bool) {
	text := ""
	for pod := range running {
		text += fmt.Sprintf("%s-bootstrap\n", pod)
	}
	temporary := k.list() + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
		tb.Error(err)
	}
	if err := os.Rename(temporary, k.list()); err != nil {
		tb.Error(err)
	}
}
