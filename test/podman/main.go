package podman

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// base holds every directory that this test process makes. Its name is short,
// because sockets lie below it, and open to all, because accounts differ.
var base = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.TempDir(), accountPrefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
})

// Main runs the tests of a package and removes what they shared: call it from
// TestMain and exit with its result.
func Main(m *testing.M) int {
	sweep()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		clean()
		os.Exit(130)
	}()
	status := m.Run()
	signal.Stop(interrupted)
	if err := clean(); err != nil {
		fmt.Fprintln(os.Stderr, "left behind:", err)
		return 1
	}
	return status
}

// Base is a directory that Main removes.
func Base() (string, error) { return base() }

// clean removes everything that this process made.
func clean() error {
	for _, e := range open() {
		e.Close()
	}
	dir, err := base()
	if err != nil {
		return err
	}
	if throwAway != nil {
		if err := removeAccount(accountPrefix + strconv.Itoa(os.Getpid())); err != nil {
			return err
		}
	}
	return removeTree(dir)
}

// TempDir is a directory of the account's own, removed when the test ends. It
// is mode 0755 and so is all above it.
func TempDir(tb testing.TB, account Account) string {
	tb.Helper()
	dir := SharedDir(tb, account)
	tb.Cleanup(func() {
		if err := removeTree(dir); err != nil {
			tb.Errorf("left behind: %v", err)
		}
	})
	return dir
}

// SharedDir is as TempDir, but it lives until Main removes it.
func SharedDir(tb testing.TB, account Account) string {
	tb.Helper()
	dir, err := tempDir(account)
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

func tempDir(account Account) (string, error) {
	above, err := base()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(above, "")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	if os.Getuid() != account.UID {
		return dir, os.Chown(dir, account.UID, account.GID)
	}
	return dir, nil
}

// removeTree unmounts what is mounted below a directory, and removes it.
func removeTree(dir string) error {
	mounts := mountsBelow(dir)
	for i := len(mounts) - 1; i >= 0; i-- {
		if err := syscall.Unmount(mounts[i], syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", mounts[i], err)
		}
	}
	var err error
	for range 10 { // a podman that is just ending may still write
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				os.Chmod(path, 0o700) // a test may have taken the right to write
			}
			return nil
		})
		if err = os.RemoveAll(dir); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// mountsBelow lists mount points in the order they were made.
func mountsBelow(dir string) []string {
	data, _ := os.ReadFile("/proc/self/mountinfo")
	var points []string
	for _, line := range strings.Split(string(data), "\n") {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			points = append(points, fields[4])
		}
	}
	return points
}
