package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootlab/labs"
)

// scriptAlone is a generated script that a test runs on its own, with the asset
// directory and the root of the host below Dir. Programs that it calls are
// stand-ins, given as shell by their names; each finds Dir as DIR.
type scriptAlone struct {
	Dir  string
	file string
}

func newScriptAlone(t *testing.T, place labs.Place, name string, programs map[string]string) *scriptAlone {
	t.Helper()
	s := &scriptAlone{Dir: t.TempDir()}
	lab := filepath.Join(s.Dir, "mylab")
	if err := errors.Join(initialize(lab), generate(lab)); err != nil {
		t.Fatal(err)
	}
	s.file = filepath.Join(lab, "out", map[labs.Place]string{labs.OnNode: "node", labs.Workstation: "scripts"}[place], name)
	s.redirect(t)
	if place == labs.OnNode {
		s.notOnANode(t, filepath.Join(lab, "out"))
	}
	for name, program := range programs {
		s.Put(t, "bin/"+name, "#!/bin/bash\n# stand-in\nDIR="+s.Dir+"\n"+program)
	}
	s.Put(t, "assets/.keep", "")
	return s
}

var placeLines = regexp.MustCompile(`(?m)^(ASSET_DIR|HOST_ROOT)=.*$`)

// redirect leads the script and its checks to the directories below Dir.
func (s *scriptAlone) redirect(t *testing.T) {
	t.Helper()
	for _, file := range []string{s.file, filepath.Join(filepath.Dir(s.file), "checks", filepath.Base(s.file))} {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		edited := placeLines.ReplaceAllStringFunc(string(text), func(line string) string {
			if strings.HasPrefix(line, "ASSET_DIR") {
				return "ASSET_DIR='" + s.Asset("") + "'"
			}
			return "HOST_ROOT='" + filepath.Join(s.Dir, "host") + "'"
		})
		if err := os.WriteFile(file, []byte(edited), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// notOnANode gives a script of the node what the workstation's ask of their host: it
// runs below Dir, and systemd and the node's manifests have tests of their own.
func (s *scriptAlone) notOnANode(t *testing.T, out string) {
	t.Helper()
	file := filepath.Join(out, "node", "lib", "host.sh")
	text, err := os.ReadFile(filepath.Join(out, "scripts", "lib", "host.sh"))
	if err := errors.Join(err, os.Rename(file, file+".node"), os.WriteFile(file, text, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// Asset is the path of an asset.
func (s *scriptAlone) Asset(name string) string { return filepath.Join(s.Dir, "assets", name) }

// Put writes a file below Dir that can be run.
func (s *scriptAlone) Put(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(s.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Read gives the text of a file below Dir, and nothing where there is none.
func (s *scriptAlone) Read(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.Dir, name))
	return string(text)
}

// Library runs shell text behind what comes before the script says its needs: its
// settings, and the library that it sources. The directories of a run are there.
func (s *scriptAlone) Library(t *testing.T, text string) Result {
	t.Helper()
	script, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(script), "\nneeds ")
	if !found {
		t.Fatalf("%s does not say what it needs", s.file)
	}
	file := strings.TrimSuffix(s.file, ".sh") + ".part.sh"
	text = head + "\nmkdir -p \"${ASSET_DIR}\" \"${LOG%/*}\"\ncd -- \"${ASSET_DIR}\"\n" + text + "\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return s.run(t, file)
}

// Run runs the whole script.
func (s *scriptAlone) Run(t *testing.T, args ...string) Result {
	t.Helper()
	return s.run(t, s.file, args...)
}

func (s *scriptAlone) run(t *testing.T, file string, args ...string) Result {
	t.Helper()
	cmd := exec.Command("bash", append([]string{file}, args...)...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.Dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Result{Status: cmd.ProcessState.ExitCode(), Out: string(out), All: string(out)}
}
