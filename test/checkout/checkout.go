// Package checkout finds the repository that the tests belong to.
package checkout

import (
	"bytes"
	"os"
	"path/filepath"
)

// Root is the directory of the module bootlab. Tests run somewhere below it.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(data, []byte("module bootlab\n")) {
			return dir
		}
		if filepath.Dir(dir) == dir {
			panic("no go.mod of bootlab above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}
