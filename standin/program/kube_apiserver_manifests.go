package main

import (
	"strconv"
	"strings"
)

const (
	apiServerNamespace         = "openshift-kube-apiserver"
	apiServerOperatorNamespace = "openshift-kube-apiserver-operator"
	managedNamespace           = "openshift-config-managed"
	configNamespace            = "openshift-config"
)

func (s apiServer) render() tree {
	t := tree{
		"bootstrap-manifests/kube-apiserver-pod.yaml": {s.pod(), 0o644},
		"config": s.config(),
	}
	for name, text := range s.objects() {
		t["manifests/"+name+".yaml"] = file{text, 0o644}
	}
	for name, text := range contextConstraints() {
		t["manifests/0000_20_kube-apiserver-operator_00_"+name+".yaml"] = file{text, 0o644}
	}
	return t
}

// objects are those that hold something of tls/, and a few beside them.
func (s apiServer) objects() map[string]string {
	out := map[string]string{
		"00_openshift-kube-apiserver-ns":          namespace(apiServerNamespace),
		"00_openshift-kube-apiserver-operator-ns": namespace(apiServerOperatorNamespace),
		"cluster-role-kube-apiserver":             plain(rbac, "ClusterRole", "kube-apiserver"),
		"cluster-role-binding-kube-apiserver":     binding("kube-apiserver", "cluster-admin", "{kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:kube-apiserver'}"),
		"kube-apiserver_apirequestcounts.crd":     crd("apirequestcounts.apiserver.openshift.io", "APIRequestCount", "Cluster", usualProfile),
		"configmap-admin-kubeconfig-client-ca": configMap(configNamespace, "admin-kubeconfig-client-ca",
			map[string]string{"ca-bundle.crt": s.tls["admin-kubeconfig-ca-bundle.crt"]}),
		"configmap-kubelet-bootstrap-kubeconfig-ca": configMap(managedNamespace, "kubelet-bootstrap-kubeconfig",
			map[string]string{"ca-bundle.crt": s.tls["kubelet-bootstrap-kubeconfig-ca-bundle.crt"]}),
		"configmap-sa-token-signing-certs": configMap(managedNamespace, "sa-token-signing-certs",
			map[string]string{"service-account-001.pub": s.tls["service-account.pub"]}),
		"secret-bound-sa-token-signing-key": secret(apiServerOperatorNamespace, "next-bound-service-account-signing-key", "Opaque",
			map[string]string{"service-account.key": s.tls[boundKey+".key"], "service-account.pub": s.tls[boundKey+".pub"]}),
	}
	for name, c := range map[string]struct{ secret, signer string }{
		"secret-aggregator-client-signer":         {"aggregator-client-signer", "aggregator-signer"},
		"secret-control-plane-client-signer":      {"kube-control-plane-signer", "kube-control-plane-signer"},
		"secret-kube-apiserver-to-kubelet-signer": {"kube-apiserver-to-kubelet-signer", "kube-apiserver-to-kubelet-signer"},
		"secret-loadbalancer-serving-signer":      {"loadbalancer-serving-signer", "kube-apiserver-lb-signer"},
		"secret-localhost-serving-signer":         {"localhost-serving-signer", "kube-apiserver-localhost-signer"},
		"secret-service-network-serving-signer":   {"service-network-serving-signer", "kube-apiserver-service-network-signer"},
	} {
		out[name] = s.tls.signerSecret(name+".yaml", apiServerOperatorNamespace, c.secret, c.signer)
	}
	return out
}

// contextConstraints are the SecurityContextConstraints, the roles that allow
// their use, and two bindings.
func contextConstraints() map[string]string {
	const names = "anyuid hostaccess hostmount-anyuid hostmount-anyuid-v2 hostnetwork hostnetwork-v2 " +
		"nested-container nonroot nonroot-v2 privileged restricted restricted-v2 restricted-v3"
	out := map[string]string{"cr-scc-hostmount": plain(rbac, "ClusterRole", "system:openshift:scc:hostmount")}
	for _, name := range strings.Fields(names) {
		out["scc-"+name] = plain("security.openshift.io/v1", "SecurityContextConstraints", name)
		out["cr-scc-"+name] = plain(rbac, "ClusterRole", "system:openshift:scc:"+name)
	}
	for _, name := range []string{"restricted-v2", "restricted-v3"} {
		out["crb-systemauthenticated-scc-"+name] = binding("system:openshift:scc:"+name, "system:openshift:scc:"+name, "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:authenticated'}")
	}
	return out
}

func (s apiServer) config() file {
	secrets := "/etc/kubernetes/secrets/"
	address, network := s.listen()
	arguments := map[string]any{
		"etcd-servers":                     []string{s.etcd},
		"etcd-cafile":                      []string{secrets + s.etcdCA},
		"etcd-certfile":                    []string{secrets + "etcd-client.crt"},
		"etcd-keyfile":                     []string{secrets + "etcd-client.key"},
		"client-ca-file":                   []string{secrets + "kube-apiserver-complete-client-ca-bundle.crt"},
		"feature-gates":                    gateArguments(s.gates),
		"service-account-issuer":           []string{s.issuer},
		"service-account-key-file":         []string{secrets + "service-account.pub", secrets + boundKey + ".pub"},
		"service-account-signing-key-file": []string{secrets + boundKey + ".key"},
	}
	if s.single {
		arguments["shutdown-delay-duration"] = []string{"0s"}
	}
	return configuration(map[string]any{
		"apiVersion": "kubecontrolplane.config.openshift.io/v1", "kind": "KubeAPIServerConfig",
		"apiServerArguments": arguments,
		"servicesSubnet":     strings.Join(s.network.Spec.ServiceNetwork, ","),
		"servingInfo":        map[string]any{"bindAddress": address, "bindNetwork": network},
	})
}

func (s apiServer) pod() string {
	grace := 135
	if s.single {
		grace = 15
	}
	return strings.NewReplacer(
		"OPERATOR-IMAGE", s.operatorImage, "IMAGE", s.image, "GRACE", strconv.Itoa(grace),
	).Replace(apiServerPod)
}

const apiServerPod = `kind: Pod
apiVersion: v1
metadata:
  name: bootstrap-kube-apiserver
  namespace: openshift-kube-apiserver
  labels:
    openshift.io/control-plane: "true"
    openshift.io/component: "api"
spec:
  restartPolicy: Always
  hostNetwork: true
  terminationGracePeriodSeconds: GRACE
  initContainers:
  - name: setup
    image: IMAGE
    command: ['/bin/bash', '-ec']
    args: ['chmod 0700 /var/log/kube-apiserver']
  containers:
  - name: kube-apiserver
    image: IMAGE
    command: ["/bin/bash", "-ec"]
    args:
    - >
      hyperkube kube-apiserver
      --openshift-config=/etc/kubernetes/config/kube-apiserver-config.yaml
      --advertise-address=${HOST_IP}
    volumeMounts:
    - mountPath: /etc/kubernetes/secrets
      name: secrets
    - mountPath: /etc/kubernetes/config
      name: config
  - name: kube-apiserver-insecure-readyz
    image: OPERATOR-IMAGE
    command: ["cluster-kube-apiserver-operator", "insecure-readyz"]
    args:
    - --insecure-port=6080
    - --delegate-url=https://localhost:6443/readyz
  volumes:
  - hostPath:
      path: /etc/kubernetes/bootstrap-secrets
    name: secrets
  - hostPath:
      path: /etc/kubernetes/bootstrap-configs
    name: config
`
