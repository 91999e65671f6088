package groundwork

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"bootlab/labs/labtest"
	"bootlab/vms/state"
)

// bare is a host that lacks everything.
var bare = Host{Firewalld: true, Zone: "libvirt", Closed: []int{6443, 22623}, Docker: true, FirstPort: 1024}

func ids(changes []Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.ID)
	}
	return strings.Join(out, " ")
}

func TestOnlyWhatIsLackingIsPlanned(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	for want, c := range map[string]struct {
		change   func(*Host)
		balanced bool
	}{
		"firewall docker low-ports names": {func(*Host) {}, true},
		"docker low-ports names":          {func(h *Host) { h.Closed = nil }, true},
		"docker names":                    {func(h *Host) { h.Firewalld, h.LowPorts = false, true }, true},
		"firewall docker low-ports":       {func(h *Host) { h.APIAddress = lab.Machines.Gateway }, true},
		"docker":                          {func(*Host) {}, false}, // the names lead elsewhere in time
		"names":                           {func(h *Host) { *h = Host{Dnsmasq: true} }, false},
		"":                                {func(h *Host) { *h = Host{APIAddress: "192.0.2.1", LowPorts: true} }, true},
	} {
		h := bare
		c.change(&h)
		if got := ids(Plan(lab, h, c.balanced)); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

// What is shown is what runs, so it is bash, and what it undoes is what it does.
func TestLinesAreBashAndUndoneOneByOne(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	lab.Metadata.UID = "0123456789abcdef"
	for _, dnsmasq := range []bool{false, true} {
		h := bare
		h.Dnsmasq = dnsmasq
		for _, c := range Plan(lab, h, true) {
			if len(c.Do) == 0 || len(c.Undo) != len(c.Do) || !strings.HasSuffix(c.Why, ".") {
				t.Errorf("%+v", c)
			}
			for _, line := range append(slices.Clone(c.Do), c.Undo...) {
				if _, err := syntax.NewParser().Parse(strings.NewReader(line), ""); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
	}
	lasting := Plan(lab, bare, true)[0]
	if len(lasting.Do) != 4 || !strings.Contains(lasting.Do[0], "--permanent") || strings.Contains(lasting.Do[1], "--permanent") {
		t.Errorf("a port is opened for good and now: %q", lasting.Do)
	}
}

// A record that somebody else wrote is not run.
func TestOnlyLinesOfThePlanAreUndone(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	for _, dnsmasq := range []bool{false, true} {
		h := bare
		h.Dnsmasq = dnsmasq
		if err := Trusted(Plan(lab, h, true)); err != nil {
			t.Error(err)
		}
	}
	for _, line := range []string{"rm --recursive /", "sudo nmcli general reload dns-full; id", "sudo rm --force /etc/sysctl.d/90-bootlab.conf\nid",
		"sudo firewall-cmd --zone=$(id) --remove-rich-rule='rule family=\"ipv4\" source address=\"1\" destination address=\"1\" port port=\"1\" protocol=\"tcp\" accept'"} {
		if Trusted([]Change{{Undo: []string{line}}}) == nil {
			t.Errorf("it would run %q", line)
		}
	}
}

func newState(t *testing.T) *state.Dir {
	t.Helper()
	s, err := state.Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A change that ended half-way is taken back like one that was made, and what cannot be
// taken back stays written down.
func TestWhatWasBegunIsUndone(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	changes := []Change{
		{ID: "one", Do: []string{"touch " + file("one")}, Undo: []string{"rm " + file("one")}},
		{ID: "two", Do: []string{"touch " + file("two"), "false"}, Undo: []string{"rm " + file("two"), "test ! -e " + file("in-the-way")}},
		{ID: "three", Do: []string{"touch " + file("three")}, Undo: []string{"rm " + file("three")}},
	}
	s := newState(t)
	var out bytes.Buffer
	shell := Shell{Out: &out, Err: &out}
	if err := Make(context.Background(), s, changes, shell); err == nil || !strings.Contains(err.Error(), "this did not work: false") {
		t.Errorf("%v", err)
	}
	if made, err := Made(s); err != nil || ids(made) != "one two" {
		t.Errorf("%v %v", made, err)
	}
	// A second try writes nothing down twice.
	Make(context.Background(), s, changes, shell)
	if made, _ := Made(s); ids(made) != "one two" {
		t.Errorf("%v", made)
	}
	if err := os.WriteFile(file("in-the-way"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Undo(context.Background(), s, shell); err == nil {
		t.Error("no error")
	}
	if made, _ := Made(s); ids(made) != "one two" {
		t.Errorf("%v", made)
	}
	os.Remove(file("in-the-way"))
	os.WriteFile(file("two"), nil, 0o600)
	if err := Undo(context.Background(), s, shell); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if made, err := Made(s); err != nil || len(made) > 0 {
		t.Errorf("%v %v", made, err)
	}
	if !strings.Contains(out.String(), "+ touch "+file("one")+"\n") {
		t.Errorf("it is not shown:\n%s", out.String())
	}
}

// As root there may be no sudo, and none is needed.
func TestRootNeedsNoSudo(t *testing.T) {
	var out bytes.Buffer
	t.Setenv("PATH", "/usr/bin:/bin")
	if err := (Shell{Out: &out, Err: &out, Root: true}).run(context.Background(), []string{"echo a | sudo cat > /dev/null", "sudo true"}); err != nil {
		t.Error(err, out.String())
	}
}

func TestDnsmasqOfNetworkManagerIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"[main]\ndns=dnsmasq\n": true, "[main]\n dns = dnsmasq\n": true,
		"[main]\n#dns=dnsmasq\n": false, "[main]\ndns=systemd-resolved\n": false,
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "etc/NetworkManager/conf.d")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if HasDnsmasq(root) {
			t.Error("there is none")
		}
		if err := os.WriteFile(filepath.Join(dir, "dns.conf"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if HasDnsmasq(root) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestPortsThatAZoneOpens(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	const listed = "libvirt\n  target: ACCEPT\n  services: dhcp dns\n  ports: 80/tcp 8443/tcp\n  source-ports: 443/tcp\n  rich rules: \n" +
		"\trule priority=\"32767\" reject\n" +
		"\trule family=\"ipv4\" source address=\"192.168.126.0/24\" destination address=\"192.168.126.1\" port port=\"6443\" protocol=\"tcp\" accept\n" +
		"\trule family=\"ipv4\" source address=\"192.168.127.0/24\" destination address=\"192.168.127.1\" port port=\"22623\" protocol=\"tcp\" accept\n"
	for port, want := range map[int]bool{80: true, 6443: true, 443: false, 22623: false} {
		if opens(listed, lab, port) != want {
			t.Errorf("%d: %v", port, !want)
		}
	}
	if !opens("trusted\n  target: ACCEPT\n  ports: \n", lab, 443) {
		t.Error("a zone that accepts all closes a port")
	}
	if opens("", lab, 80) {
		t.Error("what is not known is open")
	}
}
