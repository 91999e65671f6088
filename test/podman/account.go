package podman

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Account is who runs podman.
type Account struct {
	Name     string
	UID, GID int
}

// Root says whether the account is root.
func (a Account) Root() bool { return a.UID == 0 }

// accountPrefix begins the names of throw-away accounts; the process that made
// one follows, so that a later run can tell what was left behind.
const accountPrefix = "bootlab-test-"

var (
	throwAwayOnce sync.Once
	throwAway     *Account
	errThrowAway  error
)

// Accounts are root and an ordinary user where the tests run as root (the
// ordinary one is made for them and removed by Main), else whoever runs them.
func Accounts(tb testing.TB) []Account {
	tb.Helper()
	me := Account{"user", os.Getuid(), os.Getgid()}
	if !me.Root() {
		return []Account{me}
	}
	return []Account{{"root", 0, 0}, Ordinary(tb)}
}

// Ordinary is an account that is not root.
func Ordinary(tb testing.TB) Account {
	tb.Helper()
	if os.Getuid() != 0 {
		return Account{"user", os.Getuid(), os.Getgid()}
	}
	throwAwayOnce.Do(func() { throwAway, errThrowAway = addAccount() })
	if errThrowAway != nil {
		Unavailable(tb, errThrowAway.Error())
	}
	return *throwAway
}

// addAccount makes an account with subordinate ids, as rootless podman needs,
// and nothing else: no home directory, no shell, no password.
func addAccount() (*Account, error) {
	name := accountPrefix + strconv.Itoa(os.Getpid())
	var out []byte
	var err error
	for range 20 { // another package's tests may hold the lock of /etc/passwd
		out, err = exec.Command("useradd", "--no-create-home", "--home-dir", "/nonexistent",
			"--shell", "/usr/sbin/nologin", "--user-group", name).CombinedOutput()
		if err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("useradd: %w: %s", err, strings.TrimSpace(string(out)))
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &Account{"user", uid, gid}, nil
}

// removeAccount ends what still runs under a throw-away account, and removes it.
func removeAccount(name string) error {
	if u, err := user.Lookup(name); err == nil {
		killAll(u.Uid)
	}
	var out []byte
	var err error
	for range 20 {
		if out, err = exec.Command("userdel", name).CombinedOutput(); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("userdel %s: %w: %s", name, err, strings.TrimSpace(string(out)))
}

// killAll ends the processes of a throw-away account.
func killAll(uid string) {
	for _, pid := range processesOf(uid) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	for range 50 {
		if len(processesOf(uid)) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func processesOf(uid string) []int {
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue
		}
		if fmt.Sprint(info.Sys().(*syscall.Stat_t).Uid) == uid {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

// sweep removes what a killed test process left behind: environments with what
// runs in them, directories and throw-away accounts, all of which carry the id
// of a process that is no more.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), accountPrefix+"*"))
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		return !dead(strings.TrimPrefix(filepath.Base(dir), accountPrefix))
	})
	for _, dir := range dirs {
		configurations, _ := filepath.Glob(filepath.Join(dir, "*", "containers.conf"))
		for _, file := range configurations {
			if info, err := os.Stat(file); err == nil {
				owner := info.Sys().(*syscall.Stat_t)
				e := &Env{Account: Account{"", int(owner.Uid), int(owner.Gid)}, Dir: filepath.Dir(file)}
				e.Bin = filepath.Join(e.Dir, "bin")
				e.remove()
			}
		}
	}
	if os.Getuid() == 0 {
		sweepAccounts()
	}
	for _, dir := range dirs {
		removeTree(dir)
	}
}

func sweepAccounts() {
	data, _ := os.ReadFile("/etc/passwd")
	for _, line := range strings.Split(string(data), "\n") {
		name, _, _ := strings.Cut(line, ":")
		if pid, ok := strings.CutPrefix(name, accountPrefix); ok && dead(pid) {
			removeAccount(name)
		}
	}
}

// dead is true for the id of a process that is no more.
func dead(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && syscall.Kill(n, 0) == syscall.ESRCH
}
