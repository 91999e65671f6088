package labs

import (
	"strings"
	"testing"
)

func TestTheBootstrapServesWhereMastersDo(t *testing.T) {
	ports := map[int]bool{}
	for _, s := range BootstrapServices() {
		ports[s.Port] = true
	}
	if len(ports) != 2 || !ports[6443] || !ports[22623] {
		t.Errorf("it serves on %v", ports)
	}
}

// The longest names that a lab can have still make a file name, which libvirt
// keeps a domain's definition and log in.
func TestTheLongestDomainNameIsAFileName(t *testing.T) {
	lab := &Lab{Metadata: Metadata{Name: strings.Repeat("a", longestName)}}
	if name := lab.DomainName(strings.Repeat("b", 63)); len(name)+len(".xml") > 255 || strings.ContainsAny(name, "/ ") {
		t.Errorf("%s has %d characters", name, len(name))
	}
}
