package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// cloudCredentialOperator is the cloud-credential-operator. An empty image is
// no mistake in its eyes.
var cloudCredentialOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{"dest-dir"},
			missing:  missingOfCobra,
			do:       renderCloudCredential,
		},
	},
	faults: keys(cloudCredentialFaults),
}

func renderCloudCredential(inv *invocation) {
	dir := inv.flags["dest-dir"]
	config := findInstallConfig(inv.flags["manifests-dir"])
	if !slices.Contains([]string{"", "Manual", "Mint", "Passthrough"}, config.CredentialsMode) {
		credentialFatal("invalid mode defined: %s", config.CredentialsMode)
	}
	if inv.role.Release != "4.14" && config.withoutCredentials() {
		return
	}
	if _, err := os.Stat(dir + "/bootstrap-manifests"); err == nil {
		credentialFatal("error creating bootstrap-manifests directory: mkdir %s/bootstrap-manifests: file exists", dir)
	}
	t := credentialManifests(config.CredentialsMode)
	if config.CredentialsMode != "Manual" {
		t["bootstrap-manifests/cloud-credential-operator-pod.yaml"] = file{credentialPod(inv.flags["cloud-credential-operator-image"]), 0o644}
	}
	t.damage(cloudCredentialFaults)
	t.write(dir, 0o775)
}

// credentialConfig is what the operator takes from the install-config.
type credentialConfig struct {
	CredentialsMode string `yaml:"credentialsMode"`
	Capabilities    struct {
		BaselineCapabilitySet         string   `yaml:"baselineCapabilitySet"`
		AdditionalEnabledCapabilities []string `yaml:"additionalEnabledCapabilities"`
	} `yaml:"capabilities"`
}

// findInstallConfig looks for the ConfigMap in every file, as far as they can be
// read.
func findInstallConfig(dir string) credentialConfig {
	const missing = "failed to read install config: failed to find configmap kube-system/cluster-config-v1 in manifests"
	manifests, err := loadManifests(dir)
	if err != nil {
		credentialFatal("%s: %v", missing, err)
	}
	for _, m := range manifests.ofKind("", "ConfigMap") {
		if m.meta("namespace") != "kube-system" || m.meta("name") != "cluster-config-v1" {
			continue
		}
		data, _ := m.object["data"].(map[string]any)
		var config credentialConfig
		if err := yaml.Unmarshal([]byte(text(data["install-config"])), &config); err != nil {
			credentialFatal("failed to read install config: failed to decode install config: %v", err)
		}
		return config
	}
	credentialFatal(missing)
	return credentialConfig{}
}

// withoutCredentials says whether the capability is switched off: sets of
// releases before it was one do not hold it.
func (c credentialConfig) withoutCredentials() bool {
	sets := []string{"None", "v4.11", "v4.12", "v4.13", "v4.14"}
	return slices.Contains(sets, c.Capabilities.BaselineCapabilitySet) &&
		!slices.Contains(c.Capabilities.AdditionalEnabledCapabilities, "CloudCredential")
}

// credentialFatal ends the process in logrus' way.
func credentialFatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "time=%q level=fatal msg=\"failed while rendering bootstrap assets\" error=%q\n",
		time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
	os.Exit(1)
}

// credentialManifests hold a directory for the pod, although it may stay empty.
func credentialManifests(mode string) tree {
	objects := map[string]string{
		"cco-namespace": namespace("openshift-cloud-credential-operator"),
		"cco-operator-config": plain("operator.openshift.io/v1", "CloudCredential", "cluster") +
			"spec:\n  credentialsMode: \"" + mode + "\"\n",
		"cco-cloudcredential_v1_credentialsrequest_crd": crd("credentialsrequests.cloudcredential.openshift.io",
			"CredentialsRequest", "Namespaced", usualProfile),
		"cco-cloudcredential_v1_operator_config_custresdef": crd("cloudcredentials.operator.openshift.io",
			"CloudCredential", "Cluster", usualProfile),
	}
	t := tree{"bootstrap-manifests/": {"", 0}}
	for name, text := range objects {
		t["manifests/"+name+".yaml"] = file{text, 0o644}
	}
	return t
}

// credentialPod has no image at all where none was given.
func credentialPod(image string) string {
	if image == "" {
		return strings.Replace(credentialPodText, "    image: IMAGE\n", "", 1)
	}
	return strings.Replace(credentialPodText, "IMAGE", image, 1)
}

const credentialPodText = `apiVersion: v1
kind: Pod
metadata:
  name: cloud-credential-operator
  namespace: openshift-cloud-credential-operator
spec:
  containers:
  - args:
    - operator
    - --kubeconfig=/etc/kubernetes/secrets/kubeconfig
    command:
    - /usr/bin/cloud-credential-operator
    image: IMAGE
    name: cloud-credential-operator
    volumeMounts:
    - mountPath: /etc/kubernetes/secrets
      name: secrets
  hostNetwork: true
  volumes:
  - hostPath:
      path: /etc/kubernetes/bootstrap-secrets
    name: secrets
`

// cloudCredentialFaults are renders that report success and are broken.
var cloudCredentialFaults = joined(
	podFaults("cloud-credential-operator-pod.yaml"),
	map[string]func(tree){
		"no-image":     func(t tree) { t.replace("cloud-credential-operator-pod.yaml", "    image: .*\n", "") },
		"no-manifests": func(t tree) { t.remove("manifests/cco-") },
		"no-namespace": func(t tree) { t.remove("cco-namespace") },
		"no-types":     func(t tree) { t.remove("cco-cloudcredential_v1") },
	},
)
