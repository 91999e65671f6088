package mask

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// part is a file of an archive.
type part struct {
	name, text string
	kind       byte
}

func tarOf(t testing.TB, parts ...part) string {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, p := range parts {
		h := &tar.Header{Name: p.name, Typeflag: p.kind, Size: int64(len(p.text)), Mode: 0o640, ModTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Uname: "bob-the-customer"}
		if p.kind == 0 {
			h.Typeflag = tar.TypeReg
		} else {
			h.Linkname, h.Size = "/etc/shadow", 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if p.kind == 0 {
			io.WriteString(w, p.text)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func zipOf(t testing.TB, parts ...part) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, p := range parts {
		f, err := w.Create(p.name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, p.text)
	}
	w.Close()
	return out.String()
}

// everything is what a file holds, unpacked again and again; and the names in it.
func everything(t testing.TB, data []byte) (text string, names []string) {
	t.Helper()
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		zipped, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		inner, err := io.ReadAll(zipped)
		if err != nil {
			t.Fatal(err)
		}
		return everything(t, inner)
	case len(data) > 262 && string(data[257:262]) == "ustar":
		for r := tar.NewReader(bytes.NewReader(data)); ; {
			h, err := r.Next()
			if err == io.EOF {
				return text, names
			}
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			more, inner := everything(t, content)
			text, names = text+h.Name+h.Uname+h.Linkname+"\n"+more, append(append(names, h.Name), inner...)
		}
	case bytes.HasPrefix(data, []byte("PK")):
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			c, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(c)
			if err != nil {
				t.Fatal(err)
			}
			more, inner := everything(t, content)
			text, names = text+f.Name+"\n"+more, append(append(names, f.Name), inner...)
		}
		return text, names
	}
	return strings.ReplaceAll(string(data), "\x00", ""), nil
}

func savedAs(t testing.TB, name, data string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func maskedCopy(t testing.TB, from string) (*Report, []byte) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	report, err := New([]byte("known-to-the-lab")).Bundle(context.Background(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	sameAsAStream(t, from, report, data)
	return report, data
}

// sameAsAStream holds a copy that goes through no file to one that does.
func sameAsAStream(t testing.TB, from string, report *Report, data []byte) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return
	}
	var out bytes.Buffer
	got, err := New([]byte("known-to-the-lab")).Stream(context.Background(), from, f, &out)
	if err != nil || !bytes.Equal(out.Bytes(), data) || !reflect.DeepEqual(got, report) {
		t.Errorf("%v; a stream gives another copy, or reports\n%+v\nfor\n%+v", err, got, report)
	}
}

func TestABundleIsMaskedInAllItsDepths(t *testing.T) {
	const line = "Nov 22 h a[1]: password=" + weak + " and known-to-the-lab\n"
	noise := make([]byte, 8<<10)
	rand.New(rand.NewSource(1)).Read(noise)
	inner := tarOf(t, part{name: "deep/a.log", text: line}, part{name: "deep/b.log.gz", text: gz(t, line)})
	parts := []part{
		{name: "log-bundle-1/bootstrap/journals/bootkube.log", text: line + "evidence stays\n"},
		{name: "log-bundle-1/bootstrap/journals/journal.log.gz", text: gz(t, line)},
		{name: "log-bundle-1/nested.tar", text: inner}, {name: "log-bundle-1/nested.tar.gz", text: gz(t, inner)},
		{name: "log-bundle-1/nested.zip", text: zipOf(t, part{name: "z/a.log", text: line}, part{name: "z/b.gz", text: gz(t, line)})},
		{name: "log-bundle-1/wide.txt", text: "\xff\xfe" + utf16Of(line, binary.LittleEndian)},
		{name: "log-bundle-1/auth/kubeadmin-password", text: weak}, {name: "log-bundle-1/static/secrets/a/tls.key", text: weak + "\nmore\n"},
		{name: "log-bundle-1/known-to-the-lab.log", text: "text\n"},
		{name: "log-bundle-1/a.xz", text: "\xfd7zXZ\x00" + weak}, {name: "log-bundle-1/a.bz2", text: "BZh91AY&SY" + weak}, {name: "log-bundle-1/a.zst", text: "\x28\xb5\x2f\xfd" + weak}, {name: "log-bundle-1/core", text: "\x7fELF\x00\x00" + string(noise) + weak},
		{name: "log-bundle-1/late", text: strings.Repeat("text\n", 4000) + strings.Repeat(string(noise), 20) + weak},
		{name: "log-bundle-1/link", kind: tar.TypeSymlink}, {name: "../outside", text: weak}, {name: "log-bundle-1/empty", text: ""},
	}
	from := savedAs(t, "log-bundle-1.tar.gz", gz(t, tarOf(t, parts...)))
	before, _ := os.ReadFile(from)
	report, data := maskedCopy(t, from)
	if after, _ := os.ReadFile(from); !bytes.Equal(before, after) {
		t.Error("the original changed")
	}
	text, names := everything(t, data)
	for _, secret := range []string{weak, "known-to-the-lab", "bob-the-customer", "/etc/shadow"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is left in %q", secret, text[max(0, strings.Index(text, secret)-80):])
		}
	}
	if !strings.Contains(text, "evidence stays") {
		t.Error("evidence is gone")
	}
	for _, name := range []string{"log-bundle-1/nested.tar.gz", "deep/b.log.gz", "z/b.gz", "log-bundle-1/empty", "log-bundle-1/wide.txt"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in the copy", name)
		}
	}
	var left []string
	for _, l := range report.LeftOut {
		left = append(left, l.File+": "+l.Why)
	}
	for _, name := range []string{"a.xz", "a.bz2", "a.zst", "core", "late", "link", "../outside"} {
		if !strings.Contains(strings.Join(left, "\n"), name+": ") {
			t.Errorf("%s is not named: %q", name, left)
		}
	}
	for _, want := range []Masked{
		{File: "log-bundle-1/bootstrap/journals/bootkube.log", Kind: passwordKind, Count: 1, Lines: []int{1}},
		{File: "log-bundle-1/nested.tar.gz: deep/b.log.gz", Kind: ownKind, Count: 1, Lines: []int{1}},
		{File: "log-bundle-1/auth/kubeadmin-password", Kind: passwordKind, Count: 1, Lines: []int{1}},
	} {
		if !slices.ContainsFunc(report.Masked, func(m Masked) bool {
			return (m.File == want.File || strings.HasSuffix(m.File, "nested.tar: deep/b.log") && strings.Contains(want.File, "nested.tar.gz")) && m.Kind == want.Kind && m.Count == want.Count && slices.Equal(m.Lines, want.Lines)
		}) {
			t.Errorf("%+v is not in %+v", want, report.Masked)
		}
	}
}

