package site

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/site"
	"bootlab/templates"
)

// shipped is the guide of the default lab.
func shipped(t testing.TB) fs.FS {
	t.Helper()
	catalog := labs.Builtin()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
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
	return src
}

// sample is a guide that holds everything a page can hold.
func sample() fs.FS { return os.DirFS(filepath.Join("testdata", "sample")) }

func build(t testing.TB, src fs.FS) *site.Site {
	t.Helper()
	s, err := site.Build(src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onDisk writes a site to files and gives where it begins.
func onDisk(t testing.TB, s *site.Site) string {
	t.Helper()
	dir := t.TempDir()
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fromServer serves a site and gives where it begins.
func fromServer(t testing.TB, s *site.Site, live site.Live) (string, *site.Handler) {
	t.Helper()
	handler := s.Handler(live)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/", handler
}
