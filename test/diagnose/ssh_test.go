package diagnose

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
	"bootlab/test/podman"
	"bootlab/test/secureshell"
)

// sshNode is a real ssh client's way to an ssh server on loopback, as bootlab
// writes it down for a lab.
type sshNode struct {
	work string // out/work of the lab
}

// judged looks at the bootstrap node alone.
func (n *sshNode) judged(t *testing.T) *diagnose.Report {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "ha", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Metadata.Name = "of-the-tests" // whose console is not there
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	d := labs.BuiltinDiagnosis().For(plan)
	d.Layers = slices.DeleteFunc(d.Layers, func(l *labs.Layer) bool { return l.ID != "node" })
	d.Evidence = slices.DeleteFunc(d.Evidence, func(e *labs.Evidence) bool {
		return !slices.Contains([]string{"bootstrap-ssh", "bootstrap-console", "clock", "hostname"}, e.ID)
	})
	hosts := &host.Hosts{Here: host.Local{}, Work: n.work, AssetDir: "/opt/openshift",
		Bootstrap: host.Node{Machine: "bootstrap", Config: filepath.Join(n.work, "vms", "ssh_config")}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := diagnose.Walk(d, lab, false, hosts.Collect(ctx, lab, d.Evidence, nil))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhyTheNodeIsNotReached is real ssh against a real server.
func TestWhyTheNodeIsNotReached(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh"); err != nil {
		podman.Unavailable(t, "no ssh on this machine")
	}
	hostKey, hostPublic := secureshell.NewKey(t)
	key, public := secureshell.NewKey(t)
	_, strange := secureshell.NewKey(t)
	for name, c := range map[string]struct {
		known  ssh.PublicKey
		lets   bool
		damage func(n *sshNode) error
		ahead  time.Duration
		cause  string
	}{
		"it answers":             {known: hostPublic, lets: true},
		"nothing listens":        {cause: "not-started"},
		"another host key":       {known: strange, lets: true, cause: "ssh-host-key"},
		"another login key":      {known: hostPublic, cause: "ssh-key"},
		"no ssh_config":          {known: hostPublic, lets: true, damage: func(n *sshNode) error { return os.Remove(filepath.Join(n.work, "vms", "ssh_config")) }, cause: "ssh-no-config"},
		"its clock is far ahead": {known: hostPublic, lets: true, ahead: 5 * time.Hour, cause: "clock-wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &secureshell.Server{HostKey: hostKey, Login: strange, Run: func(asked *secureshell.Command) int {
				fmt.Fprintf(asked.Stdout, "%d then\n", time.Now().Add(c.ahead).Unix())
				return 0
			}}
			if c.lets {
				server.Login = public
			}
			server.Start(t)
			known := c.known
			if known == nil {
				server.Close()
				known = hostPublic
			}
			n := &sshNode{work: t.TempDir()}
			secureshell.WriteConfig(t, filepath.Join(n.work, "vms"), server.Port(), key, known)
			if c.damage != nil {
				if err := c.damage(n); err != nil {
					t.Fatal(err)
				}
			}
			r := n.judged(t)
			if c.cause == "" {
				wantVerdict(t, r, diagnose.Healthy, "")
				return
			}
			wantCause(t, r, c.cause)
			if shown := strings.Join(r.Cause.Shown[0].Lines, " "); shown == "" {
				t.Error("it shows nothing")
			}
		})
	}
}
