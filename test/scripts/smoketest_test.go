package scripts

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bootlab/test/controlplane"
)

// players stand in for what a namespace meets in a cluster: the controllers that
// make a Deployment's pod and clear a namespace away, the kubelet of its node, the
// application in it, and the router. What the last three answer stands in files
// below Dir: certificate and key of the kubelet, its log, and the answer.
type players struct {
	Dir  string
	w    *Lab
	stop chan struct{}
	done sync.WaitGroup
	lazy atomic.Bool // no pod is made
}

const (
	smokeNode, smokePod, smokeRouter = "192.168.126.20", "192.168.126.21", "192.168.126.22"
	smokeNamespace                   = "bootlab-mylab"
	greeting                         = "This is mylab.bootlab.test."
	namespaceDeleted                 = `namespace "` + smokeNamespace + `" deleted`
)

func play(t *testing.T, w *Lab) *players {
	t.Helper()
	p := &players{Dir: t.TempDir(), w: w, stop: make(chan struct{})}
	w.ControlPlane.Node(t, "master-0", smokeNode, true)
	w.ControlPlane.SetName(t, "apps", smokeRouter)
	kubelet := p.listen(t, smokeNode+":10250", http.HandlerFunc(p.log), &tls.Config{GetCertificate: p.certificate})
	application := p.listen(t, smokePod+":8080", http.HandlerFunc(p.answer), nil)
	router := p.listen(t, smokeRouter+":80", http.HandlerFunc(p.route), nil)
	p.done.Add(1)
	go p.control()
	t.Cleanup(func() {
		close(p.stop)
		p.done.Wait()
		for _, server := range []*http.Server{kubelet, application, router} {
			server.Close()
		}
	})
	return p
}

func (p *players) listen(t *testing.T, address string, handler http.Handler, config *tls.Config) *http.Server {
	t.Helper()
	listener, err := p.w.ControlPlane.Network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	server.SetKeepAlivesEnabled(false) // what a test changes counts at once
	go server.Serve(listener)
	return server
}

// ready is where everything answers well.
func (p *players) ready(t *testing.T) {
	t.Helper()
	signer, err := controlplane.LoadAuthority(filepath.Join(p.w.ControlPlane.Dir, "tls", "kubelet-signer"))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := signer.Issue(controlplane.Leaf{Names: []string{"master-0", smokeNode}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"certificate": string(pair.Certificate), "key": string(pair.Key), "answer": greeting,
		"log": greeting + " kubernetes: 172.30.0.1      kubernetes.default.svc.cluster.local",
	} {
		if err := os.WriteFile(filepath.Join(p.Dir, file), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.lazy.Store(false)
	p.w.ControlPlane.SetName(t, "apps", smokeRouter)
}

func (p *players) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(p.Dir, "certificate"), filepath.Join(p.Dir, "key"))
	if err != nil {
		err = errors.New("no serving certificate available for the kubelet")
	}
	return &pair, err
}

func (p *players) file(w http.ResponseWriter, name string) {
	data, _ := os.ReadFile(filepath.Join(p.Dir, name))
	w.Write(data)
}

func (p *players) log(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/containerLogs/"+smokeNamespace+"/smoke-test-1/") {
		http.NotFound(w, r)
		return
	}
	p.file(w, "log")
}

func (p *players) answer(w http.ResponseWriter, _ *http.Request) { p.file(w, "answer") }

func (p *players) route(w http.ResponseWriter, r *http.Request) {
	var route struct{ Spec struct{ Host string } }
	if !p.has("/apis/route.openshift.io/v1/namespaces/"+smokeNamespace+"/routes/smoke-test", &route) || route.Spec.Host == "" || route.Spec.Host != r.Host {
		http.Error(w, "no such route", http.StatusServiceUnavailable)
		return
	}
	p.file(w, "answer")
}

// has reads an object of the API, often: kubectl would cost more of the processor
// than all else in the test.
func (p *players) has(path string, object any) bool { return p.w.ControlPlane.Get(path, object) == nil }

