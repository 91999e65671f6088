package main

import (
	"encoding/json"
	"fmt"
	"os"

	"bootlab/test/standin/role"
)

// releaseImage is the release image itself: the cluster-version-operator.
var releaseImage = program{
	commands: map[string]command{
		"image": {plain: true, do: printImage},
		"render": {
			required: []string{"output-dir", "release-image"},
			do:       renderClusterVersion,
		},
	},
	// image-empty: `image NAME` prints nothing. image-other: it prints another
	// image than image-references has.
	faults: []string{"image-empty", "image-other"},
}

// printImage prints the pull spec of a payload name, with no newline behind it.
func printImage(inv *invocation) {
	if len(inv.args) == 0 {
		klogFatal("missing command line argument short-name")
	}
	data, err := os.ReadFile("/release-manifests/image-references")
	if err != nil {
		klogFatal("error: error loading image references from \"/release-manifests\": %v", err)
	}
	var references struct {
		Spec struct {
			Tags []struct {
				Name string
				From struct{ Kind, Name string }
			}
		}
	}
	if err := json.Unmarshal(data, &references); err != nil {
		klogFatal("error: error loading image references from \"/release-manifests\": %v", err)
	}
	for _, tag := range references.Spec.Tags {
		if tag.Name == inv.args[0] && tag.From.Kind == "DockerImage" {
			fmt.Print(spoiltImage(tag.From.Name))
			return
		}
	}
	klogFatal("error: error: Unknown name requested, could not find %s in UpdatePayload", inv.args[0])
}

func spoiltImage(image string) string {
	switch faults := role.Faults(); {
	case faults["image-empty"]:
		return ""
	case faults["image-other"]:
		return "quay.io/other/image@sha256:0000000000000000000000000000000000000000000000000000000000000000"
	}
	return image
}

// renderClusterVersion writes the bootstrap pod and the operator's manifests.
// As the operator does, it leaves directories that only root can look into.
func renderClusterVersion(inv *invocation) {
	release := inv.flags["release-image"]
	t := tree{"bootstrap/bootstrap-pod.yaml": {bootstrapPod(release), 0o644}}
	for name, kind := range versionManifests {
		t["manifests/0000_00_cluster-version-operator_"+name] = file{object(kind, "cluster-version-operator", "openshift-cluster-version"), 0o644}
	}
	t.write(inv.flags["output-dir"], 0o666)
}

func bootstrapPod(image string) string {
	return `kind: Pod
apiVersion: v1
metadata:
  name: bootstrap-cluster-version-operator
  namespace: openshift-cluster-version
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: ` + image + `
    args: [start, --release-image=` + image + `]
`
}

// versionManifests are the kinds of the operator's manifests, by file name.
var versionManifests = map[string]string{
	"00_namespace.yaml":              "Namespace",
	"01_adminack_configmap.yaml":     "ConfigMap",
	"01_admingate_configmap.yaml":    "ConfigMap",
	"01_clusteroperators.crd.yaml":   "CustomResourceDefinition",
	"01_clusterversions.crd.yaml":    "CustomResourceDefinition",
	"02_networkpolicy.yaml":          "NetworkPolicy",
	"02_service_account.yaml":        "ServiceAccount",
	"02_service_account-update.yaml": "ServiceAccount",
	"03_roles.yaml":                  "ClusterRoleBinding",
	"03_roles-update.yaml":           "ClusterRoleBinding",
	"03_deployment.yaml":             "Deployment",
	"04_service.yaml":                "Service",
}

func object(kind, name, namespace string) string {
	return fmt.Sprintf("kind: %s\napiVersion: v1\nmetadata:\n  name: %s\n  namespace: %s\n", kind, name, namespace)
}
