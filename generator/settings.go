package generator

import (
	"maps"
	"net/netip"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"bootlab/labs"
)

// setting is one line of a script's settings block.
type setting struct {
	Name   string
	Quoted string // right-hand side, ready for the shell
}

// settings gives every value that a script may use, in the order they are
// printed; a script gets those that its text mentions.
func settings(p *labs.Plan, place labs.Place, labDir string) ([]setting, error) {
	list := stageSettings(p.Lab, place, labDir)
	for _, v := range labValues(p) {
		quoted, err := shsetting(v.name, v.value)
		if err != nil {
			return nil, err
		}
		list = append(list, setting{v.name, quoted})
	}
	registries, err := registrySettings(p.Lab, place, labDir)
	return append(list, registries...), err
}

// labValue is a setting that is the same in every place, before it is quoted.
type labValue struct{ name, value string }

func labValues(p *labs.Plan) []labValue {
	lab := p.Lab
	values := []labValue{
		{"CLUSTER_NAME", lab.Metadata.Name},
		{"BASE_DOMAIN", lab.BaseDomain},
		{"CLUSTER_DOMAIN", lab.Domain()},
		{"RELEASE", p.Version()},
		{"DISTRIBUTION", lab.Release.Distribution},
		{"RELEASE_IMAGE", lab.Release.Image},
		{"NETWORK_TYPE", lab.Networking.NetworkType},
		{"MACHINE_NETWORK", lab.Networking.MachineNetwork[0].CIDR},
		{"CLUSTER_NETWORK", lab.Networking.ClusterNetwork[0].CIDR},
		{"CLUSTER_NETWORKS", clusterNetworks(lab.Networking.ClusterNetwork)},
		{"SERVICE_NETWORK", lab.Networking.ServiceNetwork[0]},
		{"KUBERNETES_SERVICE_ADDRESS", firstAddress(lab.Networking.ServiceNetwork[0])},
		{"CONTROL_PLANE_REPLICAS", strconv.Itoa(*lab.ControlPlane.Replicas)},
		{"COMPUTE_REPLICAS", strconv.Itoa(*lab.Compute[0].Replicas)},
		{"TOPOLOGY", lab.Topology},
		{"CONTROL_PLANE_TOPOLOGY", lab.ControlPlaneTopology()},
		{"INFRASTRUCTURE_TOPOLOGY", lab.InfrastructureTopology()},
		{"INGRESS_PLACEMENT", ingressPlacement(lab)},
		{"MASTERS_SCHEDULABLE", strconv.FormatBool(*lab.Compute[0].Replicas == 0)},
		{"GATEWAY", lab.Machines.Gateway},
		{"BOOTSTRAP", machineLines(lab.Machines.Bootstrap)},
		{"MASTERS", machineLines(lab.Machines.Masters...)},
		{"WORKERS", machineLines(lab.Machines.Workers...)},
		{"SSH_KEY", lab.SSHKey},
		{"LIBVIRT_URI", labs.LibvirtURI},
		{"OWNER_NAMESPACE", labs.OwnerNamespace},
		{"BOOTSTRAP_DOMAIN", lab.DomainName(lab.Machines.Bootstrap.Name)},
		{"LAB_POOL", lab.PoolName()},
		{"BOOTSTRAP_DISK", lab.DiskVolume(lab.Machines.Bootstrap.Name)},
		{"BOOTSTRAP_IGNITION", lab.IgnitionVolume(lab.Machines.Bootstrap.Name)},
		{"BALANCER_SOCKET", strings.Replace(labs.BalancerSocket, "work/", "../", 1)},
		{"SMOKE_NAMESPACE", lab.HostName()},
		{"SMOKE_HOST", "bootlab-smoke-test.apps." + lab.Domain()},
		{"SMOKE_GREETING", "This is " + lab.Domain() + "."},
		{"BOOTSTRAP_BACKENDS", bootstrapBackends()},
		{"IMAGE_OVERRIDES", imageOverrides(lab.Images)},
		{"BOOTKUBE_IMAGES", imageNames(p.Bootkube.Images)},
	}
	values = append(values, stageValues(p)...)
	for _, v := range p.Bootkube.Variables {
		if plainWord.MatchString(v.Value) {
			values = append(values, labValue{v.Name, v.Value})
		}
	}
	return values
}

