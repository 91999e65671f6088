package diagnose

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// plane is a bootstrap node's etcd and API server, started by a test with the
// faults that it wants, in a network of their own.
type plane struct {
	t       *testing.T
	network *controlplane.Network
	dir     string
	hosts   *host.Hosts
	plan    *labs.Plan
	signer  *controlplane.Authority
	other   *controlplane.Authority // signs what no client trusts
	texts   map[string]string       // evidence that is not asked for
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	controlplane.Need(t)
	for _, program := range []string{"curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			podman.Unavailable(t, "no "+program)
		}
	}
	n, err := controlplane.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	p := &plane{t: t, network: n, dir: t.TempDir(), plan: shippedPlan(t, "compact"), texts: map[string]string{}}
	for _, dir := range []string{"tls", "root/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs", "root/var/lib/etcd", "work/vms"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.signer, p.other = p.authority("etcd-signer"), p.authority("stranger")
	h := inside{network: n, name: "bootstrap"}
	p.hosts = &host.Hosts{Here: h, Bootstrap: h, AssetDir: p.dir, Root: filepath.Join(p.dir, "root"), Work: filepath.Join(p.dir, "work")}
	p.trust("tls/etcd-ca-bundle.crt", p.signer)
	p.trust("root/etc/kubernetes/static-pod-resources/etcd-member/ca.crt", p.signer)
	p.issue("tls/etcd-client", p.signer, controlplane.Leaf{})
	p.issue(serving, p.signer, controlplane.Leaf{Names: []string{"localhost", "127.0.0.1"}})
	return p
}

// serving is etcd's own certificate, without its ending.
const serving = "root/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-bootstrap"

func (p *plane) path(name string) string { return filepath.Join(p.dir, name) }

func (p *plane) authority(name string) *controlplane.Authority {
	a, err := controlplane.NewAuthority(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p *plane) trust(file string, a *controlplane.Authority) {
	p.write(file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate.Raw})))
}

// issue writes FILE.crt and FILE.key.
func (p *plane) issue(file string, a *controlplane.Authority, l controlplane.Leaf) {
	l.Subject = pkix.Name{CommonName: filepath.Base(file)}
	l.Usage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	pair, err := a.Issue(l)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(file+".crt", string(pair.Certificate))
	p.write(file+".key", string(pair.Key))
}

