package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/templates"
	"bootlab/test/registry"
)

// canary is the file that a value makes if it is run; it lies in the directory
// the scripts run in.
const canary = "canary"

// hostile are values that a careless script would run, split or lose.
var hostile = []string{
	`'`, `"`, `a'b`, `a"b`, `'"'"'`, `\`, `a\`, `\'`, "`touch canary`", `$(touch canary)`, `${HOME}`, `$HOME`,
	`'; touch canary; '`, `"; touch canary; "`, `'$(touch canary)'`, "a\nb", "a\n'\ntouch canary\n'", "\n", "a\r\nb",
	"a\tb", " a", "a ", "-n", "--force", "-", "*", "?", "[a-z]", "~", "~root", "!!", "!x", "#", "a #b", "&", "a&&b", "|x",
	">x", "%s", `%q\n`, "ünïcode", "日本", "\u202eabc", "\u2028", "\ufeff", "\u00a0", "é\u0301", "a\x00b", "a\x1b[31mb", "a\x7fb",
	"{{.}}", "{a,b}", "a:b", "a=b", "", strings.Repeat("a", 5000), "EOF", "\nEOF\n", "y", "null", "1e3", "0x1",
}

// field is a place for a string in lab.yaml, and the variable of a script that
// it arrives in; empty when no script has it as it is.
type field struct {
	path     string
	variable string
	set      func(lab map[string]any, value string)
	arrives  func(value string) string // nil: as it is
}

// put sets a value in nested maps.
func put(path string) func(map[string]any, string) {
	keys := strings.Split(path, ".")
	return func(m map[string]any, value string) {
		for _, key := range keys[:len(keys)-1] {
			next, ok := m[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				m[key] = next
			}
			m = next
		}
		m[keys[len(keys)-1]] = value
	}
}

var fields = []field{
	{path: "metadata.name", variable: "CLUSTER_NAME"},
	{path: "baseDomain", variable: "BASE_DOMAIN"},
	{path: "release.image", variable: "RELEASE_IMAGE"},
	{path: "release.version", variable: "RELEASE"},
	{path: "release.distribution", variable: "DISTRIBUTION"},
	{path: "networking.networkType", variable: "NETWORK_TYPE"},
	{path: "sshKey", variable: "SSH_KEY"},
	{path: "sshKey (comment)", variable: "SSH_KEY",
		set:     func(m map[string]any, v string) { m["sshKey"] = publicKey + " " + v },
		arrives: func(v string) string { return publicKey + " " + v }},
	{path: "pullSecret", variable: "PULL_SECRET_FILE"},
	{path: "proxy.httpProxy", variable: "PROXY_FOR_HTTP"},
	{path: "proxy.httpProxy (host)", variable: "PROXY_FOR_HTTP", set: inProxy("http://"), arrives: func(v string) string { return "http://" + v }},
	{path: "proxy.httpsProxy", variable: "PROXY_FOR_HTTPS"},
	{path: "proxy.httpsProxy (login)", variable: "PROXY_FOR_HTTPS",
		set:     func(m map[string]any, v string) { put("proxy.httpsProxy")(m, "https://u:"+v+"@p.test:1") },
		arrives: func(v string) string { return "https://u:" + v + "@p.test:1" }},
	{path: "proxy.httpProxy (for podman)", variable: "HTTP_PROXY", set: put("proxy.httpProxy")},
	{path: "proxy.httpsProxy (for podman)", variable: "HTTPS_PROXY", set: put("proxy.httpsProxy")},
	{path: "proxy.noProxy", variable: "NO_PROXY_GIVEN",
		set: func(m map[string]any, v string) {
			m["proxy"] = map[string]any{"httpProxy": "http://p.test", "noProxy": v}
		}},
	{path: "imageDigestSources (source)", variable: "IMAGE_SOURCES",
		set:     func(m map[string]any, v string) { m["imageDigestSources"] = imageSource(v, "m.test") },
		arrives: func(v string) string { return v + " m.test" }},
	{path: "imageDigestSources (mirror)", variable: "MIRRORS",
		set: func(m map[string]any, v string) { m["imageDigestSources"] = imageSource("r.test", v) },
		arrives: func(v string) string {
			return "[[registry]]\nlocation = \"r.test\"\ninsecure = false\nmirror-by-digest-only = true\n\n" +
				"[[registry.mirror]]\nlocation = \"" + v + "\"\ninsecure = false"
		}},
	{path: "imageContentSources (mirror)", variable: "IMAGE_SOURCES",
		set:     func(m map[string]any, v string) { m["imageContentSources"] = imageSource("r.test", v) },
		arrives: func(v string) string { return "r.test " + v }},
	{path: "additionalTrustBundle", variable: "TRUST_BUNDLE_FILE"},
	{path: "additionalTrustBundlePolicy"},
	{path: "apiVersion"},
	{path: "topology"},
	{path: "controlPlane.name"},
	{path: "machines.gateway"},
	{path: "machines.bootstrap.name"},
	{path: "machines.bootstrap.address"},
	{path: "machines.bootstrap.mac"},
	{path: "networking.machineNetwork", variable: "MACHINE_NETWORK",
		set: func(m map[string]any, v string) {
			m["networking"] = map[string]any{"machineNetwork": []any{map[string]any{"cidr": v}}}
		}},
	{path: "networking.serviceNetwork", variable: "SERVICE_NETWORK",
		set: func(m map[string]any, v string) { m["networking"] = map[string]any{"serviceNetwork": []any{v}} }},
	{path: "images (value)", variable: "IMAGE_OVERRIDES",
		set:     func(m map[string]any, v string) { m["images"] = map[string]any{"etcd": v} },
		arrives: func(v string) string { return "etcd " + v }},
	{path: "images (name)", variable: "IMAGE_OVERRIDES",
		set:     func(m map[string]any, v string) { m["images"] = map[string]any{v: "quay.io/a/b:c"} },
		arrives: func(v string) string { return v + " quay.io/a/b:c" }},
}

