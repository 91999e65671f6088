package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
)

// entry is one of a made archive.
type entry struct {
	name, text, link string
	kind             byte // tar.TypeReg unless told
}

// archive makes a .tar.gz of entries.
func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.text)), Mode: 0o644, ModTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Format: tar.FormatPAX}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, e.text)
	}
	w.Close()
	zip.Close()
	return out.Bytes()
}

func saved(t testing.TB, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func opened(t testing.TB, file string, most limits) *Bundle {
	t.Helper()
	b, err := openBundle(context.Background(), file, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if b.temp != "" {
		sameInMemory(t, b, file, most)
	}
	return b
}

// sameInMemory holds unpacking into memory to what unpacking to a disk gives.
func sameInMemory(t testing.TB, disk *Bundle, file string, most limits) {
	t.Helper()
	archive, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	b, err := readBundle(context.Background(), file, archive, most)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Notes, disk.Notes) || b.Torn != disk.Torn || !reflect.DeepEqual(b.Index, disk.Index) {
		t.Errorf("in memory: notes %q, torn %t; on disk: %q, %t", b.Notes, b.Torn, disk.Notes, disk.Torn)
	}
	if got, want := contents(t, b.top), contents(t, disk.top); got != want {
		t.Errorf("in memory:\n%s\non disk:\n%s", got, want)
	}
}

// contents are the names, kinds, times and sums of all that is in a tree.
func contents(t testing.TB, fsys fs.FS) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintf(&all, "%s/ %v\n", name, err)
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		fmt.Fprintf(&all, "%s %d %d %s %x\n", name, n, info.Size(), info.ModTime().UTC().Truncate(time.Second), sum.Sum(nil))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func text(t testing.TB, fsys fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const journal = "log-bundle-20260102030405/bootstrap/journals/bootkube.log"

func TestABundleIsRootedInItsFolderAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: journal, text: "hello\n"})), bundleLimits)
	if got := text(t, b.FS(), "bootstrap/journals/bootkube.log"); got != "hello\n" {
		t.Errorf("the journal is %q", got)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local); !b.Time().Equal(want) {
		t.Errorf("collected at %s, want %s", b.Time(), want)
	}
	dirs, _ := os.ReadDir(os.Getenv("TMPDIR"))
	if info, err := dirs[0].Info(); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("unpacked with mode %v, %v", info.Mode(), err)
	}
	b.Close()
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What is hostile is left out and named; what is good is used.
func TestHostileEntriesAreLeftOut(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	long := "log-bundle-1/" + strings.Repeat("d/", 600) + "f"
	cases := map[string]struct {
		entries []entry
		note    string
	}{
		"path that leads out":      {[]entry{{name: "log-bundle-1/../../outside", text: "x"}}, "leads out"},
		"path from the root":       {[]entry{{name: outside, text: "x"}}, "begins at the root"},
		"link out, and through":    {[]entry{{name: "log-bundle-1/l", kind: tar.TypeSymlink, link: filepath.Dir(outside)}, {name: "log-bundle-1/l/outside", text: "x"}}, "a link"},
		"hard link":                {[]entry{{name: "log-bundle-1/h", kind: tar.TypeLink, link: "/etc/passwd"}}, "a link"},
		"device":                   {[]entry{{name: "log-bundle-1/null", kind: tar.TypeChar}}, "neither file nor directory"},
		"pipe":                     {[]entry{{name: "log-bundle-1/pipe", kind: tar.TypeFifo}}, "neither file nor directory"},
		"twice":                    {[]entry{{name: journal, text: "evil"}}, "there twice"},
		"directory over a file":    {[]entry{{name: journal + "/", kind: tar.TypeDir}}, "in the place of another"},
		"file below a file":        {[]entry{{name: journal + "/below", text: "x"}}, "in the place of another"},
		"path too long":            {[]entry{{name: long, text: "x"}}, "too long"},
		"name too long for a disk": {[]entry{{name: "log-bundle-1/" + strings.Repeat("n", 300), text: "x"}}, "a name that cannot be"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			entries := append([]entry{{name: journal, text: "good"}}, c.entries...)
			b := opened(t, saved(t, "x.tar.gz", archive(t, entries...)), bundleLimits)
			if got := text(t, b.FS(), "bootstrap/journals/bootkube.log"); got != "good" {
				t.Errorf("the journal is %q", got)
			}
			if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("notes %q say nothing of %q", notes, c.note)
			}
			if _, err := os.Lstat(outside); err == nil {
				t.Error("a file was written outside")
			}
		})
	}
}

