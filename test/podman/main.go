package podman

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
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
	return dir, errors.Join(os.Chmod(dir, 0o755), inMemory(dir))
})

// roomy is how many KiB of memory must be available to keep the tests' files in it:
// several times what they hold at once.
const roomy = 8 << 20

var available = regexp.MustCompile(`(?m)^MemAvailable: +([0-9]+) kB$`)

// inMemory mounts a file system in memory on the directory, where that can be done.
// Tests copy and remove labs of a thousand files each, hundreds of times: on a disk
// that takes four times as much of the processor.
func inMemory(dir string) error {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return err
	}
	found := available.FindSubmatch(data)
	if os.Getuid() != 0 || found == nil {
		return nil
	}
	if free, err := strconv.Atoi(string(found[1])); err != nil || free < roomy {
		return err
	}
	err = syscall.Mount("bootlab-test", dir, "tmpfs", 0, "mode=0755,size=6g")
	if errors.Is(err, syscall.EPERM) { // root of a container
		return nil
	}
	return err
}

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

// removeTree unmounts what is mounted on a directory or below, and removes it.
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

// mountsBelow lists mount points, the directory itself included, in the order they
// were made.
func mountsBelow(dir string) []string {
	data, _ := os.ReadFile("/proc/self/mountinfo")
	var points []string
	for _, line := range strings.Split(string(data), "\n") {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4]+"/", dir+"/") {
			points = append(points, fields[4])
		}
	}
	return points
}
