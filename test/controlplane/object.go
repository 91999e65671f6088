package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// resource is a custom resource of OpenShift that a test can have.
type resource struct {
	kind, group, version string
	plural               string
	namespaced, status   bool
}

// resources are named and versioned as in openshift/api; all that bootstrap
// watches have a status of their own, and so has a route.
var resources = []resource{
	{"ClusterVersion", "config.openshift.io", "v1", "clusterversions", false, true},
	{"ClusterOperator", "config.openshift.io", "v1", "clusteroperators", false, true},
	{"Infrastructure", "config.openshift.io", "v1", "infrastructures", false, true},
	{"Etcd", "operator.openshift.io", "v1", "etcds", false, true},
	{"KubeAPIServer", "operator.openshift.io", "v1", "kubeapiservers", false, true},
	{"KubeControllerManager", "operator.openshift.io", "v1", "kubecontrollermanagers", false, true},
	{"KubeScheduler", "operator.openshift.io", "v1", "kubeschedulers", false, true},
	{"MachineConfigPool", "machineconfiguration.openshift.io", "v1", "machineconfigpools", false, true},
	{"Route", "route.openshift.io", "v1", "routes", true, true},
}

// definition is its CustomResourceDefinition, whose schema takes any field.
func (r resource) definition() map[string]any {
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	version := map[string]any{
		"name": r.version, "served": true, "storage": true,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "properties": map[string]any{"spec": open, "status": open},
		}},
	}
	if r.status {
		version["subresources"] = map[string]any{"status": map[string]any{}}
	}
	scope := "Cluster"
	if r.namespaced {
		scope = "Namespaced"
	}
	names := map[string]any{"kind": r.kind, "listKind": r.kind + "List", "plural": r.plural, "singular": strings.ToLower(r.kind)}
	if r.kind == "ClusterOperator" {
		names["shortNames"] = []string{"co"}
	}
	if r.kind == "MachineConfigPool" {
		names["shortNames"] = []string{"mcp"}
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": r.plural + "." + r.group},
		"spec":     map[string]any{"group": r.group, "scope": scope, "names": names, "versions": []any{version}},
	}
}

// Define makes custom resources known to the API, by kind; without any, all of
// them. It waits until they are served.
func (c *ControlPlane) Define(tb testing.TB, kinds ...string) {
	tb.Helper()
	var wanted []resource
	for _, r := range resources {
		if len(kinds) == 0 || slices.Contains(kinds, r.kind) {
			wanted = append(wanted, r)
		}
	}
	if len(kinds) > 0 && len(wanted) != len(kinds) {
		tb.Fatalf("not all of %v are known here", kinds)
	}
	for _, r := range wanted {
		fatal(tb, c.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", r.definition()))
	}
	for _, r := range wanted {
		fatal(tb, eventually("serving "+r.plural, func() error {
			status, answer, err := c.request(http.MethodGet, "/apis/"+r.group+"/"+r.version+"/"+r.plural, "", nil)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%d %s", status, answer)
			}
			return err
		}))
	}
}

// create creates an object; one of that name that is there is left as it is.
func (c *ControlPlane) create(path string, object map[string]any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	status, answer, err := c.request(http.MethodPost, path, "application/json", body)
	if err != nil {
		return err
	}
	if status != http.StatusCreated && status != http.StatusConflict {
		return fmt.Errorf("create in %s: %d %s", path, status, answer)
	}
	return nil
}

// Condition is one of a status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Since   string `json:"lastTransitionTime,omitempty"` // empty is now
}

// NodeStatus is one of the nodeStatuses of an operator that keeps static pods.
type NodeStatus struct {
	Node    string `json:"nodeName"`
	Current int    `json:"currentRevision,omitempty"`
	Target  int    `json:"targetRevision,omitempty"`
}

// pathOf is where the API has a custom resource of the cluster that is named as
// kubectl names it; empty for what is none. A request takes a hundredth of the
// processor time of a kubectl.
func pathOf(object string) string {
	what, name, _ := strings.Cut(object, "/")
	for _, r := range resources {
		if what == r.plural+"."+r.group && name != "" && !r.namespaced {
			return "/apis/" + r.group + "/" + r.version + "/" + r.plural + "/" + name
		}
	}
	return ""
}

// ErrNotFound is an object that is not there.
var ErrNotFound = errors.New("not found")

// Get reads the object at a path of the API.
func (c *ControlPlane) Get(path string, object any) error {
	status, answer, err := c.request(http.MethodGet, path, "", nil)
	switch {
	case err != nil:
		return err
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %w", path, ErrNotFound)
	case status != http.StatusOK:
		return fmt.Errorf("get %s: %d %s", path, status, answer)
	}
	return json.Unmarshal(answer, object)
}

