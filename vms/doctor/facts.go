package doctor

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/balancer"
	"bootlab/vms/groundwork"
	"bootlab/vms/images"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
)

// Facts are what a lab meets on a host. [Look] fills them; [Judge] only reads.
type Facts struct {
	Lab *labs.Lab
	Now time.Time

	// Connect is why libvirt does not answer; then what only it knows is empty.
	Connect  error
	Version  string
	Networks []libvirt.NetworkState // all that libvirt has
	Conflict []error                // things under the lab's names that are not its own
	Made     []string               // machines of the lab that are there
	Active   []string               // machines of the lab that run
	BaseHere bool                   // the base image is in the pool
	PoolFree uint64                 // bytes

	Run    vms.Accelerator
	Asked  bool // for Run, on the command line
	Proof  provision.KVMProof
	CPUs   int
	Flags  []string // of the processor, in Linux's words
	Memory int      // MiB that a further machine can have, see [provision.Memory]

	Routes         []Route
	Interfaces     []string
	Forwards       bool
	Listeners      []netip.AddrPort
	NoBalancer     bool   // the lab does without
	HAProxy        string // empty: not installed
	BalancerRuns   bool
	MayBindLow     bool
	Socket         string // path of the load balancer's
	FirewallCloses []int  // ports, as far as firewalld says
	Firewall       bool   // firewalld is running
	FirewallZone   string // of firewalld, that the lab's bridge is in
	APIAddress     string // what the host takes api for; empty: unknown
	SSHKeygen      bool

	Ignition     []IgnitionFact
	Image        vms.Image
	ImageProblem error
}

// Route is a way that the host knows.
type Route struct {
	To        netip.Prefix
	Interface string
}

// IgnitionFact is an Ignition file of the lab.
type IgnitionFact struct {
	Role    vms.Role
	File    string
	There   bool
	Written time.Time
	// First is the certificate that ends first, and End when; empty where none
	// could be read.
	First string
	End   time.Time
}

// Look gathers the facts. p has no Host where connect says why.
func Look(ctx context.Context, p *provision.Provisioner, connect error, ignition func(vms.Role) string) (*Facts, error) {
	f := &Facts{Lab: p.Lab, Now: time.Now(), Connect: connect, Run: p.Run, Image: p.Base, CPUs: runtime.NumCPU(), Socket: p.Balancer().Socket(), NoBalancer: p.NoBalancer}
	f.Flags = processorFlags()
	memory, err := p.Memory()
	if err != nil {
		return nil, err
	}
	f.Memory = memory.Free()
	f.PoolFree, _ = images.FreeBytes(vms.PoolDir)
	f.Routes = hostRoutes()
	if all, err := net.Interfaces(); err == nil {
		for _, i := range all {
			f.Interfaces = append(f.Interfaces, i.Name)
		}
	}
	f.Forwards = firstWord("/proc/sys/net/ipv4/ip_forward") != "0"
	f.Listeners = append(listeners("/proc/net/tcp"), listeners("/proc/net/tcp6")...)
	f.HAProxy, _ = balancer.Program()
	f.BalancerRuns = p.Balancer().Runs()
	f.MayBindLow = mayBindLow(f.HAProxy)
	f.Firewall, f.FirewallZone, f.FirewallCloses = groundwork.Firewall(ctx, p.Lab)
	f.APIAddress = resolve(ctx, "api."+p.Lab.Domain())
	_, err = exec.LookPath("ssh-keygen")
	f.SSHKeygen = err == nil
	f.lookAtIgnition(ignition)
	if connect != nil {
		return f, nil
	}
	return f, f.askLibvirt(p)
}

// askLibvirt fills in what only libvirt knows.
func (f *Facts) askLibvirt(p *provision.Provisioner) error {
	var err error
	if f.Version, err = p.Host.Version(); err != nil {
		return err
	}
	if f.Networks, err = p.Host.Networks(); err != nil {
		return err
	}
	for _, m := range vms.Machines(p.Lab) {
		state, there, err := p.Host.Domain(p.Lab.DomainName(m.Name))
		if err != nil {
			return err
		}
		if there {
			f.Made = append(f.Made, m.Name)
		}
		if state.Active {
			f.Active = append(f.Active, m.Name)
		}
	}
	// A bootstrap that has done its work wants no memory and no certificates.
	gone, err := p.BootstrapGone()
	if err != nil {
		return err
	}
	if boot := p.Lab.Machines.Bootstrap.Name; gone {
		f.Made, f.Active = append(f.Made, boot), append(f.Active, boot)
	}
	if p.Base.SHA256 != "" {
		f.BaseHere = p.HasBase()
	}
	if pool, there, err := p.Host.Pool(vms.Pool); err == nil && there && pool.Active {
		f.PoolFree = pool.Available
	}
	f.Conflict = p.Conflicts()
	return nil
}

