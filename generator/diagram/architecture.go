package diagram

// architecture is the connections, before the hand-over and after it.
// Sources: docs.redhat.com, user-provisioned infrastructure, load balancing
// requirements; openshift/machine-config-operator pkg/server; the stages.
func architecture(v *view) drawing {
	g := &grid{widths: []int{244, 180, 244}, gaps: []int{125, 125}, rowGap: 30, across: true}
	g.name, g.title = "architecture", "Connections during the bootstrap and after it, with "+v.shape()
	row := v.before(g)
	if v.alone() {
		g.description = "Before the hand-over, which never comes in this topology: the workstation reaches the bootstrap node's API server through the load balancer on the gateway. On the node, cluster-bootstrap, controller manager, scheduler and version operator use localhost, and the API server keeps everything in the node's own etcd. The Machine Config Server waits for masters that are not there."
		return g
	}
	v.after(g, row)
	g.description = "Before the hand-over: masters fetch their configuration from the bootstrap node's Machine Config Server, port 22623, and reach its API server, port 6443, both through the load balancer on the gateway under the name api-int. The bootstrap node's own parts use localhost. Only etcd members talk to one another directly. After the hand-over: the load balancer sends 6443 and 22623 to the masters and 80 and 443 to the routers; the bootstrap node is out of it and can be removed."
	return g
}

// before draws the upper half and returns the row below it.
func (v *view) before(g *grid) int {
	heading := g.box("before", lane, 0, 0, "Before the hand-over").span(1, 3).middle()
	dns := g.box("dns", lab, 1, 1, "DNS").say("asked by every machine and by the workstation", "api, api-int and *.apps lead to this host")
	balancer := g.box("balancer", lab, 2, 1, "Load balancer").say("passes connections on unopened: TLS ends at the servers behind it").span(3, 1)
	g.panel("gateway", "Lab host "+v.gateway, 0, dns, balancer)

	mcs := g.box("mcs", bootstrap, 2, 0, "Machine Config Server").say("hands masters their configuration", "port 22623, TLS")
	local := g.box("local", bootstrap, 3, 0, "Neighbours on localhost").say("cluster-bootstrap, approve-csr; controller manager, scheduler, version operator")
	api := g.box("api", bootstrap, 4, 0, "kube-apiserver").say("port 6443, the only one until masters have theirs")
	etcd := g.box("etcd", bootstrap, 5, 0, "etcd, first member").say("2379 for the API server, 2380 for other members")
	steps := g.box("steps", bootstrap, 1, 0, "Last steps of bootkube.sh, progress.service").say("by the name api-int, as the first on the node")
	g.panel("node", v.node.Name+" "+v.node.Address, 0, steps, mcs, local, api, etcd)

	desk := g.box("desk", person, 1, 2, "Workstation").say("oc and openshift-install, by the name api")
	g.arrow(desk, balancer, "6443")
	g.arrow(steps, balancer, "6443")
	g.arrow(balancer, mcs, "22623")
	g.arrow(balancer, api, "6443")
	g.arrow(local, api, "6443")
	g.arrow(api, etcd, "2379")
	if v.alone() {
		heading.say("It does not come in this topology.")
		steps.kind = faint
		steps.say("They are not reached in this topology.")
		none := g.box("none", faint, 3, 2, "Masters").say("none in this topology", "Nothing asks the Machine Config Server.")
		g.panel("masters", "No masters", 0, none)
		return 6
	}
	boot := g.box("boot", master, 2, 2, "First boot").say("Ignition, by the name api-int")
	kubelet := g.box("kubelet", master, 3, 2, "kubelet").say("from the second boot on, by the name api-int")
	pods := g.box("pods", master, 4, 2, "kube-apiserver and others").say("one after the other, placed by operators; in the balance when /readyz says ok")
	members := g.box("members", master, 5, 2, "etcd, more members").say("added one by one")
	g.panel("masters", "Masters "+v.masterNames(), 0, boot, kubelet, pods, members)
	g.arrow(boot, balancer, "22623")
	g.arrow(kubelet, balancer, "6443")
	g.arrow(balancer, pods, "6443").dashed = true
	g.arrow(etcd, members, "2380, directly").both = true
	return 6
}

// masterNames are the masters' names while they are few and short.
func (v *view) masterNames() string {
	names := ""
	for i, m := range v.masters {
		if i > 0 {
			names += ", "
		}
		names += m.Name
	}
	return names
}

// after draws the lower half.
func (v *view) after(g *grid, row int) {
	g.box("after", lane, row, 0, "After the hand-over").span(1, 3).middle()
	users := g.box("users", person, row+1, 0, "Workstation and users").say("6443 by the name api; 443 and 80, console and routes, by *.apps")
	balancer := g.box("balancer2", lab, row+1, 1, "Load balancer").say("The bootstrap node is out of it.").span(3, 1)
	g.panel("gateway2", "Lab host "+v.gateway, 0, balancer)
	g.arrow(users, balancer, "6443, 443")

	mcs := g.box("mcs2", master, row+1, 2, "Machine Config Server").say("a DaemonSet on masters; serves every pool")
	api := g.box("api2", master, row+2, 2, "kube-apiserver").say("a static pod on each master")
	etcd := g.box("etcd2", master, row+3, 2, "etcd").say("a static pod on each master; members talk to one another on 2380")
	onMasters := []*box{mcs, api, etcd}
	g.arrow(balancer, mcs, "22623")
	g.arrow(balancer, api, "6443")
	g.arrow(api, etcd, "2379")
	var routers *box
	if len(v.workers) > 0 {
		kubelet := g.box("workers2", master, row+2, 0, "kubelet").say("configuration and API by the name api-int, as on masters")
		routers = g.box("routers2", master, row+3, 0, "Routers and other pods").say("port 80 and 443 of the cluster")
		g.panel("workers", "Workers, "+number(len(v.workers)), 0, kubelet, routers)
		g.arrow(kubelet, balancer, "22623, 6443")
		g.arrow(balancer, routers, "443, 80")
	} else {
		routers = g.box("routers2", master, row+4, 2, "Routers and other pods").say("on masters, for there are no workers; port 80 and 443")
		onMasters = append(onMasters, routers)
		balancer.span(4, 1)
		g.arrow(balancer, routers, "443, 80")
	}
	g.panel("masters2", "Masters "+v.masterNames(), 0, onMasters...)
	g.box("gone", faint, row+4, 0, v.node.Name).say("The bootstrap node: its etcd member has left, and nothing asks it any more. It can be removed.")
}
