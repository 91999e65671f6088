package provision

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs/labtest"
	"bootlab/vms"
	"bootlab/vms/libvirt"
)

// nameServer is a host with networks and domains alone; it changes records as
// libvirt does, one for an address.
type nameServer struct {
	*storage
	network *libvirtxml.Network
	active  bool
	left    int      // so many changes are made before it goes away; -1: all
	fewest  int      // the fewest addresses that api ever had
	did     []string // changes
}

var errGone = errors.New("the host has gone away")

func newNameServer(machines ...libvirt.DomainState) *nameServer {
	host := &nameServer{storage: newStorage(), left: -1, fewest: 1 << 10}
	host.domains = machines
	return host
}

func (h *nameServer) Network(name string) (libvirt.NetworkState, bool, error) {
	if h.network == nil || h.network.Name != name {
		return libvirt.NetworkState{}, false, nil
	}
	text, err := h.network.Marshal()
	return libvirt.NetworkState{Name: name, XML: text, Active: h.active}, true, err
}

func (h *nameServer) DefineNetwork(text string) error {
	h.network = &libvirtxml.Network{}
	h.did = append(h.did, "define")
	return h.network.Unmarshal(text)
}

func (h *nameServer) StartNetwork(string) error {
	h.active = true
	return nil
}

func (h *nameServer) RemoveNetwork(string) error {
	h.network, h.active = nil, false
	return nil
}

func (h *nameServer) Domain(name string) (libvirt.DomainState, bool, error) {
	at := slices.IndexFunc(h.domains, func(d libvirt.DomainState) bool { return d.Name == name })
	if at < 0 {
		return libvirt.DomainState{}, false, nil
	}
	return h.domains[at], true, nil
}

func (h *nameServer) AddDNSHost(_, text string) error {
	return h.change("add", text, func(at int, record libvirtxml.NetworkDNSHost) error {
		if at >= 0 {
			return errors.New("there is already at least one DNS HOST record with a matching field")
		}
		h.network.DNS.Host = append(h.network.DNS.Host, record)
		return nil
	})
}

func (h *nameServer) RemoveDNSHost(_, text string) error {
	return h.change("remove", text, func(at int, _ libvirtxml.NetworkDNSHost) error {
		if at < 0 {
			return errors.New("couldn't locate a matching DNS HOST record")
		}
		h.network.DNS.Host = slices.Delete(h.network.DNS.Host, at, at+1)
		return nil
	})
}

func (h *nameServer) change(do, text string, how func(at int, record libvirtxml.NetworkDNSHost) error) error {
	if h.left == 0 {
		return errGone
	}
	h.left--
	var record libvirtxml.NetworkDNSHost
	if err := record.Unmarshal(text); err != nil {
		return err
	}
	h.did = append(h.did, do+" "+record.IP)
	at := slices.IndexFunc(h.network.DNS.Host, func(r libvirtxml.NetworkDNSHost) bool { return r.IP == record.IP })
	err := how(at, record)
	h.fewest = min(h.fewest, len(h.network.DNS.Host))
	return err
}