func TestLimitsEndReading(t *testing.T) {
	few := limits{total: 1 << 20, file: 100, entries: 5, path: 100}
	many := []entry{{name: journal, text: "good"}}
	for i := range 10 {
		many = append(many, entry{name: "log-bundle-20260102030405/" + string(rune('a'+i)), text: "x"})
	}
	b := opened(t, saved(t, "x.tar.gz", archive(t, many...)), few)
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "over the limit of 5 entries") {
		t.Errorf("notes: %q", notes)
	}
	b = opened(t, saved(t, "x.tar.gz", archive(t, many[0], entry{name: "log-bundle-20260102030405/big", text: strings.Repeat("0", 3<<20)})), few)
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "over the limit of bytes") {
		t.Errorf("notes: %q", notes)
	}
	for _, size := range []int{99, 100, 101, 199, 200, 201, 777} {
		long := strings.Repeat("0123456789", 100)[:size]
		b = opened(t, saved(t, "x.tar.gz", archive(t, entry{name: journal, text: long})), few)
		if got := text(t, b.FS(), "bootstrap/journals/bootkube.log"); got != long[max(0, size-100):] {
			t.Errorf("of %d bytes were kept %q", size, got)
		}
	}
}

// A file may say that it is huge and hold nothing: the archive is a few bytes.
func TestHolesAreNotFollowedForEver(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	w.WriteHeader(&tar.Header{Name: journal, Size: 4, Mode: 0o600})
	io.WriteString(w, "good")
	// GNU sparse 1.0, a map of one hole of 1 TiB. The writer refuses GNU's own
	// records, so that they get their names below.
	w.WriteHeader(&tar.Header{Name: "log-bundle-20260102030405/huge", Mode: 0o600, Size: 512, Format: tar.FormatPAX, PAXRecords: map[string]string{
		"XXX.sparse.major": "1", "XXX.sparse.minor": "0", "XXX.sparse.name": "log-bundle-20260102030405/huge", "XXX.sparse.realsize": "1099511627776"}})
	hole := make([]byte, 512)
	copy(hole, "1\n1099511627776\n0\n")
	w.Write(hole)
	w.Close()
	data := bytes.ReplaceAll(out.Bytes(), []byte("XXX.sparse"), []byte("GNU.sparse"))
	b := opened(t, saved(t, "x.tar", data), limits{total: 1 << 20, file: 4 << 10, entries: 10, path: 100})
	if got := text(t, b.FS(), "bootstrap/journals/bootkube.log"); got != "good" {
		t.Errorf("the journal is %q", got)
	}
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "over the limit of bytes") {
		t.Errorf("notes: %q", notes)
	}
}

