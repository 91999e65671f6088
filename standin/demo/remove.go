package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrMachines says that a lab has virtual machines, whose definitions are in out/.
var ErrMachines = errors.New("the lab has virtual machines")

// Remove ends the registry and deletes what the demo made: the images in podman's
// storage of this user, and the files of the lab. It can be repeated after an
// interruption. What else is in the lab's directory stays, and is named.
func (d *Demo) Remove(ctx context.Context) (left []string, err error) {
	if _, err := os.Lstat(filepath.Join(d.Lab, "out", "work", "vms")); err == nil {
		return nil, ErrMachines
	}
	if err := d.Stop(ctx); err != nil {
		return nil, err
	}
	if err := d.removeImages(ctx); err != nil {
		return nil, err
	}
	// The registry's directory comes last: by it the lab is known as a demo.
	for _, name := range []string{"out", "lab.yaml", directory} {
		if err := removeAll(filepath.Join(d.Lab, name)); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(d.Lab)
	if err != nil || len(entries) == 0 {
		return nil, errors.Join(err, os.Remove(d.Lab))
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	return left, nil
}

// removeAll removes a tree in which directories may be closed to their owner: the
// cluster-version-operator's have mode 0666.
func removeAll(tree string) error {
	err := filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil // what cannot be opened, RemoveAll names
	})
	return errors.Join(err, os.RemoveAll(tree))
}

// removeImages removes from podman's storage what was pulled from this registry,
// with the containers that an interrupted script left of it.
func (d *Demo) removeImages(ctx context.Context) error {
	podman, err := exec.LookPath("podman")
	if err != nil {
		return nil // then it has pulled nothing
	}
	text, err := output(ctx, podman, "image", "ls", "--format=json")
	if err != nil {
		return err
	}
	var all []struct{ Names []string }
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("podman image ls: %w", err)
	}
	for _, image := range all {
		for _, name := range image.Names {
			if !strings.HasPrefix(name, d.Address+"/") {
				continue
			}
			if _, err := output(ctx, podman, "image", "rm", "--force", name); err != nil {
				return err
			}
		}
	}
	return nil
}

func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return nil, fmt.Errorf("podman %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}
