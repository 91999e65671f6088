package diagram

// network is the ports with the lab's own addresses.
// Sources: docs.redhat.com, user-provisioned infrastructure, networking and load
// balancing requirements; openshift/machine-config-operator pkg/server;
// openshift/cluster-kube-apiserver-operator bindata/bootkube.
func network(v *view) drawing {
	g := &grid{widths: []int{248, 232, 248}, gaps: []int{95, 95}, rowGap: 22, across: true}
	g.name, g.title = "network", "Ports and addresses of the lab "+v.domain
	g.description = "Names are resolved by the DNS server on the gateway. Through the load balancer on the gateway go 6443 to the API servers, 22623 to the Machine Config Servers, 80 and 443 to the routers. Directly, past the balancer, go etcd's 2379 and 2380, SSH, and the way out to the registry. On the bootstrap node itself one may ask 22624, the Machine Config Server without TLS, and 6080, the API server's readiness without TLS; both stay off the balancer."
	row := v.networkDNS(g, 0)
	row = v.networkBalanced(g, row)
	row = v.networkDirect(g, row)
	v.networkLocal(g, row)
	return g
}

func (v *view) networkDNS(g *grid, row int) int {
	who := g.box("askers", plain, row, 0, "Every machine, the workstation").say("in " + v.cidr())
	dns := g.box("dns", lab, row, 1, "DNS").code(v.gateway + ":53")
	names := g.box("names", plain, row, 2, "Answers").
		code("api."+v.domain, "api-int."+v.domain, "*.apps."+v.domain).say("each is " + v.gateway).
		say("NAME." + v.domain + " is the machine's own address.")
	g.arrow(who, dns, "53")
	g.arrow(dns, names, "")
	g.panel("resolve", "Names", 0, who, dns, names)
	return row + 1
}

// cidr is the machine network.
func (v *view) cidr() string {
	if n := v.Lab.Networking.MachineNetwork; len(n) > 0 {
		return n[0].CIDR
	}
	return "the machine network"
}

// path draws one row of the picture: who asks, through what, who answers.
func (g *grid) path(who, via, to *box, port string) {
	g.arrow(who, via, port)
	g.arrow(via, to, port)
}

func (v *view) networkBalanced(g *grid, row int) int {
	api := g.box("apifront", lab, row, 1, "Load balancer").code(v.gateway + ":6443").say("checks HTTPS GET /readyz")
	clients := g.box("clients", plain, row, 0, "API clients").say("workstation, kubelets, operators")
	servers := g.box("servers", plain, row, 2, "API servers").
		say(v.node.Name + " " + v.node.Address + ", until bootstrap-complete").say(machines(v.masters)...)
	g.path(clients, api, servers, "6443")

	mcs := g.box("mcsfront", lab, row+1, 1, "Load balancer").code(v.gateway + ":22623").say("for nodes only: who asks gets the pull secret")
	who := "First boot of masters"
	if len(v.workers) > 0 {
		who += " and workers"
	}
	booting := g.box("booting", plain, row+1, 0, who).say("Ignition, by the name api-int; no client certificate is asked for")
	configs := g.box("configs", plain, row+1, 2, "Machine Config Servers").
		say(v.node.Name + " " + v.node.Address + ", for masters, until restore-cvo-overrides").say(machines(v.masters)...)
	g.path(booting, mcs, configs, "22623")

	web := g.box("webfront", lab, row+2, 1, "Load balancer").code(v.gateway+":443", v.gateway+":80")
	users := g.box("users", plain, row+2, 0, "Users of routes").say("console, login, applications: *.apps")
	routers := g.box("routers", master, row+2, 2, "Routers").say(machines(v.routers())...)
	if v.alone() {
		routers.kind = faint
		routers.say("none in this topology")
		booting.say("In this topology nothing asks.")
	}
	g.path(users, web, routers, "443, 80")
	g.panel("balanced", "Through the load balancer on the gateway", 0, api, clients, servers, mcs, booting, configs, web, users, routers)
	return row + 3
}

func (v *view) networkDirect(g *grid, row int) int {
	node := g.box("nodeetcd", bootstrap, row, 0, "etcd of "+v.node.Name).code(v.node.Address+":2379", v.node.Address+":2380")
	all := []*box{node}
	members := g.box("members", master, row, 2, "etcd of the masters").say("2379 and 2380 at").say(machines(v.masters)...)
	if v.alone() {
		members.kind = faint
		members.lines = nil
		members.say("none in this topology")
	}
	a := g.arrow(node, members, "2380 between members; 2379 for clients")
	a.both = true
	all = append(all, members)

	machines := g.box("machines", plain, row+1, 0, "All machines").say("images of the release")
	router := g.box("router", lab, row+1, 1, "Router, NAT").code(v.gateway)
	registry := g.box("registry", plain, row+1, 2, "Registry of the release").code(v.registry())
	if v.Lab.Has("proxy") {
		router.say("to the proxy of lab.yaml")
	}
	if v.Lab.Has("imageDigestSources") || v.Lab.Has("imageContentSources") {
		registry.say("or its mirrors")
	}
	g.path(machines, router, registry, v.registryPort())
	desk := g.box("desk", person, row+2, 0, "Workstation").say("user core, with the lab's key; gather, diagnosis")
	hosts := g.box("hosts", plain, row+2, 2, "All machines").say("SSH")
	g.arrow(desk, hosts, "22")
	all = append(all, machines, router, registry, desk, hosts)
	g.panel("direct", "Past the load balancer", 0, all...)
	return row + 3
}

func (v *view) networkLocal(g *grid, row int) {
	near := g.box("near", bootstrap, row, 0, "Neighbours of the API server").say("cluster-bootstrap, approve-csr and static pods")
	api := g.box("localapi", bootstrap, row, 2, "kube-apiserver").code("localhost:6443")
	g.arrow(near, api, "6443")
	server := g.box("localserver", bootstrap, row+1, 0, "kube-apiserver").say("with the client certificate of render-etcd")
	etcd := g.box("localetcd", bootstrap, row+1, 2, "etcd").code("localhost:2379")
	g.arrow(server, etcd, "2379")
	you := g.box("you", person, row+2, 0, "You, on the node").say("curl, to look. Keep these two off the load balancer: neither has TLS.").span(2, 1)
	plainMCS := g.box("plainmcs", bootstrap, row+2, 2, "Machine Config Server").code("localhost:22624/config/master")
	ready := g.box("readyz", bootstrap, row+3, 2, "readyz beside the API server").code("localhost:6080/readyz")
	g.arrow(you, plainMCS, "22624")
	g.arrow(you, ready, "6080")
	g.panel("inside", "On "+v.node.Name+" itself", 0, near, api, server, etcd, you, plainMCS, ready)
}
