package main

import (
	"encoding/base64"
	"strings"
)

func (m *machineConfig) render() tree {
	t := tree{
		"bootstrap/machineconfigoperator-bootstrap-pod.yaml":                {m.pod(), 0o644},
		"bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml": {m.controllerConfig(), 0o644},
		"bootstrap/manifests/master.machineconfigpool.yaml":                 {machineConfigPool("master"), 0o644},
		"bootstrap/manifests/worker.machineconfigpool.yaml":                 {machineConfigPool("worker"), 0o644},
		"manifests/csr-bootstrap-role-binding.yaml":                         {binding("system-bootstrap-node-bootstrapper", "system:node-bootstrapper", "{kind: ServiceAccount, name: node-bootstrapper, namespace: openshift-machine-config-operator}"), 0o644},
		"manifests/kube-apiserver-serving-ca-configmap.yaml": {configMap(configNamespace, "initial-kube-apiserver-server-ca",
			map[string]string{"ca-bundle.crt": m.kubeCA}), 0o644},
	}
	// An empty file is as good as none, and nothing is said.
	if m.pullSecret != "" {
		t["bootstrap/manifests/machineconfigcontroller-pull-secret"] = file{m.pullSecret, 0o644}
	}
	return t
}

func (m *machineConfig) controllerConfig() string {
	platform := "none"
	if status := m.infrastructure.Status.PlatformStatus; status != nil && status.Type != "" {
		platform = strings.ToLower(status.Type)
	}
	return yamlText(map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "ControllerConfig",
		"metadata": map[string]any{"name": "machine-config-controller"},
		"spec": map[string]any{
			"additionalTrustBundle":          inBase64(m.userCA),
			"baseOSContainerImage":           m.images[m.os],
			"baseOSExtensionsContainerImage": m.images[m.os+"-extensions"],
			"clusterDNSIP":                   m.clusterDNS(),
			"dns":                            m.objects["DNS"],
			"images": map[string]string{
				"infraImageKey": m.images["pod"], "haproxyImage": m.images["haproxy-router"],
				"corednsImage": m.images["coredns"], "keepalivedImage": m.images["keepalived-ipfailover"],
				"machineConfigOperator": m.images["machine-config-operator"],
			},
			"infra":                      m.objects["Infrastructure"],
			"kubeAPIServerServingCAData": inBase64(m.kubeCA),
			"networkType":                m.network.Spec.NetworkType,
			"platform":                   platform,
			"releaseImage":               m.release,
			"rootCAData":                 inBase64(m.rootCA),
		},
	})
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func machineConfigPool(name string) string {
	return plain("machineconfiguration.openshift.io/v1", "MachineConfigPool", name) + `spec:
  machineConfigSelector:
    matchLabels:
      "machineconfiguration.openshift.io/role": "` + name + `"
  nodeSelector:
    matchLabels:
      node-role.kubernetes.io/` + name + `: ""
`
}

func (m *machineConfig) pod() string {
	return strings.NewReplacer("IMAGE", m.images["machine-config-operator"], "VERSION", m.version).Replace(machineConfigPod)
}

const machineConfigPod = `apiVersion: v1
kind: Pod
metadata:
  name: bootstrap-machine-config-operator
  namespace:
spec:
  initContainers:
  - name: machine-config-controller
    image: IMAGE
    command: ["/usr/bin/machine-config-controller"]
    args:
    - "bootstrap"
    - "--manifest-dir=/etc/mcc/bootstrap"
    - "--dest-dir=/etc/mcs/bootstrap"
    - "--pull-secret=/etc/mcc/bootstrap/machineconfigcontroller-pull-secret"
    - "--payload-version=VERSION"
    volumeMounts:
    - name: bootstrap-manifests
      mountPath: /etc/mcc/bootstrap
    - name: server-basedir
      mountPath: /etc/mcs/bootstrap
  containers:
  - name: machine-config-server
    image: IMAGE
    command: ["/usr/bin/machine-config-server"]
    args:
      - "bootstrap"
      - "--payload-version=VERSION"
    volumeMounts:
    - name: server-certs
      mountPath: /etc/ssl/mcs
    - name: bootstrap-kubeconfig
      mountPath: /etc/kubernetes/kubeconfig
    - name: server-basedir
      mountPath: /etc/mcs/bootstrap
  hostNetwork: true
  restartPolicy: Always
  volumes:
  - name: server-certs
    hostPath:
      path: /etc/ssl/mcs
  - name: bootstrap-kubeconfig
    hostPath:
      path: /etc/mcs/kubeconfig
  - name: server-basedir
    hostPath:
      path: /etc/mcs/bootstrap
  - name: bootstrap-manifests
    hostPath:
      path: /etc/mcc/bootstrap
`