func (f *Facts) lookAtIgnition(file func(vms.Role) string) {
	var seen []vms.Role
	for _, m := range vms.Machines(f.Lab) {
		if slices.Contains(seen, m.Role) {
			continue
		}
		seen = append(seen, m.Role)
		fact := IgnitionFact{Role: m.Role, File: file(m.Role)}
		if info, err := os.Stat(fact.File); err == nil {
			fact.There, fact.Written = true, info.ModTime()
		}
		if text, err := os.ReadFile(fact.File); err == nil {
			fact.First, fact.End, _ = FirstToEnd(text)
		}
		f.Ignition = append(f.Ignition, fact)
	}
}

func firstWord(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}

func processorFlags() []string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			return strings.Fields(rest)
		}
	}
	return nil
}

func hostRoutes() []Route {
	file, err := os.Open("/proc/net/route")
	if err != nil {
		return nil
	}
	defer file.Close()
	return parseRoutes(bufio.NewScanner(file))
}

// parseRoutes reads the kernel's list, whose addresses are hexadecimal in the
// machine's own order of bytes.
func parseRoutes(lines *bufio.Scanner) []Route {
	var out []Route
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 8 {
			continue
		}
		to, err := hexAddress(words[1])
		mask, err2 := hexAddress(words[7])
		if err != nil || err2 != nil {
			continue // the heading
		}
		four := mask.As4()
		bits, _ := net.IPMask(four[:]).Size()
		out = append(out, Route{netip.PrefixFrom(to, bits), words[0]})
	}
	return out
}

// hexAddress reads an address of /proc/net: words of four bytes.
func hexAddress(text string) (netip.Addr, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.Addr{}, fmt.Errorf("%q is no address", text)
	}
	for at := 0; at < len(raw); at += 4 {
		binary.NativeEndian.PutUint32(raw[at:], binary.BigEndian.Uint32(raw[at:]))
	}
	a, _ := netip.AddrFromSlice(raw)
	return a.Unmap(), nil
}

// listeners are the TCP sockets that wait for connections.
func listeners(file string) []netip.AddrPort {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	const listening = "0A"
	var out []netip.AddrPort
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 4 || words[3] != listening {
			continue
		}
		host, port, _ := strings.Cut(words[1], ":")
		a, err := hexAddress(host)
		n, err2 := strconv.ParseUint(port, 16, 16)
		if err == nil && err2 == nil {
			out = append(out, netip.AddrPortFrom(a, uint16(n)))
		}
	}
	return out
}

// mayBindLow says whether haproxy gets ports 80 and 443 when this user starts
// it.
func mayBindLow(program string) bool {
	if firstPort() <= 80 || os.Geteuid() == 0 {
		return true
	}
	n, err := syscall.Getxattr(program, "security.capability", make([]byte, 64))
	return err == nil && n > 0
}

// Ground is what [groundwork.Plan] goes by.
func (f *Facts) Ground() groundwork.Host {
	return groundwork.Host{
		Firewalld: f.Firewall, Zone: f.FirewallZone, Closed: f.FirewallCloses, Docker: slices.Contains(f.Interfaces, "docker0"),
		Dnsmasq: groundwork.HasDnsmasq("/"), APIAddress: f.APIAddress, LowPorts: f.MayBindLow || f.BalancerRuns, FirstPort: firstPort(),
	}
}

// firstPort is the first port that is not root's alone. Source: Linux
// Documentation/networking/ip-sysctl.rst, ip_unprivileged_port_start.
func firstPort() int {
	const usual = 1024
	if port, err := strconv.Atoi(firstWord("/proc/sys/net/ipv4/ip_unprivileged_port_start")); err == nil {
		return port
	}
	return usual
}

// resolve asks this host's own resolver; empty is no answer.
func resolve(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	all, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0]
}
