// Package demo is the registry of a demo lab: the files that it needs, and the
// process that serves stand-in images on loopback.
package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"bootlab/standin"
	"bootlab/standin/images"
)

// directory is what a demo has below the directory of its lab.
const directory = "registry"

// CAFile is the CA of the registry, relative to lab.yaml.
const CAFile = directory + "/ca.crt"

// Demo is a demo lab.
type Demo struct {
	// Lab is the directory of the lab, absolute and without links.
	Lab string
	// Address is that of the registry, 127.0.0.1:PORT.
	Address string
	// Release is the release that the images stand in for, as 4.21.
	Release string
	// digest is the pull spec of the release image by digest.
	digest string
}

// ErrNone says that a directory holds no demo.
var ErrNone = errors.New("no demo lab")

// settingsFile holds what a demo keeps for the next start.
const settingsFile = "registry.json"

type settings struct {
	Address string `json:"address"`
	Release string `json:"release"`
	Digest  string `json:"digest"`
}

// Open reads the demo of a lab.
func Open(lab string) (*Demo, error) {
	d := &Demo{Lab: lab}
	data, err := os.ReadFile(d.path(settingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	var s settings
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", d.path(settingsFile), err)
	}
	d.Address, d.Release, d.digest = s.Address, s.Release, s.Digest
	return d, nil
}

// Create makes the files of a registry: its certificate, whose CA is made for it
// alone, and its port. They come into the lab whole or not at all.
func Create(lab, release string) (*Demo, error) {
	d := &Demo{Lab: lab, Release: release}
	var err error
	if d.Address, err = freeAddress(lab); err != nil {
		return nil, err
	}
	_, pushed, err := d.images()
	if err != nil {
		return nil, err
	}
	d.digest = pushed.Image
	unfinished, err := filepath.Glob(filepath.Join(globQuote(lab), "."+directory+"-*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range unfinished { // of a start that was killed
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	made, err := os.MkdirTemp(lab, "."+directory+"-")
	if err != nil {
		return nil, err
	}
	if err := d.fill(made); err != nil {
		return nil, errors.Join(err, os.RemoveAll(made))
	}
	return d, os.Rename(made, filepath.Join(lab, directory))
}

// globQuote lets a path mean itself in a pattern.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (d *Demo) fill(dir string) error {
	ca, server, err := certificates()
	if err != nil {
		return err
	}
	text, err := json.Marshal(settings{d.Address, d.Release, d.digest})
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
		mode fs.FileMode
	}{{filepath.Base(CAFile), ca, 0o644}, {serverFile, server, 0o600}, {settingsFile, append(text, '\n'), 0o644}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, f.mode); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o755)
}

func (d *Demo) path(name string) string { return filepath.Join(d.Lab, directory, name) }

// The ports that registries take: not those that Linux gives to connections that
// name none.
const (
	firstPort = 20000
	ports     = 10000
)

// freeAddress is where nothing listens. Two labs begin to look at different ports,
// so that one keeps its own while it does not run.
func freeAddress(lab string) (string, error) {
	sum := fnv.New32a()
	sum.Write([]byte(lab))
	for i := range uint32(100) {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+(sum.Sum32()+i)%ports)
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, l.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return "", err
		}
	}
	return "", errors.New("a hundred ports of loopback are all in use")
}

// ErrOtherBuild says that a demo was made by another bootlab: what podman has
// pulled from it would not fit to what this one serves.
var ErrOtherBuild = errors.New("the demo was made by another build of bootlab, with other images")

// images pushes the release into a store. The same bootlab makes the same images
// each time, down to their digests.
func (d *Demo) images() (*images.Store, *standin.Release, error) {
	program, err := standin.Builtin()
	if err != nil {
		return nil, nil, err
	}
	store := images.NewStore(d.Address)
	release, err := standin.Push(store, program, d.Release, d.options())
	return store, release, err
}
