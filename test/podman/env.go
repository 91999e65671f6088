// Package podman gives tests a podman of their own: storage, configuration,
// registries, signature policy and runtime directory lie in a directory that
// goes with the test. Nothing but environment variables points there, so
// generated scripts use it without knowing.
//
// It works as root and as an ordinary user. What a machine cannot do (raise
// limits, run crun on a hybrid cgroup mount) is found out by trying and set in
// the configuration, never in a script.
package podman

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bootlab/test/registry"
)

// Env is one private podman.
type Env struct {
	Account Account
	Dir     string // everything of it lies here
	Bin     string // the first directory of PATH, empty at first

	once sync.Once
}

// New makes an environment for the account that pulls from the registries
// without TLS. It is closed when the test ends. Without podman, or where no
// container runs, the test is skipped; it fails there if CI=true is set.
func New(tb testing.TB, account Account, registries ...*registry.Registry) *Env {
	tb.Helper()
	e := Shared(tb, account, registries...)
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Errorf("left behind: %v", err)
		}
	})
	return e
}

// Shared makes an environment as New does, but it lives until Main closes it.
func Shared(tb testing.TB, account Account, registries ...*registry.Registry) *Env {
	tb.Helper()
	need(tb, account)
	found, err := probe(account)
	if err != nil {
		Unavailable(tb, err.Error())
	}
	e, err := newEnv(account, found, registries)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// Unavailable skips a test that the machine cannot run, or fails it where that
// would hide something: in CI.
func Unavailable(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatal("not to be skipped in CI: " + reason)
	}
	tb.Skip(reason)
}

func need(tb testing.TB, account Account) {
	tb.Helper()
	commands := []string{"podman", "conmon"}
	if !account.Root() {
		commands = append(commands, "newuidmap", "newgidmap")
	}
	for _, name := range commands {
		if _, err := exec.LookPath(name); err != nil {
			Unavailable(tb, "no "+name+" on this machine")
		}
	}
}

var (
	openLock sync.Mutex
	openEnvs = map[*Env]bool{}
)

// open lists the environments that are not closed.
func open() []*Env {
	openLock.Lock()
	defer openLock.Unlock()
	var list []*Env
	for e := range openEnvs {
		list = append(list, e)
	}
	return list
}

func newEnv(account Account, s settings, registries []*registry.Registry) (*Env, error) {
	dir, err := tempDir(account)
	if err != nil {
		return nil, err
	}
	e := &Env{Account: account, Dir: dir, Bin: filepath.Join(dir, "bin")}
	openLock.Lock()
	openEnvs[e] = true
	openLock.Unlock()
	for _, name := range []string{"bin", "run", "tmp", "home", "home/.config", "home/.config/containers"} {
		if err := e.giveToAccount(filepath.Join(dir, name), os.Mkdir(filepath.Join(dir, name), 0o700)); err != nil {
			return nil, err
		}
	}
	for name, text := range e.configuration(s, registries) {
		path := filepath.Join(dir, name)
		if err := e.giveToAccount(path, os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	return e, e.warmUp()
}

// warmUp makes the namespaces of a rootless podman: the first call may warn of
// what this machine is like, which is not to be taken for a script's words.
func (e *Env) warmUp() error {
	if e.Account.Root() {
		return nil
	}
	_, err := e.Podman("unshare", "true")
	return err
}

// giveToAccount gives a path that was just made to the account.
func (e *Env) giveToAccount(path string, err error) error {
	if err != nil || os.Getuid() == e.Account.UID {
		return err
	}
	return os.Chown(path, e.Account.UID, e.Account.GID)
}

// Own gives a tree to the account.
func (e *Env) Own(tb testing.TB, dir string) {
	tb.Helper()
	if err := e.OwnTree(dir); err != nil {
		tb.Fatal(err)
	}
}

// OwnTree is Own where there is no test to fail.
func (e *Env) OwnTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || os.Getuid() == e.Account.UID {
			return err
		}
		return os.Lchown(path, e.Account.UID, e.Account.GID)
	})
}

// Environ is what a process needs to use this podman.
func (e *Env) Environ() []string {
	below := func(name string) string { return filepath.Join(e.Dir, name) }
	return []string{
		"PATH=" + e.Bin + ":" + SystemPath,
		"HOME=" + below("home"),
		"TMPDIR=" + below("tmp"),
		"XDG_RUNTIME_DIR=" + below("run"),
		"XDG_CONFIG_HOME=" + below("home/.config"),
		"XDG_DATA_HOME=" + below("home/.local/share"),
		"CONTAINERS_CONF=" + below("containers.conf"),
		"CONTAINERS_STORAGE_CONF=" + below("storage.conf"),
		"CONTAINERS_REGISTRIES_CONF=" + below("registries.conf"),
		"LC_ALL=C.UTF-8",
	}
}

// SystemPath is where programs are looked for.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Command prepares a process of the account that uses this podman. It leads a
// process group of its own.
func (e *Env) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = e.Environ()
	cmd.Dir = e.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != e.Account.UID {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(e.Account.UID), Gid: uint32(e.Account.GID)}
	}
	return cmd
}

// Podman runs podman and gives its output; an error holds what it said.
func (e *Env) Podman(args ...string) (string, error) {
	cmd := e.Command("podman", args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := runBounded(cmd, 2*time.Minute); err != nil {
		return out.String(), fmt.Errorf("podman %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// runBounded ends a process that takes too long, with its group.
func runBounded(cmd *exec.Cmd, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return errors.Join(err, ctx.Err())
	}
	return nil
}

// Containers lists the names of all containers, running or not.
func (e *Env) Containers(tb testing.TB) []string {
	tb.Helper()
	out, err := e.Podman("ps", "--all", "--format", "{{.Names}}")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Fields(out)
}

// Close ends what runs in the environment and removes it.
func (e *Env) Close() (err error) {
	e.once.Do(func() {
		openLock.Lock()
		delete(openEnvs, e)
		openLock.Unlock()
		err = e.remove()
	})
	return err
}

func (e *Env) remove() error {
	os.RemoveAll(e.Bin) // no wrapper of a test stands in the way
	if _, err := os.Stat(filepath.Join(e.Dir, "storage")); err == nil {
		e.Podman("rm", "--all", "--force", "--time", "0")
		if e.Account.UID == os.Getuid() && !e.Account.Root() {
			// Files of subordinate ids can only be removed among them.
			e.Podman("unshare", "rm", "--recursive", "--force", filepath.Join(e.Dir, "storage"))
		}
	}
	e.endProcesses()
	return removeTree(e.Dir)
}

// endProcesses ends what still belongs to the environment: the process that
// keeps a rootless podman's namespaces, monitors of containers, scripts that a
// test left. Each names the directory in its command line or environment, but
// for the first, which wrote its id into it.
func (e *Env) endProcesses() {
	data, err := os.ReadFile(filepath.Join(e.Dir, "run", "libpod", "pause.pid"))
	if pid, bad := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && bad == nil && pid > 1 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	for range 50 {
		left := processesIn(e.Dir)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// processesIn lists the processes that name a directory.
func processesIn(dir string) []int {
	var found []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range dirs {
		commandLine, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		environ, _ := os.ReadFile(filepath.Join(proc, "environ"))
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil && pid != os.Getpid() &&
			(bytes.Contains(commandLine, []byte(dir)) || bytes.Contains(environ, []byte(dir))) {
			found = append(found, pid)
		}
	}
	return found
}
