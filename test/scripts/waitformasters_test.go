package scripts

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// lookInside is what wait-for-masters.sh runs on a master.
const lookInside = "test -e /etc/ignition-machine-config-encapsulated.json && echo -n first-boot-; systemctl is-active kubelet.service"

// withCrictl puts a crictl into /root/bin of the node that knows the questions
// of wait-for-masters.sh and no other, with the log of a Machine Config Server.
func (l *Lab) withCrictl(t *testing.T, log string) {
	t.Helper()
	dir := l.Asset("/root/bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := `#!/bin/bash
case "$*" in
  'ps --all --quiet --name ^machine-config-server$') [[ ! -s /root/bin/log ]] || echo 0123456789abc ;;
  'logs 0123456789abc') cat /root/bin/log >&2 ;;
  *) echo "unknown to this crictl: $*" >&2; exit 1 ;;
esac
`
	for name, content := range map[string]string{"crictl": text, "log": log} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatAMasterDoesBeforeItAsksIsSeenThroughSSH(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh"); err != nil {
		podman.Unavailable(t, "no ssh on this machine")
	}
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	key, public := newSSHKey(t)
	_, stranger := newSSHKey(t)
	master := startSSH(t, c, addressOf(t, l, "master-0"), lookInside, public)
	startSSH(t, c, addressOf(t, l, "master-1"), lookInside, stranger)
	agent := startSSHAgent(t, l.Env.Account, key)
	gateway := l.gateway(t)
	l.withCrictl(t, strings.Join([]string{
		`I1121 10:00:00.000000       1 api.go:126] Pool "master" requested by address:"` + gateway + `:40000" User-Agent:"Ignition/2.18.0" Accept-Header: "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"`,
		`I1121 10:00:01.000000       1 api.go:126] Pool "master" requested by address:"` + gateway + `:40001" User-Agent:"Ignition/2.18.0" Accept-Header: ""`,
		`I1121 10:00:02.000000       1 api.go:115] Pool master requested by address:"` + addressOf(t, l, "master-2") + `:40002" User-Agent:"Ignition/2.15.0" Accept-Header: ""`,
		`I1121 10:00:03.000000       1 api.go:126] Pool "worker" requested by address:"192.0.2.1:40002" User-Agent:"x requested by address:" Accept-Header: ""`,
	}, "\n")+"\n")
	variables := []string{"PATH=/root/bin:" + c.Bin + ":" + podman.SystemPath, "SSH_AUTH_SOCK=" + agent}
	look := func() Result { return l.RunWith(t, variables, "wait-for-masters.sh", "--timeout=1") }

	for answer, says := range map[string]string{
		"first-boot-inactive\n":                "master-0: first boot; next: it pulls the OS image",
		"activating\n":                         "master-0: second boot, its kubelet is activating; next: it waits for its host name",
		"active\n":                             "master-0: second boot, its kubelet runs; next: it asks for its client certificate",
		"active\x1b[31m$(touch /root/touched)": "master-0: ssh says active[31m$(touch /root/touched)",
	} {
		master.say(answer)
		r := look()
		r.Want(t, 1, says, "master-1: ssh login fails: ", "Permission denied", "master-2: nothing on port 22",
			"asked for 2 times from "+gateway+", the load balancer", "asked for 1 times from "+addressOf(t, l, "master-2")+"\n",
			"cause: Your ssh agent does not have the key")
		if strings.Contains(r.All, "without crictl") || strings.Contains(r.All, "without an SSH agent") || strings.Contains(r.All, "192.0.2.1") {
			t.Errorf("it says\n%s", r.All)
		}
		if found := control.FindString(r.All); found != "" {
			t.Errorf("the output holds %q", found)
		}
	}
	if _, err := os.Stat(l.Asset("/root/touched")); err == nil {
		t.Error("an answer was executed")
	}
	if _, err := os.Stat(l.Asset("/root/.ssh/known_hosts")); err == nil {
		t.Error("the machines' keys stand among root's own")
	}
	if known, err := os.ReadFile(l.Asset(".bootlab.known_hosts")); err != nil || strings.Count(string(known), "\n") != 2 {
		t.Errorf("known hosts %q, %v", known, err)
	}

	// Another machine at the address is not trusted.
	if err := os.WriteFile(l.Asset(".bootlab.known_hosts"), []byte(strings.ReplaceAll(string(mustRead(t, l.Asset(".bootlab.known_hosts"))), addressOf(t, l, "master-1"), addressOf(t, l, "master-0"))), 0o600); err != nil {
		t.Fatal(err)
	}
	l.onlyLine(t, ".bootlab.known_hosts", 1)
	look().Want(t, 1, "master-0: ssh login fails: ", "verification failed")

	// Without an agent, and without a Machine Config Server.
	l.withCrictl(t, "")
	r := l.RunWith(t, variables[:1], "wait-for-masters.sh", "--timeout=1")
	r.Want(t, 1, "without an SSH agent", "ssh -A", "no Machine Config Server runs on this node",
		"master-0: port 22 is open, so its configuration has arrived", "master-2: nothing on port 22")
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// onlyLine keeps one line of an asset.
func (l *Lab) onlyLine(t *testing.T, asset string, at int) {
	t.Helper()
	lines := strings.Split(string(mustRead(t, l.Asset(asset))), "\n")
	if err := os.WriteFile(l.Asset(asset), []byte(lines[at]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// gateway is the setting of a script that names the load balancer's address.
func (l *Lab) gateway(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^GATEWAY='([0-9.]+)'$`).FindSubmatch(mustRead(t, filepath.Join(l.Scripts(), "wait-for-masters.sh")))
	if m == nil {
		t.Fatal("wait-for-masters.sh has no GATEWAY")
	}
	return string(m[1])
}

// serveKubelet stands in for the kubelet's own server, with a certificate of the
// lab's signer; only who shows the API server's client certificate is answered.
func (l *Lab) serveKubelet(t *testing.T, c *controlplane.ControlPlane, name string) {
	t.Helper()
	address := addressOf(t, l, name)
	authority, err := controlplane.LoadAuthority(l.Asset("tls/kubelet-signer"))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(controlplane.Leaf{Subject: nodeSubject(name), Names: []string{name, address}, Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(mustRead(t, l.Asset("tls/kube-apiserver-to-kubelet-signer.crt")))
	listener, err := c.Network.Listen(address + ":10250")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/healthz" {
				http.NotFound(w, r)
				return
			}
			io.WriteString(w, "ok")
		}),
	}
	go server.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}))
	t.Cleanup(func() { server.Close() })
}
