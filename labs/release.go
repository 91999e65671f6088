package labs

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