func TestOneFileAndADirectoryAreMasked(t *testing.T) {
	const line = "password=" + weak + "\n"
	if _, data := maskedCopy(t, savedAs(t, "bootkube.log", line)); string(data) != "password="+mark(passwordKind)+"\n" {
		t.Errorf("a file became %q", data)
	}
	dir := filepath.Join(t.TempDir(), "log-bundle-2")
	os.MkdirAll(filepath.Join(dir, "bootstrap"), 0o700)
	os.WriteFile(filepath.Join(dir, "bootstrap", "a.log"), []byte(line), 0o600)
	outside := savedAs(t, "outside", "not to be seen")
	os.Symlink(outside, filepath.Join(dir, "bootstrap", "link"))
	report, data := maskedCopy(t, dir)
	text, names := everything(t, data)
	if strings.Contains(text, weak) || strings.Contains(text, "not to be seen") || !slices.Contains(names, "log-bundle-2/bootstrap/a.log") || len(report.LeftOut) != 1 {
		t.Errorf("a directory became %q, %q; left out %v", names, text, report.LeftOut)
	}
}

// A copy is whole or absent, and nothing is replaced.
func TestACopyIsWholeOrAbsent(t *testing.T) {
	good := gz(t, tarOf(t, part{name: "a/bootstrap/x", text: strings.Repeat("line of it\n", 1000)}))
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	os.WriteFile(taken, []byte("mine"), 0o600)
	if _, err := New().Bundle(context.Background(), savedAs(t, "x.tar.gz", good), taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there gave %v", err)
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	bomb := gz(t, tarOf(t, part{name: "a/x", text: strings.Repeat("0", 3<<20)}))
	few := limits{total: 1 << 20, packed: 100 << 10, entries: 3, path: 100, depth: 4}
	many := tarOf(t, part{name: "1", text: "x"}, part{name: "2", text: "x"}, part{name: "3", text: "x"}, part{name: "4", text: "x"})
	for name, c := range map[string]struct {
		ctx  context.Context
		data string
	}{
		"interrupted": {ended, good}, "bomb": {context.Background(), bomb}, "many": {context.Background(), many},
		"binary": {context.Background(), "\x7fELF\x00\x01\x02" + strings.Repeat("\x00\x01", 400)}, "no tar": {context.Background(), gz(t, strings.Repeat("\x00", 600))},
		"empty archive": {context.Background(), tarOf(t)},
	} {
		if _, err := New().bundle(c.ctx, savedAs(t, "x", c.data), filepath.Join(dir, "copy"), few); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if text, _ := os.ReadFile(taken); string(text) != "mine" {
		t.Error("a file was replaced")
	}
}

// One packed file that is too large is left out, and the rest is copied.
func TestABombInABundleIsLeftOut(t *testing.T) {
	few := limits{total: 4 << 20, packed: 100 << 10, entries: 10, path: 100, depth: 3}
	deep := "text"
	for range 8 {
		deep = gz(t, deep)
	}
	from := savedAs(t, "x.tar", tarOf(t, part{name: "a/bomb.gz", text: gz(t, strings.Repeat("0", 1<<20))}, part{name: "a/deep.gz", text: deep}, part{name: "a/good", text: "good\n"}))
	to := filepath.Join(t.TempDir(), "copy")
	report, err := New().bundle(context.Background(), from, to, few)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(to)
	if _, names := everything(t, data); !slices.Equal(names, []string{"a/good"}) || len(report.LeftOut) != 2 {
		t.Errorf("copied %q, left out %v", names, report.LeftOut)
	}
}

func TestATornBundleIsMaskedAsFarAsItGoes(t *testing.T) {
	noise := make([]byte, 60<<10)
	rand.New(rand.NewSource(2)).Read(noise)
	whole := gz(t, tarOf(t, part{name: "a/first", text: "password=" + weak + "\n"}, part{name: "a/second", text: b64(string(noise))}))
	report, data := maskedCopy(t, savedAs(t, "x.tar.gz", whole[:len(whole)/2]))
	text, names := everything(t, data)
	if strings.Contains(text, weak) || !slices.Contains(names, "a/first") || !strings.Contains(strings.Join(report.Notes, "\n"), "torn") {
		t.Errorf("%q with notes %q", names, report.Notes)
	}
}

// What still looks like a secret is told with its line; what is public is not.
func TestSuspectsAreTold(t *testing.T) {
	certificate := "-----BEGIN CERTIFICATE-----\nMIIDAzCCAeugAwIBAgIQQ0FzZ2Fyb29tV29ybGQ5ODc2NTQzMjEwAbCdEfGh1jK\n-----END CERTIFICATE-----\n"
	public := certificate + "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n" +
		"docker://quay.io/okd@sha256:0f23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n" +
		"uid 12345678-9abc-4def-8123-456789abcdef etcd-0123456789abcdef0123456789abcdef.log\n" +
		"openshiftKubeControllerManagerOperatorLock2 DigiCert_Assured_ID_Root_G2 kube-controller-manager-operator-7f8d9c6b5d-x2x4z\n" +
		"/etc/kubernetes/static-pod-resources/kube-apiserver-pod-7/configmaps/kube-apiserver-cert-syncer-kubeconfig\n" +
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAcmF0VdJ1oQWgm8pzEmyXLc0gvWZTWMvaoTIsoYoVs2\n2026-01-02T03:04:05.123456789Z\n"
	if report, _ := maskedCopy(t, savedAs(t, "public.log", public)); len(report.Suspects) != 0 {
		t.Errorf("suspected: %+v", report.Suspects)
	}
	word := sample(32, mixed)
	report, data := maskedCopy(t, savedAs(t, "x.log", "first\nwhat is this "+word+" here\nand "+word+"\nand "+sample(30, hexes)+"\n"))
	if !strings.Contains(string(data), word) {
		t.Fatal("the word was masked: the test is of another")
	}
	found := 0
	for n := range 100 {
		found += map[bool]int{true: 1}[isSuspect([]byte(sample(32+n, mixed)))]
	}
	if found < 95 {
		t.Errorf("of 100 random words %d are suspected", found)
	}
	if len(report.Suspects) != 2 || report.Suspects[0].Line != 2 || report.Suspects[0].Count != 2 || report.Suspects[0].Begins != word[:4] || report.Suspects[1].Line != 4 {
		t.Errorf("suspected: %+v", report.Suspects)
	}
}
