package main

import (
	"strings"
	"testing"
)

// explained is what bootlab explain says, which must be nothing but an answer.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	out, stderr, status := bootlab(append([]string{"explain"}, args...)...)
	if status != exitDone || stderr != "" {
		t.Fatalf("explain %v: status %d: %s", args, status, stderr)
	}
	return out
}

func TestExplainKnowsAnnotatedFiles(t *testing.T) {
	for what, want := range map[string][]string{
		"etcd-member-pod.yaml":    {"/etc/kubernetes/manifests/etcd-member-pod.yaml: ", "    spec:\n", "render-etcd copies", "Decided by controlPlane.replicas in lab.yaml."},
		"auth/kubeconfig-kubelet": {"auth/kubeconfig-kubelet: ", "node-bootstrapper", "make-kubeconfigs writes", "render-mco reads"},
		"/etc/mcs/kubeconfig":     {"auth/kubeconfig-kubelet: ", "render-mco copies"},
		"master.ign":              {"master.ign: ", ":22623/config/master"},
		"feature-gate":            {"manifests/99_feature-gate.yaml: ", "render-api writes"},
	} {
		out := explained(t, what)
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("explain %s: no %q in:\n%s", what, part, out)
			}
		}
	}
}

// A path that ends in the name of an annotated file is another file.
func TestExplainDoesNotTakeAPathForAnother(t *testing.T) {
	if out := explained(t, "kube-apiserver-bootstrap/config"); strings.Contains(out, "kind: Pod") {
		t.Errorf("an annotated file in:\n%s", out)
	}
	if _, stderr, status := bootlab("explain", "elsewhere/master.ign"); status != exitUsage || !strings.Contains(stderr, "field") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestExplainKnowsFieldsOfAnnotatedFiles(t *testing.T) {
	for what, want := range map[string][]string{
		"hostNetwork":        {"hostNetwork in /etc/kubernetes/manifests/etcd-member-pod.yaml\n", "hostNetwork in bootstrap-manifests/bootstrap-pod.yaml\n"},
		"ETCD_NAME":          {"ETCD_NAME in /etc/kubernetes/manifests/etcd-member-pod.yaml\n"},
		"--client-cert-auth": {"--client-cert-auth in /etc/kubernetes/manifests/etcd-member-pod.yaml\n"},
		"--kubeconfig":       {"wait-for-ceo: --kubeconfig", "--kubeconfig in bootstrap-manifests/kube-scheduler-pod.yaml\n"},
	} {
		out := explained(t, what)
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("explain %s: no %q in:\n%s", what, part, out)
			}
		}
	}
	if out := explained(t, "startupProbe", "--release", "4.16"); strings.Contains(out, "kube-apiserver-pod") {
		t.Errorf("4.16 has no such probe of the API server:\n%s", out)
	}
	if out := explained(t, "startupProbe", "--release", "4.17"); !strings.Contains(out, "kube-apiserver-pod") {
		t.Errorf("4.17 has one:\n%s", out)
	}
}