// A bomb takes neither memory nor more of the disk than the limit.
func TestABombTakesNoMemory(t *testing.T) {
	const size = 300 << 20
	file := filepath.Join(t.TempDir(), "log-bundle-20260102030405.tar.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	zip, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	w := tar.NewWriter(zip)
	w.WriteHeader(&tar.Header{Name: journal, Size: size, Mode: 0o600})
	line := bytes.Repeat([]byte("A"), 1<<20)
	for range size >> 20 {
		w.Write(line)
	}
	w.Close()
	zip.Close()
	f.Close()
	most := limits{total: 2 << 30, file: 8 << 20, entries: 10, path: 100}
	before := allocated()
	b, err := openBundle(context.Background(), file, most)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	found := b.Found([]*labs.Evidence{{ID: "j", On: labs.OnBootstrap, File: "bootstrap/journals/bootkube.log", Limit: 1024}}, lab())
	if used := allocated() - before; used > 16<<20 {
		t.Errorf("%d MiB were allocated for a bundle of %d MiB", used>>20, size>>20)
	}
	if !found[0].Had || !found[0].Cut || len(found[0].Text) != 1<<20 {
		t.Errorf("found %d bytes, cut %v", len(found[0].Text), found[0].Cut)
	}
	if info, _ := fs.Stat(b.FS(), "bootstrap/journals/bootkube.log"); info.Size() != 8<<20 {
		t.Errorf("%d bytes are kept", info.Size())
	}
	// In memory what is kept comes on top, twice while it is put in order, and what
	// its chunks grow from.
	before = allocated()
	sameInMemory(t, b, file, most)
	if used := allocated() - before; used > 32<<20 {
		t.Errorf("in memory %d MiB were allocated", used>>20)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestATornArchiveIsUsedAsFarAsItGoes(t *testing.T) {
	noise := make([]byte, 100<<10)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	whole := archive(t, entry{name: journal, text: "good"}, entry{name: "log-bundle-20260102030405/big", text: string(noise)})
	b := opened(t, saved(t, "x.tar.gz", whole[:len(whole)/2]), bundleLimits)
	if !b.Torn || !strings.Contains(strings.Join(b.Notes, "\n"), "torn") {
		t.Errorf("torn %v, notes %q", b.Torn, b.Notes)
	}
	if got := text(t, b.FS(), "bootstrap/journals/bootkube.log"); got != "good" {
		t.Errorf("the journal is %q", got)
	}
}

func TestWhatIsNoBundleIsRefused(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty": {}, "text": []byte("hello, this is no archive\n"), "gzip of text": zipped("hello"),
		"other archive": archive(t, entry{name: "a/b", text: "x"}), "no file": archive(t, entry{name: "bootstrap/", kind: tar.TypeDir}),
		"two bundles": archive(t, entry{name: "a/bootstrap/x", text: "x"}, entry{name: "b/bootstrap/x", text: "x"}),
	} {
		if b, err := OpenBundle(context.Background(), saved(t, "x.tar.gz", data)); err == nil {
			b.Close()
			t.Errorf("%s: was opened", name)
		}
	}
	if _, err := OpenBundle(context.Background(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was opened")
	}
}

func zipped(text string) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	io.WriteString(zip, text)
	zip.Close()
	return out.Bytes()
}

// A directory was unpacked by somebody else, links and pipes with it.
func TestNothingLeadsOutOfADirectory(t *testing.T) {
	dir, secret := t.TempDir(), saved(t, "secret", []byte("secret"))
	os.MkdirAll(filepath.Join(dir, "bootstrap/journals"), 0o700)
	os.Symlink(secret, filepath.Join(dir, "bootstrap/journals/bootkube.log"))
	os.Symlink(filepath.Dir(secret), filepath.Join(dir, "bootstrap/away"))
	syscall.Mkfifo(filepath.Join(dir, "bootstrap/pipe"), 0o600)
	b := opened(t, dir, bundleLimits)
	for _, name := range []string{"bootstrap/journals/bootkube.log", "bootstrap/away/secret", "bootstrap/pipe", "../secret"} {
		if data, err := fs.ReadFile(b.FS(), name); err == nil {
			t.Errorf("%s gives %q", name, data)
		}
	}
}

func lab() *labs.Lab {
	l := &labs.Lab{}
	l.Metadata.Name = "mylab"
	l.Machines.Masters = []labs.Machine{{Name: "master-0", Address: "192.168.126.11"}, {Name: "master-1", Address: "192.168.126.12"}}
	return l
}

func evidence(id, on, form, file string, also ...string) *labs.Evidence {
	return &labs.Evidence{ID: id, On: on, Form: form, File: file, Also: also, Limit: 64}
}

// A bundle of the installer has no index, and other names for some files.
func TestTheInstallersBundleIsFound(t *testing.T) {
	const top = "log-bundle-20260102030405/"
	whole := "Fri 2026-01-02 03:04:05 UTC bootstrap node-image-pull.service[77]: Pulling\n" +
		"Fri 2026-01-02 03:04:05 UTC bootstrap kubelet.service[78]: not node-image-pull.service[1]\n" +
		"Fri 2026-01-02 03:04:06 UTC bootstrap node-image-pull.service[77]: Pulled\n"
	b := opened(t, saved(t, "log-bundle-20260102030405.tar.gz", archive(t,
		entry{name: top, kind: tar.TypeDir},
		entry{name: top + "bootstrap/journals/bootkube.log", text: "one\n"},
		entry{name: top + "bootstrap/journals/journal.log.gz", text: string(zipped(whole))},
		entry{name: top + "bootstrap/containers/etcd-abcdef0123456789.log", text: "etcd 2\n"},
		entry{name: top + "bootstrap/containers/etcd-0123456789abcdef.log", text: "etcd 1"},
		entry{name: top + "bootstrap/containers/etcd-metrics-abcdef.log", text: "metrics\n"},
		entry{name: top + "resources/nodes.json", text: ""},
		entry{name: top + "resources/configmaps.json", text: `{"items":[]}`},
		entry{name: top + "rendered-assets/openshift/tls/root-ca.crt", text: "junk\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"},
		entry{name: top + "control-plane/192.168.126.12/journals/kubelet.log", text: "second\n"},
		entry{name: top + "control-plane/10.0.0.9/journals/kubelet.log", text: "stranger\n"},
	)), bundleLimits)
	etcd := "bootstrap/containers/etcd-[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*.log"
	all := []*labs.Evidence{
		evidence("bootkube-journal", labs.OnBootstrap, labs.TextForm, "bootstrap/journals/bootkube.log"),
		evidence("node-image", labs.OnBootstrap, labs.TextForm, "bootstrap/journals/node-image.log", "bootstrap/journals/journal.log.gz#node-image-pull.service"),
		evidence("etcd-log", labs.OnBootstrap, labs.TextForm, "bootstrap/containers/etcd.log", etcd),
		evidence("nodes", labs.OnCluster, labs.JSONForm, "resources/nodes.json"),
		evidence("bootstrap-configmap", labs.OnCluster, labs.JSONForm, "resources/bootstrap-configmap.json", "resources/configmaps.json"),
		evidence("certificates", labs.OnBootstrap, labs.CertificatesForm, "bootlab/certificates.txt", "rendered-assets/openshift/tls/*.crt"),
		evidence("absent", labs.OnBootstrap, labs.TextForm, "bootstrap/absent"),
		evidence("master-kubelet", labs.OnMasters, labs.TextForm, "journals/kubelet.log"),
	}
	type said struct {
		id, node, text, problem string
	}
	var got []said
	for _, f := range b.Found(all, lab()) {
		got = append(got, said{f.Evidence.ID, f.Node, string(f.Text), f.Problem})
		if f.Had == (f.Problem != "") {
			t.Errorf("%s: had %v, problem %q", f.Evidence.ID, f.Had, f.Problem)
		}
		if !f.At.Equal(b.Time()) {
			t.Errorf("%s is of %s", f.Evidence.ID, f.At)
		}
	}
	want := []said{
		{"bootkube-journal", "", "one\n", ""},
		{"node-image", "", "2026-01-02T03:04:05+0000 bootstrap node-image-pull.service[77]: Pulling\n2026-01-02T03:04:06+0000 bootstrap node-image-pull.service[77]: Pulled\n", ""},
		{"etcd-log", "", "==> bootstrap/containers/etcd-0123456789abcdef.log\netcd 1\n==> bootstrap/containers/etcd-abcdef0123456789.log\netcd 2\n", ""},
		{"nodes", "", "", "resources/nodes.json is empty: there was no answer"},
		{"bootstrap-configmap", "", "{\"items\":[]}\n", ""},
		{"certificates", "", "==> rendered-assets/openshift/tls/root-ca.crt\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", ""},
		{"absent", "", "", "the bundle has no bootstrap/absent"},
		{"master-kubelet", "10.0.0.9", "stranger\n", ""},
		{"master-kubelet", "master-1", "second\n", ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%q\nwant\n%q", got, want)
	}
}

// Bundles of earlier versions have another key for a local run.
func TestALocalRunOfAnEarlierVersionIsOne(t *testing.T) {
	for text, local := range map[string]bool{`{"version": 1, "rehearsal": true}`: true, `{"version": 1, "rehearsal": false}`: false, `{"version": 1, "local": true}`: true} {
		b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: "x/" + IndexFile, text: text})), bundleLimits)
		if b.Local() != local {
			t.Errorf("%s: local run %t", text, b.Local())
		}
	}
}

