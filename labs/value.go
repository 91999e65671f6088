package labs

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// value is a fact of a lab or its release, which scripts, explained files and
// evidence have under these names. It is the one place that says where a name's
// value comes from.
type value struct {
	// script is the variable of scripts and of the declarations of checks; a script
	// gets those that it uses, in this order.
	script string
	// file is the $NAME in explained files and in the texts of pictures. Loading a
	// lab refuses values that would not stand as they are in YAML and JSON.
	file string
	// evidence is the field of $lab in jq programs, and in capitals the variable of
	// evidence lines. Nothing in it is secret, and it needs no plan.
	evidence string
	// keys are the keys of lab.yaml that decide it, which the page of a file names.
	keys []string
	of   func(p *Plan) string
}

// values are all of them. What only one stage or one variable of bootkube.sh
// gives is in the data.
var values = []value{
	{"CLUSTER_NAME", "CLUSTER_NAME", "name", []string{"metadata.name"}, ofLab(func(l *Lab) string { return l.Metadata.Name })},
	{"BASE_DOMAIN", "", "", nil, ofLab(func(l *Lab) string { return l.BaseDomain })},
	{"CLUSTER_DOMAIN", "CLUSTER_DOMAIN", "domain", []string{"metadata.name", "baseDomain"}, ofLab((*Lab).Domain)},
	{"", "", "api", nil, ofLab(func(l *Lab) string { return "api." + l.Domain() })},
	{"", "", "api_int", nil, ofLab(func(l *Lab) string { return "api-int." + l.Domain() })},
	{"RELEASE", "", "version", nil, (*Plan).Version},
	// The lines of an explained file are those of the release whose data is used,
	// which for an audited script is the nearest one.
	{"", "RELEASE", "", []string{"release.version"}, func(p *Plan) string { return p.Release.ID }},
	{"", "VERSION", "", []string{"release.image"}, func(p *Plan) string { return "<version of the release image>" }},
	{"DISTRIBUTION", "", "distribution", nil, ofLab(func(l *Lab) string { return l.Release.Distribution })},
	{"RELEASE_IMAGE", "", "image", nil, ofLab(func(l *Lab) string { return l.Release.Image })},
	{"", "RELEASE_IMAGE_DIGEST", "", []string{"release.image"}, (*Plan).releaseByDigest},
	{"NETWORK_TYPE", "", "", nil, ofLab(func(l *Lab) string { return l.Networking.NetworkType })},
	{"MACHINE_NETWORK", "", "machine_network", nil, ofLab(machineNetwork)},
	{"CLUSTER_NETWORK", "CLUSTER_NETWORK", "", []string{"networking.clusterNetwork[].cidr"}, ofLab(func(l *Lab) string { return l.Networking.ClusterNetwork[0].CIDR })},
	{"CLUSTER_NETWORKS", "", "", nil, ofLab(clusterNetworks)},
	{"SERVICE_NETWORK", "SERVICE_NETWORK", "", []string{"networking.serviceNetwork"}, ofLab(func(l *Lab) string { return l.Networking.ServiceNetwork[0] })},
	{"KUBERNETES_SERVICE_ADDRESS", "", "", nil, ofLab(func(l *Lab) string { return firstAddress(l.Networking.ServiceNetwork[0]) })},
	{"CONTROL_PLANE_REPLICAS", "CONTROL_PLANE_REPLICAS", "", []string{"controlPlane.replicas"}, ofLab(func(l *Lab) string { return strconv.Itoa(*l.ControlPlane.Replicas) })},
	{"", "ETCD_MEMBERS", "", []string{"controlPlane.replicas"}, ofLab(func(l *Lab) string { return strconv.Itoa(l.EtcdMembers()) })},
	{"COMPUTE_REPLICAS", "", "", nil, ofLab(func(l *Lab) string { return strconv.Itoa(*l.Compute[0].Replicas) })},
	{"TOPOLOGY", "", "topology", nil, ofLab(func(l *Lab) string { return l.Topology })},
	{"CONTROL_PLANE_TOPOLOGY", "CONTROL_PLANE_TOPOLOGY", "", []string{"controlPlane.replicas"}, ofLab((*Lab).ControlPlaneTopology)},
	{"INFRASTRUCTURE_TOPOLOGY", "INFRASTRUCTURE_TOPOLOGY", "", []string{"compute[].replicas", "controlPlane.replicas"}, ofLab((*Lab).InfrastructureTopology)},
	{"", "TERMINATION_SECONDS", "", []string{"controlPlane.replicas"}, ofLab((*Lab).terminationSeconds)},
	{"INGRESS_PLACEMENT", "", "", nil, ofLab(ingressPlacement)},
	{"MASTERS_SCHEDULABLE", "", "", nil, ofLab(func(l *Lab) string { return strconv.FormatBool(*l.Compute[0].Replicas == 0) })},
	{"GATEWAY", "", "gateway", nil, ofLab(func(l *Lab) string { return l.Machines.Gateway })},
	{"BOOTSTRAP", "", "", nil, ofLab(func(l *Lab) string { return machineLines(l.Machines.Bootstrap) })},
	{"", "", "bootstrap_name", nil, ofLab(func(l *Lab) string { return l.Machines.Bootstrap.Name })},
	{"", "BOOTSTRAP_ADDRESS", "bootstrap_address", []string{"machines.bootstrap.address", "networking.machineNetwork"}, ofLab(func(l *Lab) string { return l.Machines.Bootstrap.Address })},
	{"MASTERS", "", "", nil, ofLab(func(l *Lab) string { return machineLines(l.Machines.Masters...) })},
	{"", "", "master", nil, ofLab(firstMaster)},
	{"", "", "masters", nil, ofLab(func(l *Lab) string { return spaced(l.Machines.Masters, machineName) })},
	{"", "", "master_addresses", nil, ofLab(func(l *Lab) string { return spaced(l.Machines.Masters, machineAddress) })},
	{"WORKERS", "", "", nil, ofLab(func(l *Lab) string { return machineLines(l.Machines.Workers...) })},
	{"", "", "workers", nil, ofLab(func(l *Lab) string { return spaced(l.Machines.Workers, machineName) })},
	{"SSH_KEY", "", "", nil, ofLab(func(l *Lab) string { return l.SSHKey })},
	{"LIBVIRT_URI", "", "", nil, constant(LibvirtURI)},
	{"OWNER_NAMESPACE", "", "", nil, constant(OwnerNamespace)},
	{"BOOTSTRAP_DOMAIN", "", "", nil, ofLab(func(l *Lab) string { return l.DomainName(l.Machines.Bootstrap.Name) })},
	{"LAB_POOL", "", "", nil, ofLab((*Lab).PoolName)},
	{"BOOTSTRAP_DISK", "", "", nil, ofLab(func(l *Lab) string { return l.DiskVolume(l.Machines.Bootstrap.Name) })},
	{"BOOTSTRAP_IGNITION", "", "", nil, ofLab(func(l *Lab) string { return l.IgnitionVolume(l.Machines.Bootstrap.Name) })},
	{"BALANCER_SOCKET", "", "", nil, constant(strings.Replace(BalancerSocket, "work/", "../", 1))},
	{"SMOKE_NAMESPACE", "", "", nil, ofLab((*Lab).HostName)},
	{"SMOKE_HOST", "", "", nil, ofLab(func(l *Lab) string { return HostPrefix + "smoke-test.apps." + l.Domain() })},
	{"SMOKE_GREETING", "", "", nil, ofLab(func(l *Lab) string { return "This is " + l.Domain() + "." })},
	{"BOOTSTRAP_BACKENDS", "", "", nil, constant(bootstrapBackends())},
	{"IMAGE_OVERRIDES", "", "", nil, ofLab(imageOverrides)},
}