// inProxy puts a value behind the beginning of a proxy's URL.
func inProxy(scheme string) func(map[string]any, string) {
	return func(m map[string]any, v string) { put("proxy.httpProxy")(m, scheme+v) }
}

func imageSource(source, mirror string) []any {
	return []any{map[string]any{"source": source, "mirrors": []any{mirror}}}
}

// files are the keys whose value is the path of a file, and what it may hold.
var files = map[string]func() ([]byte, error){
	"pullSecret": func() ([]byte, error) { return []byte(`{"auths":{"quay.io":{"auth":"YTpi"}}}`), nil },
	"additionalTrustBundle": func() ([]byte, error) {
		ca, err := registry.CA()
		if err != nil {
			return nil, err
		}
		return ca.PEM, nil
	},
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKOlSexVC4ijUvlsNru5YWRqCglP1fy0rVv4/anxWA60"

func FuzzLabValuesAreRefusedOrArriveByteForByte(f *testing.F) {
	type seed struct {
		field uint
		value string
	}
	var seeds []seed
	for i := range fields {
		for _, value := range hostile {
			seeds = append(seeds, seed{uint(i), value})
		}
	}
	for _, s := range sample.Of(f, 300, seeds) {
		f.Add(s.field, s.value)
	}
	f.Fuzz(func(t *testing.T, i uint, value string) {
		tryValue(t, fields[i%uint(len(fields))], value)
	})
}

// tryValue writes a lab.yaml with the value and looks at what becomes of it.
func tryValue(t *testing.T, f field, value string) {
	t.Helper()
	dir := t.TempDir()
	text, err := yaml.Marshal(labWith(f, value))
	if err != nil {
		t.Skip("not to be said in YAML")
	}
	write(t, filepath.Join(dir, "lab.yaml"), string(text))
	if content := files[f.path]; content != nil && filepath.IsLocal(value) && !strings.ContainsRune(value, 0) {
		data, err := content()
		if err != nil {
			t.Fatal(err)
		}
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, value)), 0o755)
		_ = os.WriteFile(filepath.Join(dir, value), data, 0o600)
	}
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if problems.Err() != nil {
		return // refused
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		return
	}
	output, err := generator.Render(plan, templates.FS, generator.Options{})
	if err != nil {
		t.Fatalf("%s=%q was taken, and then not generated: %v", f.path, value, err)
	}
	arrivesIn(t, dir, output, f, value)
}

func labWith(f field, value string) map[string]any {
	m := map[string]any{
		"metadata":   map[string]any{"name": "mylab"},
		"baseDomain": "example.test",
		"release":    map[string]any{"version": release, "image": "quay.io/a/b:c"},
		"topology":   "compact",
		"platform":   map[string]any{"none": map[string]any{}},
	}
	if f.set == nil {
		f.set = put(f.path)
	}
	f.set(m, value)
	return m
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// arrivesIn runs the settings of every script in bash and reads the variable back.
func arrivesIn(t *testing.T, dir string, output *generator.Output, f field, value string) {
	t.Helper()
	seen := map[string]bool{}
	for _, file := range output.Files {
		head := headOf(file)
		if key := comments.ReplaceAllString(head, ""); head == "" || seen[key] {
			continue // comments run nothing, and most scripts have the same settings
		} else {
			seen[key] = true
		}
		got, there := settingIn(t, dir, file.Path, head, f.variable)
		if there && f.variable == "PULL_SECRET_FILE" && strings.HasPrefix(file.Path, "node/") {
			continue // the node has its own
		}
		if there && got != f.expected(dir, value) {
			t.Errorf("%s: %s=%q arrived as %q", file.Path, f.path, value, got)
		}
	}
	for _, name := range []string{canary, "scripts/" + canary, "node/" + canary} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s=%q was run", f.path, value)
		}
	}
}

