package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bootlab/labs"
)

// shippedLab loads one of the labs that bootlab init writes.
func shippedLab(t testing.TB, name string) *labs.Lab {
	t.Helper()
	dir := t.TempDir()
	text, err := fs.ReadFile(labs.Examples, name+"/"+labs.LabFile)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, labs.LabFile), text, 0o600),
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
