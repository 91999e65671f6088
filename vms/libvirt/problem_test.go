package libvirt

import (
	"errors"
	"strings"
	"testing"

	"bootlab/vms"
)

// The texts are libvirt's own.
func TestARefusedConnectionHasItsRemedy(t *testing.T) {
	for text, hint := range map[string]string{
		"virError(Code=1, Message='Failed to open libvirt.so.0')":                                                "apt-get install libvirt-daemon-system",
		"authentication unavailable: no polkit agent available to authenticate action 'org.libvirt.unix.manage'": "usermod -aG libvirt",
		"Failed to connect socket to '/var/run/libvirt/libvirt-sock': Permission denied":                         "usermod -aG libvirt",
		"internal error: Unable to get system bus connection: Could not connect: No such file or directory":      "usermod -aG libvirt",
		"Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory":                 "systemctl start libvirtd",
		"Failed to connect socket to '/var/run/libvirt/virtqemud-sock': Connection refused":                      "systemctl start libvirtd",
		"no connection driver available for qemu:///system":                                                      "libvirt-daemon-driver-qemu",
		"internal error: something else":                                                                         "systemctl status libvirtd",
	} {
		var p *vms.Problem
		if err := connectProblem("qemu:///system", errors.New(text)); !errors.As(err, &p) || !strings.Contains(p.Hint, hint) || !strings.Contains(p.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
