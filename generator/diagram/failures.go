package diagram

import (
	"fmt"
	"strings"

	"bootlab/labs"
)

// A question of the failure tree: asked in this order, and what to look at when
// the answer is no.
type question struct {
	ask, how string
	title    string
	say      []string
	code     []string
}

// failures is what to look at when a bootstrap does not get on, from top to
// bottom; the first no is the trouble, what is below follows from it.
// Sources: openshift/installer data/data/bootstrap; the failures of the stages.
func failures(v *view) drawing {
	g := &grid{widths: []int{366, 468}, gaps: []int{78}, rowGap: 44}
	g.name, g.title = "failures", "What to look at when the bootstrap of "+v.domain+" does not get on"
	all := append(v.nodeQuestions(), v.bootkubeQuestions()...)
	if !v.alone() {
		all = append(all, v.masterQuestions()...)
	}
	var last *box
	var told []string
	for i, q := range all {
		ask := g.box(fmt.Sprintf("q%d", i+1), cluster, i, 0, fmt.Sprintf("%d. %s", i+1, q.ask))
		if q.how != "" {
			ask.code(q.how)
		}
		look := g.box(fmt.Sprintf("look%d", i+1), trouble, i, 1, q.title).say(q.say...).code(q.code...)
		if last != nil {
			g.arrow(last, ask, "yes")
		}
		g.arrow(ask, look, "no")
		last = ask
		told = append(told, fmt.Sprintf("%s If not: %s", q.ask, q.title))
	}
	end := g.box("done", master, len(all), 0, "The bootstrap is done").say("What is left is the business of operators: oc get clusteroperators.")
	if v.alone() {
		end.title = "That is as far as it goes"
		end.lines = nil
		end.say("without masters: after 20 minutes start-bootstrap fails by design.")
	}
	g.arrow(last, end, "yes")
	g.description = "Questions from top to bottom; the first no is the trouble. " + strings.Join(told, ". ") + "."
	return g
}

func (v *view) nodeQuestions() []question {
	all := []question{
		{"Does the bootstrap node answer?", "ssh core@" + v.node.Address, "Ignition or the network of the machine",
			[]string{"Look at the machine's console for Ignition's error and for an address. Once inside, work as root: sudo -i."}, nil},
	}
	if v.since("4.19") {
		all = append(all, question{"Is the release's operating system there?", "command -v oc kubelet", "node-image-pull.service",
			[]string{"It pulls the release first: registry, mirror, pull secret, DNS or the clock. It tries for ever; before it is done there is neither oc nor kubelet."}, []string{"journalctl -b -u node-image-pull"}})
	}
	all = append(all, question{"Is the release image pulled?", "systemctl status release-image", "release-image.service",
		[]string{"Registry, mirror, pull secret, DNS or the clock; it tries without limit."}, []string{"journalctl -b -u release-image"}})
	if v.okd() && !v.since("4.19") {
		all = append(all, question{"Is the operating system changed?", "", "release-image-pivot.service",
			[]string{"OKD brings the release's operating system here; bootkube waits for it."}, []string{"journalctl -b -u release-image-pivot"}})
	}
	return append(all, question{"Does the kubelet run?", "systemctl status crio kubelet", "CRI-O and kubelet",
		[]string{"Static pods start only with both. The kubelet has no kubeconfig here; that is right."}, []string{"journalctl -b -u crio-configure -u crio -u kubelet"}})
}

func (v *view) bootkubeQuestions() []question {
	return []question{
		{"Did every render end?", "ls " + labs.AssetDir + "/*.done", "The stage without its marker",
			[]string{"bootkube.sh starts again after 5 seconds and stops at the same place."}, []string{"journalctl -b -u bootkube", "/var/log/openshift/bootkube.json"}},
		{"Is etcd healthy?", "crictl exec $(crictl ps --name etcdctl -q) etcdctl endpoint health", "etcd's container",
			[]string{"Certificates of another render, a slow disk, a wrong address."}, []string{"crictl ps -a --name etcd", "crictl logs ID"}},
		{"Does the API answer?", "curl -k https://localhost:6443/readyz", "kube-apiserver's container",
			[]string{"Etcd of another render, a foreign process on 6443. An expired certificate does not show with -k."}, []string{"crictl ps -a --name kube-apiserver", "crictl logs ID"}},
		{"Is it reached by its names?", "dig +short api-int." + v.domain, "DNS and load balancer on " + v.gateway,
			[]string{"api and api-int must lead to the balancer; 6443 and 22623 to those who answer."}, nil},
	}
}

func (v *view) masterQuestions() []question {
	minutes := "20 minutes after the API answers cluster-bootstrap gives up."
	all := []question{
		{"Did the masters get their Ignition?", "curl -H 'Accept: application/vnd.coreos.ignition+json;version=3.2.0' http://localhost:22624/config/master",
			"The masters' consoles, the Machine Config Server", []string{"On the console: unknown authority, refused, or no name for api-int. The server tells the reason only in its log."}, []string{"crictl ps -a --name machine-config", "crictl logs ID"}},
		{"Are there nodes?", "oc get nodes", "Certificate requests",
			[]string{"Two for each master: client first, then serving. " + minutes}, []string{"oc get csr"}},
		{"Do masters run the control plane?", "oc get pods -A | grep -e kube-apiserver -e etcd", "Operators and their installer pods",
			[]string{"Start with the network: without it no ordinary pod runs."}, []string{"oc get clusteroperators", "oc get pods -A"}},
	}
	if v.replicas() != 1 {
		all = append(all, question{fmt.Sprintf("Has etcd %d members?", v.Lab.EtcdMembers()), "oc get etcd cluster -o yaml", "One unhealthy member stops all",
			[]string{"The etcd operator adds no member while another is unhealthy."}, []string{"crictl exec $(crictl ps --name etcdctl -q) etcdctl member list -w table", "oc get pods -n openshift-etcd"}})
	}
	return append(all,
		question{"Did bootkube.service end?", "ls " + labs.AssetDir + "/.bootkube.done", "The stage that it is in",
			[]string{"restore-cvo-overrides and wait-for-ceo go through api-int and wait without limit."}, []string{"journalctl -b -u bootkube"}},
		question{"Is it reported?", "oc get configmap bootstrap -n kube-system -o yaml", "progress.service",
			[]string{"It goes through api-int; without the ConfigMap the bootstrap member is never removed."}, []string{"journalctl -b -u progress"}},
		question{"Did the bootstrap member leave?", "oc get etcd cluster -o yaml", "Condition " + v.memberRemoved(),
			[]string{"BootstrapTeardownDegraded beside it tells the operator's error. Keep the machine until then."}, nil},
	)
}
