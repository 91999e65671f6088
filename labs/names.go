package labs

// What the host of a lab's machines knows them by. The provisioner makes things
// under these names, and scripts that run on the workstation look for them.

// LibvirtURI is the libvirt connection that machines are made on.
const LibvirtURI = "qemu:///system"

// OwnerNamespace and OwnerElement are the XML element in the metadata of every
// libvirt object of a lab; its attribute name is the lab's. What has no such
// element is somebody else's.
const (
	OwnerNamespace = "urn:bootlab:lab:1"
	OwnerElement   = "lab"
)

// BalancerSocket is where the lab's HAProxy takes orders, below the output
// directory.
const BalancerSocket = "work/vms/haproxy.sock"

// Balancer names the four services of the lab's load balancer, which are the
// names of HAProxy's backends; a server in one has the name of its machine.
var Balancer = []BalancerService{
	{Name: "api", Port: 6443},
	{Name: "machine-config-server", Port: 22623},
	{Name: "ingress-http", Port: 80},
	{Name: "ingress-https", Port: 443},
}

// BalancerService is one port of the load balancer.
// Source: docs.redhat.com, user-provisioned infrastructure, load balancing
// requirements.
type BalancerService struct {
	Name string
	Port int
}

// AssetDir is where bootkube.sh works on a bootstrap node.
//
// Source: openshift/installer bootkube.sh.template, WorkingDirectory of
// bootkube.service.
const AssetDir = "/opt/openshift"

// HostPrefix begins the name of everything that bootlab makes on a host or in a
// cluster.
const HostPrefix = "bootlab-"

// HostName is what everything of the lab begins with, or is called, that a host or
// a cluster could have of several labs.
func (l *Lab) HostName() string { return HostPrefix + l.Metadata.Name }

// DomainName is the name of a machine's libvirt domain: machines of several
// labs stand side by side on one host.
func (l *Lab) DomainName(machine string) string {
	return l.HostName() + "-" + machine
}

// PoolName is the name of the libvirt pool with the lab's own disks and Ignition
// files.
func (l *Lab) PoolName() string { return l.HostName() }

// DiskVolume is the name of a machine's disk in that pool.
func (l *Lab) DiskVolume(machine string) string { return l.DomainName(machine) + ".qcow2" }

// IgnitionVolume is the name of a machine's Ignition file in that pool.
func (l *Lab) IgnitionVolume(machine string) string { return l.DomainName(machine) + ".ign" }

// BootstrapServices are those of the balancer's services that the bootstrap
// node serves in beside the masters, until it goes.
func BootstrapServices() []BalancerService { return Balancer[:2] }
