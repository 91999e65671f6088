package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

const top = "log-bundle-20260102030405/"

// A path of many names costs as many steps as it has, for each directory in it.
func TestDeepPathsMakeNoDirectories(t *testing.T) {
	entries := []entry{{name: journal, text: "good"}}
	for i := range 100 {
		entries = append(entries, entry{name: fmt.Sprintf("%sbootstrap/%d%s/", top, i, strings.Repeat("/a", 490)), kind: tar.TypeDir})
	}
	b := opened(t, saved(t, "x.tar.gz", archive(t, entries...)), bundleLimits)
	if n := inodes(t, b.temp); n > 10 {
		t.Errorf("%d files and directories were made", n)
	}
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "a path that is too deep") || !strings.Contains(notes, "97 more") {
		t.Errorf("notes: %q", notes)
	}
}

func inodes(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Directories that an entry brings with it count too, each once.
func TestDirectoriesAreChargedOnce(t *testing.T) {
	few := limits{total: 1 << 20, file: 100, entries: 40, path: 200}
	deep := entry{name: top + "bootstrap" + strings.Repeat("/a", 25) + "/f", text: "x"}
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: journal, text: "good"}, deep)), few)
	if len(b.Notes) > 0 {
		t.Errorf("notes: %q", b.Notes)
	}
	again := deep
	again.name = top + "control-plane" + strings.Repeat("/a", 25) + "/f"
	b = opened(t, saved(t, "x.tar.gz", archive(t, entry{name: journal, text: "good"}, deep, again)), few)
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "over the limit of 40 entries") || inodes(t, b.temp) > 42 {
		t.Errorf("%d inodes, notes: %q", inodes(t, b.temp), notes)
	}
}

// Directories are forgotten when there are too many of them, and are not taken
// for something else then.
func TestForgottenDirectoriesAreFoundAgain(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := &unpacking{root: onDisk{root}, most: bundleLimits, made: map[string]bool{}}
	for range 2 {
		if err := u.folder("a/b/c"); err != nil || u.entries != 3 {
			t.Errorf("%v, %d entries", err, u.entries)
		}
		clear(u.made)
	}
	os.WriteFile(filepath.Join(root.Name(), "f"), nil, 0o600)
	if err := u.folder("f"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file for a directory: %v", err)
	}
}

// endless is a directory of a context that ends when it was asked so many times.
type endless struct {
	context.Context
	left int
}

func (e *endless) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestAnInterruptEndsUnpackingAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var entries []entry
	for i := range 2000 {
		entries = append(entries, entry{name: fmt.Sprintf("%sbootstrap/%d", top, i), text: strconv.Itoa(i * 7919)})
	}
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	os.WriteFile(file, archive(t, entries...), 0o600)
	b, err := OpenBundle(&endless{context.Background(), 20}, file)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if b != nil {
		b.Close()
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAnInterruptEndsReadingOfABundle(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	b, err := OpenBundle(ctx, saved(t, "x.tar.gz", archive(t, entry{name: journal, text: "good"})))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	f, err := b.FS().Open("bootstrap/journals/bootkube.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop()
	if n, err := f.Read(make([]byte, 10)); n > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := b.FS().Open("bootstrap/journals/bootkube.log"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Names in the index cost an answer each, for all that is asked of masters.
func TestOfTooManyMastersThoseOfTheLabAreRead(t *testing.T) {
	var list []string
	for i := range 2000 {
		list = append(list, fmt.Sprintf(`{"id":"m","node":"a%d"}`, i))
	}
	list = append(list, `{"id":"m","node":"master-1","file":"control-plane/master-1/x"}`)
	index := `{"version":1,"evidence":[` + strings.Join(list, ",") + `]}`
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: top + IndexFile, text: index},
		entry{name: top + "control-plane/master-1/x", text: "mine"})), bundleLimits)
	found := b.Found([]*labs.Evidence{evidence("m", labs.OnMasters, labs.TextForm, "x")}, lab())
	mine := ""
	for _, f := range found {
		if f.Node == "master-1" {
			mine = string(f.Text)
		}
	}
	if len(found) != mostNodes || mine != "mine" {
		t.Errorf("%d answers, of master-1 %q", len(found), mine)
	}
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "1901 are passed over") {
		t.Errorf("notes: %q", notes)
	}
}

func TestAnIndexOfTooManyEntriesIsNotRead(t *testing.T) {
	index := `{"version":1,"evidence":[` + strings.Repeat("{},", maxCommas) + `{}]}`
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: top + IndexFile, text: index})), bundleLimits)
	if b.Index != nil || !strings.Contains(strings.Join(b.Notes, "\n"), "too many entries") {
		t.Errorf("notes: %q", b.Notes)
	}
}

// Many files that belong together are not all held at once.
func TestManyPartsTakeTheMemoryOfFew(t *testing.T) {
	const size, files = 256 << 10, 400
	text := strings.Repeat("x", size-1) + "\n"
	var entries []entry
	for i := range files {
		entries = append(entries, entry{name: fmt.Sprintf("%sbootstrap/containers/etcd-%04d.log", top, i), text: text})
	}
	b := opened(t, saved(t, "x.tar.gz", archive(t, entries...)), bundleLimits)
	e := evidence("etcd-log", labs.OnBootstrap, labs.TextForm, "none", "bootstrap/containers/etcd-*.log")
	e.Limit = size >> 10
	most := peak(func() {
		found := b.Found([]*labs.Evidence{e}, lab())
		if len(found[0].Text) != size || !found[0].Cut || !strings.HasSuffix(string(found[0].Text), "x\n") {
			t.Errorf("%d bytes, cut %v", len(found[0].Text), found[0].Cut)
		}
	})
	if most > 32<<20 {
		t.Errorf("%d MiB were in use", most>>20)
	}
}

