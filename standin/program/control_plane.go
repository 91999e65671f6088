package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The renders of the API server, the controller manager and the scheduler are
// built alike: they read all of tls/, fill templates with it and write a static
// pod, objects and a configuration.

// inputs are the files of tls/ by name. One that is missing is as good as an
// empty one, as in the operators' templates.
type inputs map[string]string

func loadInputs(dir string) inputs {
	in := inputs{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		in[name] = string(data)
		return err
	})
	if err != nil {
		klogFatal("failed loading assets from %q: %v", dir, err)
	}
	return in
}

// needKubeconfig looks for auth/kubeconfig beside tls/, and names the path
// inside the pod to be when it is not there.
func needKubeconfig(dir string) {
	if _, err := os.ReadFile(filepath.Join(dir, "..", "auth", "kubeconfig")); err != nil {
		klogFatal("failed to read /etc/kubernetes/bootstrap-secrets/kubeconfig: %v", err)
	}
}

// signerSecret is the Secret of one of the installer's signers. Its template
// puts the signer's dates beside it, and dies of a certificate without any.
func (in inputs) signerSecret(template, namespace, name, signer string) string {
	p := pair{in[signer+".crt"], in[signer+".key"]}
	dates := map[string]string{"not-before": "", "not-after": "", "issuer": ""}
	if p.certificate != "" {
		c := firstCertificate(template, p.certificate)
		dates["not-before"], dates["not-after"] = c.NotBefore.Format(time.RFC3339), c.NotAfter.Format(time.RFC3339)
		dates["issuer"] = c.Issuer.CommonName
	}
	notes := ""
	for _, key := range sortedKeys(dates) {
		notes += fmt.Sprintf("    auth.openshift.io/certificate-%s: %q\n", key, dates[key])
	}
	return strings.Replace(tlsSecret(namespace, name, p), "metadata:\n", "metadata:\n  annotations:\n"+notes, 1)
}

func firstCertificate(template, text string) *x509.Certificate {
	block, _ := pem.Decode([]byte(text))
	if block != nil {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return c
		}
	}
	klogFatal("failed rendering assets: failed to render %[1]q: template: %[1]s:7:54: executing %[1]q at <notBefore>: "+
		"error calling notBefore: data does not contain any valid RSA or ECDSA certificates", template)
	return nil
}

// readNetworks reads the Network object, whose file the operators name without
// saying what they wanted of it.
func readNetworks(name string) *configObject {
	if _, err := os.ReadFile(name); err != nil {
		klogFatal("%v", err)
	}
	return readObject(name, "network", "Network")
}

func (o *configObject) clusterNetworks() []string {
	var networks []string
	for _, n := range o.Spec.ClusterNetwork {
		networks = append(networks, n.CIDR)
	}
	return networks
}

// gateArguments are the gates as arguments name them.
func gateArguments(enabled []string) []string {
	arguments := []string{}
	for _, name := range enabled {
		arguments = append(arguments, name+"=true")
	}
	return arguments
}

// configuration is a file of settings.
func configuration(values map[string]any) file {
	return file{yamlText(values), 0o644}
}

func yamlText(value any) string {
	data, err := yaml.Marshal(value)
	must(err)
	return string(data)
}

// plain is an object that nothing looks into.
func plain(apiVersion, kind, name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", apiVersion, kind, name)
}

// binding is a ClusterRoleBinding of a role, without which an API server takes
// none, for subjects in one line of YAML.
func binding(name, role, subjects string) string {
	return plain(rbac, "ClusterRoleBinding", name) +
		fmt.Sprintf("roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: %s\nsubjects: [%s]\n", role, subjects)
}

const rbac = "rbac.authorization.k8s.io/v1"

// requireValue refuses a value other than bootkube.sh's of a flag that the operator was
// free to judge before.
func (inv *invocation) requireValue(flag, value string) {
	if inv.flags[flag] != value {
		refuse("bootkube.sh of %s gives --%s=%s, not %s", inv.role.Release, flag, value, inv.flags[flag])
	}
}

// podFaults are the silent faults of a render that has a static pod.
func podFaults(pod string) map[string]func(tree) {
	return map[string]func(tree){
		"empty-image": func(t tree) { t.replace(pod, "image: .*", "image: ''") },
		"other-image": func(t tree) { t.replace(pod, "image: .*", "image: "+otherImage) },
		"no-pod":      func(t tree) { t.remove(pod) },
	}
}

// renamed gives the bootstrap pod in a file another name.
func renamed(pod string) func(tree) {
	return func(t tree) { t.replace(pod, "  name: bootstrap-.*", "  name: another") }
}

// withoutManifests leaves nothing for the API.
func withoutManifests(t tree) {
	for path := range t {
		if strings.HasPrefix(path, "manifests/") {
			delete(t, path)
		}
	}
}

// joined puts faults together.
func joined(all ...map[string]func(tree)) map[string]func(tree) {
	out := map[string]func(tree){}
	for _, faults := range all {
		maps.Copy(out, faults)
	}
	return out
}

// emptied leaves out the value of a key in the files whose path contains part.
func emptied(part, key string) func(tree) {
	return func(t tree) { t.replace(part, "(?m)^( *"+regexp.QuoteMeta(key)+":) .*", "$1") }
}

// unfilled leaves out the PEM text in them.
func unfilled(part string) func(tree) {
	return func(t tree) { t.replace(part, "(?s)-----BEGIN .*-----END [A-Z ]*-----", "") }
}
