package balancer

import (
	"os/exec"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/labtest"
	"bootlab/vms"
)

// HAProxy itself reads what every shipped lab gets.
func TestTheBalancerOfEveryShippedLab(t *testing.T) {
	program, err := Program()
	if err != nil {
		t.Skip(err)
	}
	for _, example := range labs.ExampleList() {
		name := example.Name
		lab := labtest.Shipped(t, name)
		text := vms.Balancer(lab, "/tmp/haproxy.sock")
		if out, err := exec.Command(program, "-c", "-f", labtest.File(t, []byte(text))).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for _, s := range labs.BootstrapServices() {
			section := text[strings.Index(text, "\nbackend "+s.Name+"\n"):]
			section = section[:strings.Index(section[1:]+"\n#", "\n#")]
			if !strings.Contains(section, "server "+lab.Machines.Bootstrap.Name+" "+lab.Machines.Bootstrap.Address) || strings.Count(section, " backup") != 1 {
				t.Errorf("%s: the bootstrap is no backup of %s:\n%s", name, s.Name, section)
			}
			for _, m := range lab.Machines.Masters {
				if !strings.Contains(section, "server "+m.Name+" ") {
					t.Errorf("%s: %s does not serve %s", name, m.Name, s.Name)
				}
			}
		}
	}
}