// unbalanced is a lab without load balancer whose network is there.
func unbalanced(t *testing.T, name string, host *nameServer) *Provisioner {
	t.Helper()
	state := newState(t)
	p, err := New(labtest.Shipped(t, name), host, state, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	without := true
	if err := errors.Join(p.ChooseBalancer(&without), p.RememberBalancer()); err != nil {
		t.Fatal(err)
	}
	host.makeNetwork(t, p)
	return p
}

func (h *nameServer) makeNetwork(t *testing.T, p *Provisioner) {
	t.Helper()
	if err := makeAll(context.Background(), p.State, []Thing{p.network()}, silent); err != nil {
		t.Fatal(err)
	}
	h.did, h.fewest = nil, 1<<10
}

// again opens the lab as the next command does.
func again(t *testing.T, p *Provisioner) *Provisioner {
	t.Helper()
	next, err := New(p.Lab, p.Host, p.State, p.owner.Directory)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func (p *Provisioner) machineIs(name string) libvirt.DomainState {
	return libvirt.DomainState{Name: p.Lab.DomainName(name), XML: "<domain><metadata>" + p.owner.Element() + "</metadata></domain>"}
}

// leadsTo are the machines that api and api-int lead to, which must be the same.
func machinesOfAPI(t *testing.T, p *Provisioner) []string {
	t.Helper()
	all, err := p.Leads()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, l := range all {
		before, _, _ := strings.Cut(l.Name, ".")
		names[before] = append(names[before], l.Machine)
	}
	slices.Sort(names["api"])
	slices.Sort(names["api-int"])
	if !slices.Equal(names["api"], names["api-int"]) {
		t.Errorf("api leads to %v, api-int to %v", names["api"], names["api-int"])
	}
	return names["api"]
}

var compactMasters = []string{"master-0", "master-1", "master-2"}

func TestALabWithoutBalancerHasNoSuchThing(t *testing.T) {
	for _, without := range []bool{false, true} {
		p := unbalanced(t, "compact", newNameServer())
		p.NoBalancer = without
		things, err := p.things(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		left, err := p.remains()
		if err != nil {
			t.Fatal(err)
		}
		for what, all := range map[string][]Thing{"up": things, "down": left} {
			if got := slices.ContainsFunc(all, func(t Thing) bool { return t.Name == "haproxy" }); got == without {
				t.Errorf("without a balancer is %v, and %s takes haproxy for a thing is %v", without, what, got)
			}
		}
	}
}

// What was remembered may be lost while HAProxy runs.
func TestDownTakesABalancerAwayThatNobodyRemembers(t *testing.T) {
	p := unbalanced(t, "compact", newNameServer())
	if err := p.State.Write("haproxy.cfg", []byte("global\n")); err != nil {
		t.Fatal(err)
	}
	receipts, err := p.Down(context.Background(), silent)
	if err != nil || !slices.Contains(receipts, Receipt{"load balancer", "haproxy", "half made", "gone", false}) {
		t.Errorf("%+v, %v", receipts, err)
	}
}

func TestTheNamesFollowTheControlPlane(t *testing.T) {
	host := newNameServer()
	p := unbalanced(t, "compact", host)
	if got := machinesOfAPI(t, p); !slices.Equal(got, []string{"bootstrap"}) {
		t.Errorf("at the beginning %v", got)
	}
	for _, step := range []struct {
		bootstrap bool
		machines  []string
		did       []string
	}{
		{true, []string{"bootstrap"}, nil},
		{false, compactMasters, []string{"add 192.168.126.20", "add 192.168.126.21", "add 192.168.126.22", "remove 192.168.126.10"}},
		{false, compactMasters, nil},
		{true, []string{"bootstrap"}, []string{"add 192.168.126.10", "remove 192.168.126.20", "remove 192.168.126.21", "remove 192.168.126.22"}},
	} {
		host.did = nil
		if err := p.LeadAPI(step.bootstrap); err != nil {
			t.Fatal(err)
		}
		if got := machinesOfAPI(t, p); !slices.Equal(got, step.machines) || !slices.Equal(host.did, step.did) {
			t.Errorf("to the bootstrap %v: %v, by %v", step.bootstrap, got, host.did)
		}
		if at, err := p.network().look(); at != ready || err != nil {
			t.Errorf("up would take the network for %s (%v)", at, err)
		}
	}
	if host.fewest < 1 {
		t.Error("for a moment api had no address")
	}
}

// Killed after any change, the same command comes to the right end, and so does
// the other one.
func TestASwitchOfNamesThatWasKilledGoesOn(t *testing.T) {
	for _, first := range []bool{false, true} {
		for _, then := range []bool{false, true} {
			for changes := range 4 {
				host := newNameServer()
				p := unbalanced(t, "compact", host)
				if first {
					if err := p.LeadAPI(false); err != nil {
						t.Fatal(err)
					}
				}
				host.left = changes
				if err := p.LeadAPI(first); !errors.Is(err, errGone) {
					t.Fatalf("after %d changes: %v", changes, err)
				}
				host.left = -1
				if around, err := p.Around(); err != nil || (around.Next != "") != (changes > 0) {
					t.Errorf("after %d changes the next step is %q (%v)", changes, around.Next, err)
				}
				if err := p.LeadAPI(then); err != nil {
					t.Fatal(err)
				}
				want := compactMasters
				if then {
					want = []string{"bootstrap"}
				}
				if got := machinesOfAPI(t, p); !slices.Equal(got, want) || host.fewest < 1 {
					t.Errorf("%d changes of %v, then %v: %v", changes, first, then, got)
				}
			}
		}
	}
}

func TestNamesAreNotLedWhereNobodyAnswers(t *testing.T) {
	host := newNameServer()
	p := unbalanced(t, "compact", host)
	host.domains = []libvirt.DomainState{p.machineIs("master-0")} // the bootstrap was removed
	if err := p.LeadAPI(true); err == nil || !strings.Contains(err.Error(), "the bootstrap was removed") {
		t.Errorf("to a bootstrap that is gone: %v", err)
	}
	if around, err := p.Around(); err != nil || !strings.HasSuffix(around.Next, "--without-bootstrap") {
		t.Errorf("%+v, %v", around, err)
	}
	alone := unbalanced(t, "bootstrap-only", newNameServer())
	if err := alone.LeadAPI(false); err == nil || !strings.Contains(err.Error(), "no masters") {
		t.Errorf("without masters: %v", err)
	}
	host.network = nil
	if err := p.LeadAPI(false); err == nil || !strings.Contains(err.Error(), "not made yet") {
		t.Errorf("without network: %v", err)
	}
	host.network = &libvirtxml.Network{Name: vms.NetworkName(p.Lab)}
	if err := p.LeadAPI(false); err == nil || !strings.Contains(err.Error(), "did not make it") {
		t.Errorf("another's network: %v", err)
	}
}

// A network that is recreated after the bootstrap has gone must not lead there.
func TestARecreatedNetworkLeadsPastABootstrapThatIsGone(t *testing.T) {
	host := newNameServer()
	p := unbalanced(t, "ha", host)
	host.domains = []libvirt.DomainState{p.machineIs("master-1")}
	if err := host.RemoveNetwork(""); err != nil {
		t.Fatal(err)
	}
	host.makeNetwork(t, p)
	if got := machinesOfAPI(t, p); !slices.Equal(got, compactMasters) {
		t.Errorf("the names lead to %v", got)
	}
}

// What somebody put there by hand is shown, and left alone.
func TestAnAddressThatWasAddedByHandStays(t *testing.T) {
	host := newNameServer()
	p := unbalanced(t, "compact", host)
	host.network.DNS.Host = append(host.network.DNS.Host, vms.APIRecord(p.Lab, "192.168.126.200"))
	if err := p.LeadAPI(false); err != nil {
		t.Fatal(err)
	}
	if got := machinesOfAPI(t, p); !slices.Equal(got, append([]string{""}, compactMasters...)) {
		t.Errorf("the names lead to %v", got)
	}
	half := vms.APIRecord(p.Lab, "192.168.126.10")
	half.Hostnames = half.Hostnames[:1]
	host.network.DNS.Host = append(host.network.DNS.Host, half)
	if err := p.LeadAPI(true); err == nil || !strings.Contains(err.Error(), "only one of api and api-int leads to bootstrap") {
		t.Errorf("a record that is half there: %v", err)
	}
}

func TestALabStaysAsItWasMade(t *testing.T) {
	yes, no := true, false
	host := newNameServer()
	p := unbalanced(t, "compact", host)
	if p = again(t, p); !p.NoBalancer {
		t.Error("the next command does not know")
	}
	if err := p.ChooseBalancer(nil); err != nil || !p.NoBalancer {
		t.Errorf("up without the flag: %v, %v", p.NoBalancer, err)
	}
	if err := p.ChooseBalancer(&yes); err != nil || !p.NoBalancer {
		t.Errorf("up with it again: %v, %v", p.NoBalancer, err)
	}
	if err := p.ChooseBalancer(&no); err == nil || !strings.Contains(err.Error(), "was made without load balancer") {
		t.Errorf("up with the contrary: %v", err)
	}
	// The network itself tells, where the lab's directory has lost it.
	if err := p.forgetBalancer(); err != nil {
		t.Fatal(err)
	}
	if p = again(t, p); p.NoBalancer {
		t.Error("it was not forgotten")
	}
	if err := p.ChooseBalancer(nil); err != nil || !p.NoBalancer {
		t.Errorf("up on a network whose choice was lost: %v, %v", p.NoBalancer, err)
	}
	if err := p.RememberBalancer(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Down(context.Background(), silent); err != nil {
		t.Fatal(err)
	}
	if p = again(t, p); p.NoBalancer {
		t.Error("down does not forget it")
	}
	// An up that was killed before it made the network was told something all the same.
	if err := errors.Join(p.ChooseBalancer(&yes), p.RememberBalancer()); err != nil {
		t.Fatal(err)
	}
	if p = again(t, p); p.ChooseBalancer(nil) != nil || !p.NoBalancer {
		t.Error("what an interrupted up was told is lost")
	}
	if err := p.ChooseBalancer(&no); err != nil || p.NoBalancer {
		t.Errorf("nothing is made, so it may be chosen again: %v", err)
	}
	host.makeNetwork(t, p)
	if err := p.ChooseBalancer(&yes); err == nil || !strings.Contains(err.Error(), "was made with a load balancer") {
		t.Errorf("up --no-balancer on a lab with one: %v", err)
	}
}

func TestStatusSaysWhereTheNamesLead(t *testing.T) {
	host := newNameServer()
	p := unbalanced(t, "compact", host)
	around, err := p.Around()
	if err != nil || around.Balancer != NoBalancer || around.Network != "active" || around.Next != "" || len(around.API) != 2 || around.API[0] != (Lead{"api." + p.Lab.Domain(), "bootstrap", "192.168.126.10"}) {
		t.Errorf("%+v, %v", around, err)
	}
	host.active = false
	if around, err := p.Around(); err != nil || around.Network != "inactive" || !strings.HasPrefix(around.Next, "bootlab vms up ") {
		t.Errorf("after the host has booted: %+v, %v", around, err)
	}
	host.network = nil
	if around, err := p.Around(); err != nil || around.Network != "not made" || around.API != nil || !strings.HasPrefix(around.Next, "bootlab vms up ") {
		t.Errorf("before up: %+v, %v", around, err)
	}
	if _, err := p.Leads(); err == nil || !strings.Contains(err.Error(), "not made yet") {
		t.Errorf("before up: %v", err)
	}
}

func TestRoutesLeadToWorkersOrElseToMasters(t *testing.T) {
	for name, want := range map[string][]string{"ha": {"worker-0", "worker-1"}, "compact": compactMasters, "bootstrap-only": nil} {
		p := unbalanced(t, name, newNameServer())
		all, err := p.Leads()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range all {
			if strings.HasPrefix(l.Name, "*.apps.") {
				got = append(got, l.Machine)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: routes lead to %v, want %v", name, got, want)
		}
	}
}
