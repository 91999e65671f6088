package mask

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// planted is a secret of a kind: the text, and the part of it that must not be
// seen.
type planted struct{ text, secret, kind string }

func pemKey(t testing.TB, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func gz(_ testing.TB, text string) string {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	io.WriteString(zip, text)
	zip.Close()
	return out.String()
}

// body is a line of a key that stands nowhere else.
func body(key string) string { return strings.Split(key, "\n")[1] }

func keys(t testing.TB) map[string]string {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := x509.MarshalECPrivateKey(curve)
	ecKey := pemKey(t, "EC PRIVATE KEY", ec, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(edwards)
	return map[string]string{
		"rsa": pemKey(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(small), nil),
		"ec":  ecKey, "pkcs8": pemKey(t, "PRIVATE KEY", pkcs8, err),
		"ssh":       pemKey(t, "OPENSSH PRIVATE KEY", append([]byte("openssh-key-v1\x00"), pkcs8...), nil),
		"encrypted": pemKey(t, "ENCRYPTED PRIVATE KEY", append([]byte{0}, pkcs8...), nil),
	}
}

const (
	jwt      = "eyJhbGciOiJSUzI1NiIsImtpZCI6IkFCQyJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"
	password = "Tr0ub4dor-and-3"
)

// secrets are planted ones of every kind and encoding.
func secrets(t testing.TB) map[string]planted {
	all := map[string]planted{
		"service account token":   {"token is " + jwt + " here", jwt, tokenKind},
		"oauth token":             {"sha256~AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-abcde", "AbCdEfGhIjKlMnOp", tokenKind},
		"bearer":                  {"curl -H 'Authorization: Bearer zaCELgL.0imfnc8mVLWwsAawjYr4Rx'", "0imfnc8m", authorization},
		"basic":                   {`Authorization: Basic ` + b64("admin:"+password), b64("admin:" + password), authorization},
		"bare bearer":             {"sent bearer AbCdEf0123456789 to it", "AbCdEf0123456789", tokenKind},
		"bootstrap token":         {"using token abcdef.0123456789abcdef now", "0123456789abcdef", tokenKind},
		"json token":              {`{"token":"q9w8e7","x":1}`, "q9w8e7", tokenKind},
		"json in json":            {`{"m":"{\"identitytoken\":\"q9w8e7\",\"y\":2}"}`, "q9w8e7", tokenKind},
		"json in json in json":    {`{"m":"{\"n\":\"{\\\"password\\\":\\\"q9w8e7\\\"}\"}"}`, "q9w8e7", passwordKind},
		"kubeconfig token":        {"users:\n- name: a\n  user:\n    token: plainword\n", "plainword", tokenKind},
		"kubeconfig key":          {"    client-key-data: " + b64("key of a client") + "\n", b64("key of a client"), privateKey},
		"kubeconfig password":     {"    password: 'with blank and more'\n", "with blank", passwordKind},
		"yaml block":              {"password: |-\n  lines-of-it\nnext: 1\n", "lines-of-it", passwordKind},
		"option":                  {"run --registry-password=opensesame --x", "opensesame", passwordKind},
		"variable":                {"export OS_PASSWORD=opensesame\n", "opensesame", passwordKind},
		"journal":                 {"Nov 21 12:00:00 host bootkube.sh[77]: password: opensesame\n", "opensesame", passwordKind},
		"url":                     {"clone https://me:opensesame@example.com/x", "opensesame", passwordKind},
		"proxy":                   {`"httpProxy":"http://user:p%40ss@proxy:3128"`, "p%40ss", passwordKind},
		"url token":               {"https://ghp_0123456789abcdefghijABCDEFGHIJ@github.com/x", "0123456789abcdefghij", tokenKind},
		"kubeadmin":               {`Login with "kubeadmin", and AbCdE-fGhIj-23456-kLmNo`, "fGhIj", passwordKind},
		"bcrypt":                  {"admin:$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234\n", "ABCDEFGHIJKL", passwordHash},
		"shadow":                  {"root:$6$saltsalt$abcdefghijklmnopqrstuvwxyzABCDEFGHIJ:19000:0:::", "abcdefghijklmn", passwordHash},
		"yescrypt":                {"core:$y$j9T$saltsaltsalt$abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG:1", "abcdefghijklmn", passwordHash},
		"apache":                  {"admin:$apr1$salt$abcdefghijklmnopqrstuv\n", "abcdefghijklmn", passwordHash},
		"sha":                     {"admin:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n", "W6ph5Mm5", passwordHash},
		"pull secret":             {`{"auths":{"quay.io":{"auth":"` + b64("u:"+password) + `","email":"me@example.com"},"r:5000/x":{"password":"short"}}}`, b64("u:" + password), loginKind},
		"pull secret, mail":       {`{"auths":{"quay.io":{"email":"me@example.com"}}}`, "me@example.com", loginKind},
		"pull secret in a string": {`{"a":"{\"auths\":{\"quay.io\":{\"auth\":\"dTpw\"}}}"}`, "dTpw", loginKind},
		"old docker file":         {`{"quay.io":{"auth":"dTpw"}}`, "dTpw", loginKind},
		"secret, data before":     {`{"apiVersion":"v1","data":{"a":"c2hvcnQ=","b":""},"kind":"Secret"}`, "c2hvcnQ=", secretKind},
		"secret, data behind":     {`{"kind": "Secret", "metadata": {"name": "x", "labels": {"kind": "y"}}, "stringData": {"a": "so { \" short"}}`, "short", secretKind},
		"secret in a list":        {`{"items":[{"data":{"a":"public"},"kind":"ConfigMap"},{"data":{"a":"c2hvcnQ="},"kind":"Secret"}],"kind":"List"}`, "c2hvcnQ=", secretKind},
		"secret in an annotation": {`{"metadata":{"annotations":{"last":"{\"data\":{\"a\":\"c2hvcnQ=\"},\"kind\":\"Secret\"}\n"}}}`, "c2hvcnQ=", secretKind},
		"secret, end torn":        {`{"kind":"Secret","data":{"a":"c2hvcnQ=","b":"c2hv`, "c2hv", secretKind},
		"secret, begin torn":      {`Secrets, "data":{"a":"c2hvcnQ="}},{"kind":"Pod"}`, "c2hvcnQ=", secretKind},
		"yaml secret":             {"apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  a: c2hvcnQ=\n  b: |\n    more\n    of it: c2hvcnQ=\ntype: Opaque\n", "c2hvcnQ=", secretKind},
		"yaml secret, data first": {"data:\n  a: c2hvcnQ=\nkind: Secret\n", "c2hvcnQ=", secretKind},
		"yaml secret, flow":       {"data: {a: c2hvcnQ=, b: eA==}\nkind: Secret\n", "c2hvcnQ=", secretKind},
		"yaml secret in a list":   {"items:\n- apiVersion: v1\n  stringData:\n    a: short\n  kind: Secret\n- kind: Pod\n", "a: short", secretKind},
		"own":                     {"x" + password + "y", password, ownKind},
		"own in base64":           {"zz" + b64("user:"+password+"!"), b64("user:" + password + "!")[8:20], ownKind},
		"own in a URL":            {url.QueryEscape("own&secret/1"), "own%26secret", ownKind},
		"own in JSON":             {`"own&secret\/1 and own\u0026secret/1"`, `own\u0026secret`, ownKind},
	}
	random := make([]byte, 600)
	rand.Read(random)
	noise := fmt.Sprintf("%x\n", random)
	for name, key := range keys(t) {
		quoted, _ := json.Marshal(key)
		twice, _ := json.Marshal(string(quoted))
		ignition := `{"contents":{"source":"data:,` + url.PathEscape(key) + `"}}`
		journal := "Nov 21 host x[1]: " + strings.ReplaceAll(key, "\n", "\nNov 21 host x[1]: ") + "end\n"
		all["key "+name] = planted{"before\n" + key + "after\n", body(key), privateKey}
		all["key in JSON "+name] = planted{string(quoted), body(key), privateKey}
		all["key in JSON in JSON "+name] = planted{string(twice), body(key), privateKey}
		all["key in a journal "+name] = planted{journal, body(key), privateKey}
		all["key in Ignition "+name] = planted{ignition, strings.ReplaceAll(body(key)[:16], "/", "%2F"), privateKey}
		all["key, indented "+name] = planted{"tls.key: |\n    " + strings.ReplaceAll(key, "\n", "\n    "), body(key), privateKey}
		all["key, end torn "+name] = planted{key[:len(key)-len(key)/3], body(key)[:20], privateKey}
		all["key, begin torn "+name] = planted{key[40:], strings.Split(key[40:], "\n")[0], privateKey}
		all["key, in a journal, end torn "+name] = planted{journal[:len(journal)*2/3], body(key), privateKey}
		all["key in base64 "+name] = planted{"key: " + b64(key), b64(key)[:40], privateKey}
		all["key in base64 in lines "+name] = planted{"key: |\n  " + inLines(b64(key), 76, "\n  ") + "\n", b64(key)[:40], privateKey}
		all["key in base64 in JSON lines "+name] = planted{`"` + inLines(b64(key), 64, `\n`) + `"`, b64(key)[:40], privateKey}
		all["key in base64 twice "+name] = planted{b64("data: " + b64(key)), b64("data: " + b64(key))[:40], privateKey}
		all["key in base64, begin torn "+name] = planted{b64(key)[7:], b64(key)[50:90], privateKey}
		all["key behind a path "+name] = planted{"/etc/x/" + b64(key), b64(key)[:40], privateKey}
		all["key packed "+name] = planted{"data:;base64," + b64(gz(t, `{"tls.key":"`+b64(key)+`"}`)), b64(gz(t, `{"tls.key":"`+b64(key)+`"}`))[20:60], privateKey}
		packed := b64(gz(t, noise+key))
		all["key packed, end torn "+name] = planted{packed[:len(noise)/2], packed[100:150], packedKind}
		all["Ignition in Ignition "+name] = planted{`"data:text/plain;charset=utf-8;base64,` + b64(ignition) + `"`, b64(ignition)[:40], privateKey}
	}
	return all
}

func inLines(text string, n int, gap string) string {
	var lines []string
	for len(text) > n {
		lines, text = append(lines, text[:n]), text[n:]
	}
	return strings.Join(append(lines, text), gap)
}

func newTestMasker() *Masker {
	return New([]byte(password), []byte("own&secret/1"), []byte("short"))
}

func TestNoSecretIsLeft(t *testing.T) {
	for name, p := range secrets(t) {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(p.text, p.secret) {
				t.Fatalf("%q is not in %q", p.secret, p.text)
			}
			for around, text := range map[string]string{"alone": p.text, "in a text": "first line: 1\n" + p.text + "\nlast line: 2\n"} {
				if strings.Contains(name, "torn") && around != "alone" {
					continue
				}
				m := newTestMasker()
				got := string(m.Bytes([]byte(text)))
				if strings.Contains(got, p.secret) {
					t.Errorf("%s: %q is left in %q", around, p.secret, got)
				}
				if !strings.Contains(got, mark(p.kind)) {
					t.Errorf("%s: no mark %s in %q", around, mark(p.kind), got)
				}
				if around != "alone" && (!strings.HasPrefix(got, "first line: 1\n") || !strings.HasSuffix(got, "\nlast line: 2\n")) {
					t.Errorf("the text around is gone: %q", got)
				}
				if again := string(newTestMasker().Bytes([]byte(got))); again != got {
					t.Errorf("masked again it is %q, not %q", again, got)
				}
				if json.Valid([]byte(p.text)) && around == "alone" && !json.Valid([]byte(got)) {
					t.Errorf("no JSON any more: %q", got)
				}
			}
		})
	}
}

