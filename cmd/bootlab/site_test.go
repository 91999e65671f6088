package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator"
	"bootlab/labs"
	"bootlab/site"
	"bootlab/templates"
)

func TestTheSiteOfALabIsBuiltAndBuiltAgain(t *testing.T) {
	dir := generated(t)
	for _, want := range []string{" 0 unchanged", " 0 files written"} {
		out, stderr, status := bootlab("site", "build", dir)
		if status != exitDone || stderr != "" || !strings.Contains(out, want) || !strings.Contains(out, "index.html") {
			t.Errorf("status %d, want %q in:\n%s%s", status, want, out, stderr)
		}
	}
	other := filepath.Join(t.TempDir(), "www")
	if _, stderr, status := bootlab("site", "build", filepath.Join(dir, "lab.yaml"), "--to", other); status != exitDone {
		t.Error(stderr)
	}
	for _, name := range []string{"index.html", "render-etcd.html", "all.html", "scripts/render-etcd.sh", "search-index.js"} {
		if _, err := os.Stat(filepath.Join(other, name)); err != nil {
			t.Error(err)
		}
	}
}

// Pages are read on slow machines and phones too, and the whole index is loaded
// by the first search.
func TestPagesOfTheSiteAreSmall(t *testing.T) {
	const most, mostIndexOfAPage = 60_000, 500
	guide := os.DirFS(filepath.Join(sharedLab(t), "out"))
	s, err := site.Build(guide)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	for _, f := range files {
		sizes[f.Path] = len(f.Data)
	}
	size := func(name string) int {
		if sizes[name] == 0 {
			t.Fatalf("the site has no %s, or it is empty", name)
		}
		return sizes[name]
	}
	if n, limit := size("search-index.js"), mostIndexOfAPage*len(s.Pages()); n > limit || n < 1000 {
		t.Errorf("the search index has %d bytes for %d pages, at most %d are wanted", n, len(s.Pages()), limit)
	}
	shared, stages := size("site.css")+size("site.js"), 0
	for _, p := range s.Pages() {
		if p.Kind != "stage" {
			continue
		}
		stages++
		// No page is smaller than the script that it shows: the longest are held to
		// how much marking adds.
		markdown, err := fs.ReadFile(guide, p.File)
		if err != nil {
			t.Fatal(err)
		}
		if n, limit := size(p.HTML())+shared, max(most, shared+2*len(markdown)); n > limit {
			t.Errorf("%s: %d bytes with style and scripts, at most %d are wanted", p.HTML(), n, limit)
		}
	}
	if stages < 15 {
		t.Errorf("only %d pages of stages were measured", stages)
	}
}

