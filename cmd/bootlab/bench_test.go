package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bootlab/site"
)

// The two benchmarks belong together: a whole bootlab generate, process start
// included, and a cp -r of the tree that it writes.

func builtBinary(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "bootlab")
	if out, err := exec.Command("go", "generate", "../../labs").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func generatedLab(b *testing.B, binary string) string {
	b.Helper()
	lab := filepath.Join(b.TempDir(), "mylab")
	for _, args := range [][]string{{"init", lab}, {"generate", lab}} {
		if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	return lab
}

func benchmarkCommand(b *testing.B, target, name string, args ...string) {
	for b.Loop() {
		b.StopTimer()
		if err := os.RemoveAll(target); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

func BenchmarkGenerateProcess(b *testing.B) {
	binary := builtBinary(b)
	lab := generatedLab(b, binary)
	benchmarkCommand(b, filepath.Join(lab, "out"), binary, "generate", lab)
}

func BenchmarkCopyOfTheSameTree(b *testing.B) {
	lab := generatedLab(b, builtBinary(b))
	target := filepath.Join(b.TempDir(), "copy")
	benchmarkCommand(b, target, "cp", "-r", filepath.Join(lab, "out"), target)
}

func BenchmarkSite(b *testing.B) {
	out := os.DirFS(filepath.Join(generated(b), "out"))
	for b.Loop() {
		s, err := site.Build(out)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Files(); err != nil {
			b.Fatal(err)
		}
	}
}
