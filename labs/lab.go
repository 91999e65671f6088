package labs

import (
	"reflect"
	"strings"
)

// Lab is one lab.yaml. Keys that install-config.yaml has too carry its names
// and mean the same; the others (release, topology, machines, images) are ours.
// After [LoadLab] every default is filled in.
type Lab struct {
	APIVersion   string     `yaml:"apiVersion"` // v1
	Metadata     Metadata   `yaml:"metadata"`
	BaseDomain   string     `yaml:"baseDomain"`
	Release      ReleaseRef `yaml:"release"`
	Topology     string     `yaml:"topology"` // one of Topologies
	ControlPlane Pool       `yaml:"controlPlane"`
	Compute      []Pool     `yaml:"compute"`
	Networking   Networking `yaml:"networking"`
	Platform     Platform   `yaml:"platform"`
	Machines     Machines   `yaml:"machines"`
	// PullSecret is the path of a file, relative to lab.yaml; its content is
	// never read into a Lab.
	PullSecret string `yaml:"pullSecret"`
	// SSHKey is one authorized_keys line. lab.yaml may name a file ending in
	// .pub instead; loading puts its content here.
	SSHKey string `yaml:"sshKey"`
	Proxy  Proxy  `yaml:"proxy,omitempty"`
	// ImageDigestSources and ImageContentSources exclude each other; see
	// [Lab.ImageSources].
	ImageDigestSources  []ImageSource `yaml:"imageDigestSources"`
	ImageContentSources []ImageSource `yaml:"imageContentSources"`
	// AdditionalTrustBundle is the path of a file, as PullSecret is.
	AdditionalTrustBundle       string `yaml:"additionalTrustBundle"`
	AdditionalTrustBundlePolicy string `yaml:"additionalTrustBundlePolicy"` // one of TrustPolicies
	// Images maps payload names to pull specs that replace the release's own.
	Images map[string]string `yaml:"images"`

	// Dir is the directory of lab.yaml, as it was given.
	Dir string `yaml:"-"`
}

// Topologies are the shapes of a lab: bootstrap-only has one VM and ends where
// masters would be needed, compact adds three schedulable masters, ha adds
// workers to them.
var Topologies = []string{"bootstrap-only", "compact", "ha"}

// Metadata names the cluster.
type Metadata struct {
	Name string `yaml:"name"`
	// UID tells this lab from others of the same name; see [UID]. A lab without
	// one is known by its name and directory.
	UID string `yaml:"uid"`
}

// ReleaseRef says which release is to be installed.
type ReleaseRef struct {
	Distribution string `yaml:"distribution"` // okd or ocp
	Version      string `yaml:"version"`      // a release of the catalog, as 4.21
	Image        string `yaml:"image"`        // pull spec of the release image
}

// StandIns is the first part of the repositories that bootlab demo serves.
const StandIns = "bootlab-stand-in"

// StandIn says whether the release image is one of bootlab demo: a stand-in, as
// all images that it names.
func (r ReleaseRef) StandIn() bool {
	_, repository, _ := strings.Cut(r.Image, "/")
	return strings.HasPrefix(repository, StandIns+"/")
}

// Pool is a machine pool of install-config.yaml.
type Pool struct {
	Name     string `yaml:"name"`
	Replicas *int   `yaml:"replicas"`
}

// Networking is install-config's networking section.
type Networking struct {
	NetworkType    string           `yaml:"networkType"`
	MachineNetwork []MachineNetwork `yaml:"machineNetwork"`
	ClusterNetwork []ClusterNetwork `yaml:"clusterNetwork"`
	ServiceNetwork []string         `yaml:"serviceNetwork"`
}

// MachineNetwork is a network the nodes have their addresses in.
type MachineNetwork struct {
	CIDR string `yaml:"cidr"`
}

// ClusterNetwork is a network pods get their addresses from.
type ClusterNetwork struct {
	CIDR       string `yaml:"cidr"`
	HostPrefix int    `yaml:"hostPrefix"`
}

// Platform is install-config's; a lab has platform none.
type Platform struct {
	None *struct{} `yaml:"none"`
}

// Machines are the virtual machines and the network they share.
type Machines struct {
	// Gateway is the host's address on the lab's network: router, DNS server
	// and load balancer of the lab.
	Gateway   string    `yaml:"gateway"`
	Bootstrap Machine   `yaml:"bootstrap"`
	Masters   []Machine `yaml:"masters"`
	Workers   []Machine `yaml:"workers"`
}

// Machine is one virtual machine.
type Machine struct {
	Name    string `yaml:"name"` // host name, without domain
	Address string `yaml:"address"`
	MAC     string `yaml:"mac"`
	CPUs    int    `yaml:"cpus"`
	Memory  int    `yaml:"memory"` // MiB
	Disk    int    `yaml:"disk"`   // GiB
}

// Has says whether the lab has a value under a key of lab.yaml, as proxy or
// proxy.httpProxy.
func (l *Lab) Has(key string) bool {
	v := valueAt(reflect.ValueOf(l).Elem(), key)
	return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
}

// valueAt finds the field under a key; it is not valid when there is none.
func valueAt(v reflect.Value, key string) reflect.Value {
	for _, name := range strings.Split(key, ".") {
		at := -1
		for i := 0; v.Kind() == reflect.Struct && i < v.NumField() && at < 0; i++ {
			if yamlName(v.Type().Field(i)) == name {
				at = i
			}
		}
		if at < 0 {
			return reflect.Value{}
		}
		v = v.Field(at)
	}
	return v
}

// Domain is the cluster's own domain, metadata.name in baseDomain.
func (l *Lab) Domain() string { return l.Metadata.Name + "." + l.BaseDomain }