// Links between pages follow release and topology: none may lead to a page that
// another release has.
func TestEveryReleaseAndTopologyMakesAWholeSite(t *testing.T) {
	catalog := labs.Builtin()
	build := func(example, release string) {
		t.Run(example+" "+release, func(t *testing.T) {
			lab, problems := labs.LoadLabFS(labs.Examples, example, catalog)
			if errs := problems.Errors(); len(errs) > 0 {
				t.Fatal(errs)
			}
			lab.Release.Version = release
			plan, err := catalog.Resolve(lab)
			if err != nil {
				t.Fatal(err)
			}
			out, err := generator.Render(plan, templates.FS, generator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			src := fstest.MapFS{}
			for _, f := range out.Files {
				src[f.Path] = &fstest.MapFile{Data: f.Data}
			}
			if _, err := site.Build(src); err != nil {
				t.Error(err)
			}
		})
	}
	for _, release := range catalog.ReleaseIDs() {
		build("compact", release)
	}
	for _, topology := range labs.Topologies {
		build(topology, catalog.ReleaseIDs()[0])
	}
}

func TestTheSiteOfAClosedGuideIsClosed(t *testing.T) {
	dir := generated(t)
	index := filepath.Join(dir, "out", "guide.json")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, index, string(text), 0o600)
	if _, stderr, status := bootlab("site", "build", dir); status != exitDone {
		t.Fatal(stderr)
	}
	info, err := os.Stat(filepath.Join(dir, "out", "site", "render-etcd.html"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestASiteWithoutAGuideSaysHowToGetOne(t *testing.T) {
	dir := newLab(t)
	for _, command := range []string{"build", "serve"} {
		_, stderr, status := bootlab("site", command, dir)
		if status != exitFailed || !strings.Contains(stderr, "guide.json") || !strings.Contains(stderr, "hint: bootlab generate") {
			t.Errorf("%s: status %d: %s", command, status, stderr)
		}
	}
	for _, args := range [][]string{{"site", "build"}, {"site", "serve", "a", "b"}, {"site", "bogus"}, {"site", "serve", "--bogus", "x"}} {
		if _, stderr, status := bootlab(args...); status != exitUsage || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

func TestABrokenGuideIsOneClearError(t *testing.T) {
	dir := generated(t)
	page := filepath.Join(dir, "out", "guide", "render-etcd.md")
	replace(t, page, "# etcd\n\n[x](nowhere.md)\n", 0o644)
	_, stderr, status := bootlab("site", "build", dir)
	if status != exitFailed || !strings.Contains(stderr, "render-etcd") || !strings.Contains(stderr, "nowhere.md") || !strings.Contains(stderr, "hint:") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestALinkInTheGuideLeadsNotOutOfIt(t *testing.T) {
	dir := generated(t)
	page := filepath.Join(dir, "out", "guide", "render-etcd.md")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("# secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, page); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := bootlab("site", "build", dir); status != exitFailed {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// served is a site that is served until the test ends.
type served struct {
	url    string
	errs   *bytes.Buffer
	cancel context.CancelFunc
	done   chan error
}

func serve(t *testing.T, lab, listen string) *served {
	t.Helper()
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{errs: &bytes.Buffer{}, cancel: cancel, done: make(chan error, 1)}
	go func() {
		var err error
		if status := run(ctx, []string{"site", "serve", lab, "--listen", listen}, cli.Streams{In: strings.NewReader(""), Out: write, Err: s.errs}); status != exitDone {
			err = errors.New(s.errs.String())
		}
		s.done <- err
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-s.done)
	}
	s.url = strings.Fields(line)[0]
	t.Cleanup(cancel)
	return s
}

// get asks until the answer holds a text; a served site looks for changes once
// a second.
func (s *served) get(t *testing.T, path, want string) {
	t.Helper()
	text := ""
	for range 100 {
		r, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if text = string(data); strings.Contains(text, want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not say %q:\n%s", path, want, text)
}

func TestServingFollowsTheGuideAndTheLab(t *testing.T) {
	dir := generated(t)
	s := serve(t, dir, "127.0.0.1:0")
	s.get(t, "render-etcd.html", "not begun")
	assets := filepath.Join(dir, "out", "work", "assets")
	if err := os.MkdirAll(assets, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(assets, "etcd-bootstrap.done"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.get(t, "render-etcd.html", "</span> done</span>")
	replace(t, filepath.Join(dir, "out", "guide", "render-etcd.md"), "# Another etcd\n\n## Troubleshooting\n", 0o644)
	s.get(t, "render-etcd.html", "Another etcd</h1>")
	open, err := http.Get(s.url + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Body.Close()
	s.cancel()
	select {
	case err := <-s.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end while a page is open")
	}
}

func TestServingToOthersIsSaidLoudly(t *testing.T) {
	dir := sharedLab(t)
	s := serve(t, dir, "127.0.0.1:0")
	s.cancel()
	if <-s.done; s.errs.Len() > 0 {
		t.Errorf("on loopback: %s", s.errs)
	}
	s = serve(t, dir, "0.0.0.0:0")
	s.cancel()
	if <-s.done; !strings.Contains(s.errs.String(), "warning: everybody") {
		t.Errorf("on all addresses: %q", s.errs)
	}
}

func TestAPortThatIsTakenIsOneClearError(t *testing.T) {
	dir := sharedLab(t)
	s := serve(t, dir, "127.0.0.1:0")
	taken := strings.Trim(strings.TrimPrefix(s.url, "http://"), "/")
	_, stderr, status := bootlab("site", "serve", dir, "--listen", taken)
	if status != exitFailed || !strings.Contains(stderr, "in use") || !strings.Contains(stderr, "--listen") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
