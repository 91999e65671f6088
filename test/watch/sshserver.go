package watch

import (
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"bootlab/test/secureshell"
)

// machine stands in for a machine of the lab: an SSH server on the loopback that
// lets core in with one key, and runs bash as itself where sudo bash is asked for.
type machine struct {
	config      string   // an ssh_config that names it "bootstrap"
	env         []string // what commands find there, beside the test's own
	connections *atomic.Int32
	vanish      func() // the machine gone, with all of its connections
}

// newMachine starts one.
func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	key, login := secureshell.NewKey(t)
	hostKey, host := secureshell.NewKey(t)
	m := &machine{env: env}
	server := &secureshell.Server{HostKey: hostKey, Login: login, Run: m.run}
	server.Start(t)
	m.config = secureshell.WriteConfig(t, t.TempDir(), server.Port(), key, host)
	m.connections, m.vanish = &server.Connections, server.Close
	return m
}

// run does not wait for the end of what comes in: bash may end before.
func (m *machine) run(c *secureshell.Command) (status int) {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-s")
	cmd.Env = append(os.Environ(), m.env...)
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return -1 // as ssh ends where no status comes
	}
	go func() {
		io.Copy(in, c.Stdin)
		in.Close()
	}()
	cmd.Wait()
	return cmd.ProcessState.ExitCode()
}
