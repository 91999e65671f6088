package main

import (
	"net"
	"os"

	"go.yaml.in/yaml/v3"
)

// installConfig is what operators take from the cluster's install-config.
type installConfig struct {
	Networking   map[string]any `yaml:"networking"`
	ControlPlane map[string]any `yaml:"controlPlane"`
}

func readInstallConfig(name string) *installConfig {
	data, err := os.ReadFile(name)
	if err != nil {
		klogFatal("failed to get cluster configmap: %v", err)
	}
	var m struct {
		Kind string
		Data map[string]string
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		klogFatal("failed to get cluster configmap: %v", err)
	}
	config := &installConfig{}
	if err := yaml.Unmarshal([]byte(m.Data["install-config"]), config); err != nil {
		klogFatal("failed to get cluster configmap: %v", err)
	}
	if config.Networking == nil {
		klogFatal("install config missing networking key")
	}
	if m.Kind != "ConfigMap" {
		refuse("%s holds a %q, not a ConfigMap", name, m.Kind)
	}
	return config
}

// reserved are networks that the etcd operator refuses.
var reserved = map[string]bool{"192.0.2.0": true}

// machineNetwork dies, as the operator does, where there is none.
func (c *installConfig) machineNetwork() *net.IPNet {
	list := c.Networking["machineNetwork"].([]any)
	text := list[0].(map[string]any)["cidr"].(string)
	_, network, err := net.ParseCIDR(text)
	if err != nil {
		klogFatal("%v", err)
	}
	if reserved[network.IP.String()] {
		klogFatal("machineNetwork CIDR is reserved and unsupported: %q", network.IP)
	}
	return network
}

// object is what operators take from a config object.
type configObject struct {
	Kind string `yaml:"kind"`
	Spec struct {
		ServiceNetwork []string `yaml:"serviceNetwork"`
		ClusterNetwork []struct {
			CIDR string `yaml:"cidr"`
		} `yaml:"clusterNetwork"`
		NetworkType string `yaml:"networkType"`
	} `yaml:"spec"`
	Status struct {
		ControlPlaneTopology string `yaml:"controlPlaneTopology"`
		PlatformStatus       *struct {
			Type string `yaml:"type"`
		} `yaml:"platformStatus"`
	} `yaml:"status"`
}

func readObject(name, what, kind string) *configObject {
	data, err := os.ReadFile(name)
	if err != nil {
		klogFatal("failed to get %s config: %v", what, err)
	}
	o := &configObject{}
	if err := yaml.Unmarshal(data, o); err != nil {
		klogFatal("failed to get %s config: %v", what, err)
	}
	if o.Kind != kind {
		refuse("%s holds a %q; the operator would take it for a %s and go on", name, o.Kind, kind)
	}
	return o
}

// serviceFamily is "tcp4" or "tcp6", by the first service network.
func serviceFamily(network *configObject) string {
	if len(network.Spec.ServiceNetwork) == 0 {
		klogFatal("failed to get service network: no serviceNetwork")
	}
	ip, _, err := net.ParseCIDR(network.Spec.ServiceNetwork[0])
	if err != nil {
		klogFatal("failed to get service network: %v", err)
	}
	if ip.To4() == nil {
		return "tcp6"
	}
	return "tcp4"
}

// bootstrapAddress is this machine's address in the machine network, else its
// first global one; and the wildcard address of the same family. Offline the
// machine may have none.
func bootstrapAddress(machines *net.IPNet, family string, offline bool) (address, listen string) {
	listen = "0.0.0.0"
	if family == "tcp6" {
		listen = "[::]"
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		klogFatal("failed to list addresses: %v", err)
	}
	first := ""
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if !ok || !network.IP.IsGlobalUnicast() || (network.IP.To4() == nil) != (family == "tcp6") {
			continue
		}
		if machines.Contains(network.IP) {
			return network.IP.String(), listen
		}
		if first == "" {
			first = network.IP.String()
		}
	}
	if first == "" && offline {
		klogWarning("stand-in: this machine has no address but loopback, and the demo goes on with that")
		first = map[string]string{"tcp4": "127.0.0.1", "tcp6": "::1"}[family]
	}
	if first == "" {
		refuse("this container has no address of its own: was --net=host given?")
	}
	klogWarning("couldn't detect the bootstrap IP automatically, falling back to the first listed address")
	return first, listen
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		klogFatal("failed to get the host name: %v", err)
	}
	return name
}
