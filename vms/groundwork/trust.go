package groundwork

import (
	"regexp"
	"slices"

	"bootlab/vms"
)

// undoing are all lines that [Plan] gives to undo a change.
var undoing = []*regexp.Regexp{
	regexp.MustCompile(`^sudo firewall-cmd (--permanent )?--zone=[A-Za-z0-9_-]+ --remove-rich-rule='rule family="ipv4" source address="[0-9./]+" destination address="[0-9.]+" port port="[0-9]+" protocol="tcp" accept'$`),
	regexp.MustCompile(`^sudo iptables -D DOCKER-USER -[io] bl-[0-9a-f]+ -j ACCEPT 2> /dev/null \|\| true$`),
	regexp.MustCompile(`^sudo rm --force /etc/sysctl\.d/90-bootlab\.conf$`),
	regexp.MustCompile(`^sudo sysctl --quiet net\.ipv4\.ip_unprivileged_port_start=[0-9]+$`),
	regexp.MustCompile(`^sudo rm --force /etc/NetworkManager/dnsmasq\.d/bootlab-[a-z0-9-]+\.conf$`),
	regexp.MustCompile(`^sudo nmcli general reload dns-full$`),
	regexp.MustCompile(`^hosts=\$\(mktemp\) && sed '/ # bootlab-[a-z0-9-]+\$/d' /etc/hosts > "\$\{hosts\}" && sudo cp -- "\$\{hosts\}" /etc/hosts && rm -- "\$\{hosts\}"$`),
}

// Trusted refuses a record with a line that [Plan] never gives: the record lies in the
// lab's directory, which may come from somebody else, and its lines run as root.
func Trusted(made []Change) error {
	for _, c := range made {
		for _, line := range c.Undo {
			if !slices.ContainsFunc(undoing, func(r *regexp.Regexp) bool { return r.MatchString(line) }) {
				return &vms.Problem{Message: "the record of host prepare holds a line that bootlab did not write, and nothing was run: " + line,
					Hint: "read out/work/vms/" + recordFile + " of the lab, and remove it"}
			}
		}
	}
	return nil
}
