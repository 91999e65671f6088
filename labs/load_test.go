package labs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// labCatalog is the catalog's real releases and images without its stages,
// which loading a lab does not look at.
func labCatalog(t testing.TB) *Catalog {
	t.Helper()
	sub, err := fs.Sub(Data, "data")
	if err != nil {
		t.Fatal(err)
	}
	c := &Catalog{Bootkube: &Bootkube{}}
	ps := readYAML(sub, "bootkube.yaml", c.Bootkube)
	for _, id := range releaseOrder {
		r := &Release{}
		ps = append(ps, readYAML(sub, "releases/"+id+".yaml", r)...)
		c.Releases = append(c.Releases, r)
	}
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	return c
}

// minimal is the shortest lab.yaml, three lines long.
const minimal = "metadata:\n  name: mylab\nbaseDomain: bootlab.test\n"

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"

// labFiles is a directory with a lab.yaml and files that one may name.
func labFiles(lab string) fstest.MapFS {
	out := fstest.MapFS{"directory": {Mode: fs.ModeDir | 0o755}}
	for name, text := range map[string]string{
		"lab.yaml":         lab,
		"pull-secret.json": `{"auths": {"quay.io": {"auth": "dXNlcjpwYXNzd29yZA=="}, "r.test/x": {"credsStore": "pass"}, "mirror.bootlab.test:5000": {"credsStore": "pass"}}}`,
		"not.json":         `auths: {}`,
		"no-auths.json":    `{"auths": {}}`,
		"no-auth.json":     `{"auths": {"quay.io": {"auth": "dXNlcjpwYXNzd29yZA=="}, "r.test": {}, "s.test": null}}`,
		"not-base64.json":  `{"auths": {"quay.io": {"auth": "user:password"}}}`,
		"key.pub":          publicKey + " me@here\n",
		"private.pub":      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n",
		"other.pub":        "hello\n",
		"two.pub":          publicKey + " one\n" + publicKey + " two\n",

		"additional-ca.pem": "the CA of the mirrors\n" + additionalCA + "\n\n",
		"two-cas.pem":       additionalCA + "# and another\n" + additionalCA,
		"server.pem":        serverCertificate,
		"behind.pem":        additionalCA + "this is no certificate\n",
		"key.pem":           additionalCA + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"other.pem":         "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
		"broken.pem":        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"empty.pem":         " \n",
	} {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	return out
}

// labCase is a lab.yaml and all that is said about it, word for word.
type labCase struct{ name, lab, want string }

func checkLabs(t *testing.T, cases []labCase) {
	t.Helper()
	c := labCatalog(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			lab, ps := LoadLabFS(labFiles(tc.lab), ".", c)
			if got := ps.Error(); got != tc.want {
				t.Errorf("got:\n%s\n\nwant:\n%s", got, tc.want)
			}
			if (lab == nil) != (ps.Err() != nil) {
				t.Errorf("lab is %v, error is %v", lab, ps.Err())
			}
		})
	}
}

// mustLoad loads a lab.yaml that nothing is to be said about.
func mustLoad(t *testing.T, lab string) *Lab {
	t.Helper()
	l, ps := LoadLabFS(labFiles(lab), ".", labCatalog(t))
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	return l
}

func TestLoadKeepsWhatIsGiven(t *testing.T) {
	lab := mustLoad(t, `metadata:
  name: "123"
baseDomain: bootlab.test.
release:
  version: 4.20
  image: localhost:5000/okd/scos-release:4.20.0@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
networking:
machines:
  masters:
    - address: 192.168.126.21
    -
    - name: third
      mac: 52:54:00:AA:BB:CC
images:
  etcd: quay.io/me/etcd
`)
	if lab.Domain() != "123.bootlab.test" || lab.Release.Version != "4.20" || lab.Images["etcd"] != "quay.io/me/etcd" {
		t.Errorf("got %+v", lab)
	}
	m := lab.Machines.Masters
	if m[0].Address != "192.168.126.21" || m[1].Address != "192.168.126.22" || m[2].Address != "192.168.126.23" {
		t.Errorf("an address that is given must be passed over: %+v", m)
	}
	if m[1].Name != "master-1" || m[2].Name != "third" || m[2].MAC != "52:54:00:aa:bb:cc" {
		t.Errorf("got %+v", m)
	}
}

