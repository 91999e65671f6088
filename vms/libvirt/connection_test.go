//go:build cgo && libvirt_dlopen

package libvirt

import (
	"testing"
)

func TestAProcessorsModelTellsWhatItsListLeavesOut(t *testing.T) {
	host, err := Connect("test:///default")
	if err != nil {
		t.Skip(err)
	}
	defer host.Close()
	for cpu, want := range map[string]bool{
		"<model>EPYC-Rome</model>":                               true,
		"<model>Skylake-Server</model><feature name='vmx'/>":     true,
		"<model>Skylake-Server</model><feature name='avx512f'/>": false,
		"": false,
		"<model>of tomorrow</model><feature name='vmx'/>":               true,
		"<model>Opteron_G1</model></cpu></host><guest name='svm'><cpu>": false,
	} {
		text := "<capabilities><host><cpu><arch>x86_64</arch>" + cpu + "</cpu></host></capabilities>"
		if got := host.(*connection).virtualises(text); got != want {
			t.Errorf("%s: %t", cpu, got)
		}
	}
}
