package main

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"bootlab/standin/role"
)

// tuningOperator is the cluster-node-tuning-operator.
var tuningOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{"asset-output-dir"},
			missing:  func(flag string) { klogFatal("%s must be specified", flag) },
			do:       renderTuning,
		},
	},
	// no-directory: nothing is made, not even the directory.
	faults: []string{"no-directory"},
}

// selector is a set of labels that a node has to have.
type selector map[string]string

func (s selector) String() string {
	var terms []string
	for _, label := range sortedKeys(s) {
		terms = append(terms, label+"="+s[label])
	}
	return strings.Join(terms, ",")
}

// matches says whether a pool takes the nodes that have the labels.
func (s selector) matches(labels selector) bool {
	for label, value := range s {
		if have, there := labels[label]; !there || have != value {
			return false
		}
	}
	return len(s) > 0
}

// renderTuning writes for what was asked for, which is usually nothing.
func renderTuning(inv *invocation) {
	manifests, err := loadManifests(inv.flags["asset-input-dir"])
	if err != nil {
		klogFatal("%v", err)
	}
	for _, m := range manifests.list {
		if m.broken != nil {
			klogFatal("error parsing manifests from %s: %v", m.path, m.broken)
		}
	}
	t := tree{"./": {}}
	pools := tuningPools(manifests)
	if cpusArePartitioned(manifests) {
		for name := range pools {
			t["01_01-"+name+"-cpu-partitioning_workload_pinning_machineconfig.yaml"] = file{tuned(machineConfigAPI, "MachineConfig", "01-"+name+"-cpu-partitioning"), 0o644}
		}
	}
	profiles := manifests.ofKind("performance.openshift.io", "PerformanceProfile")
	if len(profiles) == 0 {
		klogWarning("zero performance profiles were found")
	}
	for _, p := range profiles {
		p.mustSelectOne(pools)
		for kind, api := range tunedKinds {
			t[fmt.Sprintf("%s_%s.yaml", p.meta("name"), strings.ToLower(kind))] = file{tuned(api, kind, "performance-"+p.meta("name")), 0o644}
		}
	}
	if role.Faults()["no-directory"] {
		os.Exit(0)
	}
	t.write(inv.flags["asset-output-dir"], 0o777)
}

const machineConfigAPI = "machineconfiguration.openshift.io/v1"

// tunedKinds are what a profile becomes.
var tunedKinds = map[string]string{
	"KubeletConfig": machineConfigAPI, "MachineConfig": machineConfigAPI,
	"RuntimeClass": "node.k8s.io/v1", "Tuned": "tuned.openshift.io/v1",
}

func tuned(api, kind, name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", api, kind, name)
}

// tuningPools are the pools of the manifests and the two that there always are.
func tuningPools(manifests renderedManifests) map[string]selector {
	pools := map[string]selector{}
	for _, name := range []string{"master", "worker"} {
		pools[name] = selector{"node-role.kubernetes.io/" + name: ""}
	}
	for _, m := range manifests.ofKind("machineconfiguration.openshift.io", "MachineConfigPool") {
		var pool struct {
			Spec struct {
				NodeSelector struct {
					MatchLabels selector `yaml:"matchLabels"`
				} `yaml:"nodeSelector"`
			} `yaml:"spec"`
		}
		must(yaml.Unmarshal(m.data, &pool))
		pools[m.meta("name")] = pool.Spec.NodeSelector.MatchLabels
	}
	return pools
}

func cpusArePartitioned(manifests renderedManifests) bool {
	for _, m := range manifests.ofKind("config.openshift.io", "Infrastructure") {
		if status, _ := m.object["status"].(map[string]any); m.meta("name") == "cluster" && status["cpuPartitioning"] == "AllNodes" {
			return true
		}
	}
	return false
}

// mustSelectOne dies where the profile's nodes are of no pool, or of several.
func (m manifest) mustSelectOne(pools map[string]selector) {
	var profile struct {
		Spec struct {
			NodeSelector selector `yaml:"nodeSelector"`
		} `yaml:"spec"`
	}
	must(yaml.Unmarshal(m.data, &profile))
	labels, count := profile.Spec.NodeSelector, 0
	for _, pool := range pools {
		if pool.matches(labels) {
			count++
		}
	}
	switch {
	case count == 0:
		klogFatal("no MCP found that matches performance profile node selector %q", labels)
	case count > 1:
		klogFatal("more than one MCP found that matches performance profile node selector %q", labels)
	}
}