var comments = regexp.MustCompile(`(?m)^#.*\n`)

// headOf is what a generated file sets from lab.yaml: a script or its checks up to
// the end of their settings, and the whole of lib/registries.sh; empty when nothing.
func headOf(file generator.File) string {
	dir, name := filepath.Split(file.Path)
	switch text := string(file.Data); {
	case !strings.HasSuffix(name, ".sh"):
		return ""
	case name == "registries.sh":
		return "SCRIPTS=\"${PWD}/out/scripts\" ASSET_DIR=\"${PWD}/assets\" HOST_ROOT=\"${PWD}/host\"\n" + text
	case strings.HasSuffix(dir, "/lib/"):
		return ""
	default:
		return text[:endOfSettings.FindStringIndex(text)[0]]
	}
}

// The settings end at what the stage is called, in render-all.sh at the records,
// and in checks where they look something up or source their library.
var endOfSettings = regexp.MustCompile(`(?m)^(STAGE=|export LC_ALL|[A-Z_]+="\$\(cat |set \+a$)`)

func (f field) expected(dir, value string) string {
	switch {
	case files[f.path] != nil && filepath.IsAbs(value):
		return value
	case files[f.path] != nil:
		return filepath.Join(dir, "out") + "/../" + value
	case f.arrives != nil:
		value = f.arrives(value)
	}
	if f.variable == "SSH_KEY" {
		return strings.TrimSuffix(value, "\n") // the end of a line is no part of it
	}
	return value
}

// settingIn gives the value that a variable has behind the settings of a file,
// which find the lab by where the file is.
func settingIn(t *testing.T, dir, path, head, variable string) (value string, there bool) {
	t.Helper()
	file := filepath.Join(dir, "out", filepath.Dir(path), "settings.sh")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, file, head+"\n"+`[[ -z $1 ]] || [[ ! -v $1 ]] || printf 'value:%s' "${!1}"`+"\n")
	cmd := exec.Command("bash", file, variable)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the settings do not run: %v\n%s", err, head)
	}
	value, there = strings.CutPrefix(string(out), "value:")
	return value, there
}

// TestTheQuotingTestCanFail: values that are always right must arrive.
func TestTheQuotingTestCanFail(t *testing.T) {
	for _, f := range fields {
		for path, value := range map[string]string{
			"metadata.name": "other", "baseDomain": "b.test", "release.image": "quay.io/x/y@sha256:" + strings.Repeat("a", 64),
			"sshKey": publicKey, "sshKey (comment)": "me@here", "pullSecret": "p.json", "images (value)": "quay.io/x/y:z", "images (name)": "etcd",
			"proxy.httpProxy": "http://p.test:1", "proxy.httpProxy (host)": "p.test", "proxy.httpsProxy": "https://u:p%20@p.test",
			"proxy.httpsProxy (login)": `a'b;(c)&!~*`, "proxy.httpProxy (for podman)": "http://p.test:1", "proxy.httpsProxy (for podman)": "https://u:a'b;(c)&!~*@p.test",
			"proxy.noProxy": "a.test,::1", "additionalTrustBundle": "ca'$(touch canary) x.pem",
			"imageDigestSources (source)": "r.test/a", "imageDigestSources (mirror)": "m.test:5/a__b", "imageContentSources (mirror)": "m.test",
		} {
			if f.path != path {
				continue
			}
			t.Run(path, func(t *testing.T) {
				if !arrived(t, f, value) {
					t.Errorf("no script has %s", f.variable)
				}
			})
		}
	}
}

// arrived says whether any script had the value in the field's variable.
func arrived(t *testing.T, f field, value string) bool {
	t.Helper()
	dir := t.TempDir()
	text, err := yaml.Marshal(labWith(f, value))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "lab.yaml"), string(text))
	if content := files[f.path]; content != nil {
		data, err := content()
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, value), string(data))
	}
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	output, err := generator.Render(plan, templates.FS, generator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range output.Files {
		head := headOf(file)
		if !strings.HasPrefix(file.Path, "scripts/") || head == "" {
			continue
		}
		if got, there := settingIn(t, dir, file.Path, head, f.variable); there && got == f.expected(dir, value) {
			return true
		} else if there {
			t.Error(fmt.Sprintf("%s: %q", file.Path, got))
		}
	}
	return false
}
