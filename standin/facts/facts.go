// Package facts knows what bootkube.sh of each release calls, from a list that
// was read from its sources independently of the stage data under test.
package facts

import (
	_ "embed" // of the list
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed bootkube.yaml
var list []byte

// Facts is the list.
type Facts struct {
	Releases []string `yaml:"release_order"`
	Global   struct {
		OperatorImages map[string]bounded `yaml:"operator_images"`
		PodmanBase     []option           `yaml:"podman_base"`
	} `yaml:"global"`
	Stages []stage `yaml:"stages"`
}

// stage is a stage of bootkube.sh; only what stand-ins need of it.
type stage struct {
	Name    string `yaml:"name"`
	Since   string `yaml:"since"`
	Until   string `yaml:"until"`
	Image   string `yaml:"image"`
	Command string `yaml:"command"`
	Flags   []flag `yaml:"flags"`
	// What follows is for [Facts.Chain].
	Only       string   `yaml:"only"`
	Kind       string   `yaml:"kind"`
	PodmanName string   `yaml:"podman_name"`
	Volume     string   `yaml:"podman_volume"`
	Extra      []option `yaml:"podman_extra"`
	Copies     []copied `yaml:"copies"`
}

type flag struct {
	Flag     string `yaml:"flag"`
	Value    string `yaml:"value"`
	Since    string `yaml:"since"`
	Until    string `yaml:"until"`
	WhenFile string `yaml:"when_file"`
	Style    string `yaml:"style"`
}

// bounded is a value that may hold for some releases only.
type bounded struct{ Name, Since, Until string }

// UnmarshalYAML takes a plain value or a mapping.
func (b *bounded) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		b.Name = node.Value
		return nil
	}
	var m struct {
		Name  string `yaml:"name"`
		Since string `yaml:"since"`
		Until string `yaml:"until"`
	}
	if err := node.Decode(&m); err != nil {
		return err
	}
	*b = bounded(m)
	return nil
}

// Call is one call of an image in one release.
type Call struct {
	Stage   string `json:"stage"`
	Command string `json:"command"`
	Flags   []Flag `json:"flags"`
}

// Flag is a flag that the call may have.
type Flag struct {
	// Name is without dashes.
	Name string `json:"name"`
	// Value is what bootkube.sh gives; variables of its own are left in.
	Value string `json:"value"`
	// WhenFile: bootkube.sh gives the flag only where this file is.
	WhenFile string `json:"whenFile,omitempty"`
	// Separate: the value is an argument of its own.
	Separate bool `json:"separate,omitempty"`
}

// Load reads the list.
func Load() (*Facts, error) {
	f := &Facts{}
	if err := yaml.Unmarshal(list, f); err != nil {
		return nil, fmt.Errorf("bootkube.yaml: %w", err)
	}
	return f, nil
}

// Calls gives the calls that bootkube.sh of a release makes of a payload
// image; the release image itself has the name "release".
func (f *Facts) Calls(release, image string) []Call {
	var calls []Call
	for _, s := range f.Stages {
		if payloadName(s.Image) == image && f.holds(release, s.Since, s.Until) {
			calls = append(calls, f.call(release, s))
		}
	}
	return calls
}

// CallOf gives the call of a stage and the payload image that it is of. It is
// false where the release has no such stage.
func (f *Facts) CallOf(release, stage string) (image string, call Call, there bool) {
	for _, s := range f.Stages {
		if s.Name == stage && f.holds(release, s.Since, s.Until) {
			return payloadName(s.Image), f.call(release, s), true
		}
	}
	return "", Call{}, false
}

func payloadName(image string) string {
	if image == "$RELEASE_IMAGE_DIGEST" {
		return "release"
	}
	return image
}

func (f *Facts) call(release string, s stage) Call {
	call := Call{Stage: s.Name, Command: s.Command}
	for _, fl := range s.Flags {
		if f.holds(release, fl.Since, fl.Until) {
			call.Flags = append(call.Flags, Flag{strings.TrimLeft(fl.Flag, "-"), fl.Value, fl.WhenFile, fl.Style == "separate-argument"})
		}
	}
	return call
}

// Images lists the payload names that bootkube.sh of a release asks for, by
// its variables for them.
func (f *Facts) Images(release string) map[string]string {
	names := map[string]string{}
	for variable, image := range f.Global.OperatorImages {
		if f.holds(release, image.Since, image.Until) {
			names[variable] = image.Name
		}
	}
	return names
}

// Knows says whether the release is in the list.
func (f *Facts) Knows(release string) bool { return f.age(release) >= 0 }

func (f *Facts) holds(release, since, until string) bool {
	at := f.age(release)
	return (since == "" || at >= f.age(since)) && (until == "" || at <= f.age(until))
}

func (f *Facts) age(release string) int {
	for i, id := range f.Releases {
		if id == release {
			return i
		}
	}
	return -1
}
