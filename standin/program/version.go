package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// versionFaults are renders of the release image that report success and are
// broken.
var versionFaults = map[string]func(tree){
	"no-pod": func(t tree) { t.remove("bootstrap-pod.yaml") },
	"other-pod": func(t tree) {
		t.replace("bootstrap-pod.yaml", "bootstrap-cluster-version-operator", "cluster-version-operator")
	},
	"empty-image":            func(t tree) { t.replace("bootstrap-pod.yaml", `"image":"[^"]*"`, `"image":""`) },
	"other-image":            func(t tree) { t.replace("bootstrap-pod.yaml", `"image":"[^"]*"`, `"image":"`+otherImage+`"`) },
	"no-manifests":           func(t tree) { t.remove("manifests/0000_") },
	"no-namespace":           func(t tree) { t.remove("_namespace.yaml") },
	"no-crd":                 func(t tree) { t.remove("_clusterversions") },
	"no-deployment":          func(t tree) { t.remove("_deployment.yaml") },
	"empty-deployment-image": func(t tree) { t.replace("_deployment.yaml", `"image":"[^"]*"`, `"image":""`) },
	"other-deployment-image": func(t tree) { t.replace("_deployment.yaml", `"image":"[^"]*"`, `"image":"`+otherImage+`"`) },
}

var byDigest = regexp.MustCompile(`^[^@]+@sha256:[0-9a-f]{64}$`)

// renderClusterVersion writes the bootstrap pod and the operator's manifests.
// As the operator does, it leaves directories that only root can look into.
func renderClusterVersion(inv *invocation) {
	if image := inv.flags["release-image"]; !byDigest.MatchString(image) {
		refuse("bootkube.sh gives --release-image by digest, not %s", image)
	}
	if _, err := readReferences(payloadReferences); err != nil {
		renderFatal("error loading image references for manifest rendering: %v", err)
	}
	unmanaged := inv.unmanaged()
	if path := inv.flags["feature-gate-manifest-path"]; path != "" {
		m := mustReadOne("feature gate", path, "FeatureGate")
		if n := len(m.gates().Status.FeatureGates); n > 1 {
			renderFatal("error parsing feature gate manifest: FeatureGate manifest %s contains %d feature gates, but expected exactly one", filepath.Base(path), n)
		}
	}
	t := tree{"bootstrap/": {}, "manifests/": {}, "bootstrap/bootstrap-pod.yaml": {bootstrapPod(inv.flags["release-image"]), 0o666}}
	for _, m := range versionManifests(inv.flags["release-image"]) {
		if !unmanaged[m.id()] {
			t["manifests/0000_00_cluster-version-operator_"+m.path] = file{string(m.data), 0o666}
		}
	}
	t.damage(versionFaults)
	t.write(inv.flags["output-dir"], 0o666)
}

func renderFatal(format string, args ...any) {
	klogFatal("Render command failed: "+format, args...)
}

// unmanaged are the objects that the ClusterVersion leaves alone.
func (inv *invocation) unmanaged() map[string]bool {
	out := map[string]bool{}
	path := inv.flags["cluster-version-manifest-path"]
	if path == "" {
		return out
	}
	var version struct {
		Spec struct {
			Overrides []struct {
				Group, Kind, Namespace, Name string
				Unmanaged                    bool
			}
		}
	}
	must(yaml.Unmarshal(mustReadOne("cluster version", path, "ClusterVersion").data, &version))
	for _, o := range version.Spec.Overrides {
		out[fmt.Sprintf("%s.%s/%s in ns/%s", o.Kind, o.Group, o.Name, o.Namespace)] = o.Unmanaged
	}
	return out
}

