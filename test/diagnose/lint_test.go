package diagnose

import (
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/test/podman"
)

// evidenceLines writes each line of bash of the evidence to a file, with the
// settings before it that it gets on a machine, and gives the files.
func evidenceLines(t *testing.T) []string {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "ha", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	hosts := &host.Hosts{AssetDir: "/opt/openshift", Work: "/home/me/mylab/out/work", Kubeconfig: "/home/me/kubeconfig"}
	var settings strings.Builder
	for line := range strings.Lines(hosts.Preamble(lab)) {
		settings.WriteString("export " + line)
	}
	const oc = "oc() { command oc --request-timeout=5s \"$@\"; }\n"
	dir := t.TempDir()
	var files []string
	for _, e := range labs.BuiltinDiagnosis().Evidence {
		for kind, line := range map[string]string{"run": e.Run, "local": e.Local} {
			if line == "" || kind == "local" && line == e.Run {
				continue
			}
			text := "#!/usr/bin/env bash\n" + settings.String()
			if strings.Contains(line, "oc ") {
				text += oc
			}
			file := filepath.Join(dir, e.ID+"."+kind+".sh")
			if err := os.WriteFile(file, []byte(text+line), 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	sort.Strings(files)
	return files
}

func TestTheEvidenceIsCleanBash(t *testing.T) {
	t.Parallel()
	files := evidenceLines(t)
	if len(files) < 50 {
		t.Fatalf("only %d lines", len(files))
	}
	for _, file := range files {
		if out, err := exec.Command("bash", "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", filepath.Base(file), out)
		}
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		podman.Unavailable(t, "no shellcheck on this machine")
	}
	// An unused setting is no fault: each line gets all of them. No one waits in a
	// file that is only read by bash for the status of a change of directory that
	// ends it.
	args := append([]string{"--severity=style", "--exclude=SC2034,SC2329,SC2317"}, files...)
	if out, err := exec.Command("shellcheck", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What collects evidence changes nothing: no line writes a file, starts or stops
// a service, or removes anything.
func TestTheEvidenceOnlyLooks(t *testing.T) {
	t.Parallel()
	changes := []string{"rm ", "mv ", "cp ", "mkdir ", "touch ", "chmod ", "chown ", "install ", "tee ", "systemctl start", "systemctl stop", "systemctl restart",
		"podman rm", "podman run", "podman pull", "crictl rm", "oc apply", "oc delete", "oc patch", "oc create", "sed -i", "sed --in-place", "kill "}
	for _, e := range labs.BuiltinDiagnosis().Evidence {
		for _, text := range []string{e.Run, e.Local} {
			for _, change := range changes {
				if strings.Contains(" "+text, " "+change) || strings.Contains(text, "\n"+change) {
					t.Errorf("%s runs %q", e.ID, change)
				}
			}
		}
	}
}
