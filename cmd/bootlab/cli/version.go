package cli

import (
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// release is the version of a release, without its v: make release sets it from
// the tag.
var release string

// Build is what is known of this program. New keys may be added.
type Build struct {
	// Version is semantic (semver.org): that of the tag, or what Go derives from the
	// last tag and the commit. Without both it is 0.0.0-development.
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Libvirt: it can run the machines of a lab.
	Libvirt bool `json:"libvirt"`
}

// development is the version of a build of which nothing is known.
const development = "0.0.0-development"

// semantic is a version as semver.org defines it.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// ThisBuild reads what the Go toolchain wrote into the program.
func ThisBuild() Build {
	b := Build{Version: development, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.read(info)
	}
	if release != "" {
		b.Version = release
	}
	return b
}

func (b *Build) read(info *debug.BuildInfo) {
	if v := strings.TrimPrefix(info.Main.Version, "v"); semantic.MatchString(v) {
		b.Version = v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.Commit, b.Modified = settings["vcs.revision"], settings["vcs.modified"] == "true"
	b.Libvirt = settings["CGO_ENABLED"] == "1" && slices.Contains(strings.Split(settings["-tags"], ","), "libvirt_dlopen")
}

// Version is this build in one line.
func Version() string { return ThisBuild().String() }

// String is the build in one line.
func (b Build) String() string {
	text := "bootlab " + b.Version
	if b.Commit != "" {
		text += " " + b.Commit[:min(12, len(b.Commit))]
	}
	if b.Modified {
		text += " (modified)"
	}
	text += ", " + b.Go + ", " + b.Platform
	if !b.Libvirt {
		text += ", without libvirt"
	}
	return text
}