// The index of our own bundles tells what no file can.
func TestTheIndexIsTrustedWithinTheBundle(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	index := &Index{Version: IndexVersion, Local: true, Ended: at.Add(time.Minute), Evidence: []Entry{
		{ID: "a", File: "bootstrap/elsewhere", Status: 3, Complaint: "no", At: at, Took: time.Second, Cut: true},
		{ID: "b", Problem: "bootstrap: no answer in time", At: at},
		{ID: "c", Status: 1, Complaint: "none", At: at},
		{ID: "m", Node: "master-0", Problem: "the machine cannot be reached", At: at},
	}}
	data, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: "x/" + IndexFile, text: string(data)}, entry{name: "x/bootstrap/elsewhere", text: "text"})), bundleLimits)
	if !b.Local() || !b.Time().Equal(index.Ended) {
		t.Errorf("local run %v, time %s", b.Local(), b.Time())
	}
	found := b.Found([]*labs.Evidence{evidence("a", labs.OnBootstrap, "", "bootstrap/a"), evidence("b", labs.OnBootstrap, "", "bootstrap/b"),
		evidence("c", labs.OnBootstrap, "", "bootstrap/c"), evidence("m", labs.OnMasters, "", "m")}, lab())
	if f := found[0]; !f.Had || string(f.Text) != "text" || f.Status != 3 || f.Complaint != "no" || !f.Cut || !f.At.Equal(at) || f.Took != time.Second {
		t.Errorf("a is %+v", f)
	}
	if f := found[1]; f.Had || f.Problem != "bootstrap: no answer in time" {
		t.Errorf("b is %+v", f)
	}
	if f := found[2]; !f.Had || f.Status != 1 || len(f.Text) > 0 {
		t.Errorf("c is %+v", f)
	}
	if f := found[3]; f.Had || f.Node != "master-0" || f.Problem != "the machine cannot be reached" {
		t.Errorf("m is %+v", f)
	}
}