// What a diagnosis needs is not secret, and must stay as it is.
func TestWhatIsNotSecretStays(t *testing.T) {
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bytes.Repeat([]byte{0x30, 0x82, 7, 99}, 200)}))
	for _, text := range []string{
		"", "\n", "plain\n", certificate, b64(certificate),
		`{"spec":{"request":"` + b64(strings.ReplaceAll(certificate, "CERTIFICATE", "CERTIFICATE REQUEST")) + `"}}`,
		"error: unable to retrieve auth token: invalid username/password: unauthorized: Access denied",
		"error obtaining token: x509: certificate signed by unknown authority",
		"bearer token is missing", "Authorization: forbidden for system:anonymous",
		"reading manifest sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef in quay.io/openshift/okd",
		"docker://quay.io/openshift/okd@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"docker://registry.example.com:5000/okd@sha256:0123", "dial tcp 192.168.126.10:6443: connect: connection refused",
		`open /root/.docker/config.json: no such file or directory: pull-secret`,
		`{"automountServiceAccountToken":true,"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}`,
		"automountServiceAccountToken: true\npassword: null\ntoken:\n  path: token\n",
		`{"message":"cannot get token: ","reason":"x"}`, `{"message":"no token: \"","reason":"x"}`,
		`{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"Secret"}}`,
		"kind: ConfigMap\ndata:\n  kind: a Secret\n  a: b\n---\nkind: Secret\nmetadata:\n  name: data\n",
		"items:\n- kind: Secret\n  metadata: {}\n- kind: ConfigMap\n  data:\n    a: public\n",
		"master-0.mylab.example.com kube-apiserver-to-kubelet-signer openshift-kube-apiserver-operator",
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----\n",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4Y core@example", "f 600 1679 2026-01-02T03:04:05 tls/kube-apiserver-lb-signer.key",
		"f 644 12 2026-01-02T03:04:05 01234-56789", "events: abcdef.openshiftexample1.com",
		"sudo: core : PWD=/opt/openshift ; USER=root", "super-fancy-horse-cable", "12:00:00 http://localhost:6443/healthz?x=1%202", "a%20b%2520c 100% sure",
		"https://user@host/x", "etcd-0123456789abcdef0123456789abcdef.log",
	} {
		if got := string(newTestMasker().Bytes([]byte(text))); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A window in any place gives the same.
func TestAStreamIsMaskedLikeAText(t *testing.T) {
	var text strings.Builder
	all := secrets(t)
	for name, p := range all {
		if strings.Contains(name, "torn") {
			continue
		}
		fmt.Fprintf(&text, "line of %s\n%s\nand more\n%s\n", name, p.text, strings.Repeat("harmless words in a line\n", 40))
	}
	for _, size := range []int{24 << 10, 25<<10 + 7, 40 << 10} {
		var out bytes.Buffer
		if err := newTestMasker().copy(&out, io.MultiReader(strings.NewReader(text.String())), size, 12<<10); err != nil {
			t.Fatal(err)
		}
		for name, p := range all {
			if !strings.Contains(name, "torn") && strings.Contains(out.String(), p.secret) {
				t.Errorf("window of %d: %s: %q is left", size, name, p.secret)
			}
		}
		if n := strings.Count(out.String(), "harmless words in a line"); n != strings.Count(text.String(), "harmless words in a line") {
			t.Errorf("window of %d: %d harmless lines are left", size, n)
		}
	}
}

// What is longer than the window, and is found to be secret at its beginning, is
// masked to its end.
func TestASecretLongerThanTheWindow(t *testing.T) {
	random := make([]byte, 100<<10)
	rand.Read(random)
	noise := fmt.Sprintf("%x", random)
	for name, text := range map[string]string{
		"packed": b64(gz(t, noise+keys(t)["rsa"])), "in base64": b64(keys(t)["rsa"] + noise),
	} {
		var out bytes.Buffer
		m := newTestMasker()
		if err := m.copy(&out, strings.NewReader("before "+text+" behind"), 8<<10, 2<<10); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); len(got) > 200 || !strings.HasPrefix(got, "before <masked:") || !strings.HasSuffix(got, " behind") {
			t.Errorf("%s: %d bytes are left: %.300q", name, len(got), got)
		}
	}
}

