package main

import (
	"regexp"
	"strings"

	"bootlab/standin/role"
)

// etcdOperator is the cluster-etcd-operator.
var etcdOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{"asset-output-dir", "etcd-image", "cluster-configmap-file", "infra-config-file", "network-config-file"},
			do:       renderEtcd,
		},
		// The operator opens what it is given, and says itself what is wrong with it.
		"wait-for-ceo": {do: waitForEtcd},
	},
	// no-templates: the image holds the command alone, and says so.
	faults: append(keys(etcdFaults), "no-templates"),
}

// member is what the files of an etcd member are made of.
type member struct {
	host, address, image string
	listen               string // the wildcard address of the member's family
}

func renderEtcd(inv *invocation) {
	config := readInstallConfig(inv.flags["cluster-configmap-file"])
	network := readObject(inv.flags["network-config-file"], "network", "Network")
	infrastructure := readObject(inv.flags["infra-config-file"], "infrastructure", "Infrastructure")
	m := member{host: hostName(), image: inv.flags["etcd-image"]}
	machines := config.machineNetwork()
	m.address, m.listen = bootstrapAddress(machines, serviceFamily(network), inv.role.Offline)
	if config.ControlPlane == nil {
		klogFatal("unrecognized data structure in controlPlane field")
	}
	// The operator does not ask whether it is there, and dies of it.
	platformStatus := infrastructure.Status.PlatformStatus
	klogInfo("platform %s, bootstrapping etcd on %s", platformStatus.Type, m.address)

	faults := role.Faults()
	if faults["no-templates"] {
		klogFatal("failed rendering assets: lstat /usr/share/bootkube/manifests/bootstrap-manifests: no such file or directory")
	}
	t := m.render(faults["expired"])
	t.damage(etcdFaults)
	t.write(inv.flags["asset-output-dir"], 0o755)
}

// render makes new authorities and everything that hangs on them. The pod
// manifest knows nothing of them, so it is the same in every render.
func (m member) render(expired bool) tree {
	c := m.certificates(expired)
	resources := "etc-kubernetes/static-pod-resources/etcd-member/"
	t := tree{
		"etc-kubernetes/manifests/etcd-member-pod.yaml": {m.pod(), 0o644},
		resources + "ca.crt":                            {c.signer.certificate, 0o600},
		"tls/etcd-ca-bundle.crt":                        {c.signer.certificate, 0o600},
		"tls/etcd-client.crt":                           {c.client.certificate, 0o600},
		"tls/etcd-client.key":                           {c.client.key, 0o600},
		"manifests/00_openshift-etcd-ns.yaml":           {namespace(etcdNamespace), 0o644},
		"manifests/00_etcd-endpoints-cm.yaml":           {m.endpoints(), 0o644},
		"manifests/openshift-etcd-svc.yaml":             {etcdService, 0o644},
	}
	for name, pair := range c.byName(m.host) {
		t[resources+"etcd-all-certs/"+name+".crt"] = file{pair.certificate, 0o600}
		t[resources+"etcd-all-certs/"+name+".key"] = file{pair.key, 0o600}
		t["manifests/openshift-etcd-"+name+".yaml"] = file{tlsSecret(etcdNamespace, name, pair), 0o644}
	}
	for name, data := range map[string]map[string]string{
		"etcd-ca-bundle":         {"ca-bundle.crt": c.signer.certificate},
		"etcd-metrics-ca-bundle": {"ca-bundle.crt": c.metricSigner.certificate},
		"etcd-all-bundles":       {"server-ca-bundle.crt": c.signer.certificate, "metrics-ca-bundle.crt": c.metricSigner.certificate},
	} {
		t["manifests/openshift-etcd-"+name+".yaml"] = file{configMap(etcdNamespace, name, data), 0o644}
	}
	t["manifests/openshift-etcd-etcd-all-certs.yaml"] = file{m.allCertificates(c), 0o644}
	return t
}

// etcdFaults are renders that report success and are broken.
var etcdFaults = map[string]func(tree){
	"empty-image":   func(t tree) { t.replace("etcd-member-pod.yaml", "image: .*", "image: ") },
	"other-image":   func(t tree) { t.replace("etcd-member-pod.yaml", "image: .*", "image: quay.io/other/etcd:1") },
	"other-name":    func(t tree) { t.replace("etcd-member-pod.yaml", "name: etcd-bootstrap-member", "name: etcd") },
	"no-pod":        func(t tree) { t.remove("etcd-member-pod.yaml") },
	"no-ca":         func(t tree) { t.remove("tls/etcd-ca-bundle.crt") },
	"empty-ca":      func(t tree) { t["tls/etcd-ca-bundle.crt"] = file{"", 0o600} },
	"no-client-key": func(t tree) { t.remove("tls/etcd-client.key") },
	"foreign-client": func(t tree) {
		foreign := member{host: "elsewhere", address: "127.0.0.1"}.certificates(false)
		t["tls/etcd-client.crt"] = file{foreign.client.certificate, 0o600}
		t["tls/etcd-client.key"] = file{foreign.client.key, 0o600}
	},
	"other-client-key": func(t tree) {
		t["tls/etcd-client.key"] = t.find("etcd-metric-client.key")
	},
	"no-peer":      func(t tree) { t.remove("etcd-all-certs/etcd-peer-") },
	"no-serving":   func(t tree) { t.remove("etcd-all-certs/etcd-serving-") },
	"no-manifests": func(t tree) { t.remove("manifests/openshift-etcd"); t.remove("manifests/00_") },
	// The certificates are made with it, see render.
	"expired": func(tree) {},
}

// damage applies the faults that the image was built with.
func (t tree) damage(faults map[string]func(tree)) {
	for name, damage := range faults {
		if role.Faults()[name] {
			damage(t)
		}
	}
}

// remove drops the files whose path contains the text.
func (t tree) remove(part string) {
	for path := range t {
		if strings.Contains(path, part) {
			delete(t, path)
		}
	}
}

func (t tree) replace(part, pattern, by string) {
	for path, f := range t {
		if strings.Contains(path, part) {
			t[path] = file{regexp.MustCompile(pattern).ReplaceAllString(f.data, by), f.mode}
		}
	}
}

func (t tree) find(part string) file {
	for path, f := range t {
		if strings.Contains(path, part) {
			return f
		}
	}
	refuse("the fault looks for %s", part)
	return file{}
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}
