package generator

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/templates"
)

const registryKeys = `
proxy: {httpProxy: "http://p.test:3128", httpsProxy: "http://p.test:3128", noProxy: .a.test}
imageDigestSources:
- source: r.test/a
  mirrors: [m.test:5000/a, n.test]
- source: r.test/a
  mirrors: [n.test, o.test]
additionalTrustBundle: ca.pem
`

// renderKeys makes the output of the default lab with more keys.
func renderKeys(t *testing.T, keys string) map[string]File {
	t.Helper()
	dir := t.TempDir()
	text := "metadata:\n  name: mylab\nbaseDomain: bootlab.test\n" + keys
	certificate, err := os.ReadFile(filepath.Join("testdata", "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"lab.yaml": []byte(text), "ca.pem": certificate} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Render(plan, templates.FS, Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]File{}
	for _, f := range out.Files {
		files[f.Path] = f
	}
	return files
}

// ofRegistries are the words that a lab without such keys has no use for. Hints
// of usual failures name two of the variables.
var ofRegistries = regexp.MustCompile(`PROXY_FOR|NO_PROXY|IMAGE_SOURCES|MIRRORS|CONTAINERS_REGISTRIES_CONF|SSL_CERT_DIR|TRUST_BUNDLE|image_sources|trustedCA|idms-file|icsp-file`)

func TestALabWithoutProxyMirrorsAndCAHasNothingOfThem(t *testing.T) {
	for name, f := range renderKeys(t, "") {
		chapter := labs.BuiltinGuide().Chapter(strings.TrimSuffix(path.Base(name), ".md")) // they tell of every lab
		if word := ofRegistries.Find(f.Data); word != nil && chapter == nil {
			t.Errorf("%s holds %s", name, word)
		}
	}
}

func TestEveryScriptThatCallsPodmanReachesTheRegistries(t *testing.T) {
	calls := regexp.MustCompile(`(?m)^ *(pull_image|run podman (run|create|pull)|run_to \S+ podman)\b`)
	direct := regexp.MustCompile(`(?m)^ *(timeout [0-9]+ )?podman (run|create|pull)\b`)
	found := 0
	for name, f := range renderKeys(t, registryKeys) {
		text := string(f.Data)
		if path.Ext(name) == ".sh" && isStage(text) && direct.MatchString(text) {
			found++
			if look, step := strings.Index(text, `source "${SCRIPTS}/lib/registries.sh"`), strings.Index(text, "\nif step 1 "); look < 0 || look > step {
				t.Errorf("%s does not source lib/registries.sh before its steps", name)
			}
		}
		if !strings.HasSuffix(name, ".sh") || strings.HasSuffix(name, "-lib.sh") || !calls.MatchString(text) {
			continue
		}
		found++
		for word, here := range map[string]bool{
			`export HTTP_PROXY="${PROXY_FOR_HTTP}"`: true, `export NO_PROXY="${NO_PROXY_FOR}"`: true,
			"export CONTAINERS_REGISTRIES_CONF": strings.HasPrefix(name, "scripts/"), "export SSL_CERT_DIR": strings.HasPrefix(name, "scripts/"),
			"readonly MIRRORS=": strings.HasPrefix(name, "scripts/"), "readonly TRUST_BUNDLE_FILE=": strings.HasPrefix(name, "scripts/"),
		} {
			if strings.Contains(text, word) != here {
				t.Errorf("%s: %s is there: %v", name, word, !here)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d scripts call podman", found)
	}
}

// The node has the mirrors and the CA from the installer, and login and proxy of
// bootkube.service are root's.
func TestOneFileTellsPodmanOfTheRegistries(t *testing.T) {
	files := renderKeys(t, registryKeys)
	for word, onNode := range map[string]bool{
		"export HTTP_PROXY='http://p.test:3128'\n": true, "export HTTPS_PROXY='http://p.test:3128'\n": true, "export NO_PROXY='": true,
		"export CONTAINERS_REGISTRIES_CONF=": false, "export SSL_CERT_DIR=": false, "[[registry]]\nlocation = \"r.test/a\"\n": false,
	} {
		for name, want := range map[string]bool{"scripts/lib/registries.sh": true, "node/lib/registries.sh": onNode} {
			if strings.Contains(string(files[name].Data), word) != want {
				t.Errorf("%s: %s is there: %v", name, word, !want)
			}
		}
	}
}

func TestMirrorsAreWrittenAsTheInstallerWritesThem(t *testing.T) {
	const want = `MIRRORS='[[registry]]
location = "r.test/a"
insecure = false
mirror-by-digest-only = true

[[registry.mirror]]
location = "m.test:5000/a"
insecure = false

[[registry.mirror]]
location = "n.test"
insecure = false

[[registry.mirror]]
location = "o.test"
insecure = false'
`
	files := renderKeys(t, registryKeys)
	if text := string(files["scripts/lib/registries.sh"].Data); !strings.Contains(text, want) {
		t.Error(text)
	}
	if text := string(files["scripts/make-manifests.sh"].Data); !strings.Contains(text, "\nIMAGE_SOURCES=$'r.test/a m.test:5000/a n.test\\n'\nIMAGE_SOURCES+='r.test/a n.test o.test'\n") {
		t.Error("make-manifests.sh has other sources than lab.yaml")
	}
}

func TestTheGuideShowsTheCommandOfOc(t *testing.T) {
	for keys, flag := range map[string]string{
		registryKeys: "--idms-file=/opt/openshift/manifests/image-digest-mirror-set.yaml",
		"imageContentSources: [{source: r.test, mirrors: [m.test]}]\n": "--icsp-file=/opt/openshift/manifests/image-content-source-policy.yaml",
	} {
		if text := string(renderKeys(t, keys)["guide/release-info.md"].Data); !strings.Contains(text, "oc adm release info -o 'jsonpath={.metadata.version}' "+flag) {
			t.Errorf("nothing of %s", flag)
		}
	}
}

func TestFilesWithAProxysLoginAreTheOwnersAlone(t *testing.T) {
	for keys, open := range map[string]bool{
		registryKeys: true, `proxy: {httpProxy: "http://u:p@p.test"}`: false, `proxy: {httpsProxy: "https://u@p.test"}`: false,
	} {
		for name, f := range renderKeys(t, keys) {
			if f.Mode&0o077 != 0 != open {
				t.Errorf("%s: %s has mode %o", keys, name, f.Mode)
			}
		}
	}
}
