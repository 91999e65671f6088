package watch

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Locked says whether a script holds a lock file. It asks the kernel's list:
// taking the lock for a moment would stop a script that begins just then. Where
// there is no such list, whoever made the file is taken to be running.
func Locked(file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	list, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return true
	}
	inode := fmt.Sprintf(":%d ", stat.Ino)
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, " FLOCK ") && strings.Contains(line, inode) {
			return true
		}
	}
	return false
}
