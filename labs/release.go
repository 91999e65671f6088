package labs

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Release is what is known of one minor release, and how well.
type Release struct {
	ID string `yaml:"id"` // 4.14 … main
	// Confidence is high or medium: how sure the reading of Source is.
	Confidence string `yaml:"confidence"`
	// Source names the repository and commit whose bootkube.sh.template was read.
	Source string `yaml:"source"`
	// Lines is the length of that template.
	Lines int    `yaml:"lines"`
	Note  string `yaml:"note"`
	// PullSpecs are release images seen in public places.
	PullSpecs []PullSpec `yaml:"pullSpecs"`
}

// PullSpec is a release image and where it was seen.
type PullSpec struct {
	Distribution string `yaml:"distribution"`
	Image        string `yaml:"image"`
	Seen         string `yaml:"seen"`
}

// Bootkube is what bootkube.sh does around its stages.
// Source: openshift/installer bootkube.sh.template, release-image.sh.template
// and bootkube.service, at the commits that the releases name.
type Bootkube struct {
	// TemplatePath is the script's place in the installer's repository.
	TemplatePath     string `yaml:"templatePath"`
	WorkingDirectory string `yaml:"workingDirectory"`
	ShellOptions     string `yaml:"shellOptions"`
	// Podman are the options of every podman run of a stage.
	Podman      []Option `yaml:"podman"`
	AssetVolume string   `yaml:"assetVolume"`
	ImageFor    string   `yaml:"imageFor"`
	Mkdir       []string `yaml:"mkdir"`
	// Registries are the differences of every script that calls podman: how it is
	// led to the registries of the lab.
	Registries []Difference `yaml:"registries"`
	// ClusterFailures are the usual failures of every script that calls oc: how
	// a question to the cluster goes wrong.
	ClusterFailures []Failure `yaml:"clusterFailures"`
	// Variables are shell variables that flags refer to.
	Variables []Variable `yaml:"variables"`
	// Images are the shell variables that hold image references.
	Images []ImageVariable `yaml:"images"`
	// Order lists the stage ids in the order they run, the lab's own included.
	Order []string `yaml:"order"`
	End   string   `yaml:"end"`
}

// Variable is a shell variable of bootkube.sh and where its value comes from.
type Variable struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
	Span  `yaml:",inline"`
	When  Condition `yaml:"when"`
	Why   string    `yaml:"why"`
}

// ImageVariable is a shell variable that holds the pull spec of an image.
type ImageVariable struct {
	Variable string `yaml:"variable"`
	Name     string `yaml:"name"` // in the payload
	Span     `yaml:",inline"`
	Why      string `yaml:"why"`
}

// UnknownRelease is the error about a release without stage data.
type UnknownRelease struct {
	Version string
	Known   []string // oldest first
	Nearest string   // of Known; empty when Version is no number, or like none
	// Patch: Nearest is the minor release that Version is a release of.
	Patch bool
}

const noStageData = "has no stage data"

// Error names the release and the known ones.
func (u *UnknownRelease) Error() string {
	return "release " + quote(u.Version) + " " + noStageData + "; known are " + strings.Join(u.Known, ", ")
}

// Hint names the nearest of the known releases; empty when none is near.
func (u *UnknownRelease) Hint() string {
	switch {
	case u.Patch:
		return "the nearest is " + u.Nearest + ": stage data goes by minor release"
	case u.Nearest != "":
		return "the nearest is " + u.Nearest
	}
	return ""
}

// Known returns the release of that id, or an [UnknownRelease].
func (c *Catalog) Known(id string) (*Release, error) {
	if r := c.Release(id); r != nil {
		return r, nil
	}
	return nil, c.unknown(id)
}

// Nearest is the known release that is nearest to a version: itself where it is
// known, empty where none is near.
func (c *Catalog) Nearest(version string) string {
	if c.Release(version) != nil {
		return version
	}
	return c.unknown(version).Nearest
}

func (c *Catalog) unknown(version string) *UnknownRelease {
	u := &UnknownRelease{Version: version, Known: c.ReleaseIDs()}
	if m := patchRelease.FindStringSubmatch(version); m != nil && slices.Contains(u.Known, m[1]) {
		u.Nearest, u.Patch = m[1], true
	} else {
		u.Nearest = nearestRelease(version, u.Known)
	}
	return u
}

var patchRelease = regexp.MustCompile(`^v?([0-9]+\.[0-9]+)([.-].*)?$`)

// nearestRelease is the known release with the least distance in its numbers,
// or else the one written most alike. main counts as the next major release.
func nearestRelease(version string, known []string) string {
	wanted, ok := releaseNumber(version)
	if !ok {
		return nearest(version, known)
	}
	best, bestDistance, newest := "", math.Inf(1), 0.0
	for _, id := range known {
		n, ok := releaseNumber(id)
		if !ok {
			n = (math.Floor(newest/majorRelease) + 1) * majorRelease
		}
		if newest = n; math.Abs(n-wanted) < bestDistance {
			best, bestDistance = id, math.Abs(n-wanted)
		}
	}
	return best
}

// majorRelease is how many minor releases a major one is worth.
const majorRelease = 1000

// releaseNumber puts a release on a line.
func releaseNumber(version string) (float64, bool) {
	m := patchRelease.FindStringSubmatch(version)
	if m == nil {
		return 0, false
	}
	major, minor, _ := strings.Cut(m[1], ".")
	x, errMajor := strconv.Atoi(major)
	y, errMinor := strconv.Atoi(minor)
	return float64(x)*majorRelease + float64(y), errMajor == nil && errMinor == nil
}
