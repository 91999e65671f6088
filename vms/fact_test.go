package vms

import (
	"strings"
	"testing"

	"bootlab/labs/labtest"
)

func TestFactsOfADomainAreWhatTheLabAsks(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	m := Machines(lab)[1]
	text := func(m Machine, run Accelerator) string {
		out, err := Domain(lab, ownerOf(lab), m, Image{SHA256: "ab", Format: "qcow2"}, run).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	facts := func(text string) Facts {
		f, err := DomainFacts(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	as := facts(text(m, KVM))
	// What another bootlab writes, and how libvirt gives it back.
	other := strings.NewReplacer(`migratable="on"`, `migratable="off"`, "<on_crash>destroy</on_crash>", "<on_crash>preserve</on_crash>",
		`<memory unit="MiB">16384</memory>`, `<memory unit='KiB'>16777216</memory>`).Replace(text(m, KVM))
	if other == text(m, KVM) {
		t.Fatal("nothing was replaced")
	}
	if got := facts(other).Differ(as); len(got) > 0 {
		t.Error(got)
	}
	more := m
	more.Memory += 1024
	moved := m
	moved.MAC = "52:54:00:00:00:01"
	for want, text := range map[string]string{
		"memory is 17408 MiB, and lab.yaml wants 16384 MiB":                        text(more, KVM),
		"processor type is qemu, and lab.yaml wants kvm":                           text(m, Emulated),
		"network of 52:54:00:00:00:01 is bootlab-compact, and lab.yaml wants none": text(moved, KVM),
	} {
		if got := strings.Join(facts(text).Differ(as), "; "); !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if _, err := DomainFacts("<network"); err == nil {
		t.Error("no error")
	}
}

func TestFactsOfANetworkAreWhatTheLabAsks(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	text, err := Network(lab, ownerOf(lab)).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	facts := func(text string) Facts {
		f, err := NetworkFacts(text, true)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	as := facts(text)
	given := strings.Replace(text, `prefix="24"`, `netmask='255.255.255.0'`, 1)
	if given == text {
		t.Fatal("nothing was replaced")
	}
	if got := facts(given).Differ(as); len(got) > 0 {
		t.Error(got)
	}
	gateway := lab.Machines.Gateway
	for from, to := range map[string]string{
		`address="` + gateway + `"`:     `address="192.168.126.9"`,
		`name="master-0"`:               `name="master-9"`,
		`<hostname>api-int.`:            `<hostname>api-ext.`,
		"address=/apps." + lab.Domain(): "address=/app." + lab.Domain(),
		`<bridge name="` + Bridge(lab):  `<bridge name="virbr7`,
		`<domain name="` + lab.Domain(): `<domain name="other.test`,
		`mode="nat"`:                    `mode="route"`,
	} {
		changed := strings.Replace(text, from, to, 1)
		if changed == text {
			t.Fatalf("no %s in\n%s", from, text)
		}
		if got := facts(changed).Differ(as); len(got) == 0 {
			t.Errorf("%s is no fact", from)
		}
	}
	if _, err := NetworkFacts("", true); err == nil {
		t.Error("no error")
	}
}
