package main

import (
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"

	"bootlab/standin/role"
)

// kubeAPIServerOperator is the cluster-kube-apiserver-operator.
var kubeAPIServerOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{
				"manifest-image", "asset-input-dir", "asset-output-dir", "config-output-file", "manifest-operator-image",
			},
			free: []string{"rendered-manifest-files", "operand-kubernetes-version"},
			do:   renderKubeAPIServer,
		},
	},
	// foreign-bound-key: the two halves that it makes do not belong together.
	faults: append(keys(kubeAPIServerFaults), "foreign-bound-key"),
}

// apiServer is what the files of the bootstrap API server are made of.
type apiServer struct {
	image, operatorImage string
	etcd, etcdCA         string
	network              *configObject
	gates                []string
	issuer               string
	single               bool // a single replica of the control plane
	tls                  inputs
}

func renderKubeAPIServer(inv *invocation) {
	tls := inv.flags["asset-input-dir"]
	manifests := readManifests(inv.flags["rendered-manifest-files"])
	judgeBoundKey(tls)
	judgeKubernetesVersion(inv)
	s := apiServer{
		image: inv.flags["manifest-image"], operatorImage: inv.flags["manifest-operator-image"],
		etcd: inv.flags["manifest-etcd-server-urls"], etcdCA: inv.flags["manifest-etcd-serving-ca"],
		gates: manifests.featureGates(inv.flags["payload-version"]),
	}
	inv.requireValue("rendered-manifest-files", "/assets/manifests")
	s.network = readNetworks(inv.flags["cluster-config-file"])
	s.issuer = tokenIssuer(inv.flags["cluster-auth-file"], manifests)
	makeBoundKey(tls)
	infrastructure := readObject(inv.flags["infra-config-file"], "infrastructure", "Infrastructure")
	s.single = infrastructure.Status.ControlPlaneTopology == "SingleReplica"
	s.tls = loadInputs(tls)
	t := s.render()
	t.damage(kubeAPIServerFaults)
	t.write(inv.flags["asset-output-dir"], 0o755)
}

// judgeKubernetesVersion wants x.y.z where the release has the flag.
func judgeKubernetesVersion(inv *invocation) {
	const flag = "operand-kubernetes-version"
	version, known := inv.flags[flag]
	if !known {
		return
	}
	if version == "" {
		klogFatal("missing operand kubernetes version: --%s", flag)
	}
	switch major, _, _ := strings.Cut(version, "."); {
	case strings.Count(version, ".") < 2:
		klogFatal("could not parse --%s: No Major.Minor.Patch elements found", flag)
	case strings.Trim(major, "0123456789") != "":
		klogFatal("could not parse --%s: Invalid character(s) found in major number %q", flag, major)
	}
	inv.requireValue(flag, inv.role.Kubernetes)
}

const boundKey = "bound-service-account-signing-key"

// judgeBoundKey refuses half a pair.
func judgeBoundKey(dir string) {
	path := filepath.Join(dir, boundKey)
	_, noKey := os.Stat(path + ".key")
	_, noPublicKey := os.Stat(path + ".pub")
	switch {
	case noKey == nil && noPublicKey != nil:
		klogFatal("%s.key was supplied, but the matching public key is missing", path)
	case noKey != nil && noPublicKey == nil:
		klogFatal("%s.pub was supplied, but the matching private key is missing", path)
	}
}

// makeBoundKey makes the pair where there is none. The operator's has 4096
// bits, for which a test has no time.
func makeBoundKey(dir string) {
	path := filepath.Join(dir, boundKey)
	if _, err := os.Stat(path + ".key"); err == nil {
		return
	}
	key := newKey()
	private := encodeKey(key)
	if role.Faults()["foreign-bound-key"] {
		key = newKey()
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(err)
	must(os.WriteFile(path+".key", []byte(marked(private)), 0o600))
	must(os.WriteFile(path+".pub", []byte(marked(encodePEM("RSA PUBLIC KEY", public))), 0o644))
}

// tokenIssuer is the user's issuer of service account tokens, of the file or,
// without it, of an Authentication among the manifests.
func tokenIssuer(name string, manifests renderedManifests) string {
	object := manifest{}
	data, err := os.ReadFile(name)
	switch found := manifests.ofKind("config.openshift.io", "Authentication"); {
	case err == nil && len(data) > 0:
		object = newManifest(name, data)
	case err != nil && !os.IsNotExist(err):
		klogFatal("failed to load authentication config: %v", err)
	case len(found) > 0:
		object = found[0]
	}
	spec, _ := object.object["spec"].(map[string]any)
	if issuer := text(spec["serviceAccountIssuer"]); issuer != "" {
		return issuer
	}
	return "https://kubernetes.default.svc"
}

// listen is where the server listens: on both families where the cluster's
// networks are of both.
func (s apiServer) listen() (address, network string) {
	networks := s.network.clusterNetworks()
	if len(networks) > 1 {
		return "[::]:6443", "tcp"
	}
	if len(networks) == 1 {
		ip, _, err := net.ParseCIDR(networks[0])
		if err != nil {
			klogFatal("invalid cluster CIDR %q: %v", networks[0], err)
		}
		if ip.To4() == nil {
			return "[::]:6443", "tcp6"
		}
	}
	return "0.0.0.0:6443", "tcp4"
}

// kubeAPIServerFaults are renders that report success and are broken.
var kubeAPIServerFaults = joined(
	podFaults("kube-apiserver-pod.yaml"),
	map[string]func(tree){
		"other-name":       renamed("kube-apiserver-pod.yaml"),
		"no-config":        func(t tree) { delete(t, "config") },
		"no-manifests":     withoutManifests,
		"empty-signer":     emptied("secret-loadbalancer-serving-signer", "tls.crt"),
		"empty-signer-key": emptied("secret-aggregator-client-signer", "tls.key"),
		"empty-ca":         unfilled("configmap-admin-kubeconfig-client-ca"),
		"empty-public-key": unfilled("configmap-sa-token-signing-certs"),
	},
)