func ofLab(of func(*Lab) string) func(*Plan) string { return func(p *Plan) string { return of(p.Lab) } }

func constant(text string) func(*Plan) string { return func(*Plan) string { return text } }

// ScriptValue is a variable of scripts and of the declarations of checks.
type ScriptValue struct{ Name, Value string }

// ScriptValues are those that are the same wherever a script runs.
func (p *Plan) ScriptValues() []ScriptValue {
	var out []ScriptValue
	for _, v := range values {
		if v.script != "" {
			out = append(out, ScriptValue{v.script, v.of(p)})
		}
	}
	return out
}

// Settings are the names, addresses and paths of a lab under the names that the
// evidence lines see as shell variables (in capitals) and jq programs as fields
// of $lab. Nothing in them is secret.
func (l *Lab) Settings() map[string]string {
	p, out := &Plan{Lab: l}, map[string]string{}
	for _, v := range values {
		if v.evidence != "" {
			out[v.evidence] = v.of(p)
		}
	}
	return out
}

// fileValue is the value that explained files have under a name.
func fileValue(name string) (value, bool) {
	i := slices.IndexFunc(values, func(v value) bool { return name != "" && v.file == name })
	if i < 0 {
		return value{}, false
	}
	return values[i], true
}

// machineNetwork is empty in a lab that a bundle tells of in part.
func machineNetwork(l *Lab) string {
	if len(l.Networking.MachineNetwork) == 0 {
		return ""
	}
	return l.Networking.MachineNetwork[0].CIDR
}

