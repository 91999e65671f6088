package cli

import (
	"errors"
	"syscall"

	"bootlab/generator"
)

// WriteError says what to do when the output cannot be written.
func WriteError(out string, err error) error {
	var edited *generator.EditedError
	switch {
	case errors.As(err, &edited):
		return Hint(err, "nothing was written; --force replaces them and keeps yours as NAME.edited")
	case errors.Is(err, syscall.ENOSPC):
		return Hint(err, "make room on that disk and run generate again")
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES):
		return Hint(err, "choose another directory with --output, or make "+out+" writable")
	}
	return err
}
