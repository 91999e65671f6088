package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// configOperator is the cluster-config-operator. In 4.14 it also does what
// cluster-config-api does later.
var configOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{
				"asset-input-dir", "asset-output-dir", "config-output-file",
				"cluster-infrastructure-input-file", "cloud-provider-config-output-file",
			},
			missing: missingOfConfig,
			do:      renderConfig,
		},
	},
	faults: append(keys(configFaults), keys(gateFaults)...),
}

const cloudConfigFile = "cloud-provider-config-generated.yaml"

var configFaults = map[string]func(tree){
	"no-cloud-config":    func(t tree) { t.remove(cloudConfigFile) },
	"other-cloud-config": func(t tree) { t.replace(cloudConfigFile, "kube-cloud-config", "cloud-provider-config") },
	"no-crds":            func(t tree) { t.remove(".crd.yaml") },
	"few-crds":           func(t tree) { t.remove("0000_10_") },
}

func missingOfConfig(flag string) {
	switch flag {
	case "cluster-infrastructure-input-file", "cloud-provider-config-output-file":
		klogFatal("clulster-infrastructure-file and cloud-provider-config-output-file must be specified.")
	}
	klogFatal("missing required flag: --%s", flag)
}

func renderConfig(inv *invocation) {
	manifests := readManifests(inv.flags["rendered-manifest-files"])
	infrastructure := inv.flags["cluster-infrastructure-input-file"]
	mustBeFile(infrastructure)
	loadInputs(inv.flags["asset-input-dir"]) // for nothing

	t := tree{"manifests/": {}}
	if inv.flags["skip-api-rendering"] != given {
		found, err := manifests.gateManifests()
		if err != nil {
			klogFatal("problem with featuregate manifests: %v", err)
		}
		if err := settle(found, inv.flags["payload-version"], usualProfile); err != nil {
			klogFatal("%v", err)
		}
		t = apiTypes(usualProfile)
	}
	dir := inv.flags["asset-output-dir"]
	if filepath.Dir(inv.flags["cloud-provider-config-output-file"]) != dir {
		refuse("the cloud configuration goes to %s", dir)
	}
	t[cloudConfigFile] = file{cloudConfig(infrastructure, inv.flags["cloud-provider-config-input-file"]), 0o644}
	t.damage(configFaults)
	t.write(dir, 0o755)
}

func mustBeFile(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		klogFatal("failed to stat %s: %v", path, err)
	case !info.Mode().IsRegular():
		klogFatal("%s is not a regular file", path)
	case info.Size() == 0:
		klogFatal("%s is empty", path)
	}
}

// cloudConfig is the ConfigMap for what talks to a cloud: what the installer
// knows of it, under another name. A file of another kind than Infrastructure
// is one without a platform.
func cloudConfig(infrastructure, known string) string {
	data, err := os.ReadFile(infrastructure)
	if err != nil {
		klogFatal("failed to read infrastructure file: %v", err)
	}
	if err := yaml.Unmarshal(data, &configObject{}); err != nil {
		klogFatal("failed unmarshal infrastructure: %v", err)
	}
	out := map[string]any{"metadata": map[string]string{"name": "kube-cloud-config", "namespace": "openshift-config-managed"}}
	if known != "" {
		out["data"] = cloudData(known)
	}
	text, err := yaml.Marshal(out)
	must(err)
	return string(text)
}

func cloudData(path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		klogFatal("failed to read cloud provider file: %v", err)
	}
	var m struct{ Data map[string]string }
	if err := yaml.Unmarshal(data, &m); err != nil {
		klogFatal("failed to unmarshal cloud provider: %v", fmt.Errorf("%s: %w", path, err))
	}
	return m.Data
}
