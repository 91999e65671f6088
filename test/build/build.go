// Package build builds the programs that the tests run. What was built is kept
// below the user's cache directory, under a hash of all that it was built from:
// a program is built once for all packages, runs and checkouts.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"bootlab/test/checkout"
)

// Program is what to build.
type Program struct {
	Module    string // the directory of its module, below the root of the checkout
	Package   string // its import path
	Tags      string // build tags
	LinkFlags string
	Cgo       bool
	// Pinned says that all of it comes from other modules, which go.mod and
	// go.sum pin: then nothing else of the checkout counts.
	Pinned bool
}

// kept is how long a program stays that nobody asked for.
const kept = 14 * 24 * time.Hour

// File is the path of the program. It is shared: nobody may change it.
func (p Program) File() (string, error) {
	key, err := p.key()
	if err != nil {
		return "", err
	}
	dir, err := directory()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.Base(p.Package)+"-"+key)
	unlock, err := lock(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	now := time.Now()
	if os.Chtimes(file, now, now) == nil {
		return file, nil
	}
	if err := removeUnused(dir, now.Add(-kept)); err != nil {
		return "", err
	}
	if err := p.build(file + ".unfinished"); err != nil {
		return "", err
	}
	return file, os.Rename(file+".unfinished", file)
}

// Place gives the program another path as well, which it returns: of another
// account, or in another namespace, the cache cannot be reached.
func (p Program) Place(file string) (string, error) {
	from, err := p.File()
	if err != nil {
		return "", err
	}
	return file, place(from, file)
}

func (p Program) build(file string) error {
	args := []string{"build", "-buildvcs=false", "-tags=" + p.Tags, "-ldflags=" + p.LinkFlags, "-o", file}
	if p.Pinned {
		// The same in every checkout. Others share what make compile has built.
		args = append(args, "-trimpath")
	}
	cmd := exec.Command("go", append(args, p.Package)...)
	cmd.Dir = filepath.Join(checkout.Root(), p.Module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+p.cgo())
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", p.Package, err, text)
	}
	return nil
}

func (p Program) cgo() string {
	if p.Cgo {
		return "1"
	}
	return "0"
}

// key is a hash of whatever the program is built from.
func (p Program) key() (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", []string{runtime.Version(), runtime.GOARCH, p.Package, p.Tags, p.LinkFlags, p.cgo(), os.Getenv("GOFLAGS")})
	if p.Pinned {
		for _, name := range []string{"go.mod", "go.sum"} {
			if err := add(sum, checkout.Root(), filepath.Join(p.Module, name)); err != nil {
				return "", err
			}
		}
	} else {
		text, err := sources()
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12]), nil
}

// sources is the hash of the checkout.
var sources = sync.OnceValues(func() ([]byte, error) { return tree(checkout.Root()) })

// tree is the hash of all files that can end up in a program: what is embedded
// may have any name.
func tree(root string) ([]byte, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (slices.Contains([]string{"testdata", "bin", "mylab"}, name) || file != root && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case entry.Type().IsRegular() && !strings.HasSuffix(name, "_test.go"):
			name, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			return add(sum, root, name)
		}
		return nil
	})
	return sum.Sum(nil), err
}

// add counts a file's name, size and content.
func add(sum hash.Hash, root, name string) error {
	data, err := os.ReadFile(filepath.Join(root, name))
	fmt.Fprintf(sum, "%q %d\n%s", name, len(data), data)
	return err
}

// directory is where programs are kept. Without a cache directory of the user
// that is below the checkout.
func directory() (string, error) {
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "bootlab-test")
		if os.MkdirAll(dir, 0o755) == nil && syscall.Access(dir, 2) == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(checkout.Root(), ".cache", "programs")
	return dir, os.MkdirAll(dir, 0o755)
}

// lock lets one test process after the other work in a directory.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
}

// removeUnused removes programs that nobody asked for since a time.
func removeUnused(dir string, since time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(since) {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// place links a file under another name, or copies it to another file system.
func place(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}
