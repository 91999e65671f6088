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
		return Hint(err, "choose another directory with --to, or make "+out+" writable")
	}
	return err
}

// written is what --output json writes of files that were written. New keys may
// be added.
type written struct {
	Dir       string   `json:"dir"`
	Written   []string `json:"written"`
	Unchanged []string `json:"unchanged"`
	Removed   []string `json:"removed"`
	Kept      []string `json:"kept"`
}

// WriteWritten writes as JSON which files became of a write, in paths below the
// directory.
func WriteWritten(io Streams, dir string, r *generator.Report) error {
	list := func(paths []string) []string { return append([]string{}, paths...) }
	return WriteJSON(io.Out, written{dir, list(r.Written), list(r.Unchanged), list(r.Removed), list(r.Kept)})
}
