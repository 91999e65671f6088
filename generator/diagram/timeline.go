package diagram

import (
	"cmp"
	"fmt"
	"strings"

	"bootlab/labs"
)

// A story is the time line while it is told.
type story struct {
	*view
	*lanes
	desk, node, masters, api  int // the lanes
	day, pods, wait, complete *clock
}

// timeline is the bootstrap from the first key to the last operator.
// Sources: openshift/installer data/data/bootstrap and
// cmd/openshift-install/create.go; openshift/cluster-bootstrap pkg/start;
// openshift/cluster-etcd-operator pkg/operator/bootstrapteardown;
// openshift/machine-config-operator templates and manifests.
func timeline(v *view) drawing {
	t := &story{view: v, lanes: &lanes{}}
	t.name = "timeline"
	t.title = "Time line of the bootstrap of " + v.release() + " with " + v.shape()
	t.day = t.clock("24 hours, from the making of the certificates: the API server's certificates, kubelet-signer and the aggregator's signers end then. Until then the bootstrap must be over, and the cluster must have made certificates of its own.")
	t.pods = t.clock("20 minutes, from the first answer of the API: cluster-bootstrap waits for the required pods. A pod on the bootstrap node does not count, so " + t.mastersMust() + ".")
	t.wait = t.clock(fmt.Sprintf("%d minutes, from the first answer of the API: openshift-install wait-for bootstrap-complete waits for ConfigMap kube-system/bootstrap. For the API itself it has waited up to 20 minutes.", v.bootstrapWait()))
	t.addLanes()
	t.ahead()
	t.boots()
	t.renders()
	t.controlPlane()
	if v.alone() {
		t.description = t.tell("No masters join in this topology, so the required pods never become ready: after 20 minutes cluster-bootstrap fails and takes its control plane away.")
		t.endsAlone()
		return t
	}
	t.complete = t.clock("40 minutes: openshift-install wait-for install-complete waits for the cluster version to be available, with nothing failing or in progress.")
	t.join()
	t.handOver()
	t.afterwards()
	t.description = t.tell(fmt.Sprintf("The masters boot twice: the first time they fetch their configuration from the Machine Config Server, the second time their kubelets ask for certificates. Operators place the masters' own control plane. etcd grows from 1 to %d members. cluster-bootstrap takes its control plane away, bootkube.sh ends, progress.service reports, and the etcd operator removes the bootstrap member.", v.Lab.EtcdMembers()))
	return t
}

func (t *story) mastersMust() string {
	if t.alone() {
		return "without masters this wait always ends in a failure"
	}
	return "masters must boot, get their certificate requests approved and run those pods in that time"
}

func (t *story) tell(end string) string {
	return "From top to bottom: certificates are made and start a clock of 24 hours. The bootstrap node boots, pulls the release image and runs bootkube.sh. Its stages render files; render-etcd starts etcd, render-mco starts the Machine Config Server. start-bootstrap starts a temporary control plane. " + end
}

func (t *story) addLanes() {
	if t.alone() {
		t.desk = t.lane("desk", "Workstation", 220, "openshift-install, oc")
		t.node = t.lane("node", t.view.node.Name, 330, "bootstrap node", t.view.node.Address)
		t.masters = -1
		t.api = t.lane("api", "Kubernetes API", 220, "what happens in it")
		return
	}
	title := "Masters"
	if len(t.workers) > 0 {
		title = "Masters and workers"
	}
	t.desk = t.lane("desk", "Workstation", 152, "openshift-install, oc")
	t.node = t.lane("node", t.view.node.Name, 268, "bootstrap node", t.view.node.Address)
	t.masters = t.lane("masters", title, 182, count(len(t.view.masters), "master"))
	t.api = t.lane("api", "Cluster", 178, "API and operators")
}

func (t *story) ahead() {
	t.phase("1. Ahead")
	t.event(t.desk, person, "openshift-install create ignition-configs", "makes every key and certificate; bootstrap.ign carries them").start(t.day)
}

