package installer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"bootlab/standin/role"
)

// output is a file below --dir.
type output struct {
	name string
	data []byte
}

type object = map[string]any

// authority is a certificate that signs itself.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem, keyPEM []byte
}

// day is what the certificates of the bootstrap live that are renewed first.
const day = 24 * time.Hour

// certificate makes one, signed by signer, or by itself if that is nil.
func certificate(name string, life time.Duration, signer *authority, hosts ...string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{"openshift"}},
		NotBefore: now.Add(-day), NotAfter: now.Add(life), DNSNames: hosts,
		BasicConstraintsValid: true, IsCA: signer == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	a := &authority{key: key}
	parent, parentKey := template, key
	if signer != nil {
		parent, parentKey = signer.certificate, signer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, err
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyDER, err := x509.MarshalECPrivateKey(key)
	a.keyPEM = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return a, err
}

// tree is what goes into bootstrap.ign.
type tree struct {
	files []any
	state object
}

func dataURL(data []byte) string {
	return "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(data)
}

func (t *tree) add(path string, mode int, data []byte) {
	t.files = append(t.files, object{"overwrite": true, "path": path, "user": object{"name": "root"}, "mode": mode,
		"contents": object{"source": dataURL(data), "verification": object{}}})
	t.state[path] = data
}

// makeAll makes all that create ignition-configs writes.
func makeAll(b role.Installer, c *installConfig, image string) ([]output, error) {
	domain := c.Metadata.Name + "." + c.BaseDomain
	t := &tree{state: object{}}
	root, err := t.keys(b, domain)
	if err != nil {
		return nil, err
	}
	t.scripts(image)
	t.manifests(b, domain, c)
	other := root
	if b.Fault == "other-ca" {
		if other, err = certificate("root-ca", 10*365*day, nil); err != nil {
			return nil, err
		}
	}
	version := "3.2.0"
	if b.Fault == "newer-spec" {
		version = "3.4.0"
	}
	bootstrap := object{"ignition": object{"version": version}, "passwd": object{"users": []any{
		object{"name": "core", "sshAuthorizedKeys": []string{c.SSHKey, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDummyDummyDummyDummyDummyDummyDummyDummyDummy installer"}}}},
		"storage": object{"files": t.files}, "systemd": object{"units": units}}
	var out []output
	add := func(name string, v any) {
		data, ok := v.([]byte)
		if !ok {
			data, err = json.Marshal(v)
		}
		out = append(out, output{name, data})
	}
	add("auth/kubeadmin-password", []byte("abcde-fghij-klmno-pqrst"))
	add("auth/kubeconfig", kubeconfig("api."+domain))
	add("bootstrap.ign", bootstrap)
	add("master.ign", pointer(version, domain, "master", root.pem))
	add("worker.ign", pointer(version, domain, "worker", other.pem))
	add("metadata.json", object{"clusterName": c.Metadata.Name, "clusterID": "00000000-0000-4000-8000-000000000000", "infraID": c.Metadata.Name + "-abcde"})
	add(".openshift_install_state.json", t.state)
	return out, err
}

func kubeconfig(host string) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nclusters:\n- cluster:\n    server: https://%s:6443\n  name: lab\nkind: Config\n", host)
}

func pointer(version, domain, role string, ca []byte) object {
	return object{"ignition": object{"config": object{"merge": []any{object{"source": "https://api-int." + domain + ":22623/config/" + role}}},
		"security": object{"tls": object{"certificateAuthorities": []any{object{"source": dataURL(ca)}}}}, "version": version}}
}

// keys are the certificates of the installer, by their names.
func (t *tree) keys(b role.Installer, domain string) (root *authority, err error) {
	life := day
	if b.Fault == "expired" {
		life = -time.Hour
	}
	for _, name := range []string{"root-ca", "kubelet-signer", "aggregator-signer", "kube-apiserver-lb-signer", "kube-apiserver-localhost-signer"} {
		its := 10 * 365 * day
		if name == "kubelet-signer" || name == "aggregator-signer" {
			its = life
		}
		a, err := certificate(name, its, nil)
		if err != nil {
			return nil, err
		}
		mode := 0o600
		if name == "root-ca" {
			root, mode = a, 0o644
		} else {
			t.add("/opt/openshift/tls/"+name+".key", 0o600, a.keyPEM)
		}
		t.add("/opt/openshift/tls/"+name+".crt", mode, a.pem)
		leaf := map[string]string{"kube-apiserver-lb-signer": "kube-apiserver-lb-server", "kube-apiserver-localhost-signer": "kube-apiserver-localhost-server"}[name]
		if leaf == "" {
			continue
		}
		l, err := certificate(leaf, life, a, "api."+domain)
		if err != nil {
			return nil, err
		}
		t.add("/opt/openshift/tls/"+leaf+".crt", 0o600, l.pem)
		t.add("/opt/openshift/tls/"+leaf+".key", 0o600, l.keyPEM)
	}
	return root, nil
}

// scripts are two of those that the node runs.
func (t *tree) scripts(image string) {
	t.add("/usr/local/bin/release-image-download.sh", 0o555, []byte("#!/usr/bin/env bash\n\nRELEASE_IMAGE="+image+"\n\necho \"Pulling $RELEASE_IMAGE...\"\n"))
	t.add("/usr/local/bin/bootkube.sh", 0o555, []byte("#!/usr/bin/env bash\necho stand-in\n"))
}

// manifests are made of what no compression makes small, so that the file has
// the size of a real one.
func (t *tree) manifests(b role.Installer, domain string, c *installConfig) {
	t.add("/opt/openshift/auth/kubeconfig", 0o600, kubeconfig("api-int."+domain))
	t.add("/opt/openshift/auth/kubeconfig-loopback", 0o600, kubeconfig("localhost"))
	t.add("/root/.docker/config.json", 0o600, []byte(c.PullSecret))
	size := 90_000
	if b.Fault == "large" {
		size = 400_000
	}
	noise := make([]byte, size)
	rand.Read(noise)
	t.add("/opt/openshift/manifests/stand-in.yaml", 0o644, []byte("noise: "+hex.EncodeToString(noise)+"\n"))
}

// units are those of the installer that the lab holds back, as they are in 4.14
// to main.
var units = []any{
	object{"name": "bootkube.service", "contents": "[Unit]\nDescription=Bootstrap a Kubernetes cluster\nRequires=crio-configure.service\nWants=kubelet.service\nAfter=kubelet.service crio-configure.service\nConditionPathExists=!/opt/openshift/.bootkube.done\n\n[Service]\nWorkingDirectory=/opt/openshift\nExecStart=/usr/local/bin/bootkube.sh\n\nRestart=on-failure\nRestartSec=5s\n"},
	object{"name": "approve-csr.service", "enabled": true, "contents": "[Unit]\nDescription=Approve CSRs during bootstrap phase\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/usr/local/bin/approve-csr.sh /opt/openshift/auth/kubeconfig-loopback\n\nRestart=on-failure\nRestartSec=5s\n\n[Install]\nWantedBy=multi-user.target\n"},
	object{"name": "progress.service", "enabled": true, "contents": "[Unit]\nDescription=Report the completion of the cluster bootstrap process\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/usr/local/bin/report-progress.sh /opt/openshift/auth/kubeconfig\n\nRestart=on-failure\nRestartSec=5s\n\n[Install]\nWantedBy=multi-user.target\n"},
}
