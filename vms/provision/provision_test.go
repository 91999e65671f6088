package provision

import (
	"strings"
	"testing"

	"bootlab/vms"
)

func TestTheErrorAboutSomethingForeignNamesItsLab(t *testing.T) {
	other := vms.Owner{Name: "mylab", Directory: "/b"}
	err := (&Provisioner{}).foreign("network", "bootlab-mylab", "<network><metadata>"+other.Element()+"</metadata></network>").(*vms.Problem)
	if err.Message != "network bootlab-mylab belongs to the lab in /b" || !strings.Contains(err.Hint, "bootlab vms down /b") {
		t.Errorf("%+v", err)
	}
	err = (&Provisioner{}).foreign("network", "bootlab-mylab", "<network/>").(*vms.Problem)
	if !strings.Contains(err.Message, "this lab did not make it") {
		t.Errorf("%+v", err)
	}
}
