package main

import (
	"net"
	"os"
	"slices"
	"strings"

	"bootlab/standin/role"
)

// machineConfigOperator is the machine-config-operator.
var machineConfigOperator = program{
	commands: map[string]command{
		"bootstrap": {
			required: []string{"dest-dir"},
			missing:  missingOfCobra,
			free:     []string{"release-image"},
			do:       renderMachineConfig,
		},
	},
	faults: keys(machineConfigFaults),
}

// machineConfig is what the files of the stage are made of.
type machineConfig struct {
	version, release        string
	images                  map[string]string // by payload name
	os                      string            // payload name of the node's image
	infrastructure, network *configObject
	objects                 map[string]any // the same as they are, and others
	rootCA, kubeCA          string
	userCA                  string
	pullSecret              string
}

// These four it reads from where they always are, without a flag.
const (
	proxyFile          = "/assets/manifests/cluster-proxy-01-config.yaml"
	dnsFile            = "/assets/manifests/cluster-dns-02-config.yml"
	networkFile        = "/assets/manifests/cluster-network-02-config.yml"
	infrastructureFile = "/assets/manifests/cluster-infrastructure-02-config.yml"
	userCAFile         = "/assets/manifests/user-ca-bundle-config.yaml"
)

func renderMachineConfig(inv *invocation) {
	m := machineConfig{version: inv.flags["payload-version"], release: inv.flags["release-image"]}
	if !strings.Contains(m.release, "@sha256:") {
		refuse("bootkube.sh gives --release-image by digest, not as %s", m.release)
	}
	m.findImages(inv.flags["image-references"])
	m.read(inv)
	t := m.render()
	t.damage(machineConfigFaults)
	t.write(inv.flags["dest-dir"], 0o755)
}

// wantedImages are those that it cannot do without.
var wantedImages = []string{
	"machine-config-operator", "keepalived-ipfailover", "coredns", "baremetal-runtimecfg",
	"oauth-proxy", "kube-rbac-proxy", "pod", "haproxy-router", "docker-registry",
}

func (m *machineConfig) findImages(path string) {
	found, err := readReferences(path)
	if err != nil {
		klogFatal("failed to read %s: %v", path, err)
	}
	m.images = map[string]string{}
	for _, tag := range found.Spec.Tags {
		if tag.From.Kind == "DockerImage" {
			m.images[tag.Name] = tag.From.Name
		}
	}
	for _, name := range wantedImages {
		if m.images[name] == "" {
			klogFatal("Failed to find %s in image references", name)
		}
	}
	m.os = "rhel-coreos"
	if strings.Contains(m.version, "scos") {
		m.os = "stream-coreos"
	}
	if m.images[m.os] == "" {
		klogWarning("Base OS container not found: could not find %s in images", m.os)
	}
}

// read looks at first whether everything is there, then at what it is.
func (m *machineConfig) read(inv *invocation) {
	rootCA, kubeCA, pullSecret := inv.flags["root-ca"], inv.flags["kube-ca"], inv.flags["pull-secret"]
	files := []string{proxyFile, inv.flags["config-file"], rootCA, dnsFile, networkFile, infrastructureFile, pullSecret}
	if inv.role.Release != "main" {
		files = append(files, kubeCA) // main makes do without
	}
	for _, path := range files {
		mustBeThere(inv.role, path)
	}
	m.infrastructure = readObject(infrastructureFile, "infrastructure", "Infrastructure")
	m.network = readObject(networkFile, "network", "Network")
	m.objects = map[string]any{}
	for path, kind := range map[string]string{
		proxyFile: "Proxy", dnsFile: "DNS", networkFile: "Network", infrastructureFile: "Infrastructure",
	} {
		readObject(path, kind, kind)
		m.objects[kind] = newManifest(path, []byte(textOf(path))).object
	}
	m.rootCA, m.kubeCA, m.pullSecret = textOf(rootCA), textOf(kubeCA), textOf(pullSecret)
	if bundle := newManifest(userCAFile, []byte(textOf(userCAFile))); bundle.kind() == "ConfigMap" {
		data, _ := bundle.object["data"].(map[string]any)
		m.userCA = text(data["ca-bundle.crt"])
	}
}

func mustBeThere(r *role.Role, path string) {
	_, err := os.Stat(path)
	switch {
	case err == nil:
	case r.Release == "main":
		klogFatal("error rendering bootstrap manifests: parsing dependencies for MCO bootstrap: cannot read %s file. Error: %v", path, err)
	default:
		_, err = os.ReadFile(path)
		klogFatal("error rendering bootstrap manifests: %v", err)
	}
}

// textOf is a file's text, or nothing.
func textOf(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// clusterDNS is the tenth address of the first service network.
func (m *machineConfig) clusterDNS() string {
	if len(m.network.Spec.ServiceNetwork) == 0 {
		klogFatal("error rendering bootstrap manifests: building spec for MCO bootstrap: service cidr is empty in Network")
	}
	_, network, err := net.ParseCIDR(m.network.Spec.ServiceNetwork[0])
	if err != nil {
		klogFatal("error rendering bootstrap manifests: building spec for MCO bootstrap: %v", err)
	}
	address := slices.Clone(network.IP)
	address[len(address)-1] += 10
	return address.String()
}

// machineConfigFaults are renders that report success and are broken.
var machineConfigFaults = joined(
	podFaults("machineconfigoperator-bootstrap-pod.yaml"),
	map[string]func(tree){
		"other-name":           renamed("machineconfigoperator-bootstrap-pod.yaml"),
		"no-controller-config": func(t tree) { t.remove("controllerconfig") },
		"no-pools":             func(t tree) { t.remove("machineconfigpool") },
		"no-pull-secret":       func(t tree) { t.remove("pull-secret") },
		"no-manifests":         withoutManifests,
		"empty-root-ca":        emptied("controllerconfig", "rootCAData"),
		"empty-kube-ca":        unfilled("serving-ca-configmap"),
	},
)
