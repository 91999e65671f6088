package main

import (
	"sort"
	"strings"
)

const (
	controllerNamespace         = "openshift-kube-controller-manager"
	controllerOperatorNamespace = "openshift-kube-controller-manager-operator"
)

func (m controllerManager) render() tree {
	arguments := m.arguments()
	t := tree{
		"bootstrap-manifests/kube-controller-manager-pod.yaml": {m.pod(arguments), 0o644},
		"config": configuration(map[string]any{
			"apiVersion": "kubecontrolplane.config.openshift.io/v1", "kind": "KubeControllerManagerConfig",
			"extendedArguments": arguments,
		}),
		"cpc-config": configuration(map[string]any{
			"apiVersion": "openshiftcontrolplane.config.openshift.io/v1", "kind": "OpenShiftControllerManagerConfig",
			"featureGates": gateArguments(m.gates),
		}),
	}
	for name, text := range m.objects() {
		t["manifests/"+name+".yaml"] = file{text, 0o644}
	}
	return t
}

func (m controllerManager) objects() map[string]string {
	out := map[string]string{
		"0000_00_namespace-openshift-infra":                namespace("openshift-infra"),
		"00_openshift-kube-controller-manager-ns":          namespace(controllerNamespace),
		"00_openshift-kube-controller-manager-operator-ns": namespace(controllerOperatorNamespace),
		"configmap-csr-controller-ca": configMap(managedNamespace, "csr-controller-ca",
			map[string]string{"ca-bundle.crt": m.tls["kubelet-client-ca-bundle.crt"]}),
		"secret-csr-signer-signer": m.tls.signerSecret("secret-csr-signer-signer.yaml",
			controllerOperatorNamespace, "csr-signer-signer", "kubelet-signer"),
		"secret-initial-kube-controller-manager-service-account-private-key": secret(configNamespace,
			"initial-service-account-private-key", "Opaque", map[string]string{"service-account.key": m.tls["service-account.key"]}),
	}
	for name, role := range map[string]string{
		"00_namespace-security-allocation-controller":                            "namespace-security-allocation-controller",
		"00_podsecurity-admission-label-syncer-controller":                       "podsecurity-admission-label-syncer-controller",
		"00_podsecurity-admission-label-privileged-namespaces-syncer-controller": "privileged-namespaces-psa-label-syncer",
	} {
		out[name+"-clusterrole"] = plain(rbac, "ClusterRole", "system:openshift:controller:"+role)
		out[name+"-clusterrolebinding"] = binding("system:openshift:controller:"+role, "system:openshift:controller:"+role, "")
	}
	return out
}

// arguments are the controller manager's settings. It reads them from its
// command line, and the file holds them all the same.
func (m controllerManager) arguments() map[string][]string {
	secrets := "/etc/kubernetes/secrets/"
	return map[string][]string{
		"cluster-cidr":                     {strings.Join(m.network.clusterNetworks(), ",")},
		"service-cluster-ip-range":         {strings.Join(m.network.Spec.ServiceNetwork, ",")},
		"cluster-signing-cert-file":        {secrets + "kubelet-signer.crt"},
		"cluster-signing-key-file":         {secrets + "kubelet-signer.key"},
		"root-ca-file":                     {secrets + "kube-apiserver-complete-server-ca-bundle.crt"},
		"service-account-private-key-file": {secrets + "service-account.key"},
		"feature-gates":                    gateArguments(m.gates),
	}
}

func (m controllerManager) pod(arguments map[string][]string) string {
	var lines []string
	for name, values := range arguments {
		for _, value := range values {
			lines = append(lines, "    - --"+name+"="+value+"\n")
		}
	}
	sort.Strings(lines)
	return strings.NewReplacer(
		"POLICY-IMAGE", m.policyImage, "IMAGE", m.image, "    ARGUMENTS\n", strings.Join(lines, ""),
	).Replace(controllerManagerPod)
}

const controllerManagerPod = `kind: Pod
apiVersion: v1
metadata:
  name: bootstrap-kube-controller-manager
  namespace: kube-system
  labels:
    openshift.io/control-plane: "true"
    openshift.io/component: "controller-manager"
spec:
  restartPolicy: Always
  hostNetwork: true
  containers:
  - name: kube-controller-manager
    image: 'IMAGE'
    command: ["hyperkube", "kube-controller-manager"]
    args:
    - --openshift-config=/etc/kubernetes/config/kube-controller-manager-config.yaml
    - --kubeconfig=/etc/kubernetes/secrets/kubeconfig
    ARGUMENTS
    volumeMounts:
    - mountPath: /etc/kubernetes/secrets
      name: secrets
    - mountPath: /etc/kubernetes/config
      name: config
  - name: cluster-policy-controller
    image: 'POLICY-IMAGE'
    command: ["cluster-policy-controller", "start"]
    args:
    - --config=/etc/kubernetes/config/cluster-policy-controller-config.yaml
    - --kubeconfig=/etc/kubernetes/secrets/kubeconfig
    volumeMounts:
    - mountPath: /etc/kubernetes/secrets
      name: secrets
    - mountPath: /etc/kubernetes/config
      name: config
  volumes:
  - hostPath:
      path: '/etc/kubernetes/bootstrap-secrets'
    name: secrets
  - hostPath:
      path: '/etc/kubernetes/bootstrap-configs'
    name: config
`
