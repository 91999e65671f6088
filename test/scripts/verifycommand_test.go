package scripts

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"bootlab/labs"
	"bootlab/labs/check"
	"bootlab/test/podman"
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

func TestVerifyRunsTheScriptsOfARehearsal(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Rehearsal).Clone(t)
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

// shell stands in for the SSH server of the bootstrap node: it lets core in and
// runs the shell that bootlab asks for, where the scripts of the node run.
type shell struct {
	lab      *Lab
	listener net.Listener
}

// startShell makes the server, and the ssh_config by which bootlab finds it.
func startShell(t *testing.T, l *Lab) *shell {
	t.Helper()
	private, public := newSSHKey(t)
	hostPrivate, hostPublic := newSSHKey(t)
	signer, err := ssh.NewSignerFromKey(hostPrivate)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(conn ssh.ConnMetadata, shown ssh.PublicKey) (*ssh.Permissions, error) {
		if conn.User() != "core" || string(shown.Marshal()) != string(public.Marshal()) {
			return nil, fmt.Errorf("%s has no such key", conn.User())
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	s := &shell{lab: l}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.listener.Close() })
	key, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	s.putConfig(t, key, hostPublic)
	go func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn, config)
		}
	}()
	return s
}

// putConfig writes what bootlab vms up leaves of a machine for ssh.
func (s *shell) putConfig(t *testing.T, key *pem.Block, public ssh.PublicKey) {
	t.Helper()
	state := filepath.Join(s.lab.Dir, "out", "work", "vms")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	port := s.listener.Addr().(*net.TCPAddr).Port
	for name, text := range map[string]string{
		"id":          string(pem.EncodeToMemory(key)),
		"known_hosts": fmt.Sprintf("[127.0.0.1]:%d %s", port, ssh.MarshalAuthorizedKey(public)),
		"ssh_config": fmt.Sprintf("Host bootstrap\n  HostName 127.0.0.1\n  Port %d\n  User core\n  IdentityFile %q\n  IdentitiesOnly yes\n"+
			"  UserKnownHostsFile %q\n  StrictHostKeyChecking yes\n  ConnectTimeout 10\n", port, filepath.Join(state, "id"), filepath.Join(state, "known_hosts")),
	} {
		if err := os.WriteFile(filepath.Join(state, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *shell) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range requests {
				var asked struct{ Command string }
				isExec := r.Type == "exec" && ssh.Unmarshal(r.Payload, &asked) == nil
				r.Reply(isExec, nil)
				if isExec {
					s.run(channel, asked.Command)
				}
			}
		}()
	}
}

func (s *shell) run(channel ssh.Channel, command string) {
	status := struct{ Status uint32 }{127}
	if words := strings.Fields(command); words[0] == "sudo" {
		cmd := s.lab.inside(words[1:])
		cmd.Stdin, cmd.Stdout, cmd.Stderr = channel, channel, channel.Stderr()
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err == nil {
			cmd.Wait()
			status.Status = uint32(cmd.ProcessState.ExitCode())
		}
	}
	channel.SendRequest("exit-status", false, ssh.Marshal(status))
	channel.Close()
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

	server.listener.Close()
	report, r = l.verify(t, "render-etcd..render-kcm")
	r.Want(t, 3)
	for _, s := range report.Stages {
		if s.State != check.Broken || !strings.Contains(s.Problem, "cannot be reached") {
			t.Errorf("%s: %s: %s", s.ID, s.State, s.Problem)
		}
	}
}
