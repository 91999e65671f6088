package groundwork

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bootlab/labs"
)

// zoneOfLibvirt is firewalld's zone for bridges of libvirt, which brings it along.
// Source: libvirt docs firewall.html, firewalld and the virtual network driver.
const zoneOfLibvirt = "libvirt"

var zoneName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// patience is how long a question to firewalld may take.
const patience = 30 * time.Second

// Firewall asks firewalld about the load balancer's ports for a lab: whether it runs,
// which zone counts, and which ports are closed, now or after a reload. What it does not
// answer counts as closed.
func Firewall(ctx context.Context, lab *labs.Lab) (runs bool, zone string, closed []int) {
	program, err := exec.LookPath("firewall-cmd")
	if err != nil {
		return false, "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	says := func(args ...string) (string, bool) {
		out, err := exec.CommandContext(ctx, program, args...).Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	if _, ok := says("--state"); !ok {
		return false, "", nil
	}
	zone = zoneOfLibvirt
	if all, ok := says("--get-zones"); ok && !slices.Contains(strings.Fields(all), zone) {
		zone, _ = says("--get-default-zone")
	}
	if !zoneName.MatchString(zone) {
		zone = zoneOfLibvirt // it would stand in a command
	}
	now, _ := says("--zone="+zone, "--list-all")
	lasting, _ := says("--permanent", "--zone="+zone, "--list-all")
	for _, s := range labs.Balancer {
		if !opens(now, lab, s.Port) || !opens(lasting, lab, s.Port) {
			closed = append(closed, s.Port)
		}
	}
	return true, zone, closed
}

// opens says whether what firewalld lists of a zone lets a lab reach a port.
func opens(listed string, lab *labs.Lab, port int) bool {
	network := netip.MustParsePrefix(lab.Networking.MachineNetwork[0].CIDR) // loading has parsed it
	if strings.Contains(listed, "target: ACCEPT") && !strings.Contains(listed, " reject") {
		return true // as the zone trusted; that of libvirt ends with a rule that rejects
	}
	for line := range strings.Lines(listed) {
		line = strings.TrimSpace(line)
		if ports, ok := strings.CutPrefix(line, "ports:"); ok && slices.Contains(strings.Fields(ports), strconv.Itoa(port)+"/tcp") {
			return true
		}
		if line == Rule(network, lab.Machines.Gateway, port) {
			return true
		}
	}
	return false
}

// HasDnsmasq says whether NetworkManager runs a dnsmasq as this host's name server, by
// its configuration below root, which is / but in tests.
// Source: NetworkManager.conf(5), dns=dnsmasq.
func HasDnsmasq(root string) bool {
	files, _ := filepath.Glob(filepath.Join(root, "etc/NetworkManager/conf.d/*.conf"))
	for _, file := range append(files, filepath.Join(root, "etc/NetworkManager/NetworkManager.conf")) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "dns" && strings.TrimSpace(value) == "dnsmasq" {
				return true
			}
		}
	}
	return false
}
