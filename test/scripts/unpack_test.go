package scripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

const unpackScript = unpackID + ".sh"

// handMade gives a lab with assets of its own, and the files of a bootstrap.ign
// that is of the same cluster.
func handMade(t *testing.T) (l *Lab, files map[string][]byte) {
	t.Helper()
	l = Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	return l, l.bootstrapFiles(t)
}

// holds compares the assets with the files of a config: the same, byte for
// byte, and no other in their directories.
func (l *Lab) holds(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		if got, err := os.ReadFile(l.Asset(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %d bytes, want %d", name, err, len(got), len(want))
		}
	}
	for path := range l.Snapshot(t) {
		name, err := filepath.Rel(l.Assets(), path)
		top, _, below := strings.Cut(name, "/")
		if info, statErr := os.Stat(path); err != nil || statErr != nil || info.IsDir() || !below {
			continue
		}
		if _, there := files[name]; !there && strings.Contains("auth manifests openshift tls", top) {
			t.Errorf("%s is no file of the config", name)
		}
	}
}

var aSecret = regexp.MustCompile(`(?m)^kind: Secret$`)

func TestEveryFormOfIgnitionArrivesByteForByte(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l := Good(t, account, labs.Local).Clone(t)
		files := l.bootstrapFiles(t)
		config := l.ignition(t)
		if err := l.writeIgnition(config); err != nil {
			t.Fatal(err)
		}
		l.Must(t, unpackScript, "--force").Says(t, fmt.Sprintf("%d files", len(files)), "5 others", "next: release-info.sh")
		l.holds(t, files)
		for name, data := range files {
			want := os.FileMode(0o644)
			if strings.HasPrefix(name, "auth/") || strings.HasPrefix(name, "tls/") || aSecret.Match(data) {
				want = 0o600
			}
			info, err := os.Stat(l.Asset(name))
			if err != nil {
				t.Fatal(err)
			}
			// What is compressed cannot be looked at, and is closed too.
			if mode := info.Mode().Perm(); mode != want && mode != 0o600 {
				t.Errorf("%s: mode %o, want %o", name, mode, want)
			}
		}
		first := l.Snapshot(t)
		l.Must(t, unpackScript, "--force")
		for path, was := range l.Snapshot(t) {
			if strings.HasPrefix(path, l.Assets()) && withoutTime(was) != withoutTime(first[path]) {
				t.Errorf("the second run made another %s", path)
			}
		}
	})
}

var timeOfChange = regexp.MustCompile(` \d\d:\d\d:\d\d\.\d+`)

func withoutTime(described string) string { return timeOfChange.ReplaceAllString(described, "") }

