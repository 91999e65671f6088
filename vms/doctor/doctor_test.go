package doctor

import (
	"bufio"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
	"time"

	"bootlab/labs"
	"bootlab/labs/labtest"
	"bootlab/vms"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

// goodHost is one on which nothing is amiss.
func goodHost(lab *labs.Lab) *Facts {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &Facts{
		Lab: lab, Now: now, Version: "9.0.0", PoolFree: 1 << 40, BaseHere: false,
		Run: vms.KVM, Proof: provision.KVMProof{Works: true, Why: "a probe machine ran"}, CPUs: 64, Flags: wantedFlags, Memory: 1 << 18,
		Routes:     []Route{{netip.MustParsePrefix("0.0.0.0/0"), "eth0"}, {netip.MustParsePrefix("10.1.2.0/24"), "eth0"}},
		Interfaces: []string{"lo", "eth0"}, Forwards: true,
		Listeners: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:6443"), netip.MustParseAddrPort("0.0.0.0:22")},
		HAProxy:   "/usr/sbin/haproxy", MayBindLow: true, APIAddress: lab.Machines.Gateway, Socket: "/lab/out/work/vms/haproxy.sock", SSHKeygen: true,
		Ignition: []IgnitionFact{
			{Role: vms.Bootstrap, File: "bootstrap.ign", There: true, Written: now.Add(-time.Hour), First: "kubelet-client.crt", End: now.Add(23 * time.Hour)},
			{Role: vms.Master, File: "master.ign", There: true, Written: now.Add(-time.Hour)}},
		Image: vms.Image{File: "/scos.qcow2", Size: 2 << 30, Format: "qcow2", Disk: 16 << 30, SHA256: strings.Repeat("a", 64), Release: "10.0.1"},
	}
}

func libvirtNetwork(name, bridge, address string, active bool) libvirt.NetworkState {
	return libvirt.NetworkState{Name: name, Active: active, XML: `<network><name>` + name + `</name><bridge name="` + bridge + `"/><ip ` + address + `/></network>`}
}

// Each case is a host with one thing amiss, and what must be said of it. Every
// text of doctor.yaml has its case, and no other topic may turn bad with it.
var doctorCases = []struct {
	topic, says string
	change      func(f *Facts)
	want        string // in what is printed
}{
	{"libvirt", "ok", nil, "9.0.0"},
	{"libvirt", "down", func(f *Facts) { f.Connect = &vms.Problem{Message: "no socket", Hint: "start the daemon"} }, "start the daemon"},
	{"names", "ok", nil, ""},
	{"names", "taken", func(f *Facts) {
		f.Conflict = []error{errors.New("network bootlab-lab is there already, and this lab did not make it")}
	}, "bootlab-lab"},
	{"host-names", "ok", nil, ""},
	{"host-names", "long", func(f *Facts) { f.Lab.BaseDomain = strings.Repeat("a.", 130) + "test" }, "253"},
	{"network", "ok", nil, ""},
	{"network", "route", func(f *Facts) { f.Routes = append(f.Routes, Route{netip.MustParsePrefix("192.168.126.0/24"), "wg0"}) }, "wg0"},
	{"network", "route", func(f *Facts) { f.Routes = append(f.Routes, Route{netip.MustParsePrefix("192.168.126.64/26"), "wg0"}) }, "192.168.126.64/26"},
	{"network", "ok", func(f *Facts) {
		f.Routes = append(f.Routes, Route{netip.MustParsePrefix("192.168.126.0/24"), vms.Bridge(f.Lab)})
	}, ""},
	{"network", "wide", func(f *Facts) { f.Routes = append(f.Routes, Route{netip.MustParsePrefix("192.168.0.0/16"), "tun0"}) }, "tun0"},
	{"network", "libvirt", func(f *Facts) {
		f.Networks = append(f.Networks, libvirtNetwork("default", "virbr0", `address="192.168.126.1" netmask="255.255.255.0"`, true))
	}, "virsh net-destroy default"},
	{"network", "idle", func(f *Facts) {
		f.Networks = append(f.Networks, libvirtNetwork("other", "virbr0", `address="192.168.0.1" prefix="16"`, false))
	}, "192.168.0.0/16"},
	{"network", "ok", func(f *Facts) {
		f.Networks = append(f.Networks, libvirtNetwork(vms.NetworkName(f.Lab), vms.Bridge(f.Lab), `address="192.168.126.1" prefix="24"`, true))
	}, ""},
	{"bridge", "ok", nil, ""},
	{"bridge", "taken", func(f *Facts) { f.Interfaces = append(f.Interfaces, vms.Bridge(f.Lab)) }, "interface of this host"},
	{"bridge", "taken", func(f *Facts) {
		f.Networks = append(f.Networks, libvirtNetwork("other", vms.Bridge(f.Lab), `address="10.9.0.1" prefix="24"`, false))
	}, "network other"},
	{"kvm", "ok", nil, "a probe machine ran"},
	{"kvm", "emulated", func(f *Facts) { f.Run, f.Proof = vms.Emulated, provision.KVMProof{Why: "it hung"} }, "it hung"},
	{"kvm", "chosen", func(f *Facts) { f.Run, f.Asked = vms.Emulated, true }, "256 MiB more"},
	{"kvm", "forced", func(f *Facts) { f.Asked, f.Proof = true, provision.KVMProof{Why: "it hung"} }, "it hung"},
	{"instructions", "ok", nil, ""},
	{"instructions", "lacking", func(f *Facts) { f.Flags = []string{"avx", "bmi1", "bmi2", "f16c", "abm", "movbe", "xsave"} }, "avx2, fma"},
	{"instructions", "ok", func(f *Facts) { f.Flags, f.Image.Release = nil, "9.6.20251212-1" }, ""},
	{"cpus", "ok", nil, ""},
	{"cpus", "more", func(f *Facts) { f.CPUs = 3 }, "16 are wanted, 3 are there"},
	{"memory", "ok", nil, "65936 MiB are wanted"},
	{"memory", "short", func(f *Facts) { f.Memory = 60000 }, "65936"},
	{"memory", "none", func(f *Facts) { f.Memory = 16000 }, "16484"},
	{"memory", "runs", func(f *Facts) {
		f.Memory, f.Active = 100, []string{"bootstrap", "master-0", "master-1", "master-2"}
	}, ""},
	{"disk", "ok", nil, "1024 GiB"},
	{"disk", "thin", func(f *Facts) { f.PoolFree = 100 << 30 }, "480 GiB"},
	{"disk", "full", func(f *Facts) { f.PoolFree = 1 << 30 }, "takes 2 GiB"},
	{"socket", "ok", nil, ""},
	{"socket", "long", func(f *Facts) { f.Socket = "/" + strings.Repeat("a", 107) }, "108 bytes"},
	{"haproxy", "ok", nil, "/usr/sbin/haproxy"},
	{"haproxy", "missing", func(f *Facts) { f.HAProxy = "" }, "apt-get install haproxy"},
	{"ports", "ok", nil, ""},
	{"ports", "taken", func(f *Facts) { f.Listeners = append(f.Listeners, netip.MustParseAddrPort("[::]:443")) }, "[::]:443"},
	{"ports", "taken", func(f *Facts) { f.Listeners = append(f.Listeners, netip.MustParseAddrPort("192.168.126.1:22623")) }, "192.168.126.1:22623"},
	{"ports", "runs", func(f *Facts) {
		f.BalancerRuns, f.Listeners = true, append(f.Listeners, netip.MustParseAddrPort("192.168.126.1:22623"))
	}, ""},
	{"low-ports", "ok", nil, ""},
	{"low-ports", "forbidden", func(f *Facts) { f.MayBindLow = false }, "bootlab host prepare"},
	{"firewall", "ok", nil, ""},
	{"firewall", "open", func(f *Facts) { f.Firewall = true }, ""},
	{"firewall", "closed", func(f *Facts) { f.Firewall, f.FirewallCloses = true, []int{6443, 80} }, "6443, 80"},
	{"forwarding", "ok", nil, ""},
	{"forwarding", "later", func(f *Facts) { f.Forwards = false }, ""},
	{"forwarding", "off", func(f *Facts) {
		f.Forwards = false
		f.Networks = append(f.Networks, libvirtNetwork(vms.NetworkName(f.Lab), vms.Bridge(f.Lab), `address="192.168.126.1" prefix="24"`, true))
	}, "ip_forward=1"},
	{"dns", "unknown", func(f *Facts) { f.APIAddress = "" }, "bootlab host prepare"},
	{"dns", "ok", nil, ""},
	{"dns", "ok", func(f *Facts) { f.NoBalancer, f.APIAddress = true, "192.168.126.21" }, "192.168.126.21"},
	{"dns", "changing", func(f *Facts) { f.NoBalancer, f.APIAddress = true, "" }, "resolvectl"},
	{"dns", "elsewhere", func(f *Facts) { f.NoBalancer, f.APIAddress = true, "192.168.126.1" }, "no machine of the lab"},
	{"dns", "other", func(f *Facts) { f.APIAddress = "10.1.2.3" }, "10.1.2.3"},
	{"ssh", "ok", nil, ""},
	{"ssh", "missing", func(f *Facts) { f.SSHKeygen = false }, "openssh-client"},
	{"ignition", "ok", nil, ""},
	{"ignition", "missing", func(f *Facts) { f.Ignition[1].There = false }, "master.ign"},
	{"certificates", "ok", nil, "23 hours left"},
	{"certificates", "soon", func(f *Facts) { f.Ignition[0].End = f.Now.Add(3 * time.Hour) }, "3 hours left"},
	{"certificates", "over", func(f *Facts) { f.Ignition[0].End = f.Now.Add(-5 * time.Hour) }, "5 hours ago"},
	{"certificates", "made", func(f *Facts) { f.Made, f.Ignition[0].End = []string{"bootstrap"}, f.Now.Add(-5*time.Hour) }, ""},
	{"certificates", "young", func(f *Facts) { f.Ignition[0].First = "" }, "1 hours old"},
	{"certificates", "old", func(f *Facts) { f.Ignition[0].First, f.Ignition[0].Written = "", f.Now.Add(-21*time.Hour) }, "21 hours old"},
	{"image", "ok", nil, "2048 MiB"},
	{"image", "bad", func(f *Facts) { f.ImageProblem = &vms.Problem{Message: "is cut off", Hint: "get it again"} }, "get it again"},
	{"image", "large", func(f *Facts) { f.Image.Disk = 121 << 30 }, "121 GiB"},
}

func TestTheDoctorSeesWhatIsAmiss(t *testing.T) {
	said := map[string]bool{}
	for _, c := range doctorCases {
		t.Run(c.topic+"/"+c.says, func(t *testing.T) {
			f := goodHost(labtest.Shipped(t, "compact"))
			if c.change != nil {
				c.change(f)
			}
			findings, err := Judge(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := textOf(c.topic, c.says)
			if err != nil {
				t.Fatal(err)
			}
			said[c.topic+"/"+c.says] = true
			found := false
			for _, got := range findings {
				if got.ID == c.topic {
					found = found || got.Level == want.Level && strings.HasPrefix(got.Found, prefixOf(want.Found)) && strings.Contains(got.Title+got.Found+got.Fix, c.want)
				} else if got.Level != OK {
					t.Errorf("%s turns bad too: %s", got.ID, got.Found)
				}
				if got.Level != OK && got.Fix == "" {
					t.Errorf("%s: no fix for %s", got.ID, got.Found)
				}
			}
			if !found {
				t.Errorf("not said; instead:\n%+v", findings)
			}
		})
	}
	for _, topic := range topics {
		for says := range topic.Says {
			if !said[topic.ID+"/"+says] {
				t.Errorf("no case for %s: %s", topic.ID, says)
			}
		}
	}
}

func textOf(id, says string) (saying, error) {
	for _, t := range topics {
		if t.ID == id {
			if s, ok := t.Says[says]; ok {
				return s, nil
			}
		}
	}
	return saying{}, errors.New("no text")
}

// prefixOf is a text up to its first value.
func prefixOf(text string) string {
	before, _, _ := strings.Cut(text, "{{")
	return before
}

func TestTextsOfTheDoctorAreTemplates(t *testing.T) {
	for _, topic := range topics {
		for says, s := range topic.Says {
			for _, text := range []string{topic.Title, s.Found, s.Fix} {
				if _, err := parse.Parse("text", text, "", ""); err != nil {
					t.Errorf("%s %s: %v", topic.ID, says, err)
				}
			}
			if s.Level != OK && s.Level != Warning && s.Level != Failed || s.Found == "" {
				t.Errorf("%s %s: %+v", topic.ID, says, s)
			}
		}
	}
	if _, err := (verdict{"memory", "plenty", nil}).finding(); err == nil {
		t.Error("a verdict without a text passes")
	}
	if _, err := (verdict{"memory", "short", nil}).finding(); err == nil {
		t.Error("a text without its values passes")
	}
}

// 9500 MiB are left of 16 GiB when the system and other programs take more than
// 6 GiB.
func TestTheSmallestLabFitsALaptopOf16GiB(t *testing.T) {
	f := goodHost(labtest.Shipped(t, "bootstrap-only"))
	f.CPUs, f.Memory, f.PoolFree = 8, 9500, 100<<30
	for _, run := range []vms.Accelerator{vms.KVM, vms.Emulated} {
		f.Run, f.Asked = run, true
		findings, err := Judge(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range findings {
			if got.Level != OK && got.ID != "kvm" {
				t.Errorf("%s: %+v", run, got)
			}
		}
	}
	f.Memory = 8000
	if v := judgeMemory(f); v[0].says != "none" {
		t.Errorf("%+v", v)
	}
}

func TestALabWithoutABalancerNeedsNoneOfItsParts(t *testing.T) {
	f := goodHost(labtest.Shipped(t, "compact"))
	f.NoBalancer, f.HAProxy, f.MayBindLow, f.APIAddress = true, "", false, f.Lab.Machines.Bootstrap.Address
	f.Firewall, f.FirewallCloses = true, []int{6443}
	f.Listeners = []netip.AddrPort{netip.MustParseAddrPort("[::]:443")}
	findings, err := Judge(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range findings {
		if got.Level != OK || slices.Contains([]string{"socket", "haproxy", "ports", "low-ports", "firewall"}, got.ID) {
			t.Errorf("%+v", got)
		}
	}
}

func TestWithoutLibvirtTheRestIsLookedAtAllTheSame(t *testing.T) {
	state, err := state.Open(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := provision.New(labtest.Shipped(t, "compact"), nil, state, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bootstrap.ign"), ignitionWith(t, map[string][]byte{"/opt/openshift/tls/a.crt": certificateUntil(t, time.Now().Add(-time.Hour))}), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Look(t.Context(), p, libvirt.ErrNoLibvirt, func(r vms.Role) string { return filepath.Join(dir, string(r)+".ign") })
	if err != nil {
		t.Fatal(err)
	}
	findings, err := Judge(f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Level{}
	for _, finding := range findings {
		if got[finding.ID] != Failed {
			got[finding.ID] = finding.Level
		}
	}
	for id, want := range map[string]Level{"libvirt": Failed, "ignition": Failed, "certificates": Failed, "socket": OK} {
		if got[id] != want {
			t.Errorf("%s: %q, want %s", id, got[id], want)
		}
	}
	if _, there := got["kvm"]; there {
		t.Error("KVM is judged without libvirt")
	}
	if f.Memory == 0 || f.PoolFree == 0 || len(f.Interfaces) == 0 {
		t.Errorf("nothing was seen of the host: %+v", f)
	}
}

func TestTheKernelsListsAreRead(t *testing.T) {
	const routes = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		"eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\nvirbr0\t007AA8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\nbad\tx\n"
	got := parseRoutes(bufio.NewScanner(strings.NewReader(routes)))
	want := []Route{{netip.MustParsePrefix("0.0.0.0/0"), "eth0"}, {netip.MustParsePrefix("192.168.122.0/24"), "virbr0"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	const sockets = "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A 0\n   1: 0100007F:1F91 0100007F:0001 01 0\n   2: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 0\n"
	file := labtest.File(t, []byte(sockets))
	if got := listeners(file); !reflect.DeepEqual(got, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("[::]:443")}) {
		t.Errorf("%v", got)
	}
}