func (p *plane) write(file, text string) {
	if err := os.WriteFile(p.path(file), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// program is running one, and what it says.
type program struct {
	p     *plane
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

func (p *plane) start(name string, args ...string) *program {
	p.t.Helper()
	file, err := controlplane.Program(name)
	if err != nil {
		if file, err = exec.LookPath(name); err != nil {
			podman.Unavailable(p.t, "no "+name)
		}
	}
	r := &program{p: p, cmd: exec.Command(file, args...), log: p.path(fmt.Sprintf("%s-%d.log", name, time.Now().UnixNano())), ended: make(chan struct{})}
	log, err := os.Create(r.log)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr = p.dir, log, log
	if err := p.network.Start(r.cmd); err != nil {
		p.t.Fatal(err)
	}
	go func() { r.cmd.Wait(); close(r.ended) }()
	p.t.Cleanup(r.stop)
	return r
}

func (r *program) stop() { r.cmd.Process.Kill(); <-r.ended }

// said waits until it said something, or has ended; at most a minute.
func (r *program) said(words string) {
	r.p.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if strings.Contains(r.text(), words) {
			return
		}
		select {
		case <-r.ended:
			if strings.Contains(r.text(), words) {
				return
			}
			r.p.t.Fatalf("it ended, and never said %q:\n%s", words, r.text())
		default:
		}
	}
	r.p.t.Fatalf("it never said %q:\n%s", words, r.text())
}

func (r *program) text() string {
	text, err := os.ReadFile(r.log)
	if err != nil {
		r.p.t.Fatal(err)
	}
	return string(text)
}

// container is its log as the evidence of a container has it.
func (r *program) container(name string) string {
	state := "CONTAINER_RUNNING"
	select {
	case <-r.ended:
		state = "CONTAINER_EXITED"
	default:
	}
	return fmt.Sprintf("==> %s-0123456789ab attempt 0 %s\n%s", name, state, r.text())
}

// etcd starts etcd as the static pod does, as far as these faults concern.
func (p *plane) etcd(more ...string) *program {
	p.t.Helper()
	if err := os.RemoveAll(p.path("root/var/lib/etcd")); err != nil {
		p.t.Fatal(err)
	}
	member := p.path("root/etc/kubernetes/static-pod-resources/etcd-member")
	pair := []string{"--cert-file=" + p.path(serving) + ".crt", "--key-file=" + p.path(serving) + ".key", "--trusted-ca-file=" + member + "/ca.crt"}
	args := append([]string{"--name=etcd-bootstrap", "--data-dir=" + p.path("root/var/lib/etcd"), "--unsafe-no-fsync", "--client-cert-auth=true", "--peer-client-cert-auth=true",
		"--listen-client-urls=https://0.0.0.0:2379", "--advertise-client-urls=https://127.0.0.1:2379", "--listen-metrics-urls=https://0.0.0.0:9978",
		"--listen-peer-urls=https://0.0.0.0:2380", "--initial-advertise-peer-urls=https://127.0.0.1:2380", "--initial-cluster=etcd-bootstrap=https://127.0.0.1:2380"}, pair...)
	for _, flag := range pair {
		args = append(args, strings.Replace(flag, "--", "--peer-", 1))
	}
	started := time.Now()
	r := p.start("etcd", append(args, more...)...)
	p.texts["containers"] = fmt.Sprintf(`{"containers":[{"metadata":{"name":"etcd"},"state":"CONTAINER_RUNNING","createdAt":"%d"}]}`, started.UnixNano())
	p.texts["static-pods"] = "-rw-r--r--. 1 root root 2902 2026-01-02 04:01:11.000000000 +0000 etcd-member-pod.yaml\n"
	return r
}

// asked are the lines of evidence that are really run.
var asked = []string{"etcd-answer", "etcd-files", "etcd-metrics", "api-answer", "certificate-ends", "name-answers", "names-here", "balancer-stats", "balancer-config", "mcs-answer"}

// judge collects the evidence and walks over layers.
func (p *plane) judge(layers ...string) *diagnose.Report {
	p.t.Helper()
	d := labs.BuiltinDiagnosis().For(p.plan)
	d.Layers = slices.DeleteFunc(d.Layers, func(l *labs.Layer) bool { return !slices.Contains(layers, l.ID) })
	var lines []*labs.Evidence
	for _, e := range d.Evidence {
		if slices.Contains(asked, e.ID) {
			lines = append(lines, e)
		}
	}
	found := p.hosts.Collect(context.Background(), p.plan.Lab, lines, nil)
	for _, e := range d.Evidence {
		if text, ok := p.texts[e.ID]; ok {
			found = append(found, host.Found{Evidence: e, Had: true, Text: []byte(text), At: time.Now()})
		}
	}
	r, err := diagnose.Walk(d, p.plan.Lab, false, found)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// wants compares the cause; empty is a layer that is well.
func (p *plane) wants(what, cause string, layers ...string) {
	p.t.Helper()
	r := p.judge(layers...)
	got := ""
	if r.Cause != nil {
		got = r.Cause.ID
	}
	if got != cause || cause == "" && r.Verdict != diagnose.Healthy {
		p.t.Errorf("%s: %s, cause %q, not %q; warnings %+v, shown %+v", what, r.Verdict, got, cause, r.Warnings, r.Evidence)
	}
}

// eventuallyWell waits until a layer is well, for half a minute at most.
func eventuallyWell(p *plane, layers ...string) {
	for end := time.Now().Add(30 * time.Second); p.judge(layers...).Verdict != diagnose.Healthy && time.Now().Before(end); {
		time.Sleep(500 * time.Millisecond)
	}
}

// ended makes a certificate's time over.
func ended(l controlplane.Leaf) controlplane.Leaf {
	l.NotBefore, l.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
	return l
}
