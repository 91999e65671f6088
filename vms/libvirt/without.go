//go:build !cgo || !libvirt_dlopen

package libvirt

import "bootlab/vms"

// Connect opens a libvirt connection; this build has none.
func Connect(uri string) (Host, error) {
	return nil, &vms.Problem{Message: "no machines without libvirt", Err: ErrNoLibvirt,
		Hint: "./setup lab --machines, in the checkout of bootlab, installs what the machines need and builds bootlab with libvirt"}
}
