package gather

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/mask"
)

const jwt = "eyJhbGciOiJSUzI1NiIsImtpZCI6IkFCQyJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func gz(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	io.WriteString(zip, text)
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Whatever is JSON stays it, in evidence of any form and in extras.
func TestAnyJSONStaysJSON(t *testing.T) {
	text := `{"args":["--token=abc\"def","x"],"msg":"password: 'it","password":12345678,"env":[{"name":"DB_PASSWORD","value":"swordfish"}],"n":1}`
	g := &gathering{ctx: t.Context(), b: &Bundle{files: map[string][]byte{}}, m: mask.New()}
	g.extra(host.Found{Evidence: &labs.Evidence{Run: "x", File: "resources"}, Had: true, Text: []byte(framed(t, "a.json", text))})
	for name, got := range map[string][]byte{"extra": g.b.files["resources/a.json"], "evidence": g.masked(host.Found{Evidence: &labs.Evidence{}, Text: []byte(text)})} {
		if !json.Valid(got) || strings.Contains(string(got), "swordfish") || strings.Contains(string(got), "12345678") || !strings.Contains(string(got), `"n":1`) {
			t.Errorf("%s: became %s", name, got)
		}
	}
}

// Files that are packed are unpacked, masked, and packed once.
func TestPackedFilesAreLookedInto(t *testing.T) {
	text := "apiVersion: v1\nusers:\n- user:\n    token: S3cretTok3nabcdef\n"
	g := &gathering{ctx: t.Context(), b: &Bundle{files: map[string][]byte{}}, m: mask.New()}
	g.extra(host.Found{Evidence: &labs.Evidence{Run: "x", File: "rendered-assets/openshift"}, Had: true, Text: []byte(
		framed(t, "x.gz", gz(t, text)) + framed(t, "twice.gz", gz(t, gz(t, text))) + framed(t, "noend.gz", gz(t, text)[:40]) + framed(t, "a.yaml.xz", "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3") +
			framed(t, "plain.log", "grüße 你好你好你好\n"))})
	for _, name := range []string{"x.gz", "twice.gz"} {
		got, err := mask.Plain(g.b.files["rendered-assets/openshift/"+name], nil, largestExtra)
		if err != nil || !strings.Contains(string(got), "users:") || strings.Contains(string(got), "S3cret") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	missing := strings.Join(g.b.Index.Missing, "\n")
	for _, name := range []string{"a.yaml.xz", "noend.gz"} {
		if g.b.files["rendered-assets/openshift/"+name] != nil || !strings.Contains(missing, name) {
			t.Errorf("%s is there, or not named: %s", name, missing)
		}
	}
	if string(g.b.files["rendered-assets/openshift/plain.log"]) != "grüße 你好你好你好\n" {
		t.Error("a text of other letters is gone")
	}
}