// stageValues are facts of the release that a script and its checks share: the
// flags that name a setting.
func stageValues(p *labs.Plan) []labValue {
	var values []labValue
	add := func(flags []labs.Flag) {
		for _, f := range flags {
			if f.Setting != "" {
				values = append(values, labValue{f.Setting, f.SettingValue()})
			}
		}
	}
	for _, s := range p.Stages {
		if s.Command != nil {
			add(s.Command.Flags)
		}
		if s.Run != nil {
			add(s.Run.Flags)
		}
	}
	return values
}

// scriptFile is the shell word for the file that runs, also where a link was called.
const scriptFile = `"$(readlink -f -- "${BASH_SOURCE[0]}")"`

// stageSettings are the values in which the places differ, for scripts that are
// read from top to bottom. The dry run starts with the asset directory, so the
// root of the host follows from it.
func stageSettings(lab *labs.Lab, place labs.Place, labDir string) []setting {
	list := []setting{
		{"SCRIPTS", scriptFile + ` SCRIPTS="${SCRIPTS%/*}"`},
		{"ASSET_DIR", labs.AssetDir},
		{"HOST_ROOT", "''"},
	}
	if place == labs.OnNode {
		return list
	}
	list[1].Quoted = `"${SCRIPTS%/*}/work/assets"`
	list[2].Quoted = `"${ASSET_DIR%/*}/host"`
	return append(list,
		setting{"OUT_DIR", `"${SCRIPTS%/*}"`},
		setting{"PULL_SECRET_FILE", fileOfLab(lab.PullSecret, labDir)},
		setting{"IGNITION_FILE", fileOfLab("bootstrap.ign", labDir)},
		setting{"OVERLAY_FILE", `"${OUT_DIR}/` + overlayFile + `"`})
}

// fileOfLab is the shell word for the path of a file such as the pull secret:
// it is relative to lab.yaml, to the user's home or to the root. Nothing is read.
func fileOfLab(path, labDir string) string {
	prefix := ""
	switch {
	case path == "" || strings.HasPrefix(path, "/"):
	case strings.HasPrefix(path, "~/"):
		prefix, path = `"${HOME:-}"/`, strings.TrimPrefix(path, "~/")
	default:
		prefix, path = `"${OUT_DIR}"/`, labDir+"/"+path
	}
	return prefix + oneLine(path) // loading refuses NUL bytes
}

var mention = regexp.MustCompile(`(?:\$\{?[#!]?|\bexport )([A-Z][A-Z0-9_]*)`)

// mentions are the names of the variables that a piece of shell refers to.
func mentions(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// mentioned keeps the settings that a script's text refers to, those that
// others are made of, and those that are wanted in any case.
func mentioned(all []setting, wanted map[string]bool, text string) []setting {
	used := mentions(text)
	keep := make([]bool, len(all))
	for i := len(all) - 1; i >= 0; i-- { // a value refers to settings above it
		if keep[i] = wanted[all[i].Name] || used[all[i].Name]; keep[i] {
			maps.Copy(used, mentions(all[i].Quoted))
		}
	}
	var out []setting
	for i, s := range all {
		if keep[i] {
			out = append(out, s)
		}
	}
	return out
}

// bootstrapBackends are the load balancer's backends with the bootstrap node.
func bootstrapBackends() string {
	var names []string
	for _, service := range labs.BootstrapServices() {
		names = append(names, service.Name)
	}
	return strings.Join(names, " ")
}

// imageOverrides writes the lab's images as lines of name and pull spec.
func imageOverrides(images map[string]string) string {
	var lines []string
	for name, spec := range images {
		lines = append(lines, name+" "+spec)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// ingressPlacement is where the installer places the routers.
func ingressPlacement(lab *labs.Lab) string {
	if *lab.ControlPlane.Replicas > 1 {
		return "Workers"
	}
	return "ControlPlane"
}

// machineLines writes machines as lines of name and address.
func machineLines(machines ...labs.Machine) string {
	var lines []string
	for _, m := range machines {
		lines = append(lines, m.Name+" "+m.Address)
	}
	return strings.Join(lines, "\n")
}

// clusterNetworks writes the pods' networks as lines of network and host prefix.
func clusterNetworks(networks []labs.ClusterNetwork) string {
	var lines []string
	for _, n := range networks {
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

// imageNames lists the payload names that bootkube.sh of the release asks for,
// on several lines.
func imageNames(images []labs.ImageVariable) string {
	var names []string
	for _, v := range images {
		names = append(names, v.Name)
	}
	return strings.Join(fill(strings.Join(names, " "), textWidth), "\n  ")
}
