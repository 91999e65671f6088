// Package labtest gives tests a lab, and files. Only tests import it.
package labtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bootlab/labs"
)

// Shipped loads one of the labs that bootlab init writes, in a directory of its
// own that holds a pull secret too.
func Shipped(t testing.TB, name string) *labs.Lab {
	t.Helper()
	text, err := fs.ReadFile(labs.Examples, name+"/"+labs.LabFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = errors.Join(os.WriteFile(filepath.Join(dir, labs.LabFile), text, 0o600),
		os.WriteFile(filepath.Join(dir, "pull-secret.json"), []byte(`{"auths": {"registry.example.test": {"auth": "eDp5"}}}`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return lab
}

// File is a file of the test with this content.
func File(t testing.TB, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
