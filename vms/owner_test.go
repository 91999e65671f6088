package vms

import (
	"testing"

	"bootlab/labs/labtest"
)

func TestTheOwnerIsFoundAgain(t *testing.T) {
	for _, o := range []Owner{
		{Name: "mylab", Directory: "/home/ann/mylab"},
		{Name: "mylab", Directory: "/home/ann/mylab", Definition: "sha256:ab"},
		{Name: "mylab", Directory: `/home/it's "here" & <there>/ü`},
		{Name: "mylab"},
	} {
		text := "<domain type='kvm'><name>x</name><metadata>" + o.Element() + "</metadata></domain>"
		got, ok := OwnerIn(text)
		got.XMLName = o.XMLName
		if !ok || got != o {
			t.Errorf("%+v came back as %+v", o, got)
		}
	}
}

func TestWhatOthersMadeHasNoOwner(t *testing.T) {
	for _, text := range []string{
		"", "<domain/>", "no XML", "<domain><metadata><lab name='mylab'/></metadata></domain>",
		"<domain><metadata><lab xmlns='urn:other' name='mylab'/></metadata></domain>",
		"<domain><metadata><x:lab xmlns:x='urn:bootlab:lab:2' name='mylab'/></metadata></domain>",
		"<domain><description>&lt;bootlab:lab name='mylab'/&gt;</description></domain>",
		"<domain><metadata><bootlab:lab xmlns:bootlab='urn:bootlab:lab:1' name='mylab'>", // cut off
	} {
		if o, ok := OwnerIn(text); ok {
			t.Errorf("%s has the owner %+v", text, o)
		}
	}
}

func TestOwnersOfOneNameAreTold(t *testing.T) {
	mine, other := Owner{Name: "mylab", Directory: "/a"}, Owner{Name: "mylab", Directory: "/b"}
	if !mine.Same(Owner{Name: "mylab", Directory: "/a", Definition: "sha256:ab"}) || mine.Same(other) || mine.Same(Owner{Name: "yours", Directory: "/a"}) {
		t.Error("labs are mixed up")
	}
}

func TestFilesOfALabAreKnownByTheirName(t *testing.T) {
	lab := labtest.Shipped(t, "compact")
	for _, m := range Machines(lab) {
		for _, name := range []string{DiskVolume(lab, m.Name), IgnitionVolume(lab, m.Name)} {
			if !VolumeOf(lab, name) {
				t.Errorf("%s is not known", name)
			}
		}
	}
	for _, name := range []string{"backup.qcow2", "bootlab-other-bootstrap.qcow2", lab.DomainName("bootstrap") + ".txt", "of-" + DiskVolume(lab, "bootstrap"), OwnerVolume} {
		if VolumeOf(lab, name) {
			t.Errorf("%s is taken for one", name)
		}
	}
}
