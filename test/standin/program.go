package standin

import (
	"encoding/json"
	"os"
	"slices"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"bootlab/test/build"
	"bootlab/test/registry"
)

// programPath is where images have the program; its other names are links.
const programPath = "/usr/libexec/stand-in"

// programLayer is the layer with the program, the same in every image.
var programLayer = sync.OnceValues(func() (v1.Layer, error) {
	data, err := compile("program")
	if err != nil {
		return nil, err
	}
	return registry.Layer(map[string]registry.File{programPath: {Data: data, Mode: 0o755}})
})

// installer is the program that plays openshift-install, the same in every
// release but for what is said of the build behind it.
var installer = sync.OnceValues(func() ([]byte, error) { return compile("installer") })

// InstallerBuild is what the program reads behind the mark in its own file; a
// test may write other things there. Fault is one of its faults.
type InstallerBuild struct{ Release, Version, Image, Fault string }

// InstallerMark stands between the program and what is said of the build.
const InstallerMark = "\n--stand-in build--\n"

// Installer is the program with what is said of its build.
func Installer(build InstallerBuild) ([]byte, error) {
	program, err := installer()
	if err != nil {
		return nil, err
	}
	said, err := json.Marshal(build)
	return slices.Concat(program, []byte(InstallerMark), said), err
}

// compile builds a program of this directory, static, for this machine and its
// containers.
func compile(name string) ([]byte, error) {
	file, err := build.Program{Module: "test", Package: "bootlab/test/standin/" + name, LinkFlags: "-s -w"}.File()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// PushProbe pushes an image that a test can run to see whether anything runs:
// it has a cat, a pause and the file /probe.
func PushProbe(to *registry.Registry) (string, error) {
	binary, err := programLayer()
	if err != nil {
		return "", err
	}
	image, err := registry.Image{
		Base: []v1.Layer{binary},
		Files: map[string]registry.File{
			"/usr/bin/cat":   {Link: programPath},
			"/usr/bin/pause": {Link: programPath},
			"/probe":         {Data: []byte("it runs\n")},
		},
	}.Build()
	if err != nil {
		return "", err
	}
	return to.Push("stand-in/probe", image)
}
