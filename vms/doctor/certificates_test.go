package doctor

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

// certificateUntil is a certificate as PEM.
func certificateUntil(t *testing.T, end time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-24 * time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// ignitionWith is an Ignition file with these files in it.
func ignitionWith(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var list []any
	for path, data := range files {
		list = append(list, map[string]any{"path": path, "contents": map[string]any{"source": "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(data)}})
	}
	text, err := json.Marshal(map[string]any{"ignition": map[string]any{"version": "3.2.0"}, "storage": map[string]any{"files": list}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// mergedInto is an Ignition file that names another, packed.
func mergedInto(t *testing.T, config []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(config)
	z.Close()
	text, err := json.Marshal(map[string]any{"ignition": map[string]any{"version": "3.2.0", "config": map[string]any{"merge": []any{
		map[string]any{"source": "https://api-int.example.test:22623/config/master"},
		map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), "compression": "gzip"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheFirstCertificateToEndIsFoundInAnIgnitionFile(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	config := ignitionWith(t, map[string][]byte{
		"/opt/openshift/tls/root-ca.crt":                certificateUntil(t, now.Add(10*365*24*time.Hour)),
		"/opt/openshift/tls/kubelet-client.crt":         append(certificateUntil(t, now.Add(48*time.Hour)), certificateUntil(t, now.Add(20*time.Hour))...),
		"/opt/openshift/tls/kubelet-client.key":         []byte("-----BEGIN"),
		"/etc/pki/ca-trust/source/anchors/ca.crt":       certificateUntil(t, now.Add(time.Hour)),
		"/opt/openshift/tls/empty.crt":                  nil,
		"/opt/openshift/tls/deeper/kubelet-another.crt": certificateUntil(t, now.Add(time.Hour)),
	})
	for depth := range deepest {
		name, end, err := FirstToEnd(config)
		if err != nil || name != "kubelet-client.crt" || !end.Equal(now.Add(20*time.Hour)) {
			t.Errorf("%d deep: %s %s %v", depth, name, end, err)
		}
		config = mergedInto(t, config)
	}
	if _, _, err := FirstToEnd(config); err == nil {
		t.Error("no bound")
	}
	for _, text := range []string{"", "[]", "{}", `{"ignition": {"config": {"merge": [{"source": "data:;base64,%%%"}]}}}`, `{"ignition": {"config": {"merge": [{"source": "data:,x", "compression": "gzip"}]}}}`, `{"storage": {"files": [{"path": "/opt/openshift/tls/a.crt", "contents": {"source": "data:nothing"}}]}}`} {
		if name, _, err := FirstToEnd([]byte(text)); err == nil {
			t.Errorf("%s: %s", text, name)
		}
	}
	if _, _, err := FirstToEnd([]byte(strings.Replace(string(config), "gzip", "none", 1))); err == nil {
		t.Error("packed data is read as a config")
	}
}