// Texts that are cut in two and put together end, in any window.
func TestAnyTextEnds(t *testing.T) {
	all := secrets(t)
	var seeds []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		seeds = append(seeds, all[name].text)
	}
	random := mathrand.New(mathrand.NewSource(1))
	for range 2000 {
		a, b := seeds[random.Intn(len(seeds))], seeds[random.Intn(len(seeds))]
		text := []byte(a[:random.Intn(len(a)+1)] + b[random.Intn(len(b)+1):])
		for range min(random.Intn(10), len(text)) {
			text[random.Intn(len(text))] = "\"\\{}:,\n= -%<'\x00"[random.Intn(14)]
		}
		newTestMasker().Bytes(text)
		if err := newTestMasker().copy(io.Discard, bytes.NewReader(text), 512, 256); err != nil {
			t.Fatal(err)
		}
	}
}

// endless gives a line that does not end.
type endless struct {
	c    byte
	left int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for i := range p[:n] {
		p[i] = e.c
	}
	e.left -= n
	return int(n), nil
}

func TestALongLineTakesOneWindow(t *testing.T) {
	const size = 12 << 20
	key := keys(t)["rsa"]
	for _, c := range []byte{'A', ' '} {
		m := newTestMasker()
		var out counting
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := m.copy(&out, io.MultiReader(&endless{c, size}, strings.NewReader(key), &endless{c, size / 4}), 1<<20, 256<<10)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if m.Counts()[privateKey] == 0 || out.found {
			t.Errorf("a key behind %d MiB of %q was passed over: %v", size>>20, c, m.Counts())
		}
		if held := int64(after.HeapSys) - int64(before.HeapSys); held > 16<<20 {
			t.Errorf("%d MiB were taken for a line of %d MiB", held>>20, size>>20)
		}
	}
}

