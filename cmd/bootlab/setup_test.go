package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fakeGo is of a version, and cannot download anything.
const fakeGo = `#!/bin/bash
case "$1 $2" in
'env GOVERSION') echo "%s" ;;
'env GOOS') echo linux ;;
'env GOARCH') echo amd64 ;;
'env '*) echo "${HOME}/$2" ;;
'version ') echo "go version %[1]s" ;;
*) printf '%%s\n' "$*" >> "${HOME}/asked"; exit 1 ;;
esac
`

// setup takes no Go that is older than the go line of go.mod, and asks for the
// one of the toolchain line instead.
func TestSetupRefusesAnOldGo(t *testing.T) {
	module := page(t, "go.mod")
	line := func(word string) string {
		match := regexp.MustCompile(`(?m)^` + word + ` (?:go)?([0-9.]+)$`).FindStringSubmatch(module)
		if match == nil {
			t.Fatalf("go.mod has no line %s", word)
		}
		return match[1]
	}
	least, fetched := line("go"), line("toolchain")
	download := "mod download golang.org/toolchain@v0.0.1-go" + fetched + ".linux-amd64"
	for version, old := range map[string]bool{
		"go1.19.8": true, "go1.24.0": true, "go1.26rc1": true, "go1.26.1": true, "go1.26.1 X:nodwarf5": true,
		"go" + least: false, "go" + fetched: false, "go1.100.0": false,
	} {
		t.Run(version, func(t *testing.T) {
			root, bin, home := t.TempDir(), t.TempDir(), t.TempDir()
			for file, text := range map[string]string{
				filepath.Join(root, "setup"):  page(t, "setup"),
				filepath.Join(root, "go.mod"): module,
				filepath.Join(bin, "go"):      fmt.Sprintf(fakeGo, version),
				// Nothing is installed by a test.
				filepath.Join(bin, "apt-get"): "#!/bin/bash\nexit 1\n",
				filepath.Join(bin, "dnf"):     "#!/bin/bash\nexit 1\n",
				filepath.Join(bin, "sudo"):    "#!/bin/bash\nexit 1\n",
			} {
				if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("bash", filepath.Join(root, "setup"), "lab")
			cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home}
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("it built with a Go that can build nothing")
			}
			asked, _ := os.ReadFile(filepath.Join(home, "asked"))
			if got := strings.Contains(string(asked), download); got != old {
				t.Errorf("asks for the toolchain of go.mod: %v, want %v; it asked for\n%s", got, old, asked)
			}
			if says := strings.Contains(string(out), "is too old, bootlab needs "+least) && strings.Contains(string(out), "could not be fetched"); says != old {
				t.Errorf("says that it is too old: %v, want %v:\n%s", says, old, out)
			}
		})
	}
}
