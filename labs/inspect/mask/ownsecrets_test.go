package mask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
)

// The lab's own secrets are known by themselves.
func TestSecretsOfTheLabAreKnown(t *testing.T) {
	lab := &labs.Lab{Dir: t.TempDir()}
	key := keys(t)["rsa"]
	for name, text := range map[string]string{
		"pull.json": `{"auths":{"quay.io":{"auth":"` + b64("user:one-of-a-kind") + `"}}}`,
		"out/work/assets/auth/kubeadmin-password": "plainwordsasapassword", "out/work/assets/tls/a.key": key,
		"out/work/assets/auth/kubeconfig": "users:\n- user:\n    client-key-data: bm90IGEga2V5IGF0IGFsbA==\n",
	} {
		file := filepath.Join(lab.Dir, name)
		os.MkdirAll(filepath.Dir(file), 0o700)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lab.PullSecret = "pull.json"
	m := New(LabSecrets(lab)...)
	line := strings.Split(key, "\n")[10]
	for _, secret := range []string{b64("user:one-of-a-kind"), "one-of-a-kind", "plainwordsasapassword", "bm90IGEga2V5IGF0IGFsbA==", line, b64("x" + line)} {
		if got := string(m.Bytes([]byte("somebody printed " + secret + " here"))); !strings.Contains(got, mark(ownKind)) || strings.Contains(got, secret) {
			t.Errorf("%q is left: %q", secret, got)
		}
	}
}
