package build

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"bootlab/labs/sample"
)

// Passed runs a check, unless it passed before with the same key: with all that it
// depends on. That is kept where programs are. The complete run runs each check.
func Passed(key string, check func() error) error {
	dir, err := directory()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, fmt.Sprintf("passed-%x", sha256.Sum256([]byte(key))))
	now := time.Now()
	if !sample.All() && os.Chtimes(file, now, now) == nil {
		return nil
	}
	if err := check(); err != nil {
		return errors.Join(err, os.RemoveAll(file))
	}
	return os.WriteFile(file, nil, 0o644)
}
