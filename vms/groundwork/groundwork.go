// Package groundwork changes what a host needs beside libvirt for a lab: its firewall,
// its names and its low ports. Each change is lines of shell that a person could type;
// it is written down before it is made, and its undoing with it.
package groundwork

import (
	"fmt"
	"net/netip"
	"strings"

	"bootlab/labs"
	"bootlab/vms"
)

// Change is one thing that the host lacks.
type Change struct {
	ID   string   `json:"id"`
	Why  string   `json:"why"`
	Do   []string `json:"do"`   // lines of bash; sudo stands where they need it
	Undo []string `json:"undo"` // the same; they also work where only part was done
}

// Host is what the plan goes by.
type Host struct {
	Firewalld  bool   // it is running
	Zone       string // of firewalld, that bridges of libvirt are in
	Closed     []int  // ports of the load balancer that are not open for the lab
	Docker     bool   // its rules are in the way of what the host forwards
	Dnsmasq    bool   // NetworkManager runs a name server of its own
	APIAddress string // what the host takes api for; empty where it has no answer
	LowPorts   bool   // the load balancer may have 80 and 443
	FirstPort  int    // the first port that is for everybody
}

// apps are the names below *.apps that people and operators use. A hosts file knows no
// wildcard. Source: the routes of openshift/console-operator,
// openshift/cluster-authentication-operator and openshift/cluster-ingress-operator.
var apps = []string{"console-openshift-console", "oauth-openshift", "downloads-openshift-console", "canary-openshift-ingress-canary"}

// Plan are the changes that the lab needs on this host, in their order. balanced says
// whether it has a load balancer here.
func Plan(lab *labs.Lab, h Host, balanced bool) []Change {
	var out []Change
	add := func(c Change, needed bool) {
		if needed {
			out = append(out, c)
		}
	}
	add(firewall(lab, h), balanced && h.Firewalld && len(h.Closed) > 0)
	add(docker(lab), h.Docker)
	add(lowPorts(lab, h), balanced && !h.LowPorts)
	if balanced || h.Dnsmasq {
		add(names(lab, h), h.APIAddress == "")
	}
	return out
}

// firewall opens the load balancer's ports for the lab's network alone, now and for
// good: what is only set now goes with firewall-cmd --reload.
func firewall(lab *labs.Lab, h Host) Change {
	c := Change{ID: "firewall", Why: fmt.Sprintf("firewalld does not let the lab's machines reach the load balancer on %s.", portList(h.Closed))}
	network := netip.MustParsePrefix(lab.Networking.MachineNetwork[0].CIDR) // loading has parsed it
	for _, port := range h.Closed {
		rule := Rule(network, lab.Machines.Gateway, port)
		for _, lasting := range []string{"--permanent ", ""} {
			c.Do = append(c.Do, "sudo firewall-cmd "+lasting+"--zone="+h.Zone+" --add-rich-rule='"+rule+"'")
			c.Undo = append(c.Undo, "sudo firewall-cmd "+lasting+"--zone="+h.Zone+" --remove-rich-rule='"+rule+"'")
		}
	}
	return c
}

// Rule is firewalld's rich rule that opens a port of the load balancer for a lab.
func Rule(network netip.Prefix, gateway string, port int) string {
	return fmt.Sprintf(`rule family="ipv4" source address="%s" destination address="%s" port port="%d" protocol="tcp" accept`, network.Masked(), gateway, port)
}

func portList(ports []int) string {
	var out []string
	for _, p := range ports {
		out = append(out, fmt.Sprint(p))
	}
	return strings.Join(out, ", ")
}

// docker lets the bridge through. Docker sets the policy of FORWARD to DROP and keeps
// the chain DOCKER-USER for rules of others.
// Source: docs.docker.com, Docker and iptables.
func docker(lab *labs.Lab) Change {
	c := Change{ID: "docker", Why: "Docker drops what this host forwards for others, the lab's machines among them. These rules last until the next boot."}
	for _, side := range []string{"-i", "-o"} {
		match := "DOCKER-USER " + side + " " + vms.Bridge(lab) + " -j ACCEPT"
		c.Do = append(c.Do, "sudo iptables -C "+match+" 2> /dev/null || sudo iptables -I "+match)
		c.Undo = append(c.Undo, "sudo iptables -D "+match+" 2> /dev/null || true")
	}
	return c
}

// lowPorts lets everybody listen from port 80 on. A later lab may need it too, so the
// file has no lab's name; undoing puts back what was there before this lab.
func lowPorts(lab *labs.Lab, h Host) Change {
	const key, file = "net.ipv4.ip_unprivileged_port_start", "/etc/sysctl.d/90-bootlab.conf"
	return Change{ID: "low-ports", Why: fmt.Sprintf("Ports below %d are root's, and the load balancer, which runs as you, listens on 80 and 443.", h.FirstPort),
		Do:   []string{"echo '" + key + "=80' | sudo tee " + file + " > /dev/null", "sudo sysctl --quiet " + key + "=80"},
		Undo: []string{"sudo rm --force " + file, fmt.Sprintf("sudo sysctl --quiet %s=%d", key, h.FirstPort)}}
}

// mark ends the lines of a lab in /etc/hosts, and names its file of NetworkManager.
func mark(lab *labs.Lab) string {
	if lab.Metadata.UID != "" {
		return "bootlab-" + lab.Metadata.UID
	}
	return lab.HostName()
}

// names lets this host find the lab's names: oc, wait-for-operators.sh and the browser
// need them here.
func names(lab *labs.Lab, h Host) Change {
	c := Change{ID: "names", Why: "This host has no answer for api." + lab.Domain() + ", which oc, approve-worker-csrs.sh, wait-for-operators.sh, smoke-test.sh and your browser ask for."}
	if h.Dnsmasq {
		file := "/etc/NetworkManager/dnsmasq.d/" + mark(lab) + ".conf"
		c.Do = []string{"echo 'server=/" + lab.Domain() + "/" + lab.Machines.Gateway + "' | sudo tee " + file + " > /dev/null", "sudo nmcli general reload dns-full"}
		c.Undo = []string{"sudo rm --force " + file, "sudo nmcli general reload dns-full"}
		return c
	}
	line := lab.Machines.Gateway + " api." + lab.Domain()
	for _, name := range apps {
		line += " " + name + ".apps." + lab.Domain()
	}
	// The last line of the file may lack its end. In a container the file is a mount,
	// which can be written and not replaced.
	c.Do = []string{"{ [[ -z $(tail --bytes=1 /etc/hosts) ]] || echo; echo '" + line + " # " + mark(lab) + "'; } | sudo tee --append /etc/hosts > /dev/null"}
	c.Undo = []string{"hosts=$(mktemp) && sed '/ # " + mark(lab) + "$/d' /etc/hosts > \"${hosts}\" && sudo cp -- \"${hosts}\" /etc/hosts && rm -- \"${hosts}\""}
	return c
}