func TestAHostileIndexIsPassedOver(t *testing.T) {
	for _, index := range []string{`{`, `[]`, `{"version":2}`, `{"version":1,"evidence":[{"id":"a","file":"../../etc/passwd"}]}`, strings.Repeat("[", 100_000)} {
		b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: "x/" + IndexFile, text: index}, entry{name: "x/bootstrap/a", text: "text"})), bundleLimits)
		if b.Index != nil || len(b.Notes) == 0 {
			t.Errorf("index %.40q was taken; notes %q", index, b.Notes)
		}
		if found := b.Found([]*labs.Evidence{evidence("a", labs.OnBootstrap, "", "bootstrap/a")}, lab()); !found[0].Had {
			t.Errorf("index %.40q: %+v", index, found[0])
		}
	}
}

func FuzzOpenBundle(f *testing.F) {
	f.Add(archive(f, entry{name: journal, text: "good"}, entry{name: "log-bundle-20260102030405/" + IndexFile, text: `{"version":1,"evidence":[{"id":"j"}]}`}))
	f.Add(archive(f, entry{name: "x/l", kind: tar.TypeSymlink, link: "/"}, entry{name: "x/l/a", text: "x"}))
	f.Add([]byte{})
	all := []*labs.Evidence{evidence("j", labs.OnBootstrap, labs.TextForm, "bootstrap/journals/bootkube.log", "*/*.gz#a.service", "*"), evidence("m", labs.OnMasters, labs.JSONForm, "x")}
	f.Fuzz(func(t *testing.T, data []byte) {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", filepath.Join(tmp, "unpacked"))
		os.Mkdir(filepath.Join(tmp, "unpacked"), 0o700)
		file := filepath.Join(tmp, "bundle")
		os.WriteFile(file, data, 0o600)
		most := limits{total: 1 << 20, file: 4 << 10, entries: 50, path: 200}
		b, err := openBundle(context.Background(), file, most)
		if err == nil {
			sameInMemory(t, b, file, most)
			b.Found(all, lab())
			b.Close()
		}
		left, _ := os.ReadDir(filepath.Join(tmp, "unpacked"))
		beside, _ := os.ReadDir(tmp)
		if len(left) > 0 || len(beside) != 2 {
			t.Errorf("left behind: %v, %v", left, beside)
		}
	})
}
