package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// hostile is something that a script may hold in the stage of etcd, and what of
// it may reach a generated script: nothing, or one text, quoted.
type hostile struct {
	flag, command string // in the operator's command line, or on a line of its own
	harmless      string // what a dry run shows of it, quoted for the shell
}

// CANARY stands for a file that must not be made.
var hostiles = []hostile{
	{flag: `"--x1=$(touch CANARY)"`},
	{flag: "\"--x2=`touch CANARY`\""},
	{flag: `'--x3=$(touch CANARY)'`},
	{flag: "'--x4=`touch CANARY`'"},
	{flag: "'--x5=a\ntouch CANARY'"},
	{flag: `$'--x6=a\ntouch CANARY\n'`},
	{flag: `"--x7=$UNKNOWN"`},
	{flag: `"--x8=${PATH}"`},
	{flag: `"--x9=${VERSION:-$(touch CANARY)}x${#PATH}"`},
	{flag: `'--$(touch CANARY)=1'`},
	{flag: `'--y1;touch CANARY;=1'`},
	{flag: `'--y2 touch=1'`},
	{flag: `"--y3=<(touch CANARY)$((1+a[$(touch CANARY)]))"`},
	{flag: "'--y4=\u202etxt.sh'"},
	{flag: "'--y5=\x1b[31m'"},
	{flag: `--y6=`},
	{flag: "'--y7=" + strings.Repeat("x", 600) + "'"},
	{flag: `"--z1='; rm -rf /;'"`, harmless: `--z1=\'\;\ rm\ -rf\ /\;\'`},
	{flag: `'--z2="; touch CANARY; "'`, harmless: `'--z2="; touch CANARY; "'`},
	{flag: `'--z3=# shellcheck disable=all'`, harmless: `'--z3=# shellcheck disable=all'`},
	{flag: `'--z4=a\b"c|d&e>f'`, harmless: `'--z4=a\b"c|d&e>f'`},
	{flag: `'--z5=../../../etc/passwd'`, harmless: `--z5=../../../etc/passwd`},
	{flag: `'--z6=!x *? ~'`, harmless: `'--z6=!x *? ~'`},
	{command: `cp ../../../etc/passwd manifests/`},
	{command: `cp 'manifests/;touch CANARY' tls/`},
	{command: `cp 'manifests/$(touch CANARY)' tls/`},
	{command: `cp /etc/shadow manifests/`},
	{command: `cp manifests/x /etc/cron.d/`},
	{command: `cp manifests/x /etc/kubernetes/../cron.d/`},
	{command: `cp -- '-t' tls/`},
	{command: "cp 'a\nb' tls/"},
	{command: `mkdir -p '../outside'`},
	{command: `mkdir -p '$(touch CANARY)'`},
	{command: `mkdir -p '/root/.ssh'`},
	{command: `rm -rf manifests`},
	{command: `rm -rf /`},
	{command: `touch '../up.done'`},
	{command: `touch 'x;touch CANARY;.done'`},
	{command: "echo 'Rendering `touch CANARY` $(touch CANARY)'"},
	{command: `eval "touch CANARY"`},
	{command: `podman run --privileged --volume /:/host --name 'x;touch CANARY' quay.io/evil/image`},
}

// hostileScript is a bootkube.sh of 4.20 with all of it in the stage of etcd.
func hostileScript(t *testing.T, canary string) string {
	t.Helper()
	text := writeScript(labs.Builtin().Bootkube, "4.20", stagesOfRelease(labs.Builtin(), "4.20"), style{})
	var flags, commands string
	for _, h := range hostiles {
		if h.flag != "" {
			flags += " \\\n  " + h.flag
		} else {
			commands += h.command + "\n"
		}
	}
	const flag, line = "--etcd-image=$MACHINE_CONFIG_ETCD_IMAGE", "cp etcd-bootstrap/tls/* tls/\n"
	if !strings.Contains(text, flag) || !strings.Contains(text, line) {
		t.Fatal("the script of the tests is another")
	}
	text = strings.Replace(text, flag, flag+flags, 1)
	text = strings.Replace(text, line, line+commands, 1)
	text += "record_service_stage_start 'evil; touch CANARY'\nX=$(image_for 'evil;touch CANARY')\ncp a b\nrecord_service_stage_success\n"
	return strings.ReplaceAll(text, "CANARY", canary)
}

