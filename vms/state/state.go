// Package state keeps what the machines of a lab need on this host beside
// libvirt, in one directory that one command at a time changes, and the journal of
// what was begun.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"bootlab/labs"
	"bootlab/vms"
)

// Dir is the directory that holds what a lab's machines need on the host
// beside libvirt: keys, configuration of ssh and of the load balancer, the
// journal. It is work/vms below the output directory, for no one else to read.
type Dir struct {
	dir  string
	lock *os.File
}

// stateDir is the directory below the output directory.
const stateDir = "work/vms"

// LongestSocket is the longest path of a Unix socket on Linux, without its end.
const LongestSocket = 107

// Open makes the directory and locks it. A second command on the same lab
// is refused while one is running; what only looks passes readOnly.
func Open(out string, readOnly bool) (*Dir, error) {
	out, err := RealPath(out)
	if err != nil {
		return nil, err
	}
	s := &Dir{dir: filepath.Join(out, filepath.FromSlash(stateDir))}
	if readOnly {
		return s, nil
	}
	if socket := filepath.Join(out, filepath.FromSlash(labs.BalancerSocket)); len(socket) > LongestSocket {
		return nil, &vms.Problem{Message: fmt.Sprintf("the path %s is %d bytes long; a socket's may have %d", socket, len(socket), LongestSocket),
			Hint: "move the lab to a directory with a shorter path"}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(s.dir, 0o700); err != nil {
		return nil, err
	}
	return s, s.take()
}

// RealPath is a path without symbolic links: a lab is the same lab by whatever
// way one comes to its directory. The last part need not be there.
func RealPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	found, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, os.ErrNotExist) {
		return found, err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

func (s *Dir) take() error {
	file, err := os.OpenFile(s.Path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return &vms.Problem{Message: "another bootlab vms is running on this lab", Hint: "wait until it ends"}
		}
		return err
	}
	s.lock = file
	return nil
}

// Path is a file in the directory.
func (s *Dir) Path(name string) string { return filepath.Join(s.dir, name) }

// ReadOnly says that it was opened to be looked at.
func (s *Dir) ReadOnly() bool { return s.lock == nil }

// Close gives the lock back.
func (s *Dir) Close() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// Write puts a file into the directory, whole or not at all.
func (s *Dir) Write(name string, data []byte) error {
	file, err := os.CreateTemp(s.dir, "."+name+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(data); err != nil {
		file.Close()
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), s.Path(name))
}

// Remember writes a value into a file of the directory, as JSON.
func (s *Dir) Remember(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return s.Write(name, append(text, '\n'))
}

// Recall reads a value that [Dir.Remember] wrote; there is false where none is.
func (s *Dir) Recall(name string, value any) (there bool, err error) {
	text, err := os.ReadFile(s.Path(name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		return false, &vms.Problem{Message: s.Path(name) + " cannot be read", Err: err, Hint: fmt.Sprintf("remove it: rm %s", s.Path(name))}
	}
	return true, nil
}

// Forget removes a file of the directory; one that is not there is no error.
func (s *Dir) Forget(name string) error {
	if err := os.Remove(s.Path(name)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
