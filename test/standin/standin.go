// Package standin gives tests the stand-in releases of bootlab, with the program
// of this checkout in them.
package standin

import (
	"os"
	"sync"

	"bootlab/standin"
	"bootlab/standin/images"
	"bootlab/standin/role"
	"bootlab/test/build"
	"bootlab/test/registry"
)

// Options and Release are those of bootlab.
type (
	Options = standin.Options
	Release = standin.Release
)

// program is built once, static, for this machine and its containers.
var program = sync.OnceValues(func() (*standin.Program, error) {
	file, err := build.Program{Package: "bootlab/standin/program", LinkFlags: "-s -w"}.File()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return standin.NewProgram(data)
})

// Push builds a release and pushes it.
func Push(to *registry.Registry, id string, options Options) (*Release, error) {
	p, err := program()
	if err != nil {
		return nil, err
	}
	return standin.Push(to, p, id, options)
}

// Installer is the stand-in for openshift-install, with what it is told.
func Installer(told role.Installer) ([]byte, error) {
	p, err := program()
	if err != nil {
		return nil, err
	}
	return p.Installer(told)
}

// PushProbe pushes an image that a test can run to see whether anything runs:
// it has a cat, a pause and the file /probe.
func PushProbe(to *registry.Registry) (string, error) {
	p, err := program()
	if err != nil {
		return "", err
	}
	image, err := p.Image(map[string]images.File{"/probe": {Data: []byte("it runs\n")}}, "/usr/bin/cat", "/usr/bin/pause").Build()
	if err != nil {
		return "", err
	}
	return to.Push("stand-in/probe", image)
}
