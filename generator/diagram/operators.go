package diagram

// operators is which component creates which, from cluster-bootstrap to the console.
// Sources: the stages render-cvo and start-bootstrap;
// openshift/cluster-version-operator docs/user/reconciliation.md;
// openshift/installer cmd/openshift-install (what install-complete hangs on).
func operators(v *view) drawing {
	g := &grid{widths: []int{206, 206, 206, 206}, gaps: []int{34, 34, 34}, rowGap: 28, even: true}
	g.name, g.title = "operators", "What creates what: the version operator and the operators of "+v.release()
	g.description = "cluster-bootstrap starts the version operator as a static pod on the bootstrap node and creates its Deployment in the API. The version operator applies the manifests of all components at once; what each one waits for decides the order. First come the network, the operators of etcd, API server, controller manager and scheduler, and the machine config operator: the hand-over needs them. Ingress, authentication and console come last, each waiting for the one before, and need nodes for ordinary pods."
	starts := g.box("starts", bootstrap, 0, 0, "cluster-bootstrap").span(1, 4).middle().
		say("gives bootstrap-pod.yaml to the kubelet of the bootstrap node, and creates every file of manifests/ in the API, the version operator's Deployment among them")
	pod := g.box("pod", bootstrap, 1, 0, "Version operator, static pod").span(1, 2).say("on the bootstrap node, until cluster-bootstrap takes it away")
	deployment := g.box("deployment", cluster, 1, 2, "Version operator, Deployment").span(1, 2).say("on a master, to stay; cluster-bootstrap ends only when its pod is ready")
	kind := cluster
	if v.alone() {
		deployment.kind, kind = faint, faint
		deployment.lines = nil
		deployment.say("Pending: the bootstrap node is no node of the cluster, and there is no master")
		g.description = "cluster-bootstrap starts the version operator as a static pod on the bootstrap node, and it creates the operators of all components in the API. There are no masters in this topology and the bootstrap node is no node of the cluster, so all their pods stay Pending."
	}
	apply := g.box("apply", plain, 2, 0, "The manifests of the release, all components at once").span(1, 4).middle().
		say("The numbers in their file names order an update, not an installation. Here every operator tries until it finds what it needs.")
	g.arrow(starts, pod, "starts")
	g.arrow(starts, deployment, "creates")
	g.arrow(pod, apply, "applies, first")
	g.arrow(deployment, apply, "applies, then")
	v.operatorsForTheEnd(g, v.operatorsForHandOver(g, apply, kind), kind)
	return g
}

// drawOperator draws an operator and, below it, what it runs.
func (g *grid) drawOperator(id, kind string, row, col int, title, operand, say string) (*box, *box) {
	o := g.box(id, kind, row, col, title)
	below := g.box(id+"runs", kind, row+1, col, operand).say(say)
	g.arrow(o, below, "")
	return o, below
}

// heading draws a band above operators, with an arrow to each of them.
func (g *grid) heading(id string, row int, title string, operators ...*box) *box {
	b := g.box(id, lane, row, 0, title).span(1, 4).middle()
	for _, o := range operators {
		g.arrow(b, o, "")
	}
	return b
}

func (v *view) operatorsForHandOver(g *grid, apply *box, kind string) *box {
	title := "First: what the hand-over waits for"
	if v.alone() {
		title = "Created and never run: there is no node to run on"
	}
	network, runs := g.drawOperator("network", kind, 4, 0, "network-operator", v.Lab.Networking.NetworkType, "on every node; without it no node is Ready and no ordinary pod gets an address")
	etcd, _ := g.drawOperator("etcdop", kind, 4, 1, "etcd-operator", "etcd", "a static pod on each master, by installer pods; adds members, removes the bootstrap member")
	kube, _ := g.drawOperator("kube", kind, 4, 2, "operators of API server, controller manager, scheduler", "The masters' control plane", "static pods by installer pods, revision after revision")
	machine, _ := g.drawOperator("mco", kind, 4, 3, "machine-config-operator", "Machine Config Server and daemon", "server on masters, daemon on every node")
	g.arrow(apply, g.heading("first", 3, title, network, etcd, kube, machine), "")
	return runs
}

func (v *view) operatorsForTheEnd(g *grid, network *box, kind string) {
	where := "on workers"
	if len(v.workers) == 0 {
		where = "on masters, which take ordinary pods here"
	}
	title, ready := "Last: what wait-for install-complete waits for", "nodes are Ready"
	if v.alone() {
		title, where, ready = "Nor do these", "on no node of this lab", ""
	}
	ingress, routers := g.drawOperator("ingress", kind, 7, 0, "ingress-operator", "Routers", "port 80 and 443, "+where)
	auth, oauth := g.drawOperator("auth", kind, 7, 1, "authentication-operator", "OAuth server", "waits for a route, so for routers")
	console, page := g.drawOperator("console", kind, 7, 2, "console-operator", "Console", "waits for a route and for logins")
	more, _ := g.drawOperator("more", kind, 7, 3, "all others", "DNS, monitoring, registry …", "each with a ClusterOperator object that tells its state")
	last := g.heading("last", 6, title, ingress, auth, console, more)
	g.arrow(network, last, ready)
	g.arrow(oauth, routers, "").dashed = true
	g.arrow(page, oauth, "").dashed = true
}
