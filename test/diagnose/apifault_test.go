package diagnose

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// api starts kube-apiserver with flags in place of its own.
func (p *plane) api(flags map[string]string) *program {
	all := map[string]string{
		"secure-port":  "6443",
		"bind-address": p.plan.Lab.Machines.Bootstrap.Address, "etcd-servers": "https://localhost:2379",
		"etcd-cafile": p.path("tls/etcd-ca-bundle.crt"), "etcd-certfile": p.path("tls/etcd-client.crt"), "etcd-keyfile": p.path("tls/etcd-client.key"),
		"tls-cert-file": p.path("api.crt"), "tls-private-key-file": p.path("api.key"), "client-ca-file": p.path("tls/etcd-ca-bundle.crt"),
		"service-account-key-file": p.path("tokens.crt"), "service-account-signing-key-file": p.path("tokens.key"), "service-account-issuer": "https://kubernetes.default.svc",
		"service-cluster-ip-range": "172.30.0.0/16", "authorization-mode": "RBAC", "endpoint-reconciler-type": "none",
	}
	for name, value := range flags {
		all[name] = value
	}
	var args []string
	for name, value := range all {
		args = append(args, "--"+name+"="+value)
	}
	p.texts["static-pods"] = "-rw-r--r--. 1 root root 2902 2026-01-02 04:01:11.000000000 +0000 etcd-member-pod.yaml\n-rw-r--r--. 1 root root 4102 2026-01-02 04:03:00.000000000 +0000 kube-apiserver-pod.yaml\n"
	return p.start("kube-apiserver", args...)
}

// apiLeaf is what the API server's certificates are for, in one.
func (p *plane) apiLeaf() controlplane.Leaf {
	domain := p.plan.Lab.Domain()
	return controlplane.Leaf{Names: []string{"localhost", "127.0.0.1", "api." + domain, "api-int." + domain}}
}

func newAPIPlane(t *testing.T) *plane {
	p := newPlane(t)
	if err := p.network.AddAddress(p.plan.Lab.Machines.Bootstrap.Address); err != nil {
		t.Fatal(err)
	}
	p.trust("tls/kube-apiserver-localhost-ca-bundle.crt", p.signer)
	p.trust("tls/kube-apiserver-complete-server-ca-bundle.crt", p.signer)
	p.issue("api", p.signer, p.apiLeaf())
	p.issue("tokens", p.signer, controlplane.Leaf{})
	p.etcd().said(etcdServes)
	return p
}

func TestFaultsThatEndARealAPIServerAreProven(t *testing.T) {
	t.Parallel()
	p := newAPIPlane(t)
	p.trust("other-ca.crt", p.other)
	p.issue("stranger", p.other, controlplane.Leaf{})
	p.issue("ended", p.signer, controlplane.Leaf{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})
	cases := []struct {
		what, cause string
		flags       map[string]string
		r           *program
	}{
		{what: "unknown flag", cause: "api-flag", flags: map[string]string{"no-such-flag": "1"}},
		{what: "a key of another certificate", cause: "api-files", flags: map[string]string{"tls-private-key-file": p.path("tls/etcd-client.key")}},
		{what: "no certificate", cause: "api-files", flags: map[string]string{"tls-cert-file": p.path("nothing.crt")}},
		{what: "another CA for etcd", cause: "api-etcd-ca", flags: map[string]string{"etcd-cafile": p.path("other-ca.crt")}},
		{what: "a stranger to etcd", cause: "api-etcd-client", flags: map[string]string{"etcd-certfile": p.path("stranger.crt"), "etcd-keyfile": p.path("stranger.key")}},
		{what: "an ended client of etcd", cause: "api-etcd-client", flags: map[string]string{"etcd-certfile": p.path("ended.crt"), "etcd-keyfile": p.path("ended.key")}},
		{what: "etcd elsewhere", cause: "api-etcd-unreachable", flags: map[string]string{"etcd-servers": "https://127.0.0.2:12379"}},
	}
	// Those that miss their etcd take 20 s to end, so all are started at once.
	for i := range cases {
		cases[i].flags["secure-port"] = fmt.Sprint(16443 + i)
		cases[i].r = p.api(cases[i].flags)
	}
	for _, wrong := range cases {
		select {
		case <-wrong.r.ended:
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s does not end it:\n%s", wrong.what, wrong.r.text())
		}
		p.texts["kube-apiserver-log"] = strings.ReplaceAll(wrong.r.container("kube-apiserver"), ":12379", ":2379")
		p.wants(wrong.what, wrong.cause, "api")
	}
	taken := listens(t, p.network, "0.0.0.0:6443")
	r := p.api(nil)
	<-r.ended
	taken.Close()
	p.texts["kube-apiserver-log"] = r.container("kube-apiserver")
	p.wants("port taken", "api-port", "api")
}

