package main

import (
	"os"
	"path/filepath"
	"strings"

	"bootlab/standin/role"
)

// kubeSchedulerOperator is the cluster-kube-scheduler-operator.
var kubeSchedulerOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{"manifest-image", "asset-input-dir", "asset-output-dir", "config-output-file"},
			free:     []string{"config-output-file"},
			do:       renderKubeScheduler,
		},
	},
	// no-templates: the image holds the command alone, and says so.
	faults: append(keys(kubeSchedulerFaults), "no-templates"),
}

// renderKubeScheduler reads tls/ and auth/kubeconfig and uses neither.
func renderKubeScheduler(inv *invocation) {
	if role.Faults()["no-templates"] {
		panic(`Failed to load "/usr/share/bootkube/manifests/config/bootstrap-config-overrides.yaml": no such file or directory`)
	}
	loadInputs(inv.flags["asset-input-dir"])
	needKubeconfig(inv.flags["asset-input-dir"])
	judgeConfigFile(inv)
	t := tree{
		"bootstrap-manifests/kube-scheduler-pod.yaml":   {strings.ReplaceAll(schedulerPod, "IMAGE", inv.flags["manifest-image"]), 0o644},
		"manifests/00_openshift-kube-scheduler-ns.yaml": {namespace("openshift-kube-scheduler"), 0o644},
		"config": configuration(map[string]any{
			"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
			"leaderElection": map[string]any{"leaderElect": true, "resourceNamespace": "openshift-kube-scheduler"},
		}),
	}
	t.damage(kubeSchedulerFaults)
	t.write(inv.flags["asset-output-dir"], 0o755)
}

// judgeConfigFile wants a directory for the configuration, and makes none but
// that of the other files.
func judgeConfigFile(inv *invocation) {
	name, dir := inv.flags["config-output-file"], inv.flags["asset-output-dir"]
	if _, err := os.Stat(filepath.Dir(name)); err != nil && filepath.Dir(name) != dir {
		klogFatal("failed to write merged config to %q: open %s: no such file or directory", name, name)
	}
	inv.requireValue("config-output-file", dir+"/config")
}

// kubeSchedulerFaults are renders that report success and are broken.
var kubeSchedulerFaults = joined(
	podFaults("kube-scheduler-pod.yaml"),
	map[string]func(tree){
		"other-name":   renamed("kube-scheduler-pod.yaml"),
		"no-config":    func(t tree) { delete(t, "config") },
		"no-namespace": func(t tree) { t.remove("00_openshift-kube-scheduler-ns") },
	},
)

const schedulerPod = `apiVersion: v1
kind: Pod
metadata:
  name: bootstrap-kube-scheduler
  namespace: kube-system
  labels:
    openshift.io/control-plane: "true"
    openshift.io/component: "scheduler"
spec:
  hostNetwork: true
  containers:
  - name: kube-scheduler
    image: 'IMAGE'
    command: ["hyperkube", "kube-scheduler"]
    args:
    - --kubeconfig=/etc/kubernetes/secrets/kubeconfig
    - --leader-elect=true
    volumeMounts:
    - mountPath: /etc/kubernetes/secrets
      name: secrets
    - mountPath: /var/log/bootstrap-control-plane
      name: logs
  volumes:
  - hostPath:
      path: '/etc/kubernetes/bootstrap-secrets'
    name: secrets
  - hostPath:
      path: /var/log/bootstrap-control-plane
    name: logs
`