func TestLoadKeepsTheCommentOfAKeyByteForByte(t *testing.T) {
	const comment = ` it's "me" $(reboot) \n ü 日本 # & ; | > -rf`
	lab := mustLoad(t, minimal+"sshKey: |\n  "+publicKey+comment+"\n")
	if lab.SSHKey != publicKey+comment {
		t.Errorf("got  %q\nwant %q", lab.SSHKey, publicKey+comment)
	}
	if lab = mustLoad(t, minimal+"sshKey: key.pub\n"); lab.SSHKey != publicKey+" me@here" {
		t.Errorf("from a file: %q", lab.SSHKey)
	}
}

func TestLoadKeepsNothingOfThePullSecret(t *testing.T) {
	lab := mustLoad(t, minimal+"pullSecret: pull-secret.json\n")
	if all := fmt.Sprintf("%+v", lab); strings.Contains(all, "dXNlcjpwYXNz") || strings.Contains(all, "user:password") {
		t.Errorf("the secret is in %s", all)
	}
	if p, err := lab.PullSecretPath(); err != nil || p != "pull-secret.json" {
		t.Errorf("the path is %q, %v", p, err)
	}
}

func TestLoadReportsEverythingInLineOrder(t *testing.T) {
	checkLabs(t, []labCase{{"many things are wrong in one file", `metadata:
  name: My Lab
release:
  version: "4.22"
  flavour: sweet
topology: giant
networking:
  serviceNetwork: [172.30.0.1/16]
machines:
  bootstrap:
    memory: much
    disk: 8
  bootstrap:
    cpus: 4
pullSecret: nowhere.json
images:
  etcd: Etcd
`, `lab.yaml: baseDomain: is required
  allowed: a DNS name in lower case, as bootlab.test
lab.yaml:2:9: metadata.name: "My Lab" is no name for a cluster
     2 |   name: My Lab
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters
lab.yaml:4:12: release.version: "4.22" has no stage data
     4 |   version: "4.22"
       |            ^
  allowed: 4.14, 4.15, 4.16, 4.17, 4.18, 4.19, 4.20, 4.21, main
  hint: the nearest is 4.21; with its bootkube.sh at hand: bootlab generate LAB --from-audit FILE
lab.yaml:5:3: release.flavour: is not a key that is known here
     5 |   flavour: sweet
       |   ^
  allowed: distribution, image, version
lab.yaml:6:11: topology: "giant" is not known
     6 | topology: giant
       |           ^
  allowed: bootstrap-only, compact, ha
lab.yaml:8:20: networking.serviceNetwork[0]: 172.30.0.1/16 is an address inside a network
     8 |   serviceNetwork: [172.30.0.1/16]
       |                    ^
  allowed: the network itself, 172.30.0.0/16
lab.yaml:11:13: machines.bootstrap.memory: is text
    11 |     memory: much
       |             ^
  allowed: a whole number, in decimal and without quotes
lab.yaml:12:11: machines.bootstrap.disk: 8 GiB is too little for CoreOS to boot
    12 |     disk: 8
       |           ^
  allowed: 16 to 10240 GiB
lab.yaml:13:3: machines.bootstrap: is given twice, first on line 10
    13 |   bootstrap:
       |   ^
lab.yaml:15:13: pullSecret: "nowhere.json": file does not exist
    15 | pullSecret: nowhere.json
       |             ^
  hint: a path that does not begin with / or ~/ begins where lab.yaml is
lab.yaml:17:9: images.etcd: "Etcd" names no registry
    17 |   etcd: Etcd
       |         ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both
  hint: a registry is a host with a dot or a port, as quay.io or localhost:5000`}})
}

func TestLoadReadsADirectoryOrTheFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	writeFiles(t, dir, map[string]string{"lab.yaml": minimal + "pullSecret: ~/secret.json\nsshKey: keys/id.pub\n",
		"secret.json": `{"auths": {"quay.io": {"auth": "dTpw"}}}`, "keys/id.pub": publicKey + "\r\n"})
	for _, path := range []string{dir, filepath.Join(dir, "lab.yaml")} {
		lab, ps := LoadLab(path, labCatalog(t))
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		secret, err := lab.PullSecretPath()
		if lab.Dir != dir || lab.SSHKey != publicKey || err != nil || secret != filepath.Join(dir, "secret.json") {
			t.Errorf("%s: dir %q, key %q, secret %q, %v", path, lab.Dir, lab.SSHKey, secret, err)
		}
	}
}

