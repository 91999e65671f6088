package scripts

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"bootlab/test/podman"
)

// Hundreds of tests begin with one of a few labs. What init and generate write
// depends on their arguments, the name of the lab's directory and the files in it
// alone: each is run once for the same, and its result copied.

// results are the directories of labs by what they depend on.
var results = struct {
	sync.Mutex
	made map[string]func() (string, error)
}{made: map[string]func() (string, error){}}

// resultOf gives the lab that depends on a key, and lets it be made the first time,
// in a directory that is not there.
func resultOf(key, name string, made func(lab string) error) (string, error) {
	results.Lock()
	once := results.made[key]
	if once == nil {
		once = sync.OnceValues(func() (string, error) {
			base, err := podman.Base()
			if err != nil {
				return "", err
			}
			lab := filepath.Join(base, fmt.Sprintf("generated-%x", sha256.Sum256([]byte(key))), name)
			return lab, errors.Join(os.MkdirAll(filepath.Dir(lab), 0o755), made(lab))
		})
		results.made[key] = once
	}
	results.Unlock()
	return once()
}

// initialize does what bootlab init does for a lab that is not there.
func initialize(lab string, options ...string) error {
	name := filepath.Base(lab)
	from, err := resultOf(fmt.Sprintf("init %q %q", name, options), name, func(lab string) error {
		_, err := Bootlab(append([]string{"init", lab}, options...)...)
		return err
	})
	if err != nil {
		return err
	}
	return copyTree(from, lab)
}

// generate does what bootlab generate does. Where something was generated before,
// the program itself is run: what it makes of that is its own.
func generate(lab string) error {
	if _, err := os.Lstat(filepath.Join(lab, "out")); err == nil {
		_, err := Bootlab("generate", lab)
		return err
	}
	files, err := inputs(lab)
	if err != nil {
		return err
	}
	from, err := resultOf(fmt.Sprintf("generate %q", files), filepath.Base(lab), func(lab string) error {
		for name, text := range files {
			file := filepath.Join(lab, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
				return err
			}
		}
		_, err := Bootlab("generate", lab)
		return err
	})
	if err != nil {
		return err
	}
	return copyTree(filepath.Join(from, "out"), filepath.Join(lab, "out"))
}

// inputs are the files of a lab that generate may read, and what they hold: not
// those of the node that a test keeps beside them.
func inputs(lab string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(lab, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != filepath.Join(lab, "node") {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		name, err := filepath.Rel(lab, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[name] = string(data)
		return err
	})
	return files, err
}

// copyTree gives a tree another path as well.
func copyTree(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "--archive", "--no-target-directory", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}
