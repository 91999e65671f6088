package diagram

import (
	"fmt"
	"strings"
)

// A signer is a root and what it has signed.
type signer struct {
	name, life string
	leaves     []leaf
}

type leaf struct{ name, life string }

// signers are the roots that openshift-install makes and what they sign.
// Source: openshift/installer pkg/asset/tls, platform none.
var signers = []signer{
	{"root-ca", "10 years", []leaf{{"machine-config-server", "10 years"}, {"journal-gatewayd", "10 years"}}},
	{"kube-apiserver-lb-signer", "10 years", []leaf{{"kube-apiserver-lb-server", "24 hours"}, {"kube-apiserver-internal-lb-server", "24 hours"}}},
	{"kube-apiserver-localhost-signer", "10 years", []leaf{{"kube-apiserver-localhost-server", "24 hours"}}},
	{"kube-apiserver-service-network-signer", "10 years", []leaf{{"kube-apiserver-service-network-server", "24 hours"}}},
	{"admin-kubeconfig-signer", "10 years", []leaf{{"admin-kubeconfig-client", "10 years"}}},
	{"kubelet-bootstrap-kubeconfig-signer", "10 years", []leaf{{"kubelet-client", "10 years"}}},
	{"kubelet-signer", "24 hours", nil},
	{"kube-control-plane-signer", "1 year", []leaf{{"kube-control-plane-kube-controller-manager-client", "1 year"}, {"kube-control-plane-kube-scheduler-client", "1 year"}}},
	{"kube-apiserver-to-kubelet-signer", "1 year", []leaf{{"kube-apiserver-to-kubelet-client", "1 year"}}},
	{"aggregator-ca", "24 hours", []leaf{{"apiserver-proxy", "24 hours"}}},
	{"aggregator-signer", "24 hours", []leaf{{"aggregator-client", "24 hours"}}},
}

// certificates is who signs what, for how long, and which client trusts which CA.
func certificates(v *view) drawing {
	g := &grid{widths: []int{322, 544}, gaps: []int{46}, rowGap: 12, across: true, even: true}
	g.name, g.title = "certificates", "Who signs what, and for how long"
	row, all := 0, []*box(nil)
	var told []string
	for i, s := range signers {
		row = v.family(g, row, i, s, &all)
		told = append(told, s.tell())
	}
	g.panel("installer", "Made by openshift-install, in tls/ and bootstrap.ign", 0, all...)
	row = v.etcdFamily(g, row)
	v.bundles(g, row)
	g.description = fmt.Sprintf("%d roots are made by openshift-install: %s. The etcd operator makes etcd's own roots when it renders. What lives 24 hours is replaced by the cluster's operators within the first day.", len(signers), strings.Join(told, "; "))
	return g
}

func (s signer) tell() string {
	var names []string
	for _, l := range s.leaves {
		names = append(names, l.name+" ("+l.life+")")
	}
	if len(names) == 0 {
		names = append(names, "the certificates that nodes ask for")
	}
	return fmt.Sprintf("%s (%s) signs %s", s.name, s.life, strings.Join(names, " and "))
}

// why is what the maker of tls/ says of a file in it.
func (v *view) why(name string) string {
	if s := v.Maker("tls/"); s != nil {
		for _, o := range s.Outputs {
			if o.Path != "tls/" && o.Covers("tls/"+name+".crt") {
				return o.Why
			}
		}
	}
	return ""
}

// family draws a root and what it signs, and returns the row below.
func (v *view) family(g *grid, row, i int, s signer, all *[]*box) int {
	rows := max(len(s.leaves), 1)
	root := g.box(fmt.Sprintf("root%d", i), lifeKind(s.life), row, 0, s.name).span(rows, 1).say("signer, " + s.life)
	*all = append(*all, root)
	for j, l := range s.leaves {
		b := g.box(fmt.Sprintf("leaf%d_%d", i, j), lifeKind(l.life), row+j, 1, l.name+", "+l.life).say(v.why(l.name))
		*all = append(*all, b)
		g.arrow(root, b, "")
	}
	if len(s.leaves) == 0 {
		b := g.box(fmt.Sprintf("leaf%d", i), faint, row, 1, "certificates of nodes, by CSR").
			say("signed by the controller manager of the bootstrap node; they end no later than their signer")
		*all = append(*all, b)
		g.arrow(root, b, "").dashed = true
	}
	return row + rows
}

// lifeKind makes the short lives stand out; the words beside say the same.
func lifeKind(life string) string {
	if life == "24 hours" {
		return bootstrap
	}
	return plain
}

// etcdFamily draws what the etcd operator makes. Its signers live 10 years up to
// 4.15 and 5 since, its leaves 3 years up to 4.19 and 5 since, but for client
// certificates, which live 10 years up to 4.15.
// Source: openshift/cluster-etcd-operator, constants of the releases.
func (v *view) etcdFamily(g *grid, row int) int {
	life, leaves, clients := "10 years", "3 years", "10 years"
	if v.since("4.16") {
		life, clients = "5 years", "3 years"
	}
	if v.since("4.20") {
		leaves, clients = "5 years", "5 years"
	}
	root := g.box("etcdroot", cluster, row, 0, "etcd signer").span(2, 1).say("signer, " + life)
	server := g.box("etcdserver", cluster, row, 1, "serving, peer and serving-metrics of the host, "+leaves).say("shown by the member; servers and clients at once, for members check one another")
	client := g.box("etcdclient", cluster, row+1, 1, "etcd-client, "+clients).say("shown by the API server to etcd; in tls/ it lies beside etcd-ca-bundle.crt")
	metrics := g.box("etcdmetrics", cluster, row+2, 0, "etcd metric signer").say("signer, " + life)
	scraper := g.box("etcdscraper", cluster, row+2, 1, "metric client, "+clients).say("for who reads the member's metrics")
	g.arrow(root, server, "")
	g.arrow(root, client, "")
	g.arrow(metrics, scraper, "")
	g.panel("etcd", "Made by the etcd operator, in stage render-etcd", 0, root, server, client, metrics, scraper)
	return row + 3
}

// bundles draws the bundles: which client trusts which CA.
func (v *view) bundles(g *grid, row int) {
	var all []*box
	for i, b := range []struct{ name, members, who, as string }{
		{"kube-apiserver-complete-server-ca-bundle", "localhost, service-network and lb signers", "kubeconfigs", "which CAs to trust for the API"},
		{"kube-apiserver-complete-client-ca-bundle", "admin-kubeconfig, kubelet, kube-control-plane, apiserver-to-kubelet and kubelet-bootstrap signers", "API server, kubelets", "who may log in"},
		{"kube-control-plane-ca-bundle", "control-plane, lb, localhost and service-network signers", "cluster-policy-controller", "on the bootstrap node"},
		{"root-ca", "itself", "booting machines", "which CA to trust for the Machine Config Server"},
	} {
		who := g.box(fmt.Sprintf("by%d", i), master, row+i, 0, b.who).say(b.as)
		bundle := g.box(fmt.Sprintf("bundle%d", i), plain, row+i, 1, b.name).say(b.members)
		g.arrow(who, bundle, "").dashed = true
		all = append(all, who, bundle)
	}
	g.panel("trust", "Which client trusts which CA bundle", 0, all...)
}
