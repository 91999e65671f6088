package facts

import "strings"

// option is an option of podman.
type option struct {
	Option string `yaml:"option"`
	When   string `yaml:"when"`
	Since  string `yaml:"since"`
	Until  string `yaml:"until"`
}

// copied is a copy of files.
type copied struct {
	From  string `yaml:"from"`
	To    string `yaml:"to"`
	Since string `yaml:"since"`
	Until string `yaml:"until"`
}

// Stage is what bootkube.sh of one release does in one of its stages.
type Stage struct {
	Name string
	// Image is the payload's name for the image, or "release"; empty where no
	// container runs.
	Image string
	Call  Call
	// Podman are the options before the image, but for the volume.
	Podman []string
	// Volume is what is mounted; empty is the asset directory, at /assets.
	Volume string
	Copies []Copy
}

// Copy is a copy of files: a pattern, and where they go.
type Copy struct{ From, To string }

// Chain lists the stages of a release up to the last render, as they are
// outside a bootstrap-in-place installation, and without those that only look.
func (f *Facts) Chain(release string) []Stage {
	var all []Stage
	last := 0
	for _, s := range f.Stages {
		if !f.holds(release, s.Since, s.Until) || s.Only != "" || s.Kind == "check" {
			continue
		}
		all = append(all, f.stage(release, s))
		if strings.HasSuffix(s.PodmanName, "-render") {
			last = len(all)
		}
	}
	return all[:last]
}

func (f *Facts) stage(release string, s stage) Stage {
	out := Stage{Name: s.Name, Image: payloadName(s.Image), Call: f.call(release, s), Volume: s.Volume}
	for _, c := range s.Copies {
		if f.holds(release, c.Since, c.Until) {
			out.Copies = append(out.Copies, Copy{c.From, c.To})
		}
	}
	if out.Image == "" {
		return out
	}
	options := append(append([]option{}, f.Global.PodmanBase...), option{Option: "--name " + s.PodmanName})
	for _, o := range append(options, s.Extra...) {
		if o.When == "" && f.holds(release, o.Since, o.Until) {
			out.Podman = append(out.Podman, o.Option)
		}
	}
	return out
}

// StageOf is one stage of a release, empty where the release has none of that
// name.
func (f *Facts) StageOf(release, name string) Stage {
	for _, s := range f.Stages {
		if s.Name == name && f.holds(release, s.Since, s.Until) {
			return f.stage(release, s)
		}
	}
	return Stage{}
}
