package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The benchmarks below make a site of the same markdown with bootlab and with
// Hugo, each as a process of its own, and report what the process used. Hugo
// gets the simplest layout: no list of all pages on each page, no search, and no
// document with all pages, which bootlab makes as well.

// BenchmarkSiteOfPages wants BENCH_HUGO to be the path of hugo; make bench builds
// it. Without it only bootlab is measured.
func BenchmarkSiteOfPages(b *testing.B) {
	binary := builtBinary(b)
	lab := generatedLab(b, binary)
	for _, pages := range []int{0, 500, 1000, 2000} {
		dir := b.TempDir()
		n := copyPages(b, filepath.Join(lab, "out"), filepath.Join(dir, "out"), pages)
		b.Run(fmt.Sprintf("bootlab/%d", n), func(b *testing.B) {
			measureProcess(b, func(target string) *exec.Cmd {
				return exec.Command(binary, "site", "build", dir, "--output", target)
			})
		})
		if hugo := os.Getenv("BENCH_HUGO"); hugo != "" {
			source := hugoSource(b, filepath.Join(dir, "out", "guide"))
			b.Run(fmt.Sprintf("hugo/%d", n), func(b *testing.B) {
				measureProcess(b, func(target string) *exec.Cmd {
					return exec.Command(hugo, "--quiet", "--source", source, "--destination", target)
				})
			})
		}
	}
}

// measureProcess reports the CPU time and the largest memory of a process.
func measureProcess(b *testing.B, command func(target string) *exec.Cmd) {
	var cpu, memory float64
	for b.Loop() {
		c := command(filepath.Join(b.TempDir(), "site"))
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		usage := c.ProcessState.SysUsage().(*syscall.Rusage)
		cpu += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		memory = max(memory, float64(usage.Maxrss)/1024)
	}
	b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
	b.ReportMetric(memory, "MB")
}

// copyPages copies a guide, and its pages again under other names until there
// are so many. It gives how many there are.
func copyPages(b *testing.B, from, to string, pages int) int {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		b.Fatal(err)
	}
	var guide struct {
		Lab    map[string]string `json:"lab"`
		Groups []struct {
			ID    string           `json:"id"`
			Title string           `json:"title"`
			Pages []map[string]any `json:"pages"`
		} `json:"groups"`
	}
	name := filepath.Join(to, "guide.json")
	if err := json.Unmarshal(read(b, name), &guide); err != nil {
		b.Fatal(err)
	}
	count := 0
	for _, g := range guide.Groups {
		count += len(g.Pages)
	}
	for round := 1; count < pages; round++ {
		for i, g := range guide.Groups {
			for _, p := range g.Pages {
				id := p["id"].(string)
				if id == "index" || strings.Contains(id, "-copy") || count >= pages {
					continue
				}
				again := map[string]any{}
				for key, value := range p {
					again[key] = value
				}
				again["id"] = fmt.Sprintf("%s-copy%d", id, round)
				again["file"] = fmt.Sprintf("guide/%s.md", again["id"])
				writeFile(b, filepath.Join(to, again["file"].(string)), read(b, filepath.Join(from, p["file"].(string))))
				guide.Groups[i].Pages = append(guide.Groups[i].Pages, again)
				count++
			}
		}
	}
	data, err := json.Marshal(guide)
	if err != nil {
		b.Fatal(err)
	}
	writeFile(b, name, data)
	return count
}

func hugoSource(b *testing.B, guide string) string {
	dir := b.TempDir()
	const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ .File.ContentBaseName }}</title></head>` +
		`<body><main>{{ .Content }}</main></body></html>`
	const list = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pages</title></head><body><ol>` +
		`{{ range .Site.RegularPages }}<li><a href="{{ .RelPermalink }}">{{ .File.ContentBaseName }}</a></li>{{ end }}</ol></body></html>`
	for name, text := range map[string]string{
		"hugo.toml":                    "baseURL = 'https://example.org/'\ndisableKinds = ['taxonomy', 'term', 'rss', 'sitemap']\n[markup.highlight]\nnoClasses = false\n",
		"layouts/_default/single.html": page,
		"layouts/_default/list.html":   list,
		"layouts/index.html":           list,
	} {
		writeFile(b, filepath.Join(dir, name), []byte(text))
	}
	if err := os.CopyFS(filepath.Join(dir, "content"), os.DirFS(guide)); err != nil {
		b.Fatal(err)
	}
	return dir
}

func read(b *testing.B, name string) []byte {
	b.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func writeFile(b *testing.B, name string, data []byte) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		b.Fatal(err)
	}
}