// mustReadOne reads the one object of a file. Where there is no such file the
// operator asks nothing for its name, and dies of it.
func mustReadOne(what, path, kind string) manifest {
	data, err := os.ReadFile(path)
	if err != nil {
		var f *os.File
		_ = f.Name()
	}
	m := newManifest(path, data)
	if m.broken != nil {
		renderFatal("error parsing %s manifest: loading %s manifest: error loading manifests: error parsing %s: %v", what, kind, path, m.broken)
	}
	if m.kind() != kind || m.group() != "config.openshift.io" {
		renderFatal("error parsing %s manifest: %s manifest %s GroupVersionKind %s, Kind=%s, but expected config.openshift.io/v1, Kind=%s",
			what, kind, filepath.Base(path), text(m.object["apiVersion"]), m.kind(), kind)
	}
	return m
}

func bootstrapPod(image string) string {
	return inJSON(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "bootstrap-cluster-version-operator", "namespace": versionNamespace},
		"spec":     versionPod(image, "--listen=", "--kubeconfig=/etc/kubernetes/kubeconfig"),
	})
}

const versionNamespace = "openshift-cluster-version"

func versionPod(image string, args ...string) map[string]any {
	return map[string]any{"hostNetwork": true, "containers": []any{map[string]any{
		"name": "cluster-version-operator", "image": image, "args": append([]string{"start", "--release-image=" + image}, args...),
	}}}
}

// versionObject is a manifest of the operator's own; the path is the end of its
// file's name.
type versionObject struct{ path, api, kind, name, namespace string }

var versionObjects = []versionObject{
	{"00_namespace.yaml", "v1", "Namespace", versionNamespace, ""},
	{"01_adminack_configmap.yaml", "v1", "ConfigMap", "admin-acks", "openshift-config"},
	{"01_admingate_configmap.yaml", "v1", "ConfigMap", "admin-gates", "openshift-config-managed"},
	{"02_networkpolicy.yaml", "networking.k8s.io/v1", "NetworkPolicy", "default-deny", versionNamespace},
	{"02_service_account-cluster-version-operator.yaml", "v1", "ServiceAccount", "cluster-version-operator", versionNamespace},
	{"02_service_account-update-payload.yaml", "v1", "ServiceAccount", "update-payload", versionNamespace},
	{"03_roles-cluster-version-operator.yaml", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "cluster-version-operator-1", ""},
	{"03_roles-default.yaml", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "cluster-version-operator", ""},
	{"30_deployment.yaml", "apps/v1", "Deployment", "cluster-version-operator", versionNamespace},
	{"40_service.yaml", "v1", "Service", "cluster-version-operator", versionNamespace},
}

func versionManifests(image string) []manifest {
	out := []manifest{
		newManifest("01_clusteroperators.crd.yaml", []byte(crd("clusteroperators.config.openshift.io", "ClusterOperator", "Cluster", usualProfile))),
		newManifest("01_clusterversions-Default.crd.yaml", []byte(crd("clusterversions.config.openshift.io", "ClusterVersion", "Cluster", usualProfile))),
	}
	for _, o := range versionObjects {
		object := map[string]any{"apiVersion": o.api, "kind": o.kind}
		metadata := map[string]any{"name": o.name}
		if o.namespace != "" {
			metadata["namespace"] = o.namespace
		}
		object["metadata"] = metadata
		switch o.kind {
		case "ClusterRoleBinding":
			object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
		case "Deployment":
			object["spec"] = versionDeployment(image)
		case "Service":
			object["spec"] = map[string]any{"selector": versionLabel, "ports": []any{map[string]any{"name": "metrics", "port": 9099}}}
		}
		out = append(out, newManifest(o.path, []byte(inJSON(object))))
	}
	return out
}

var versionLabel = map[string]string{"k8s-app": "cluster-version-operator"}

func versionDeployment(image string) map[string]any {
	return map[string]any{
		"selector": map[string]any{"matchLabels": versionLabel},
		"template": map[string]any{
			"metadata": map[string]any{"labels": versionLabel},
			"spec":     versionPod(image, "--listen=0.0.0.0:9099"),
		},
	}
}

// inJSON is an object on one line, as the operator writes it.
func inJSON(object map[string]any) string {
	var out strings.Builder
	must(json.NewEncoder(&out).Encode(object))
	return strings.TrimSuffix(out.String(), "\n")
}
