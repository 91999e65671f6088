package main

import (
	"fmt"
	"os"
	"strings"

	"bootlab/standin/role"
)

// configAPI is the program of cluster-config-api: types, and the gates' status.
var configAPI = program{
	commands: map[string]command{
		"": {
			required:  []string{"rendered-manifest-dir", "payload-version"},
			missing:   missingOfAPI,
			free:      []string{"cluster-profile"},
			flagError: unknownToAPI,
			do:        renderAPI,
		},
	},
	// no-templates: the image holds the command alone, and says so.
	faults: append(append(keys(apiFaults), keys(gateFaults)...), "no-templates"),
}

// apiFaults are renders that report success and are broken.
var apiFaults = map[string]func(tree){
	"no-crds":  func(t tree) { t.remove(".crd.yaml") },
	"few-crds": func(t tree) { t.remove("0000_10_") },
}

// apiFatal ends the process in the way of a program that knows no klog.
func apiFatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "error: "+format+"\n", args...)
	os.Exit(2)
}

func missingOfAPI(flag string) {
	if flag == "payload-version" {
		apiFatal(`problem parsing payload version: strconv.ParseUint: parsing "": invalid syntax`)
	}
	apiFatal(`problem with featuregate manifests: failed loading rendered manifest inputs from "": lstat : no such file or directory`)
}

// unknownToAPI speaks as the flags of Go's own library do.
func unknownToAPI(err error) {
	if name, unknown := strings.CutPrefix(err.Error(), "unknown flag: -"); unknown {
		fmt.Fprintf(os.Stderr, "flag provided but not defined: %s\nUsage of %s:\n", name, os.Args[0])
		os.Exit(2)
	}
}

func renderAPI(inv *invocation) {
	manifests, err := loadManifests(inv.flags["rendered-manifest-dir"])
	if err != nil {
		apiFatal("problem with featuregate manifests: %v", err)
	}
	found, err := manifests.gateManifests()
	if err != nil {
		apiFatal("problem with featuregate manifests: %v", err)
	}
	profile := inv.flags["cluster-profile"]
	for _, m := range found {
		if others := m.profiles(); len(others) > 0 && !others[profilePrefix+profile] {
			apiFatal("manifest has cluster-profile preferences (%v) that do not contain the configured clusterProfile: %q",
				sortedKeys(others), profilePrefix+profile)
		}
	}
	if err := settle(found, inv.flags["payload-version"], profile); err != nil {
		apiFatal("%v", err)
	}
	if role.Faults()["no-templates"] {
		apiFatal("failed to substitute and copy files: failed rendering assets: lstat /usr/share/bootkube/manifests/manifests: no such file or directory")
	}
	t := apiTypes(profile)
	t.damage(apiFaults)
	t.write(inv.flags["asset-output-dir"], 0o755)
}

// apiTypes are the CRDs of a cluster profile. Of an unknown profile
// there are none, and nothing is said.
func apiTypes(profile string) tree {
	t := tree{"manifests/": {}}
	if profile != usualProfile {
		return t
	}
	for _, a := range apiCRDs {
		t["manifests/"+a.file+".crd.yaml"] = file{crd(a.name, a.kind, "Cluster", profile), 0o644}
	}
	t["manifests/0000_03_config-operator_01_rolebindingrestrictions.crd.yaml"] = file{roleBindingRestrictions(), 0o644}
	return t
}

// apiCRDs are the types of the default feature set, all of them of the cluster.
var apiCRDs = []struct{ file, name, kind string }{
	{"0000_00_apiserver_01_clusterresourcequotas", "clusterresourcequotas.quota.openshift.io", "ClusterResourceQuota"},
	{"0000_03_config-operator_01_proxies", "proxies.config.openshift.io", "Proxy"},
	{"0000_03_config-operator_01_securitycontextconstraints", "securitycontextconstraints.security.openshift.io", "SecurityContextConstraints"},
	{"0000_03_config-operator_02_rangeallocations", "rangeallocations.security.internal.openshift.io", "RangeAllocation"},
	{"0000_10_config-operator_01_apiservers-Default", "apiservers.config.openshift.io", "APIServer"},
	{"0000_10_config-operator_01_authentications-Default", "authentications.config.openshift.io", "Authentication"},
	{"0000_10_config-operator_01_consoles", "consoles.config.openshift.io", "Console"},
	{"0000_10_config-operator_01_dnses-Default", "dnses.config.openshift.io", "DNS"},
	{"0000_10_config-operator_01_featuregates", "featuregates.config.openshift.io", "FeatureGate"},
	{"0000_10_config-operator_01_imagecontentpolicies", "imagecontentpolicies.config.openshift.io", "ImageContentPolicy"},
	{"0000_10_config-operator_01_imagecontentsourcepolicies", "imagecontentsourcepolicies.operator.openshift.io", "ImageContentSourcePolicy"},
	{"0000_10_config-operator_01_imagedigestmirrorsets", "imagedigestmirrorsets.config.openshift.io", "ImageDigestMirrorSet"},
	{"0000_10_config-operator_01_images", "images.config.openshift.io", "Image"},
	{"0000_10_config-operator_01_imagetagmirrorsets", "imagetagmirrorsets.config.openshift.io", "ImageTagMirrorSet"},
	{"0000_10_config-operator_01_infrastructures-Default", "infrastructures.config.openshift.io", "Infrastructure"},
	{"0000_10_config-operator_01_ingresses-Default", "ingresses.config.openshift.io", "Ingress"},
	{"0000_10_config-operator_01_networks-Default", "networks.config.openshift.io", "Network"},
	{"0000_10_config-operator_01_nodes-Default", "nodes.config.openshift.io", "Node"},
	{"0000_10_config-operator_01_oauths", "oauths.config.openshift.io", "OAuth"},
	{"0000_10_config-operator_01_projects", "projects.config.openshift.io", "Project"},
	{"0000_10_config-operator_01_schedulers-SelfManagedHA-Default", "schedulers.config.openshift.io", "Scheduler"},
}