func TestNothingOfAHostileScriptIsExecuted(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	plan := applied(t, "4.20", hostileScript(t, canary))
	dir := written(t, plan, "scripts/", "node/")
	shown := ""
	for _, place := range []string{"scripts", "node"} {
		scripts, err := filepath.Glob(filepath.Join(dir, place, "*.sh"))
		if err != nil || len(scripts) < 10 {
			t.Fatal(scripts, err)
		}
		for _, script := range scripts {
			if out, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", script, err, out)
			}
		}
		lint(t, filepath.Join(dir, place, "render-etcd.sh"), filepath.Join(dir, place, "render-all.sh"))
	}
	for _, args := range [][]string{{"--dry-run"}, {"--explain"}, {"--help"}} {
		shown += bash(t, filepath.Join(dir, "scripts", "render-etcd.sh"), args...)
	}
	bash(t, filepath.Join(dir, "scripts", "render-all.sh"), "--list")
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a command of the script was executed")
	}
	// What bash makes of the words of the command.
	steps := lineBreak.ReplaceAllString(uncommented(bash(t, filepath.Join(dir, "scripts", "render-etcd.sh"), "--dry-run")), " ")
	quoted := func(command string) string {
		out, err := exec.Command("bash", "-c", "podman() { printf ' %q' \"$@\"; }\n"+command).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	run := quoted(lineOf(steps, "podman run --quiet"))
	for _, h := range hostiles {
		name, _, _ := strings.Cut(strings.Trim(h.flag, `'"$`), "=")
		want := strings.ReplaceAll(h.harmless, "CANARY", canary)
		if want != "" && !strings.Contains(run+" ", quoted("podman "+want)+" ") {
			t.Errorf("%s is not seen as %s in\n%s", h.flag, want, run)
		}
		if want == "" && h.flag != "" && strings.Contains(run, name+"=") {
			t.Errorf("%s is given in\n%s", h.flag, run)
		}
	}
	for _, text := range []string{"evil/image", "shadow", "cron.d", "passwd manifests", "outside", ".ssh", "up.done"} {
		if strings.Contains(steps, text) {
			t.Errorf("%s is among the commands\n%s", text, steps)
		}
	}
}

// lint runs shellcheck, where it is installed.
func lint(t *testing.T, scripts ...string) {
	t.Helper()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Log("shellcheck is not installed")
		return
	}
	if out, err := shellcheckIn(filepath.Dir(scripts[0]), scripts).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// shellcheckIn looks at scripts from where they stand, as the names of libraries
// begin there.
func shellcheckIn(dir string, scripts []string) *exec.Cmd {
	c := exec.Command("shellcheck", append([]string{"--external-sources"}, scripts...)...)
	c.Dir = dir
	return c
}

// Whatever of a hostile script is not taken over is named, in the script that
// it concerns too.
func TestWhatIsNotTakenOverIsNamed(t *testing.T) {
	plan := applied(t, "4.20", hostileScript(t, "/canary"))
	notApplied := plan.Audited.Of(labs.NotApplied, "render-etcd")
	named := func(text string) bool {
		return slices.ContainsFunc(notApplied, func(c labs.AuditedChange) bool { return strings.Contains(c.What+" "+c.Found, text) })
	}
	for _, text := range []string{"--x1", "--x2", "--x3", "--x4", "--x5", "--x6", "--x7", "--x8", "--x9", "--y3", "--y4", "--y5", "--y6", "--y7", "passwd",
		"/etc/shadow", "cron.d", "outside", ".ssh", "remove first manifests", "remove first /", "up.done", "--privileged", "eval"} {
		if !named(text) {
			t.Errorf("%s is not named", text)
		}
	}
	for _, c := range plan.Audited.Changes {
		if strings.ContainsAny(c.String()+c.Expected+c.Found, "\n\r\x1b\u202e\u00a0") {
			t.Errorf("%q holds control characters", c)
		}
		if c.Outcome == labs.NotApplied && c.Reason == "" {
			t.Errorf("%s has no reason", c)
		}
	}
	data, err := os.ReadFile(filepath.Join(written(t, plan, "scripts/render-etcd.sh"), "scripts", "render-etcd.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), "\n# - etcd-bootstrap, line "); got != len(notApplied) {
		t.Errorf("the script names %d of %d", got, len(notApplied))
	}
}
