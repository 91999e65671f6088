package labs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// The two benchmarks belong together: everything that bootlab knows, read from
// YAML, and read from what make build prepared.

func BenchmarkLoadYAML(b *testing.B) {
	benchmarkLoad(b, yamlFiles(b))
}

func BenchmarkLoadPrepared(b *testing.B) {
	dir := b.TempDir()
	if err := os.CopyFS(dir, yamlFiles(b)); err != nil {
		b.Fatal(err)
	}
	if err := Prepare(dir); err != nil {
		b.Fatal(err)
	}
	files := yamlFiles(b)
	names, err := filepath.Glob(filepath.Join(dir, preparedDir, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		files[preparedDir+"/"+filepath.Base(name)] = &fstest.MapFile{Data: data}
	}
	benchmarkLoad(b, files)
}

func yamlFiles(b *testing.B) fstest.MapFS {
	b.Helper()
	sub, err := fs.Sub(Data, "data")
	if err != nil {
		b.Fatal(err)
	}
	files := fstest.MapFS{}
	names, err := fs.Glob(sub, "*/*.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range append(names, "bootkube.yaml") {
		text, err := fs.ReadFile(sub, name)
		if err != nil {
			b.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

func benchmarkLoad(b *testing.B, files fs.FS) {
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := catalogSource.load(files)
		must(err)
		_, err = diagnosisSource.load(files)
		must(err)
		_, err = guideSource.load(files)
		must(err)
		_, err = annotatedSource.load(files)
		must(err)
		_, err = fieldSource.load(files)
		must(err)
	}
}
