package main

import (
	"bootlab/generator"
	"errors"
	"syscall"
)

// writeError says what to do when the output cannot be written.
func writeError(out string, err error) error {
	var edited *generator.EditedError
	switch {
	case errors.As(err, &edited):
		return withHint(err, "nothing was written; --force replaces them and keeps yours as NAME.edited")
	case errors.Is(err, syscall.ENOSPC):
		return withHint(err, "make room on that disk and run generate again")
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES):
		return withHint(err, "choose another directory with --output, or make "+out+" writable")
	}
	return err
}
