// Package standin builds stand-in releases: a release image and the images it
// names, for the demo and for tests. What runs inside them is the one program in
// the directory program; what it plays is told by package role.
package standin

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"bootlab/standin/facts"
	"bootlab/standin/images"
	"bootlab/standin/role"
)

// Registry takes images.
type Registry interface {
	// Push stores an image and returns its pull spec by digest, Tag by tag.
	Push(repository string, image v1.Image) (string, error)
	Tag(repository, tag string, image v1.Image) (string, error)
}

// Options say what is to be special about a release.
type Options struct {
	// Version of the payload; empty is the release's usual one.
	Version string
	// Faults are the faults of the stand-ins, by payload name; that of the
	// release image is "release".
	Faults map[string][]string
	// Without are payload names that the release does not have.
	Without []string
	// NoKubernetesVersion leaves out the annotation that names it.
	NoKubernetesVersion bool
	// Files are put into images of the payload, by their names and then by path:
	// real programs in place of none.
	Files map[string]map[string]images.File
	// Offline: the machine that renders may have no address but loopback, which no
	// operator would take.
	Offline bool
	// Repository is the first part of the repositories; empty is stand-in.
	Repository string
	// AnyImage: stand-ins take any pull spec for the payload's images, as is
	// right where a lab overrides them.
	AnyImage bool
}

// Release is a pushed release.
type Release struct {
	ID         string // as 4.21
	Version    string
	Kubernetes string
	// Image is the pull spec of the release image by digest, TagImage by tag.
	Image, TagImage string
	// Images are the pull specs of the payload, by name.
	Images map[string]string
	// Repository holds all of them but the release image.
	Repository, ReleaseRepository string
}

// Push builds a release and pushes it.
func Push(to Registry, program *Program, id string, options Options) (*Release, error) {
	list, err := facts.Load()
	if err != nil {
		return nil, err
	}
	if !list.Knows(id) {
		return nil, fmt.Errorf("no facts about release %s", id)
	}
	b := &builder{to: to, facts: list, options: options, program: program, release: newRelease(id, options)}
	for _, name := range b.names() {
		if err := b.push(name); err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
	}
	return b.release, b.pushRelease()
}

func newRelease(id string, options Options) *Release {
	repository := cmp.Or(options.Repository, "stand-in")
	r := &Release{
		ID: id, Version: options.Version, Kubernetes: kubernetes[id], Images: map[string]string{},
		Repository: repository + "/content", ReleaseRepository: repository + "/release",
	}
	if r.Version == "" {
		r.Version = id + ".0-okd-scos.0"
		if id == "main" {
			r.Version = "5.0.0-okd-scos.ec.1"
		}
	}
	return r
}

// kubernetes are the versions in the payloads of the releases.
var kubernetes = map[string]string{
	"4.14": "1.27.16", "4.15": "1.28.15", "4.16": "1.29.14", "4.17": "1.30.12", "4.18": "1.31.14",
	"4.19": "1.32.9", "4.20": "1.33.6", "4.21": "1.34.2", "main": "1.35.1",
}

// builder makes the images of one release.
type builder struct {
	to      Registry
	facts   *facts.Facts
	options Options
	program *Program
	release *Release
}

// others are names of a payload that bootkube.sh does not ask for; most of them
// the machine-config-operator looks up.
var others = []string{
	"cli", "installer-artifacts", "haproxy-router", "coredns", "tools", "keepalived-ipfailover", "baremetal-runtimecfg",
	"oauth-proxy", "kube-rbac-proxy", "docker-registry", "stream-coreos", "stream-coreos-extensions",
}

// names lists the payload so that an image comes after those that its call
// names in its flags: its role holds their pull specs.
func (b *builder) names() []string {
	seen := map[string]bool{}
	for _, name := range others {
		seen[name] = true
	}
	for _, name := range b.facts.Images(b.release.ID) {
		seen[name] = true
	}
	for _, name := range b.options.Without {
		delete(seen, name)
	}
	left := make([]string, 0, len(seen))
	for name := range seen {
		left = append(left, name)
	}
	sort.Strings(left)
	var ordered []string
	for len(left) > 0 {
		var later []string
		for _, name := range left {
			if b.callNamesOneOf(name, left) {
				later = append(later, name)
			} else {
				ordered = append(ordered, name)
			}
		}
		left = later
	}
	return ordered
}