func (t *story) boots() {
	t.phase("2. The bootstrap node boots")
	t.call(t.desk, t.node, "boots it with bootstrap.ign")
	t.event(t.node, bootstrap, "First boot", "Ignition writes files, keys and units.")
	if t.since("4.19") {
		t.event(t.node, bootstrap, "node-image-pull, -overlay, -finish", "lay the release's operating system, with kubelet, CRI-O and oc, over the plain boot image; no reboot")
	}
	t.event(t.node, bootstrap, "release-image.service", "pulls the release image, retrying without limit")
	if t.okd() && !t.since("4.19") {
		say := "brings the release's operating system"
		if t.since("4.18") {
			say += "; a SCOS build reboots for it"
		}
		t.event(t.node, bootstrap, "release-image-pivot.service", say)
	}
	t.event(t.node, bootstrap, "CRI-O, then kubelet", "The kubelet has no kubeconfig: it runs static pods and never becomes a node.")
}

func (t *story) renders() {
	t.phase("3. bootkube.sh: files, etcd and the Machine Config Server")
	var run []string // stages that write files and nothing else
	before := ""     // what began before them
	tell := func(title string) {
		if len(run) > 0 {
			t.event(t.node, bootstrap, title, strings.Join(run, ", "))
		}
		run = nil
	}
	for _, s := range t.PhaseStages(labs.PhaseRender) {
		if len(s.Story) == 0 {
			run = append(run, s.ID)
			continue
		}
		if of := s.Story[0].Of; before == "" {
			tell("Renders before " + of)
		} else {
			tell("Renders after " + before)
		}
		before = s.Story[0].Of
		t.tellStage(s)
	}
	tell("Before the start")
}

// tellStage tells the story of a stage; of one without, its title.
func (t *story) tellStage(s *labs.Stage) {
	if len(s.Story) == 0 {
		t.event(t.node, bootstrap, s.ID, s.Title)
	}
	lanes := map[string]int{"": t.node, labs.SideNode: t.node, labs.SideMasters: t.masters, labs.SideCluster: t.api}
	var last *moment
	for _, e := range s.Story {
		heading, text, lane := cmp.Or(t.Fill(e.Heading), s.ID), t.Fill(e.Text), lanes[e.On]
		switch {
		case lane < 0:
		case e.Call:
			t.call(t.node, lane, text)
		case lane != t.node && last != nil:
			last.beside(lane, lane, sides[e.On], heading, text)
		default:
			last = t.event(lane, cmp.Or(sides[e.On], bootstrap), heading, text)
		}
	}
}

func (t *story) controlPlane() {
	t.phase("4. bootkube.sh: the temporary control plane")
	var ids, told []string
	for _, s := range t.PhaseStages(labs.PhaseControlPlane) {
		ids = append(ids, s.ID)
		for _, e := range s.Story {
			told = append(told, t.Fill(e.Text))
		}
	}
	if len(ids) > 0 { // an audited script may lack them
		t.event(t.node, bootstrap, strings.Join(ids, ", "), strings.Join(told, " "))
	}
	t.call(t.node, t.api, "localhost:6443/readyz, every second, up to 20 minutes")
	t.event(t.api, cluster, "The API answers", "Any status counts.").
		beside(t.desk, t.desk, person, "wait-for bootstrap-complete", "finds the API through the load balancer").start(t.pods).start(t.wait)
	t.call(t.node, t.api, "cluster-bootstrap creates every file of manifests/")
	t.call(t.node, t.api, "the version operator applies the payload")
}

func (t *story) join() {
	t.phase("5. The masters join")
	t.call(t.masters, t.node, "first boot: GET api-int:22623/config/master")
	t.event(t.masters, master, "First boot", "Ignition writes what it got. Operating system and kernel arguments of the release are put in place, then a reboot.")
	t.event(t.masters, master, "Second boot", "The kubelet starts; for the API it is node-bootstrapper.")
	t.call(t.masters, t.api, "CSR: client certificate")
	t.call(t.node, t.api, "approve-csr: approves what is pending, every 20 s")
	t.event(t.api, cluster, "Node objects appear")
	t.call(t.masters, t.api, "CSR: serving certificate, approved likewise")
	t.call(t.api, t.masters, "installer pods place static pods")
	t.add(&moment{}).beside(t.masters, t.api, master, "The masters' own control plane",
		"API server, controller manager, scheduler and etcd start on one master after the other.",
		fmt.Sprintf("etcd: 1, 2, … %d members, each one a learner first; this goes on meanwhile.", t.Lab.EtcdMembers()))
}