// What is made to be read again and again is not shown at all.
func TestATangledTextEnds(t *testing.T) {
	for _, text := range []string{strings.Repeat(`"data":{`, 10000), strings.Repeat("kind: Secret\n", 10000), strings.Repeat(`"kind":"Secret","data":{"a":"b"},`, 13333), strings.Repeat(`{"auths":{`, 10000), strings.Repeat("%20", 33333), strings.Repeat("- kind: Secret\n", 6666)} {
		newTestMasker().Bytes([]byte("Secret" + text))
	}
}

// counting throws away what is written, but for looking for a key.
type counting struct{ found bool }

func (c *counting) Write(p []byte) (int, error) {
	c.found = c.found || bytes.Contains(p, []byte("PRIVATE KEY"))
	return len(p), nil
}

func FuzzMask(f *testing.F) {
	for _, p := range secrets(f) {
		f.Add([]byte(p.text))
	}
	key := "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIN1vSHXXMmIl1qrq0ABBAAZIxkOwcwg6N5aUbOPnQzHm\n-----END EC PRIVATE KEY-----\n"
	f.Fuzz(func(t *testing.T, text []byte) {
		m := newTestMasker()
		got := m.Bytes(text)
		var out bytes.Buffer
		if err := newTestMasker().copy(&out, bytes.NewReader(text), 512, 256); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(got, []byte(password)) {
			t.Errorf("%q is left in %q", password, got)
		}
		with := m.Bytes([]byte(string(text) + "\n\n" + key))
		if bytes.Contains(with, []byte("MHcCAQEEIN1vSHXXMmIl1qrq0ABBAAZIxkOwcwg6N5aUbOPnQzHm")) {
			t.Errorf("the key is left in %q", with)
		}
	})
}
