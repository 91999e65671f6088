package vms

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// Balancer is the configuration of the lab's HAProxy, which listens on the
// gateway for the four services of a cluster. socket is where it takes orders.
//
// All of it is plain TCP: TLS ends at the API server and at the Machine Config
// Server. Only the check of 6443 looks inside, at /readyz, since an API server
// has to leave within 30 s of not being ready any more
// (cluster-kube-apiserver-operator, and the tested settings of docs.redhat.com,
// user-provisioned load balancing requirements). The bootstrap machine is a
// backup: it serves as long as no master does.
func Balancer(lab *labs.Lab, socket string) string {
	var b strings.Builder
	b.WriteString(balancerHead)
	fmt.Fprintf(&b, balancerGlobal, haproxyWord(socket))
	for _, service := range labs.Balancer {
		fmt.Fprintf(&b, "\n# %s\nfrontend %s\n  bind %s:%d\n  default_backend %s\n\nbackend %s\n",
			balancerWhy[service.Name], service.Name, lab.Machines.Gateway, service.Port, service.Name, service.Name)
		for _, line := range balancerChecks[service.Name] {
			b.WriteString("  " + line + "\n")
		}
		for _, m := range backends(lab, service) {
			fmt.Fprintf(&b, "  server %s %s:%d %s%s\n", m.Name, m.Address, service.Port, balancerServer[service.Name], backup(m))
		}
	}
	return b.String()
}

var plainHAProxy = regexp.MustCompile(`^[A-Za-z0-9/_.@:-]+$`)

// haproxyWord quotes a path where HAProxy would otherwise take something in it
// for its own. Source: HAProxy configuration manual, 2.2 quoting and escaping.
func haproxyWord(text string) string {
	if plainHAProxy.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

const balancerHead = `# The load balancer of a lab. Made by bootlab generate.
`

const balancerGlobal = `global
  # The scripts and bootlab ask here who is up, and take the bootstrap out.
  stats socket %s mode 600 level admin
  stats timeout 30s
  maxconn 4000

defaults
  mode tcp
  log global
  timeout connect 10s
  # Watches of the API are silent for long.
  timeout client 1h
  timeout server 1h
  timeout check 10s
  option dontlognull
`

var balancerWhy = map[string]string{
	"api":                   "The API, for everybody. The bootstrap serves only while no master is ready.",
	"machine-config-server": "Configurations of nodes. For nodes only: it hands out keys to whoever asks.",
	"ingress-http":          "Routes, where routers run: workers, or masters where there are none.",
	"ingress-https":         "The same over TLS.",
}

// balancerChecks are the lines of a backend before its servers.
var balancerChecks = map[string][]string{
	"api": {
		"balance roundrobin",
		"option httpchk",
		"http-check send meth GET uri /readyz",
		"http-check expect status 200",
	},
	"machine-config-server": {"balance roundrobin"},
	"ingress-http":          {"balance source"},
	"ingress-https":         {"balance source"},
}

// balancerServer is how each server of a backend is checked. The certificates
// of a check are not verified: it asks whether somebody serves, not who.
var balancerServer = map[string]string{
	"api":                   "check check-ssl verify none inter 5s fall 3 rise 2",
	"machine-config-server": "check check-ssl verify none inter 5s fall 3 rise 1",
	"ingress-http":          "check inter 5s",
	"ingress-https":         "check inter 5s",
}

// backends are the machines that serve a port.
func backends(lab *labs.Lab, service labs.BalancerService) []Machine {
	if service.Port == 6443 || service.Port == 22623 {
		return slices.DeleteFunc(Machines(lab), func(m Machine) bool { return m.Role == Worker })
	}
	return routers(lab)
}

// routers are the machines that routes lead to: workers, or masters where there
// are none.
func routers(lab *labs.Lab) []Machine {
	role := Worker
	if len(lab.Machines.Workers) == 0 {
		role = Master
	}
	return OfRole(lab, role)
}

func backup(m Machine) string {
	if m.Role == Bootstrap {
		return " backup"
	}
	return ""
}