// kubectl gives what kubectl says; nothing if it fails, as it does while things
// come and go.
func (p *players) kubectl(stdin string, args ...string) string {
	c := p.w.ControlPlane
	cmd := exec.Command("nsenter", append([]string{"--net=" + c.Network.Path(), filepath.Join(c.Bin, "oc"),
		"--kubeconfig=" + filepath.Join(p.w.Dir, "node", "opt", "openshift", "auth", "kubeconfig-loopback")}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// control plays the controllers until the test ends.
func (p *players) control() {
	defer p.done.Done()
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(200 * time.Millisecond):
		}
		var namespace struct {
			Metadata struct{ DeletionTimestamp string }
		}
		if !p.has("/api/v1/namespaces/"+smokeNamespace, &namespace) {
			continue
		}
		if namespace.Metadata.DeletionTimestamp != "" {
			p.clear()
		} else if !p.lazy.Load() {
			p.schedule()
		}
	}
}

func (p *players) clear() {
	p.kubectl("", "delete", "deployments,pods,services,endpoints,routes.route.openshift.io", "--all", "--namespace="+smokeNamespace, "--force", "--grace-period=0")
	p.kubectl(fmt.Sprintf(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":%q},"spec":{"finalizers":[]}}`, smokeNamespace),
		"replace", "--raw", "/api/v1/namespaces/"+smokeNamespace+"/finalize", "--filename=-")
}

// schedule makes the pod of the Deployment and says that it is ready, once.
func (p *players) schedule() {
	var deployment struct{ Spec, Status struct{ Replicas int } }
	if !p.has("/apis/apps/v1/namespaces/"+smokeNamespace+"/deployments/smoke-test", &deployment) || deployment.Spec.Replicas != 1 || deployment.Status.Replicas != 0 {
		return
	}
	if !p.has("/api/v1/namespaces/"+smokeNamespace+"/services/smoke-test", new(struct{})) {
		return
	}
	p.kubectl(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: smoke-test-1, namespace: %[1]s, labels: {app: smoke-test}}
spec: {nodeName: master-0, containers: [{name: tools, image: example.test/tools}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: smoke-test, namespace: %[1]s}
subsets: [{addresses: [{ip: %[2]s, targetRef: {kind: Pod, namespace: %[1]s, name: smoke-test-1}}], ports: [{port: 8080}]}]
`, smokeNamespace, smokePod), "create", "--filename=-")
	p.kubectl("", "patch", "pod", "smoke-test-1", "--namespace="+smokeNamespace, "--subresource=status", "--type=merge", `--patch={"status":{"phase":"Running","podIP":"`+smokePod+`","podIPs":[{"ip":"`+smokePod+`"}]}}`)
	p.kubectl("", "patch", "deployment", "smoke-test", "--namespace="+smokeNamespace, "--subresource=status", "--type=merge",
		`--patch={"status":{"replicas":1,"readyReplicas":1,"availableReplicas":1}}`)
}

// TestAnApplicationRunsInTheCluster: on a real API server, whose pods, router and
// kubelet the test plays.
func TestAnApplicationRunsInTheCluster(t *testing.T) {
	t.Parallel()
	needPrograms(t, "curl")
	node, c := pivot(t)
	w := node.workstation(t)
	s := pivotStage(t, release, "smoke-test")
	if err := w.takeAssets(node, "release-info"); err != nil {
		t.Fatal(err)
	}
	p := play(t, w)
	namespace := func(t *testing.T) string {
		t.Helper()
		var found struct{ Status struct{ Phase string } }
		if err := c.Get("/api/v1/namespaces/"+smokeNamespace, &found); err != nil && !errors.Is(err, controlplane.ErrNotFound) {
			t.Fatal(err)
		}
		return found.Status.Phase
	}
	gone := func(t *testing.T) {
		t.Helper()
		until(t, "the namespace gone", func() bool { return namespace(t) == "" })
	}

	t.Run("all is well", func(t *testing.T) {
		p.ready(t)
		r := w.RunStage(t, s)
		r.Want(t, 0, "namespace/"+smokeNamespace+" created", "smoke-test created", "service/smoke-test exposed",
			"ok 1 - pod", "ok 2 - log", "ok 3 - names", "ok 4 - service", "ok 5 - route", namespaceDeleted, s.ID+" is done")
		w.shown(t, s.ID, r)
		if namespace(t) != "" {
			t.Error("the namespace is still there")
		}
		if Last(w.Records(t), s.ID) != "success" {
			t.Errorf("recorded %+v", w.Records(t))
		}
	})
	t.Run("kept, and taken away by the next run", func(t *testing.T) {
		p.ready(t)
		w.RunStage(t, s, "--keep").Want(t, 0, "the application stays")
		for _, check := range s.Checks {
			breaks(t, w, s, check.ID, withKubelet(fixtures(t, s.ID)[check.ID], p.Dir))
			p.ready(t)
			if check.ID == "pod" {
				c.Kubectl(t, "patch", "deployment", "smoke-test", "--namespace="+smokeNamespace, "--subresource=status", "--type=merge", `--patch={"status":{"readyReplicas":1,"availableReplicas":1}}`)
			}
			allGood(t, w, s)
		}
		w.RunStage(t, s).Want(t, 0, "an earlier run left the namespace", s.ID+" is done")
		gone(t)
	})
	t.Run("a check fails, and nothing is left", func(t *testing.T) {
		p.ready(t)
		if err := os.WriteFile(filepath.Join(p.Dir, "log"), []byte(greeting+" kubernetes: \n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.RunStage(t, s).Want(t, 3, "not ok 3 - names", "a check failed")
		gone(t)
	})
	t.Run("a foreign namespace", func(t *testing.T) {
		c.Namespace(t, smokeNamespace)
		w.RunStage(t, s).Want(t, 1, "the namespace "+smokeNamespace+" is not this script's")
		if got := namespace(t); got != "Active" {
			t.Errorf("it is %q now", got)
		}
		c.Kubectl(t, "delete", "namespace", smokeNamespace, "--wait=false")
		gone(t)
	})
	t.Run("no pod", func(t *testing.T) {
		p.ready(t)
		p.lazy.Store(true)
		w.RunStage(t, s, "--timeout=2").Want(t, 1, "0 available", "no sign of the server to be ready within 2 s", namespaceDeleted)
		gone(t)
	})
	t.Run("no such name", func(t *testing.T) {
		p.ready(t)
		c.SetName(t, "apps", "")
		w.RunStage(t, s, "--timeout=5").Want(t, 1, "Could not resolve host", "cause: The name below *.apps does not resolve", namespaceDeleted)
		gone(t)
	})
	t.Run("interrupted", func(t *testing.T) {
		p.ready(t)
		p.lazy.Store(true)
		session := w.Start(t, s.ScriptName())
		session.Until(t, "waiting for the server to be ready")
		session.Interrupt()
		session.Wait(t).Want(t, 1, namespaceDeleted, "interrupted")
		gone(t)
	})
	t.Run("killed and run again", func(t *testing.T) {
		p.ready(t)
		p.lazy.Store(true)
		session := w.Start(t, s.ScriptName())
		session.Until(t, "waiting for the server to be ready")
		session.Kill(t)
		w.unlocked(t)
		if namespace(t) != "Active" {
			t.Error("there is nothing to take away")
		}
		p.lazy.Store(false)
		w.RunStage(t, s).Want(t, 0, "an earlier run left the namespace", s.ID+" is done")
		gone(t)
	})
	t.Run("stopped between two steps", func(t *testing.T) {
		p.ready(t)
		session := w.Start(t, s.ScriptName(), "--step")
		for range 2 {
			session.Step(t)
			session.Enter()
		}
		session.Step(t)
		session.Wait(t).Want(t, 1, "stopped before step 3", namespaceDeleted)
		gone(t)
	})
	t.Run("every mode", func(t *testing.T) {
		eachMode(t, w, s)
		if namespace(t) != "" {
			t.Error("only looking made a namespace")
		}
	})
	hopeless(t, w, s, controlplane.ForAPI, func(t *testing.T) { p.ready(t) })
}

// withKubelet tells a fixture where the kubelet's files are.
func withKubelet(f fixture, dir string) fixture {
	f.Break = "KUBELET=" + dir + "\n" + f.Break
	return f
}
