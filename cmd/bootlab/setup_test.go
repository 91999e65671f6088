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

// buildingGo builds a bootlab that does nothing, without a C compiler.
const buildingGo = `#!/bin/bash
[[ $1 != -C ]] || { cd -- "$2" && shift 2; }
case "$1 $2" in
'env GOVERSION') echo go1.100.0 ;;
'env CGO_ENABLED') echo "${CGO}" ;;
'env '*) echo "${HOME}/$2" ;;
'build '*) mkdir -p bin && printf '#!/bin/bash\n' > bin/bootlab && chmod +x bin/bootlab ;;
esac
echo "$PWD: $*" >> "${HOME}/asked"
`

func TestSetupWorksThroughALinkAndSaysWhatIsLeftOut(t *testing.T) {
	for cgo, leftOut := range map[string]bool{"0": true, "1": false} {
		root, elsewhere, bin, home := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
		for file, text := range map[string]string{
			filepath.Join(root, "setup"):  page(t, "setup"),
			filepath.Join(root, "go.mod"): page(t, "go.mod"),
			filepath.Join(bin, "go"):      buildingGo,
			filepath.Join(bin, "apt-get"): "#!/bin/bash\nexit 1\n",
			filepath.Join(bin, "dnf"):     "#!/bin/bash\nexit 1\n",
			filepath.Join(bin, "sudo"):    "#!/bin/bash\nexit 1\n",
		} {
			if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(elsewhere, "link to setup")
		if err := os.Symlink(filepath.Join(root, "setup"), link); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(link, "lab")
		cmd.Dir = elsewhere
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "CGO=" + cgo}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		asked, _ := os.ReadFile(filepath.Join(home, "asked"))
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			t.Fatal(err)
		}
		generate, build := strings.Index(string(asked), real+": generate ./labs ./standin\n"), strings.Index(string(asked), real+": build ")
		if generate < 0 || build < generate {
			t.Errorf("it asked go for\n%s", asked)
		}
		if !strings.Contains(string(out), "setup: building bootlab") {
			t.Errorf("it builds without a word:\n%s", out)
		}
		if got := strings.Contains(string(out), "built without libvirt") && strings.Contains(string(out), "'./setup lab --machines' adds it"); got != leftOut {
			t.Errorf("CGO_ENABLED=%s: says what is left out: %t\n%s", cgo, got, out)
		}
	}
}

// What the machines need is asked for only with --machines, a C compiler first.
func TestSetupInstallsWhatMachinesNeed(t *testing.T) {
	for option, want := range map[string]bool{"": false, "--machines": true, "--machine": false} {
		root, bin, home := t.TempDir(), t.TempDir(), t.TempDir()
		for file, text := range map[string]string{
			filepath.Join(root, "setup"):  page(t, "setup"),
			filepath.Join(root, "go.mod"): page(t, "go.mod"),
			filepath.Join(bin, "go"):      buildingGo,
			filepath.Join(bin, "apt-get"): "#!/bin/bash\necho \"$*\" >> \"${HOME}/installed\"\n",
			filepath.Join(bin, "sudo"):    "#!/bin/bash\nexec \"$@\"\n",
		} {
			if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, tool := range []string{"bash", "env", "dirname", "readlink", "awk", "sort", "mkdir", "chmod", "cat"} {
			file, err := exec.LookPath(tool)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(file, filepath.Join(bin, tool)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", strings.Fields(filepath.Join(root, "setup")+" lab "+option)...)
		cmd.Env = []string{"PATH=" + bin, "HOME=" + home, "CGO=1"}
		out, err := cmd.CombinedOutput()
		if refused := option == "--machine"; (err != nil) != refused {
			t.Errorf("%s: %v\n%s", option, err, out)
		}
		installed, _ := os.ReadFile(filepath.Join(home, "installed"))
		for _, needed := range []string{" gcc ", " qemu-system-x86 ", " openssh-client"} {
			if got := strings.Contains(string(installed), needed); got != want {
				t.Errorf("lab %s: installs%s: %t\n%s", option, needed, got, installed)
			}
		}
	}
}
