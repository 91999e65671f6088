package images

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// FreeBytes is what an ordinary user can still write into a directory, or into
// the one that it would be made in.
func FreeBytes(dir string) (uint64, error) {
	var fs syscall.Statfs_t
	for {
		err := syscall.Statfs(dir, &fs)
		if err == nil {
			return fs.Bavail * uint64(fs.Bsize), nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return 0, err
		}
		dir = filepath.Dir(dir)
	}
}
