package main

// kubeControllerManagerOperator is the cluster-kube-controller-manager-operator.
var kubeControllerManagerOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{"manifest-image", "asset-input-dir", "asset-output-dir", "config-output-file", "cpc-config-output-file"},
			free:     []string{"rendered-manifest-files"},
			do:       renderKubeControllerManager,
		},
	},
	faults: keys(kubeControllerManagerFaults),
}

// controllerManager is what the files of the bootstrap controller manager are
// made of.
type controllerManager struct {
	image, policyImage string
	network            *configObject
	gates              []string
	tls                inputs
}

func renderKubeControllerManager(inv *invocation) {
	manifests := readManifests(inv.flags["rendered-manifest-files"])
	m := controllerManager{image: inv.flags["manifest-image"], policyImage: inv.flags["cluster-policy-controller-image"]}
	m.network = readNetworks(inv.flags["cluster-config-file"])
	m.gates = manifests.featureGates(inv.flags["payload-version"])
	inv.requireValue("rendered-manifest-files", "/assets/manifests")
	m.tls = loadInputs(inv.flags["asset-input-dir"])
	needKubeconfig(inv.flags["asset-input-dir"])
	t := m.render()
	t.damage(kubeControllerManagerFaults)
	t.write(inv.flags["asset-output-dir"], 0o755)
}

// kubeControllerManagerFaults are renders that report success and are broken.
var kubeControllerManagerFaults = joined(
	podFaults("kube-controller-manager-pod.yaml"),
	map[string]func(tree){
		"other-name":       renamed("kube-controller-manager-pod.yaml"),
		"no-config":        func(t tree) { delete(t, "config") },
		"no-cpc-config":    func(t tree) { delete(t, "cpc-config") },
		"no-manifests":     withoutManifests,
		"empty-signer":     emptied("secret-csr-signer-signer", "tls.crt"),
		"empty-signer-key": emptied("secret-csr-signer-signer", "tls.key"),
		"empty-token-key":  emptied("service-account-private-key", "service-account.key"),
		"empty-ca":         unfilled("configmap-csr-controller-ca"),
	},
)