func TestLoadTellsWhatIsWrongWithAPath(t *testing.T) {
	const writes = "\n  hint: bootlab init DIRECTORY writes a commented lab.yaml to start from"
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"empty/x": "", "yml/lab.yml": minimal, "directory/lab.yaml/x": "",
		"junk": "\x7fELF\x02\x01\x01\x00", "latin1": "metadata: \xe4\n", "huge": strings.Repeat("# long\n", 200000), "nothing": ""})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ path, want string }{
		{"missing", "DIR/missing: no such file or directory" + writes},
		{"empty", "DIR/empty: holds no lab.yaml" + writes},
		{"yml", "DIR/yml: holds no lab.yaml\n  hint: rename lab.yml to lab.yaml"},
		{"directory", "DIR/directory/lab.yaml: is a directory"},
		{"junk", "DIR/junk:1:8: a NUL byte stands here: this is no text, or not in UTF-8\n     1 | \uFFFDELF\uFFFD\uFFFD\uFFFD\uFFFD\n       |        ^\n  allowed: YAML in UTF-8\n  hint: save the file as UTF-8 in your editor, or type the line again"},
		{"latin1", "DIR/latin1:1:11: the byte 0xE4 stands here, and this is not UTF-8\n     1 | metadata: \uFFFD\n       |           ^\n  allowed: YAML in UTF-8\n  hint: save the file as UTF-8 in your editor, or type the line again"},
		{"huge", "DIR/huge: is larger than 1 MiB\n  allowed: a YAML file written by hand"},
		{"nothing", "DIR/nothing: is empty\n  hint: bootlab init writes a commented lab.yaml to start from"},
		{"fifo", "DIR/fifo: is no regular file"},
		{"loop", "DIR/loop: too many levels of symbolic links"},
		{"a\x00b", "DIR/a\uFFFDb: invalid argument"},
		{"../../../../../../../../../../dev/zero", "/dev/zero: is no regular file"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			lab, ps := LoadLab(filepath.Join(dir, tc.path), labCatalog(t))
			if got := strings.ReplaceAll(ps.Error(), dir, "DIR"); got != tc.want || lab != nil {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
	if _, ps := LoadLab("", labCatalog(t)); ps.Error() != ": no path is given\n  allowed: a directory that holds lab.yaml, or the file itself" {
		t.Errorf("no path: %s", ps)
	}
}

func TestLoadTellsThatAFileCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"lab.yaml": minimal})
	if err := os.Chmod(filepath.Join(dir, "lab.yaml"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(dir, "lab.yaml")); err == nil {
		f.Close()
		t.Skip("this user may read every file")
	}
	if _, ps := LoadLab(dir, labCatalog(t)); ps.Error() != dir+"/lab.yaml: permission denied" {
		t.Error(ps)
	}
}

// mostSteps is more allocations than loading any file of the size that is read
// needs, and fewer than one for each pair of its lines.
const mostSteps = 20_000_000

// allocations are how many were made while something ran.
func allocations(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestLoadIsNotSlowedDownByTheFile counts allocations for files made to cost
// much: each is within the size that is read.
func TestLoadIsNotSlowedDownByTheFile(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, lab := range map[string]string{
		"many images":       "images:\n" + many(80000, "  a%d: b\n"),
		"many unknown keys": many(80000, "k%d: \n"),
		"many masters":      "machines:\n  masters:\n" + many(80000, "    - {}\n"),
		"deep lists":        "x: " + strings.Repeat("[", 9000),
		"one long line":     "x: " + strings.Repeat("A", 1000000),
	} {
		t.Run(name, func(t *testing.T) {
			var ps Problems
			steps := allocations(func() { _, ps = LoadLabFS(labFiles(minimal+lab), ".", labCatalog(t)) })
			if steps > mostSteps || ps.Err() == nil {
				t.Errorf("took %d allocations and found %d problems", steps, len(ps))
			}
		})
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