func machineName(m Machine) string { return m.Name }

func machineAddress(m Machine) string { return m.Address }

// spaced joins one word of each machine.
func spaced(machines []Machine, word func(Machine) string) string {
	var words []string
	for _, m := range machines {
		words = append(words, word(m))
	}
	return strings.Join(words, " ")
}

// bootstrapBackends are the load balancer's backends with the bootstrap node.
func bootstrapBackends() string {
	var names []string
	for _, service := range BootstrapServices() {
		names = append(names, service.Name)
	}
	return strings.Join(names, " ")
}

// imageOverrides writes the lab's images as lines of name and pull spec.
func imageOverrides(lab *Lab) string {
	var lines []string
	for name, spec := range lab.Images {
		lines = append(lines, name+" "+spec)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// ingressPlacement is where the installer places the routers.
func ingressPlacement(lab *Lab) string {
	if *lab.ControlPlane.Replicas > 1 {
		return "Workers"
	}
	return "ControlPlane"
}

// machineLines writes machines as lines of name and address.
func machineLines(machines ...Machine) string {
	var lines []string
	for _, m := range machines {
		lines = append(lines, m.Name+" "+m.Address)
	}
	return strings.Join(lines, "\n")
}

// clusterNetworks writes the pods' networks as lines of network and host prefix.
func clusterNetworks(lab *Lab) string {
	var lines []string
	for _, n := range lab.Networking.ClusterNetwork {
		lines = append(lines, n.CIDR+" "+strconv.Itoa(n.HostPrefix))
	}
	return strings.Join(lines, "\n")
}

// firstAddress is the first host address of a network: Kubernetes gives the
// API's own service that of the service network.
func firstAddress(cidr string) string {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return ""
	}
	return prefix.Masked().Addr().Next().String()
}

// firstMaster is the name of the machine that stands for all masters in an example.
func firstMaster(l *Lab) string {
	if len(l.Machines.Masters) == 0 {
		return "master-0"
	}
	return l.Machines.Masters[0].Name
}

// settingName is a name of [Lab.Settings] in a text that a person reads.
var settingName = regexp.MustCompile(`\$\{([A-Z][A-Z_]*)\}`)

// inSettings puts the lab's values in the places of their names, as ${API_INT}.
func inSettings(text string, settings map[string]string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	return settingName.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := settings[strings.ToLower(name[2:len(name)-1])]; ok {
			return value
		}
		return name
	})
}