// peak is how much more memory was in use at most while something ran, roughly.
func peak(do func()) uint64 {
	done, result := make(chan bool), make(chan uint64)
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	before := inUse()
	go func() {
		var most uint64
		for {
			most = max(most, inUse())
			select {
			case <-done:
				result <- most - min(before, most)
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	do()
	done <- true
	return <-result
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A journal is unpacked once, for all units that are wanted of it.
func TestAPackedJournalIsReadOnce(t *testing.T) {
	var lines strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&lines, "Fri 2026-01-02 03:04:05 UTC host unit%d.service[7]: line %d\n", i%3, i)
	}
	const name = "bootstrap/journals/journal.log.gz"
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: top + name, text: string(zipped(lines.String()))})), bundleLimits)
	var all []*labs.Evidence
	for i := range 3 {
		all = append(all, evidence(fmt.Sprint(i), labs.OnBootstrap, labs.TextForm, "none", fmt.Sprintf("%s#unit%d.service", name, i)))
	}
	all[1].Limit = 1024
	r := b.reading(all, lab())
	for i, e := range all {
		f := r.found(e, "", "")
		last := fmt.Sprintf("line %d\n", 20000-3+(i+1)%3)
		if !f.Had || !strings.HasSuffix(string(f.Text), last) || f.Cut != (i != 1) || len(f.Text) > e.Limit<<10 {
			t.Errorf("%d: had %v, %d bytes, cut %v, ends in %q", i, f.Had, len(f.Text), f.Cut, f.Text[max(0, len(f.Text)-60):])
		}
	}
	if read := mostUnpacked - r.packed; read != int64(lines.Len()) {
		t.Errorf("%d bytes were unpacked, of %d", read, lines.Len())
	}
}

// What is packed so that it never ends is not taken for what it begins with.
func TestPackedFilesHaveOneBudget(t *testing.T) {
	var entries []entry
	var bomb bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	zip.Write([]byte("Fri 2026-01-02 03:04:05 UTC host a.service[7]: begins\n"))
	zip.Write(bytes.Repeat([]byte("x"), 8<<20))
	zip.Close()
	for i := range 5 {
		entries = append(entries, entry{name: fmt.Sprintf("%scontrol-plane/m%d/journals/journal.log.gz", top, i), text: bomb.String()})
	}
	b := opened(t, saved(t, "x.tar.gz", archive(t, entries...)), bundleLimits)
	e := evidence("j", labs.OnMasters, labs.TextForm, "none", "journals/journal.log.gz#a.service")
	r := b.reading([]*labs.Evidence{e}, lab())
	r.packed = 20 << 20
	had := 0
	for i := range 5 {
		f := r.found(e, fmt.Sprint("m", i), fmt.Sprint("control-plane/m", i))
		if f.Had {
			had++
		} else if !strings.Contains(f.Problem, "more than is read of packed files") {
			t.Error(f.Problem)
		}
	}
	if had != 2 || r.packed < -64<<10 {
		t.Errorf("%d had, budget %d", had, r.packed)
	}
}

func TestTheTextsOfABundleAreBounded(t *testing.T) {
	b := opened(t, saved(t, "x.tar.gz", archive(t, entry{name: journal, text: "good"})), bundleLimits)
	e := evidence("j", labs.OnBootstrap, labs.TextForm, "bootstrap/journals/bootkube.log")
	r := b.reading([]*labs.Evidence{e}, lab())
	r.left = 3
	if f := r.found(e, "", ""); !f.Had {
		t.Error(f.Problem)
	}
	if f := r.found(e, "", ""); f.Had || !strings.Contains(f.Problem, "the rest is not read") {
		t.Errorf("had %v, %q", f.Had, f.Problem)
	}
}

// The end of ssh does not end what it started there.
func TestWhatTimedOutOnANodeEndsThere(t *testing.T) {
	bin := t.TempDir()
	for name, text := range map[string]string{
		"sudo": "#!/bin/bash\nexec \"$@\"\n",
		// As sshd does, it goes on without its client, in a session of its own.
		"ssh": "#!/bin/bash\nexec setsid --wait bash -c \"${@: -1}\"\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid here")
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	file := filepath.Join(t.TempDir(), "pid")
	ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	_, err := Node{Machine: "m", Config: "none"}.Run(ctx, "echo $$ > "+file+"; sleep 60; true", 100)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	proc := filepath.Join("/proc", strings.TrimSpace(string(pid)))
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(proc); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s goes on", proc)
		}
	}
	// Without an end nothing is in its way.
	r, err := Node{Machine: "m", Config: "none"}.Run(context.Background(), "echo well; exit 3", 100)
	if err != nil || string(r.Out) != "well\n" || r.Status != 3 {
		t.Errorf("%v: %+v", err, r)
	}
}

// oc writes nothing where it is asked.
func TestOCKeepsNoCache(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	oc := filepath.Join(bin, "oc")
	if err := os.WriteFile(oc, []byte("#!/bin/bash\nprintf '%s\\n' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("HOME", home)
	here := &Hosts{Here: Local{}, OC: oc, Kubeconfig: "/lab/kubeconfig"}
	for name, options := range map[string]string{"the node": nodeOptions, "here": here.hereOptions()} {
		r, err := Local{}.Run(context.Background(), options+"oc get nodes", 1<<10)
		if err != nil || !strings.Contains(string(r.Out), "\n--cache-dir=/dev/null\n") || !strings.HasSuffix(string(r.Out), "\nget\nnodes\n") {
			t.Errorf("%s: %v %q", name, err, r.Out)
		}
	}
}