// SetStatus merges into the status of an object, named as kubectl names it:
// "etcds.operator.openshift.io/cluster"; flags are kubectl's, as --namespace=NAME.
func (c *ControlPlane) SetStatus(tb testing.TB, object string, status map[string]any, flags ...string) {
	tb.Helper()
	if path := pathOf(object); path != "" && len(flags) == 0 {
		fatal(tb, c.patchStatus(path, status))
		return
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	fatal(tb, err)
	c.Kubectl(tb, append([]string{"patch", object, "--subresource=status", "--type=merge", "--patch=" + string(patch)}, flags...)...)
}

// SetConditions sets conditions of an object; those of other types stay.
func (c *ControlPlane) SetConditions(tb testing.TB, object string, conditions ...Condition) {
	tb.Helper()
	var found struct {
		Status struct{ Conditions []Condition }
	}
	if path := pathOf(object); path != "" {
		fatal(tb, c.Get(path, &found))
	} else {
		fatal(tb, json.Unmarshal([]byte(c.Kubectl(tb, "get", object, "--output=json")), &found))
	}
	all := found.Status.Conditions
	for _, wanted := range conditions {
		if wanted.Since == "" {
			wanted.Since = time.Now().UTC().Format(time.RFC3339)
		}
		all = slices.DeleteFunc(all, func(have Condition) bool { return have.Type == wanted.Type })
		all = append(all, wanted)
	}
	c.SetStatus(tb, object, map[string]any{"conditions": all})
}

// SetNodeStatuses sets all nodeStatuses of an operator's object.
func (c *ControlPlane) SetNodeStatuses(tb testing.TB, object string, statuses ...NodeStatus) {
	tb.Helper()
	if statuses == nil {
		statuses = []NodeStatus{}
	}
	c.SetStatus(tb, object, map[string]any{"nodeStatuses": statuses})
}

// Namespace makes a namespace unless it is there.
func (c *ControlPlane) Namespace(tb testing.TB, name string) {
	tb.Helper()
	fatal(tb, c.create("/api/v1/namespaces", map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}))
}

// readiness is the condition Ready of nodes and pods.
func readiness(ready bool) []map[string]any {
	word := map[bool]string{true: "True", false: "False"}[ready]
	now := time.Now().UTC().Format(time.RFC3339)
	return []map[string]any{{"type": "Ready", "status": word, "reason": "Test", "lastTransitionTime": now}}
}

// Node makes a control plane node unless it is there, and sets its address and
// whether it is ready.
func (c *ControlPlane) Node(tb testing.TB, name, address string, ready bool) {
	tb.Helper()
	fatal(tb, c.create("/api/v1/nodes", map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "labels": map[string]any{
			"node-role.kubernetes.io/master": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/hostname": name,
		}},
	}))
	fatal(tb, c.patchStatus("/api/v1/nodes/"+name, map[string]any{
		"addresses": []map[string]any{
			{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name},
		},
		"conditions": readiness(ready),
	}))
}

// Pod makes a pod of the host's network on a node unless it is there, and its
// namespace too, and sets whether it is running and ready, or waits.
func (c *ControlPlane) Pod(tb testing.TB, namespace, name, node string, ready bool) {
	tb.Helper()
	c.Namespace(tb, namespace)
	path := "/api/v1/namespaces/" + namespace + "/pods"
	fatal(tb, c.create(path, map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{
			"nodeName": node, "hostNetwork": true,
			"containers": []map[string]any{{"name": "pause", "image": "registry.example.test/pause"}},
		},
	}))
	phase := map[bool]string{true: "Running", false: "Pending"}[ready]
	fatal(tb, c.patchStatus(path+"/"+name, map[string]any{"phase": phase, "conditions": readiness(ready)}))
}

// patchStatus merges into the status of the object at a path.
func (c *ControlPlane) patchStatus(path string, status map[string]any) error {
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	code, answer, err := c.request(http.MethodPatch, path+"/status", "application/merge-patch+json", body)
	if err == nil && code != http.StatusOK {
		err = errors.New(string(answer))
	}
	return err
}

// AllowNodes lets nodes ask for certificates: it binds the node-bootstrapper to
// the role of the name, as a manifest of the machine config operator does.
func (c *ControlPlane) AllowNodes(tb testing.TB) {
	tb.Helper()
	fatal(tb, c.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
		"metadata": map[string]any{"name": "system-bootstrap-node-bootstrapper"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
		"subjects": []map[string]any{{"kind": "ServiceAccount", "name": "node-bootstrapper", "namespace": "openshift-machine-config-operator"}},
	}))
}
