package labs

import (
	"regexp"
	"strings"
)

// valueName is a $NAME in the text of a file. ${NAME} and $(NAME) are the
// file's own: a shell's and Kubernetes'.
var valueName = regexp.MustCompile(`\$[A-Z][A-Z0-9_]*`)

// valueNames are the names in a text, without the dollar sign.
func valueNames(text string) []string {
	names := valueName.FindAllString(text, -1)
	for i, name := range names {
		names[i] = name[1:]
	}
	return names
}

// imageKeys decide which image a variable of bootkube.sh holds.
var imageKeys = []string{"release.image", "images"}

// fill puts the values in the places of their names.
func (p *Plan) fill(text string) string {
	return valueName.ReplaceAllStringFunc(text, func(name string) string { return p.textValue(name[1:]) })
}

// textValue is the value of a name in a text: of the table of values or of an
// image variable of bootkube.sh. What only the release image knows is said in words.
func (p *Plan) textValue(name string) string {
	if v, ok := fileValue(name); ok {
		return v.of(p)
	}
	image := p.imageOf(name)
	if spec := p.Lab.Images[image]; spec != "" {
		return spec
	}
	return "<image " + image + " of the release>"
}

// imageOf is the payload name behind an image variable; empty if there is none.
func (p *Plan) imageOf(variable string) string {
	for _, v := range p.Bootkube.Images {
		if v.Variable == variable {
			return v.Name
		}
	}
	return ""
}

// releaseByDigest is the release image as bootkube.sh finds it with podman.
func (p *Plan) releaseByDigest() string {
	if strings.Contains(p.Lab.Release.Image, "@sha256:") {
		return p.Lab.Release.Image
	}
	return "<release image by digest>"
}

// The topologies are what the installer concludes from the numbers of machines:
// openshift/installer pkg/asset/manifests/topologies.go.

const (
	highlyAvailable = "HighlyAvailable"
	singleReplica   = "SingleReplica"
)

// ControlPlaneTopology is what the installer writes for the control plane.
func (l *Lab) ControlPlaneTopology() string {
	if *l.ControlPlane.Replicas > 1 {
		return highlyAvailable
	}
	return singleReplica
}

// InfrastructureTopology is the same for workers; without any, the masters count.
func (l *Lab) InfrastructureTopology() string {
	switch *l.Compute[0].Replicas {
	case 0:
		return l.ControlPlaneTopology()
	case 1:
		return singleReplica
	}
	return highlyAvailable
}

// terminationSeconds is how long the bootstrap's API server may take to end:
// cluster-kube-apiserver-operator pkg/cmd/render.
func (l *Lab) terminationSeconds() string {
	if l.ControlPlaneTopology() == singleReplica {
		return "15"
	}
	return "135"
}
