//go:build !js

package record

import (
	"os"
	"syscall"
)

// errLocked says that another program holds the lock.
const errLocked = syscall.EWOULDBLOCK

func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
