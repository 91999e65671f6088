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

// Two marks, and whether they mean one lab, and one lab at one place.
func TestALabIsKnownByItsIdentity(t *testing.T) {
	mine := Owner{Name: "mylab", UID: "0123456789abcdef", Directory: "/a", Workstation: "aa"}
	for _, c := range []struct {
		other      Owner
		lab, place bool
	}{
		{mine, true, true},
		{Owner{Name: "renamed", UID: mine.UID, Directory: "/a", Workstation: "aa"}, true, true},
		{Owner{Name: "mylab", UID: mine.UID, Directory: "/b", Workstation: "aa"}, true, false},
		{Owner{Name: "mylab", UID: mine.UID, Directory: "/a", Workstation: "bb"}, true, false},
		{Owner{Name: "mylab", UID: "fedcba9876543210", Directory: "/a", Workstation: "aa"}, false, false},
		// A mark from before labs had an identity.
		{Owner{Name: "mylab", Directory: "/a"}, true, true},
		{Owner{Name: "mylab", Directory: "/b"}, true, false},
		{Owner{Name: "yours", Directory: "/a"}, false, false},
	} {
		if c.other.SameLab(mine) != c.lab || c.other.Same(mine) != c.place || mine.Same(c.other) != c.place {
			t.Errorf("%+v: lab %v, place %v", c.other, c.other.SameLab(mine), c.other.Same(mine))
		}
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