// TestAnyByteSurvivesEveryForm is for contents that no asset has.
func TestAnyByteSurvivesEveryForm(t *testing.T) {
	t.Parallel()
	l, files := handMade(t)
	config := l.ignition(t)
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	storage := config["storage"].(object)
	for form := range 9 {
		for what, data := range map[string][]byte{
			"$(touch x) -n 'a' \"b\" bytes": all, "empty": nil, "backslashes": []byte(`\n\\x41%41\`), "long": bytes.Repeat(all, 2000), "newlines": []byte("\n\n\n"),
		} {
			name := fmt.Sprintf("manifests/%s of form %d", what, form)
			file := object{"path": "/opt/openshift/" + name}
			inForm(file, form, data)
			storage["files"] = append(storage["files"].([]any), file)
			files[name] = data
		}
	}
	storage["files"] = append(storage["files"].([]any), object{"path": "/opt/openshift/bmc-ca/bare", "mode": 0o755})
	files["bmc-ca/bare"] = nil
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.putIgnition(zipped(text)); err != nil { // the config as a whole too
		t.Fatal(err)
	}
	l.Must(t, unpackScript, "--force")
	l.holds(t, files)
	if info, err := os.Stat(l.Asset("bmc-ca/bare")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode 0755 did not arrive: %v", err)
	}
}

// hostile are configs that must be refused, by what is said of them.
var hostileConfigs = []struct {
	name string
	edit func(config, first object)
	want string
}{
	{"of version 2", func(c, _ object) { c["ignition"] = object{"version": "2.2.0"} }, "and this reads 3"},
	{"without a version", func(c, _ object) { delete(c, "ignition") }, "there is no ignition.version"},
	{"with another kind of version", func(c, _ object) { c["ignition"] = object{"version": 3} }, "there is no ignition.version"},
	{"a pointer", func(c, _ object) {
		c["ignition"] = object{"version": "3.2.0", "config": object{"merge": []any{object{"source": "https://127.0.0.1:1/"}}}}
	}, "only points at another config"},
	{"a replacement", func(c, _ object) {
		c["ignition"] = object{"version": "3.2.0", "config": object{"replace": object{"source": "data:,"}}}
	}, "only points at another config"},
	{"without assets", func(c, _ object) { c["storage"] = object{} }, "nothing in it lies below"},
	{"with dots", path("/opt/openshift/../../etc/passwd"), "holds .., . or //"},
	{"with dots elsewhere", path("/etc/../opt/openshift/tls/x"), "holds .., . or //"},
	{"with dots at the end", path("/opt/openshift/tls/.."), "holds .., . or //"},
	{"with two slashes", path("/opt/openshift//tls/x"), "holds .., . or //"},
	{"with a slash at the end", path("/opt/openshift/tls/x/"), "holds .., . or //"},
	{"with an empty path", path(""), "not absolute"},
	{"with a relative path", path("opt/openshift/x"), "not absolute"},
	{"with a number for a path", path(7), "not absolute"},
	{"without a path", func(_, f object) { delete(f, "path") }, "not absolute"},
	{"with a newline", path("/opt/openshift/tls/a\nb"), "control characters"},
	{"with an escape", path("/opt/openshift/tls/a\x1b[31mb"), "control characters"},
	{"with a NUL", path("/opt/openshift/tls/a\x00b"), "control characters"},
	{"with another control", path("/opt/openshift/tls/a\u0085b"), "control characters"},
	{"with a backslash", path(`/opt/openshift/tls/a\b`), "control characters"},
	{"with a path twice", path("/opt/openshift/tls/root-ca.crt"), "is there 2 times"},
	{"with a file for a directory", path("/opt/openshift/tls"), "is a file itself"},
	{"with a file for all", path("/opt/openshift"), "is a file itself"},
	{"with a marker", path("/opt/openshift/etcd-bootstrap.done"), "other stages keep"},
	{"with the lock", path("/opt/openshift/.bootlab.lock"), "none of an installer"},
	{"with an option", path("/opt/openshift/-delete"), "none of an installer"},
	{"with a directory like an option", path("/opt/openshift/--help/x"), "none of an installer"},
	{"with a star", path("/opt/openshift/*/x"), "none of an installer"},
	{"with an index", path("/opt/openshift/@/x"), "none of an installer"},
	{"with a command", path("/opt/openshift/$(touch x)/x"), "none of an installer"},
	{"with what is hidden", path("/opt/openshift/tls/.hidden"), "other stages keep"},
	{"with another stage's result", path("/opt/openshift/release-info/images"), "other stages keep"},
	{"with its own books", path("/opt/openshift/unpack-bootstrap-ignition/left"), "other stages keep"},
	{"with a link", func(c, _ object) {
		c["storage"].(object)["links"] = []any{object{"path": "/opt/openshift/tls/x", "target": "/etc/passwd"}}
	}, "is a link or a directory"},
	{"with a link for all", func(c, _ object) {
		c["storage"].(object)["links"] = []any{object{"path": "/opt/openshift", "target": "/etc"}}
	}, "is a link or a directory"},
	{"with a directory", func(c, _ object) {
		c["storage"].(object)["directories"] = []any{object{"path": "/opt/openshift/tls", "mode": 511}}
	}, "is a link or a directory"},
	{"with an odd mode", func(_, f object) { f["mode"] = 0o4755 }, "the mode is none of"},
	{"with a mode that cannot be read", func(_, f object) { f["mode"] = 0 }, "the mode is none of"},
	{"with a broken mode", func(_, f object) { f["mode"] = 420.5 }, "the mode is none of"},
	{"with a mode in words", func(_, f object) { f["mode"] = "0644" }, "the mode is none of"},
	{"from https", source("https://127.0.0.1:1/x"), "lie elsewhere"},
	{"from http", source("http://127.0.0.1:1/x"), "lie elsewhere"},
	{"from a bucket", source("s3://bucket/x"), "lie elsewhere"},
	{"from a file", source("file:///etc/passwd"), "lie elsewhere"},
	{"without a comma", source("data:text/plain"), "no data URL"},
	{"with a space", source("data:,a b"), "no data URL"},
	{"with a line break", source("data:;base64,YWJj\nYWJj"), "no data URL"},
	{"with other letters", source("data:,ünïcode"), "no data URL"},
	{"with half a base64", source("data:;base64,YWJjZA"), "no base64"},
	{"with no base64", source("data:;base64,YW*jZA=="), "no base64"},
	{"with a sign of base64 inside", source("data:;base64,YW=jZA=="), "no base64"},
	{"with half an escape", source("data:,abc%4"), "broken %"},
	{"with no escape", source("data:,abc%zz"), "broken %"},
	{"in another compression", func(_, f object) {
		f["contents"] = object{"source": "data:,x", "compression": "zstd"}
	}, "not with gzip"},
	{"with another hash", func(_, f object) {
		f["contents"] = object{"source": "data:,x", "verification": object{"hash": "md5-d41d8cd98f00b204e9800998ecf8427e"}}
	}, "neither sha512 nor sha256"},
	{"with a hash that does not fit", func(_, f object) {
		f["contents"] = object{"source": "data:,x", "verification": object{"hash": "sha512-" + strings.Repeat("0", 128)}}
	}, "is not what its hash says"},
	{"with a hash of what is compressed", func(_, f object) {
		f["contents"] = object{"source": "data:,x", "compression": "gzip"}
	}, "gzip: "},
	{"with contents in words", func(_, f object) { f["contents"] = "x" }, "no Ignition config"},
	{"with files in words", func(c, _ object) { c["storage"].(object)["files"] = "x" }, "no Ignition config"},
	{"with too many files", func(c, _ object) {
		var files []any
		for i := range 5000 {
			files = append(files, object{"path": fmt.Sprintf("/opt/openshift/tls/%d", i)})
		}
		c["storage"].(object)["files"] = files
	}, "more than 1000 files"},
	{"with too many pieces", func(_, f object) {
		var pieces []any
		for range 5000 {
			pieces = append(pieces, object{"source": "data:,x"})
		}
		f["append"] = pieces
	}, "more than 1000 files"},
	{"of another cluster", func(_, f object) {
		f["path"] = "/opt/openshift/manifests/cluster-dns-02-config.yml"
		f["contents"] = object{"source": "data:,spec:%0A%20%20baseDomain:%20another.test%0A"}
	}, "the checks named above fail"},
}

// path and source edit the first file of a config.
func path(path any) func(config, first object) {
	return func(_, first object) { first["path"] = path }
}

func source(source string) func(config, first object) {
	return func(_, first object) { first["contents"] = object{"source": source} }
}

// TestWhatIsHostileIsRefusedAndInvalidatesNothing: not a byte of the assets changes,
// and no stage is marked as not done.
func TestWhatIsHostileIsRefusedAndInvalidatesNothing(t *testing.T) {
	t.Parallel()
	l, _ := handMade(t)
	before := l.assetsNow(t)
	for _, h := range sample.Of(t, 8, hostileConfigs) {
		t.Run(h.name, func(t *testing.T) {
			config := l.ignition(t)
			files := config["storage"].(object)["files"].([]any)
			first := object{"path": "/opt/openshift/tls/added"}
			if h.name == "of another cluster" {
				files = withoutPath(files, "/opt/openshift/manifests/cluster-dns-02-config.yml")
			}
			config["storage"].(object)["files"] = append([]any{first}, files...)
			h.edit(config, first)
			if err := l.writeIgnition(config); err != nil {
				t.Fatal(err)
			}
			r := l.Run(t, unpackScript, "--force")
			r.Says(t, h.want)
			if r.Status != 1 {
				t.Errorf("status %d", r.Status)
			}
			before.Same(t, l.assetsNow(t))
			if strings.ContainsAny(r.All, "\x1b\x00\u0085") {
				t.Errorf("control characters are printed: %q", r.All)
			}
		})
	}
}

func withoutPath(files []any, path string) []any {
	var out []any
	for _, f := range files {
		if f.(object)["path"] != path {
			out = append(out, f)
		}
	}
	return out
}

// assetsNow is a snapshot of the assets alone, without the room of a run that
// was stopped, which the next one clears.
func (l *Lab) assetsNow(t *testing.T) Tree {
	t.Helper()
	now := Tree{}
	for path, is := range l.Snapshot(t) {
		if strings.HasPrefix(path, l.Assets()+"/") && !strings.Contains(path, "/."+unpackID) {
			now[path] = is
		}
	}
	return now
}

// TestWhatIsNoConfigIsRefused is for files as they may lie around.
func TestWhatIsNoConfigIsRefused(t *testing.T) {
	t.Parallel()
	l, _ := handMade(t)
	before := l.assetsNow(t)
	text, err := json.Marshal(l.ignition(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "words": []byte("bootstrap"), "a list": []byte("[1]"), "half": text[:len(text)/2], "two": append(text, text...),
		"half compressed": zipped(text)[:1000], "a bomb": zipped(make([]byte, 100<<20)),
		"deep": bytes.Repeat([]byte("["), 1<<20), "zeros": make([]byte, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			if err := l.putIgnition(data); err != nil {
				t.Fatal(err)
			}
			l.Run(t, unpackScript, "--force").Want(t, 1, "error: ")
			before.Same(t, l.assetsNow(t))
			l.Run(t, unpackScript, "--force", "--dry-run")
			before.Same(t, l.assetsNow(t))
		})
	}
}

// TestABombInsideEndsEarly: small pieces that would become large ones, alone
// and together.
func TestABombInsideEndsEarly(t *testing.T) {
	t.Parallel()
	l, _ := handMade(t)
	before := l.assetsNow(t)
	for name, c := range map[string]struct{ pieces, size int }{"one": {1, 200 << 20}, "many": {200, 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			config := l.ignition(t)
			bomb := zipped(make([]byte, c.size))
			storage := config["storage"].(object)
			for i := range c.pieces {
				file := object{"path": fmt.Sprintf("/opt/openshift/tls/bomb-%d", i)}
				inForm(file, 0, bomb)
				file["contents"].(object)["compression"] = "gzip"
				storage["files"] = append(storage["files"].([]any), file)
			}
			if err := l.writeIgnition(config); err != nil {
				t.Fatal(err)
			}
			r := l.Run(t, unpackScript, "--force")
			r.Want(t, 1)
			if !strings.Contains(r.All, "File size limit exceeded") && !strings.Contains(r.All, "bytes come out of it") {
				t.Errorf("it failed for another reason:\n%s", r.All)
			}
			before.Same(t, l.assetsNow(t))
		})
	}
}

// TestTwoWaysToAssetsDoNotMix: what one of them made is not touched by the
// other, unless --force is given, and then is marked as not done.
func TestTwoWaysToAssetsDoNotMix(t *testing.T) {
	t.Parallel()
	l := Unpacked(t).Clone(t)
	marker := l.Asset(unpackID + ".done")
	before := l.assetsNow(t)
	for _, id := range []string{"make-pki", "make-kubeconfigs", "make-manifests"} {
		if r := l.Run(t, id+".sh"); r.Status != 1 && r.Status != 4 {
			t.Errorf("%s: status %d:\n%s", id, r.Status, r.All)
		}
		before.Same(t, l.assetsNow(t))
		for _, m := range l.markers(stage(t, id)) {
			if _, err := os.Stat(m); err == nil {
				t.Errorf("%s is still there", m)
			}
		}
	}
	l.Run(t, "make-pki.sh", "--renew").Want(t, 1, "came out of a bootstrap.ign")
	before.Same(t, l.assetsNow(t))

	l.Must(t, "make-pki.sh", "--force")
	if _, err := os.Stat(marker); err == nil {
		t.Error("unpacking still counts as done")
	}
	l.Must(t, "make-kubeconfigs.sh")
	l.Must(t, "make-manifests.sh", "--force")
	for _, id := range []string{"make-pki", "make-kubeconfigs", "make-manifests"} {
		allGood(t, l, stage(t, id))
	}

	l.Run(t, unpackScript).Want(t, 1, "invalidate")
	l.Must(t, unpackScript, "--force")
	allGood(t, l, unpackStage(t))
	for _, name := range []string{"metadata.json", "install-config.yaml", "tls/root-ca.key", "auth/kubeadmin-password", "make-pki.done"} {
		if _, err := os.Stat(l.Asset(name)); err == nil {
			t.Errorf("%s of the other cluster is left", name)
		}
	}
}

func TestUnpackingInvalidatesEveryLaterResult(t *testing.T) {
	t.Parallel()
	l, _ := handMade(t)
	if err := l.writeIgnition(l.ignition(t)); err != nil {
		t.Fatal(err)
	}
	l.Run(t, unpackScript).Want(t, 1, "invalidate")
	l.Must(t, unpackScript, "--force")
	for _, s := range Stages(t, release, labs.Local) {
		independent := s.ID == "release-info" || s.ID == "get-tools"
		for _, m := range l.markers(s) {
			if _, err := os.Stat(m); (err == nil) != independent {
				t.Errorf("%s: there is %v, want %v", m, err == nil, independent)
			}
		}
	}
}

// TestAKilledRunLeavesNoMixture: whatever is there of the assets is of one of
// the two clusters, and every directory of it whole.
func TestAKilledRunLeavesNoMixture(t *testing.T) {
	t.Parallel()
	l, files := handMade(t)
	old := map[string]string{}
	for _, top := range bootstrapAssets {
		old[top] = l.digest(t, top)
	}
	config := l.ignition(t)
	storage := config["storage"].(object)
	for _, top := range []string{"auth", "manifests", "openshift", "tls"} { // another cluster differs in every directory
		storage["files"] = append(storage["files"].([]any), object{"path": "/opt/openshift/" + top + "/added"})
		files[top+"/added"] = nil
	}
	if err := l.writeIgnition(config); err != nil {
		t.Fatal(err)
	}
	// killed runs it until its rename number k of the last step, from 1; 0 kills
	// nothing. It gives the number of renames.
	killed := func(c *Lab, k int) int {
		calls := filepath.Join(c.Env.Dir, "calls")
		c.Wrap(t, "mv", fmt.Sprintf(`case "$1" in --target-directory=*)
  echo "$@" >> %[1]s
  if [ "$(wc -l < %[1]s)" = %[2]d ]; then kill -9 $PPID; exit 1; fi ;;
esac
exec "$REAL" "$@"`, calls, k))
		if r := c.Run(t, unpackScript, "--force"); (r.Status == 0) != (k == 0) {
			t.Fatalf("status %d at rename %d:\n%s", r.Status, k, r.All)
		}
		c.unlocked(t)
		return strings.Count(string(mustRead(t, calls)), "\n")
	}
	var moments []int
	for k := range killed(l.Apart(t), 0) {
		moments = append(moments, k+1)
	}
	if len(moments) <= len(old) {
		t.Errorf("it renames %d times", len(moments))
	}
	for _, k := range sample.Of(t, 2, moments) {
		c := l.Apart(t)
		killed(c, k)
		last := fmt.Sprintf("rename %d", k)
		kept, come := 0, 0
		for top, was := range old {
			switch now := c.digest(t, top); {
			case now == was && top != "original_cvo_overrides.patch":
				kept++
			case now != "" && now != was:
				come++
				if _, err := os.Stat(c.Asset(top + "/added")); err != nil {
					t.Errorf("killed before %q, %s is half", last, top)
				}
			}
		}
		if kept > 0 && come > 0 {
			t.Errorf("killed before %q, %d directories are old and %d new", last, kept, come)
		}
		c.Must(t, unpackScript, "--force")
		c.holds(t, files)
		if _, err := os.Stat(c.Asset("." + unpackID)); err == nil {
			t.Error("the room is left")
		}
	}
}

// digest is what a file or directory holds, empty if it is not there.
func (l *Lab) digest(t *testing.T, top string) string {
	t.Helper()
	var lines []string
	for path, is := range l.Snapshot(t) {
		if name := strings.TrimPrefix(path, l.Assets()+"/"); name == top || strings.HasPrefix(name, top+"/") {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				lines = append(lines, name+" "+withoutTime(is))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestNoKeyIsShown: neither in what is said and logged, nor on the command line
// of any program, where everybody on the machine could read it.
func TestNoKeyIsShown(t *testing.T) {
	t.Parallel()
	l := Unpacked(t).Apart(t)
	record := filepath.Join(l.Env.Dir, "arguments")
	for _, program := range []string{"jq", "base64", "gzip", "split", "cat", "sha256sum", "mv", "chmod", "sed", "openssl"} {
		l.Wrap(t, program, `printf '%s\n' "$@" >> `+record+"\n"+`exec "$REAL" "$@"`)
	}
	said := l.Must(t, unpackScript, "--force").All
	arguments, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(l.Asset("/var/log/openshift/bootlab/" + unpackID + ".log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(arguments), "pieces/0000") {
		t.Errorf("the programs were not watched: %s", arguments)
	}
	for where, text := range map[string]string{"said": said, "a command line": string(arguments), "the log": string(log)} {
		for name, data := range l.bootstrapFiles(t) {
			for _, line := range strings.Split(string(data), "\n") {
				if strings.HasSuffix(name, ".key") && len(line) == 64 && strings.Contains(text, line) {
					t.Fatalf("%s holds a line of %s", where, name)
				}
			}
		}
		for _, word := range []string{"LS0tLS1CRUdJTi", "BEGIN RSA"} {
			if strings.Contains(text, word) {
				t.Errorf("%s holds %s", where, word)
			}
		}
	}
}

func TestTheFileIsBesideLabYamlUnlessAnotherIsNamed(t *testing.T) {
	t.Parallel()
	l := Unpacked(t).Clone(t)
	elsewhere := filepath.Join(l.Dir, "it's $(touch x) a file.ign")
	if err := os.Rename(l.ignitionFile(), elsewhere); err != nil {
		t.Fatal(err)
	}
	l.Must(t, unpackScript).Says(t, "done already") // which needs no file
	l.Run(t, unpackScript, "--force").Want(t, 4, l.ignitionFile(), "--ignition=FILE")
	l.Run(t, unpackScript, "--ignition=").Want(t, 2)
	for _, name := range []string{elsewhere, filepath.Base(elsewhere)} {
		cmd := l.command(unpackScript, "--force", "--ignition="+name)
		cmd.Dir = l.Dir
		finish(t, cmd).Want(t, 0)
	}
	for _, name := range []string{l.Dir, "/dev/null", filepath.Join(l.Dir, "none.ign")} {
		l.Run(t, unpackScript, "--force", "--ignition="+name).Want(t, 4, name+" is missing")
	}
	allGood(t, l, unpackStage(t))
}

// TestTheStagesBehindWorkOnUnpackedAssets: they cannot tell the difference.
func TestTheStagesBehindWorkOnUnpackedAssets(t *testing.T) {
	t.Parallel()
	l := Unpacked(t).Apart(t)
	for _, s := range chainStages(t, release, labs.Local) {
		if s.SkipIf == unpackID+".done" {
			continue
		}
		l.RunStage(t, s).Want(t, 0)
		allGood(t, l, s)
	}
	allGood(t, l, unpackStage(t))
	cmd := l.Env.Command("sha256sum", "--check", "--quiet", unpackID+"/sha256sums")
	cmd.Dir = l.Assets()
	finish(t, cmd).Want(t, 0)
	if r := l.Must(t, "render-all.sh", "--list"); strings.Contains(r.All, "make-pki") {
		t.Errorf("render-all.sh would make keys of its own:\n%s", r.All)
	}
}
