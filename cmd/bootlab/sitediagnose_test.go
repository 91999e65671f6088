package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/site/browser"
)

// The page is one file with nothing beside it. A bootlab that was built without the
// program says so, and writes none.
func TestThePageDiagnoseIsOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "diagnose.html")
	out, stderr, status := bootlab("site", "diagnose", "--to", file)
	page, err := os.ReadFile(file)
	if browser.Program() == nil {
		if status != exitFailed || !strings.Contains(stderr, "make build") || !os.IsNotExist(err) {
			t.Errorf("without the program: status %d, %v: %s", status, err, stderr)
		}
		return
	}
	if status != 0 || err != nil || !strings.Contains(out, file) {
		t.Fatalf("status %d, %v: %s", status, err, stderr)
	}
	for _, beside := range []string{`src="`, `href="site.css"`, `href="index.html"`} {
		if strings.Contains(string(page), beside) {
			t.Errorf("the page asks for something beside it: %s", beside)
		}
	}
	if _, stderr, status := bootlab("site", "diagnose", "--to", file); status != exitFailed || !strings.Contains(stderr, "is there already") {
		t.Errorf("a second time: status %d: %s", status, stderr)
	}
	if _, stderr, status := bootlab("site", "diagnose"); status != exitUsage || !strings.Contains(stderr, "--to is required") {
		t.Errorf("without --to: status %d: %s", status, stderr)
	}
}
