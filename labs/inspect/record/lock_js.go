package record

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked")

// tryLock: a browser keeps no files, so no two programs want the same one.
func tryLock(*os.File) error { return nil }