func TestFaultsBetweenARealAPIServerAndItsNamesAreProven(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"haproxy", "dnsmasq", "dig", "socat", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			podman.Unavailable(t, "no "+program)
		}
	}
	p := newAPIPlane(t)
	gateway := p.plan.Lab.Machines.Gateway
	if err := p.network.AddAddress(gateway); err != nil {
		t.Fatal(err)
	}
	p.useNames(gateway)
	r := p.api(nil)
	// The load balancer listens in the same network on its own address, so the API
	// server must not listen on all: it gets localhost by a way of its own.
	p.start("socat", "TCP-LISTEN:6443,bind=127.0.0.1,reuseaddr,fork", "TCP:"+p.plan.Lab.Machines.Bootstrap.Address+":6443")
	dns := p.dns(gateway, gateway, "api", "api-int", "apps")
	balancer := p.balance("check-ssl verify none", p.plan.Lab.Machines.Bootstrap.Address)
	judge := func(what, cause string) {
		t.Helper()
		p.texts["kube-apiserver-log"] = r.container("kube-apiserver")
		p.wants(what, cause, "api", "names")
	}
	eventuallyWell(p, "api", "names")
	judge("well", "")

	// Its certificates are read again while it runs.
	shows := func(what, cause string, damage func()) {
		t.Helper()
		damage()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
			if c := p.judge("api").Cause; c != nil && c.ID == cause {
				break
			}
		}
		judge(what, cause)
	}
	shows("ended", "api-certificate-time", func() {
		l := p.apiLeaf()
		l.NotBefore, l.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
		p.issue("api", p.signer, l)
	})
	p.issue("tls/kube-apiserver-localhost-server", p.signer, controlplane.Leaf{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})
	judge("ended in tls", "api-certificate-ended")
	os.Remove(p.path("tls/kube-apiserver-localhost-server.crt"))
	p.trust("tls/kube-apiserver-localhost-ca-bundle.crt", p.other)
	p.issue("api", p.signer, p.apiLeaf())
	shows("another CA", "api-other-ca", func() {})
	p.trust("tls/kube-apiserver-localhost-ca-bundle.crt", p.signer)

	p.trust("tls/kube-apiserver-complete-server-ca-bundle.crt", p.other)
	judge("an issuer between", "names-intercepted")
	p.trust("tls/kube-apiserver-complete-server-ca-bundle.crt", p.signer)

	dns.stop()
	judge("no name server", "dns-no-server")
	dns = p.dns(gateway, gateway, "api", "apps")
	judge("no api-int", "dns-api-int-missing")
	dns.stop()
	dns = p.dns(gateway, gateway, "api-int", "apps")
	judge("no api", "dns-api-missing")
	dns.stop()
	dns = p.dns(gateway, "192.0.2.9", "api", "api-int", "apps")
	judge("names elsewhere", "dns-elsewhere")
	dns.stop()
	p.dns(gateway, gateway, "api", "api-int")
	if w := p.judge("api", "names").Warnings; len(w) != 1 || w[0].ID != "dns-apps" {
		t.Errorf("without apps it warns of %+v", w)
	}

	balancer.stop()
	judge("balancer off", "balancer-off")
	balancer = p.balance("", p.plan.Lab.Machines.Bootstrap.Address)
	judge("HTTP on TLS", "balancer-http-on-tls")
	socket := p.path("work/vms/haproxy.sock")
	if err := os.Rename(socket, socket+".away"); err != nil {
		t.Fatal(err)
	}
	judge("HTTP on TLS, by the file", "balancer-http-on-tls-config")
	balancer.stop()
	balancer = p.balance("check-ssl verify none", "192.0.2.7")
	judge("other backends", "balancer-other-backends")
	balancer.stop()
}

// useNames lets the node ask a name server in its network, and no other.
func (p *plane) useNames(server string) {
	p.write("resolv.conf", "nameserver "+server+"\noptions timeout:1 attempts:1\n")
	p.write("nsswitch.conf", "hosts: dns\n")
	h := inside{network: p.network, name: "bootstrap", files: map[string]string{"/etc/resolv.conf": p.path("resolv.conf"), "/etc/nsswitch.conf": p.path("nsswitch.conf")}}
	p.hosts.Here, p.hosts.Bootstrap = h, h
}

// dns starts a real dnsmasq for the names of the lab.
func (p *plane) dns(at, address string, names ...string) *program {
	domain := p.plan.Lab.Domain()
	args := []string{"--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--bind-interfaces", "--user=root", "--pid-file=",
		"--listen-address=" + at, "--local=/" + domain + "/", "--log-facility=-"}
	for _, name := range names {
		if name == "apps" {
			args = append(args, "--address=/apps."+domain+"/"+address)
			continue
		}
		args = append(args, "--host-record="+name+"."+domain+","+address)
	}
	r := p.start("dnsmasq", args...)
	time.Sleep(500 * time.Millisecond)
	return r
}

// balance starts the lab's HAProxy on the gateway, with that check of its only
// server, and waits until it has checked it.
func (p *plane) balance(check, server string) *program {
	config := fmt.Sprintf("global\n  stats socket %s mode 600 level admin\ndefaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1m\n  timeout server 1m\n  timeout check 2s\n"+
		"frontend api\n  bind %s:6443\n  default_backend api\nbackend api\n  option httpchk\n  http-check send meth GET uri /readyz\n  http-check expect status 200\n"+
		"  server bootstrap %s:6443 check %s inter 300ms fall 2 rise 1\n", p.path("work/vms/haproxy.sock"), p.plan.Lab.Machines.Gateway, server, check)
	p.write("work/vms/haproxy.cfg", config)
	r := p.start("haproxy", "-db", "-f", p.path("work/vms/haproxy.cfg"))
	time.Sleep(2 * time.Second)
	return r
}
