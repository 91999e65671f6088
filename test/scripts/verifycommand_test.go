package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/test/podman"
	"bootlab/test/secureshell"
)

// verify runs bootlab verify for the lab, as its account.
func (l *Lab) verify(t *testing.T, args ...string) (*check.Report, Result) {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	r := finish(t, l.Env.Command(program, append([]string{"verify", l.Dir, "--output=json"}, args...)...))
	report := &check.Report{}
	if err := json.Unmarshal([]byte(r.Out), report); err != nil {
		t.Fatalf("%v: %s", err, r.All)
	}
	return report, r
}

// failing are the checks of a report that did not pass, as STAGE CHECK.
func failing(report *check.Report) []string {
	var out []string
	for _, s := range report.Stages {
		if s.State == check.Broken {
			out = append(out, s.ID)
		}
		for _, c := range s.Checks {
			if c.Outcome != check.Passed {
				out = append(out, s.ID+" "+c.ID)
			}
		}
	}
	return out
}

func TestVerifyRunsTheScriptsOfALocalRun(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	report, r := l.verify(t)
	r.Want(t, 0)
	if failed := failing(report); len(failed) > 0 || !report.Summary.Good || report.Summary.Passed < 100 {
		t.Errorf("%v fail: %+v", failed, report.Summary)
	}
	fixtures(t, "render-etcd")["pod-image"].apply(t, l)
	report, r = l.verify(t, "..render-etcd", "render-cco")
	r.Want(t, 3)
	if failed := failing(report); !slices.Equal(failed, []string{"render-etcd pod-image"}) {
		t.Errorf("%v fail", failed)
	}
	if last := report.Stages[len(report.Stages)-1]; last.ID != "render-cco" || len(last.Checks) == 0 {
		t.Error("it did not run to its end")
	}
}

// startShell stands in for the SSH server of the bootstrap node: it lets core in
// and runs the shell that bootlab asks for, where the scripts of the node run. What
// bootlab vms up leaves of a machine for ssh leads bootlab there.
func startShell(t *testing.T, l *Lab) *secureshell.Server {
	t.Helper()
	key, login := secureshell.NewKey(t)
	hostKey, host := secureshell.NewKey(t)
	s := &secureshell.Server{HostKey: hostKey, Login: login, Run: l.runAsked}
	s.Start(t)
	secureshell.WriteConfig(t, filepath.Join(l.Dir, "out", "work", "vms"), s.Port(), key, host)
	return s
}

// runAsked runs what comes through SSH, as far as it is for root.
func (l *Lab) runAsked(c *secureshell.Command) (status int) {
	words := strings.Fields(c.Line)
	if len(words) < 2 || words[0] != "sudo" {
		return 127
	}
	cmd := l.inside(words[1:])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.WaitDelay = time.Second
	if cmd.Start() != nil {
		return 127
	}
	cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

func TestVerifyRunsTheScriptsOfANode(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("there is no ssh")
	}
	l := Good(t, account, labs.OnNode).Clone(t)
	if err := os.CopyFS(filepath.Join(l.Host(), "opt", "bootlab"), os.DirFS(l.Scripts())); err != nil {
		t.Fatal(err)
	}
	server := startShell(t, l)

	report, r := l.verify(t)
	r.Want(t, 0)
	for _, s := range report.Stages {
		if s.State == check.Verified && s.On != "bootstrap" {
			t.Errorf("%s was verified on %s", s.ID, s.On)
		}
	}
	if failed := failing(report); len(failed) > 0 || report.Summary.Passed < 80 {
		t.Errorf("%v fail: %+v", failed, report.Summary)
	}

	fixtures(t, "render-mco")["server-key"].apply(t, l)
	report, r = l.verify(t, "render-etcd", "render-mco")
	r.Want(t, 3)
	if failed := failing(report); !slices.Equal(failed, []string{"render-mco server-key"}) {
		t.Errorf("%v fail", failed)
	}

	server.Close()
	report, r = l.verify(t, "render-etcd..render-kcm")
	r.Want(t, 5)
	for _, s := range report.Stages {
		if s.State != check.Broken || !strings.Contains(s.Problem, "cannot be reached") {
			t.Errorf("%s: %s: %s", s.ID, s.State, s.Problem)
		}
	}
}