// callNamesOneOf says whether a flag of the image's calls holds the pull spec
// of another of the images. An image cannot know its own.
func (b *builder) callNamesOneOf(name string, others []string) bool {
	variables := b.facts.Images(b.release.ID)
	for _, call := range b.facts.Calls(b.release.ID, name) {
		for _, flag := range call.Flags {
			payload := variables[strings.TrimPrefix(flag.Value, "$")]
			if payload != name && slices.Contains(others, payload) {
				return true
			}
		}
	}
	return false
}

func (b *builder) called(name string) bool { return len(b.facts.Calls(b.release.ID, name)) > 0 }

func (b *builder) push(name string) error {
	files, err := b.toolFiles(name)
	if err != nil {
		return err
	}
	image := images.Image{Files: files, Labels: labels(name)}
	if b.called(name) {
		if image, err = b.playing(name); err != nil {
			return err
		}
	}
	if image.Files == nil {
		image.Files = map[string]images.File{}
	}
	maps.Copy(image.Files, b.options.Files[name])
	if len(image.Files) == 0 {
		image.Files = map[string]images.File{"/stand-in": {Data: []byte("nothing in here: " + name + "\n")}}
	}
	built, err := image.Build()
	if err != nil {
		return err
	}
	b.release.Images[name], err = b.to.Push(b.release.Repository, built)
	return err
}

// playing is an image with the program in it, where and as the real one has it.
func (b *builder) playing(name string) (images.Image, error) {
	calls := b.facts.Calls(b.release.ID, name)
	data, err := b.role(name, calls).Encode()
	if err != nil {
		return images.Image{}, err
	}
	path, entrypoint := binaryPath(name, calls)
	image := b.program.Image(map[string]images.File{role.Path: {Data: data}}, path)
	image.Labels, image.Env = labels(name), faultEnv(b.options.Faults[name])
	if entrypoint {
		image.Entrypoint = []string{path}
	}
	return image, nil
}

func (b *builder) role(name string, calls []facts.Call) *role.Role {
	r := &role.Role{
		Release: b.release.ID, Version: b.release.Version, Kubernetes: b.release.Kubernetes,
		Image: name, Offline: b.options.Offline, Calls: calls, Variables: b.release.constants(),
	}
	if !b.options.AnyImage {
		b.release.addImages(r.Variables, b.facts)
	}
	return r
}

// Label is the label that every image of a stand-in release has. Its value is a
// sentence for people; release-info.sh keeps that of the release image.
const Label = "bootlab.stand-in"

func labels(name string) map[string]string {
	return map[string]string{Label: "stand-in made by bootlab: " + name + " is not the real program"}
}

// toolFiles are the files of the images that get-tools.sh opens: oc is a tiny
// script that says what it stands in for, openshift-install a program of its own.
func (b *builder) toolFiles(name string) (map[string]images.File, error) {
	switch name {
	case "cli":
		script := "#!/bin/sh\necho \"stand-in for /usr/bin/oc of " + b.release.Version + ": $*\"\n"
		return map[string]images.File{
			"/usr/bin/oc": {Data: []byte(script), Mode: 0o755}, "/usr/bin/kubectl": {Link: "/usr/bin/oc"},
		}, nil
	case "installer-artifacts":
		program, err := b.program.Installer(role.Installer{Release: b.release.ID, Version: b.release.Version, Image: "registry.example.test/built-in:" + b.release.ID})
		path := "/usr/share/openshift/linux_" + runtime.GOARCH + "/openshift-install"
		return map[string]images.File{path: {Data: program, Mode: 0o755}}, err
	}
	return nil, nil
}
