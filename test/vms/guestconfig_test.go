//go:build cgo && libvirt_dlopen

package vms

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// object is a piece of JSON.
type object = map[string]any

// authority is a CA and what it has signed.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	a.certificate, a.key, a.pem = sign(t, template, nil)
	return a
}

// server signs a server's certificate, and gives both halves in PEM.
func (a *authority) server(t *testing.T, host string) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "system:machine-config-server"}, DNSNames: []string{host},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	_, private, certificate := sign(t, template, a)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// sign makes a key and a certificate for it; without a CA it signs itself.
func sign(t *testing.T, template *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = &authority{certificate: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func dataURL(data []byte) string {
	return "data:;base64," + base64.StdEncoding.EncodeToString(data)
}

func configFile(path string, mode int, data []byte) object {
	return object{"path": path, "mode": mode, "overwrite": true, "contents": object{"source": dataURL(data)}}
}

// config is an Ignition config of files and units.
func config(t *testing.T, files []any, units map[string]string) []byte {
	t.Helper()
	var all []any
	for name, text := range units {
		all = append(all, object{"name": name, "contents": text, "enabled": strings.Contains(text, "[Install]")})
	}
	return asJSON(t, object{"ignition": object{"version": "3.2.0"}, "storage": object{"files": files}, "systemd": object{"units": all}})
}

func asJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// merged is a config that merges others, compressed and with their hashes, as
// make-ignition.sh writes bootstrap.ign.
func merged(t *testing.T, configs ...[]byte) []byte {
	t.Helper()
	var all []any
	for _, c := range configs {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(c); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		all = append(all, object{"source": dataURL(b.Bytes()), "compression": "gzip", "verification": object{"hash": hashOf(c)}})
	}
	return asJSON(t, object{"ignition": object{"version": "3.2.0", "config": object{"merge": all}}})
}

func hashOf(data []byte) string { return fmt.Sprintf("sha512-%x", sha512.Sum512(data)) }

// pointer is what openshift-install writes for masters: where their config is,
// and whose certificate to trust.
func pointer(t *testing.T, url string, ca *authority) []byte {
	t.Helper()
	return asJSON(t, object{"ignition": object{"version": "3.2.0",
		"config":   object{"merge": []any{object{"source": url}}},
		"security": object{"tls": object{"certificateAuthorities": []any{object{"source": dataURL(ca.pem)}}}}}})
}

// Units as the installer has them on the bootstrap node, in 4.14 to main, but
// for services that the guest has not. What they run is the test's.
var bootstrapUnits = map[string]string{
	"bootkube.service":    "[Unit]\nDescription=Bootstrap a Kubernetes cluster\nConditionPathExists=!/opt/openshift/.bootkube.done\n\n[Service]\nWorkingDirectory=/opt/openshift\nExecStart=/usr/local/bin/bootkube.sh\n\nRestart=on-failure\nRestartSec=5s\n",
	"approve-csr.service": "[Unit]\nDescription=Approve CSRs during bootstrap phase\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/usr/bin/touch /run/csrs-approved\n\n[Install]\nWantedBy=multi-user.target\n",
	"progress.service":    "[Unit]\nDescription=Report the completion of the cluster bootstrap process\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/usr/bin/touch /run/progress-reported\n\n[Install]\nWantedBy=multi-user.target\n",
	"nodeserver.service":  "[Unit]\nAfter=network-online.target\n\n[Service]\nExecStart=/usr/local/bin/nodeserver\nRestart=on-failure\n\n[Install]\nWantedBy=multi-user.target\n",
}

// standInBootkube says that it ran, and stays, as bootkube.sh stays for long.
const standInBootkube = "#!/bin/bash\ntouch /run/bootkube-ran\nsleep infinity\n"

// bootstrapConfig is the part of bootstrap.ign that the installer would write.
// The program is fetched, for the firmware is no way for megabytes.
func bootstrapConfig(t *testing.T, ca *authority, domain string, program object, master []byte) []byte {
	t.Helper()
	certificate, key := ca.server(t, "api-int."+domain)
	program["path"], program["mode"] = "/usr/local/bin/nodeserver", 0o755
	return config(t, []any{
		configFile("/opt/openshift/manifests/first.yaml", 0o644, []byte("kind: Namespace\n")),
		// The lab whose scripts run here.
		configFile("/opt/openshift/manifests/cluster-dns-02-config.yml", 0o644, []byte("spec:\n  baseDomain: "+domain+"\n")),
		configFile("/usr/local/bin/bootkube.sh", 0o755, []byte(standInBootkube)),
		configFile("/etc/nodeserver/tls.crt", 0o644, certificate),
		configFile("/etc/nodeserver/tls.key", 0o600, key),
		configFile("/etc/nodeserver/master.ign", 0o600, master),
		program,
	}, bootstrapUnits)
}
