package libvirt

import (
	"strings"

	"bootlab/vms"
)

// connectProblem says what is usually behind a refused connection.
func connectProblem(uri string, err error) error {
	p := &vms.Problem{Message: "cannot connect to libvirt at " + uri, Err: err, Hint: "is libvirtd running? systemctl status libvirtd virtqemud"}
	switch text := err.Error(); {
	case strings.Contains(text, "Failed to open libvirt.so"):
		p.Hint = "install libvirt: apt-get install libvirt-daemon-system qemu-system-x86, or dnf install libvirt qemu-kvm"
	// Without the group polkit is asked, and where no one can answer for it that
	// fails too.
	case strings.Contains(text, "authentication unavailable"), strings.Contains(text, "authentication failed"), strings.Contains(text, "Permission denied"),
		strings.Contains(text, "access denied"), strings.Contains(text, "system bus connection"):
		p.Hint = "join the group that may: sudo usermod -aG libvirt $USER, and log in again"
	case strings.Contains(text, "No such file"), strings.Contains(text, "Connection refused"):
		p.Hint = "start the daemon: sudo systemctl start libvirtd, or virtqemud.socket, virtnetworkd.socket and virtstoraged.socket"
	case strings.Contains(text, "no connection driver"):
		p.Hint = "install the driver: apt-get install libvirt-daemon-driver-qemu, or dnf install libvirt-daemon-driver-qemu"
	}
	return p
}
