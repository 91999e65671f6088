package labs

import (
	"regexp"
	"strconv"
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

// fileValue is what a $NAME becomes, and the keys of lab.yaml it comes from.
type fileValue struct {
	keys []string
	of   func(p *Plan) string
}

// imageKeys decide which image a variable of bootkube.sh holds.
var imageKeys = []string{"release.image", "images"}

// fileValues are the names that a part may use beside the image variables of
// bootkube.sh. Loading a lab refuses values that would not stand as they are in
// YAML and JSON.
var fileValues = map[string]fileValue{
	"CLUSTER_NAME":           {[]string{"metadata.name"}, func(p *Plan) string { return p.Lab.Metadata.Name }},
	"CLUSTER_DOMAIN":         {[]string{"metadata.name", "baseDomain"}, func(p *Plan) string { return p.Lab.Domain() }},
	"CLUSTER_NETWORK":        {[]string{"networking.clusterNetwork[].cidr"}, func(p *Plan) string { return p.Lab.Networking.ClusterNetwork[0].CIDR }},
	"SERVICE_NETWORK":        {[]string{"networking.serviceNetwork"}, func(p *Plan) string { return p.Lab.Networking.ServiceNetwork[0] }},
	"BOOTSTRAP_ADDRESS":      {[]string{"machines.bootstrap.address", "networking.machineNetwork"}, func(p *Plan) string { return p.Lab.Machines.Bootstrap.Address }},
	"CONTROL_PLANE_REPLICAS": {[]string{"controlPlane.replicas"}, func(p *Plan) string { return strconv.Itoa(*p.Lab.ControlPlane.Replicas) }},
	"ETCD_MEMBERS":           {[]string{"controlPlane.replicas"}, func(p *Plan) string { return strconv.Itoa(p.Lab.EtcdMembers()) }},
	"CONTROL_PLANE_TOPOLOGY": {[]string{"controlPlane.replicas"}, func(p *Plan) string { return p.Lab.ControlPlaneTopology() }},
	"INFRASTRUCTURE_TOPOLOGY": {[]string{"compute[].replicas", "controlPlane.replicas"},
		func(p *Plan) string { return p.Lab.InfrastructureTopology() }},
	"TERMINATION_SECONDS":  {[]string{"controlPlane.replicas"}, func(p *Plan) string { return p.Lab.terminationSeconds() }},
	"RELEASE":              {[]string{"release.version"}, func(p *Plan) string { return p.Release.ID }},
	"VERSION":              {[]string{"release.image"}, func(p *Plan) string { return "<version of the release image>" }},
	"RELEASE_IMAGE_DIGEST": {[]string{"release.image"}, (*Plan).releaseByDigest},
}

// fill puts the values in the places of their names.
func (p *Plan) fill(text string) string {
	return valueName.ReplaceAllStringFunc(text, func(name string) string { return p.fileValue(name[1:]) })
}

// fileValue is the value of a name; what only the release image knows is told
// in words.
func (p *Plan) fileValue(name string) string {
	if v, ok := fileValues[name]; ok {
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
