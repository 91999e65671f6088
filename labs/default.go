package labs

import (
	"fmt"
	"regexp"
)

// Defaults of install-config.yaml, and where a lab departs from them.
// Source: openshift/installer pkg/types/defaults.
const (
	defaultNetworkType    = "OVNKubernetes"
	defaultClusterNetwork = "10.128.0.0/14"
	defaultHostPrefix     = 23 // bits: 510 pods a node
	defaultServiceNetwork = "172.30.0.0/16"
	// defaultMachineNetwork is not the installer's 10.0.0.0/16, which many
	// workstations use already. It keeps off libvirt's own 192.168.122.0/24.
	defaultMachineNetwork = "192.168.126.0/24"
	// defaultMasters is the installer's; etcd wants three for a quorum that
	// survives the loss of one.
	defaultMasters = 3
	// defaultWorkers is for topology ha. The installer's is three; two are
	// enough for ingress on two nodes, and cheaper on one host.
	defaultWorkers = 2
)

// Limits of a lab on one host.
const (
	maxMasters = 5
	maxWorkers = 30
)

// fillDefaults puts a value into every field that the file leaves out. A field
// that the file sets is never touched, so that a wrong value is reported and
// not hidden.
func (l *loading) fillDefaults() {
	lab := l.lab
	l.text("apiVersion", &lab.APIVersion, "v1")
	l.text("topology", &lab.Topology, "compact")
	l.defaultRelease()
	l.defaultPools()
	l.defaultNetworking()
	if lab.Platform.None == nil {
		lab.Platform.None = &struct{}{}
	}
	l.defaultMachines()
	l.text("additionalTrustBundlePolicy", &lab.AdditionalTrustBundlePolicy, TrustPolicies[0])
	if len(lab.Images) == 0 {
		lab.Images = nil
	}
	lab.ImageDigestSources = withoutEmpty(lab.ImageDigestSources)
	lab.ImageContentSources = withoutEmpty(lab.ImageContentSources)
}

func (l *loading) text(path string, field *string, value string) {
	if *field == "" && !l.doc.given(path) {
		*field = value
	}
}

func (l *loading) number(path string, field *int, value int) {
	if *field == 0 && !l.doc.given(path) {
		*field = value
	}
}

// defaultRelease fills in okd, which needs no account, the newest release that
// can be had, and the release image if the catalog knows one.
func (l *loading) defaultRelease() {
	r := &l.lab.Release
	l.text("release.distribution", &r.Distribution, "okd")
	l.text("release.version", &r.Version, l.catalog.newest(r.Distribution))
	l.text("release.image", &r.Image, l.catalog.pullSpec(r.Distribution, r.Version))
}

var minorRelease = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)

// newest is the newest release whose stage data is well established and whose
// pull spec is known for the distribution. Where no pull spec is known at all,
// as for ocp, the newest release with good stage data; main is no release.
func (c *Catalog) newest(distribution string) string {
	withoutSpec := ""
	for i := len(c.Releases) - 1; i >= 0; i-- {
		r := c.Releases[i]
		if r.Confidence != "high" || !minorRelease.MatchString(r.ID) {
			continue
		}
		if c.pullSpec(distribution, r.ID) != "" {
			return r.ID
		}
		if withoutSpec == "" {
			withoutSpec = r.ID
		}
	}
	return withoutSpec
}

// pullSpec is the release image that is known for a distribution and a
// release; empty if none is.
func (c *Catalog) pullSpec(distribution, version string) string {
	if r := c.Release(version); r != nil {
		for _, spec := range r.PullSpecs {
			if spec.Distribution == distribution {
				return spec.Image
			}
		}
	}
	return ""
}

// defaultPools fills in the machine pools. In topology bootstrap-only there
// are still three masters in the install-config: what the etcd operator
// renders depends on that number, and a lesson on one VM should render what a
// real cluster gets.
func (l *loading) defaultPools() {
	master := &l.lab.ControlPlane
	l.text("controlPlane.name", &master.Name, "master")
	if master.Replicas == nil {
		master.Replicas = count(defaultMasters)
	}
	if !l.doc.given("compute") {
		l.lab.Compute = []Pool{{}}
	}
	for i := range l.lab.Compute {
		pool := &l.lab.Compute[i]
		l.text(fmt.Sprintf("compute[%d].name", i), &pool.Name, "worker")
		if pool.Replicas == nil {
			pool.Replicas = count(0)
			if l.lab.Topology == "ha" {
				pool.Replicas = count(defaultWorkers)
			}
		}
	}
}

func count(n int) *int { return &n }

func (l *loading) defaultNetworking() {
	n := &l.lab.Networking
	l.text("networking.networkType", &n.NetworkType, defaultNetworkType)
	if !l.doc.given("networking.machineNetwork") {
		n.MachineNetwork = []MachineNetwork{{CIDR: defaultMachineNetwork}}
	}
	if !l.doc.given("networking.clusterNetwork") {
		n.ClusterNetwork = []ClusterNetwork{{CIDR: defaultClusterNetwork}}
	}
	for i := range n.ClusterNetwork {
		l.number(fmt.Sprintf("networking.clusterNetwork[%d].hostPrefix", i), &n.ClusterNetwork[i].HostPrefix, defaultHostPrefix)
	}
	if !l.doc.given("networking.serviceNetwork") {
		n.ServiceNetwork = []string{defaultServiceNetwork}
	}
}