// required is what cluster-bootstrap waits for, up to 4.17 and from 4.18 on.
func (t *story) required() string {
	if t.since("4.18") && t.ha() {
		return "on masters; and two masters run API server, controller manager and scheduler at revision 1 or later (up to 30 minutes more)"
	}
	return "API server, controller manager, scheduler and version operator; one master's are enough, but two must have joined"
}

func (t *story) handOver() {
	t.phase("6. The hand-over")
	t.event(t.node, bootstrap, "The required pods are ready", t.required()).end(t.pods)
	t.event(t.node, bootstrap, "Tear-down", "Events bootstrap-success and bootstrap-finished. The static pods that cluster-bootstrap copied go; etcd and the Machine Config Server stay.")
	for _, s := range append(t.PhaseStages(labs.PhaseHandOver), t.PhaseStages(labs.PhaseEnd)...) {
		t.tellStage(s)
	}
	t.event(t.node, bootstrap, "progress.service", t.progressWait())
	t.call(t.node, t.api, "ConfigMap kube-system/bootstrap: status complete")
	left := t.Lab.EtcdMembers() - 1
	t.event(t.desk, person, "wait-for bootstrap-complete", "sees the ConfigMap").end(t.wait).
		beside(t.api, t.api, cluster, "Bootstrap member removed", fmt.Sprintf("by the etcd operator: %d members become %d; %s is True", left+1, left, t.memberRemoved()))
	t.event(t.desk, person, "It is now safe to remove the bootstrap resources", t.removalWait())
	t.call(t.desk, t.node, "out of the load balancer, then remove")
}

// progressWait is what report-progress.sh waits for behind .bootkube.done.
func (t *story) progressWait() string {
	switch {
	case !t.ha() || !t.since("4.16"):
		return "waits for .bootkube.done, then reports"
	case !t.since("4.18"):
		return "waits for .bootkube.done and for two addresses behind service kubernetes, then reports"
	}
	return "waits for .bootkube.done and for two masters whose API server has a revision, then reports"
}

// removalWait is what openshift-install waits for behind the ConfigMap.
func (t *story) removalWait() string {
	switch {
	case t.since("4.18"):
		return "openshift-install has waited for the removal too, without a limit"
	case t.since("4.15") && !t.ha():
		return "openshift-install has waited for the removal too, up to 5 minutes"
	}
	return "openshift-install says so without waiting for the removal: look for it yourself"
}

func (t *story) afterwards() {
	t.phase("7. Afterwards")
	t.event(t.desk, person, "wait-for install-complete", "").start(t.complete)
	if len(t.workers) > 0 {
		t.event(t.masters, master, "Workers boot", "The masters' Machine Config Server serves them; the bootstrap node's refuses workers.")
		t.call(t.masters, t.api, "two CSRs for each worker")
		t.call(t.desk, t.api, "approves the workers' CSRs by hand")
	}
	t.event(t.api, cluster, "Version operator: done", "every operator available")
	t.event(t.desk, person, "Installed", "console and kubeadmin's password are printed").end(t.complete)
	t.event(t.api, cluster, "Certificates renewed", "by operators, and by the kubelets' new CSRs").end(t.day)
}

func (t *story) endsAlone() {
	t.phase("5. No masters")
	t.event(t.node, trouble, "The required pods never come", "cluster-bootstrap gives up and takes its control plane away; etcd and the Machine Config Server stay.").end(t.pods)
	t.event(t.node, bootstrap, "bootkube.service fails", "systemd starts it again after 5 seconds; a script started by hand just ends.")
	t.event(t.desk, person, "wait-for bootstrap-complete gives up", "exit status 5").end(t.wait)
	t.event(t.node, bootstrap, "What can be learned is learned", "This topology ends by design where masters would be needed.").end(t.day)
}
