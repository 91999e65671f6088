//go:build !cgo || !libvirt_dlopen

package libvirt

import "bootlab/vms"

// Connect opens a libvirt connection; this build has none.
func Connect(uri string) (Host, error) {
	return nil, &vms.Problem{Message: "no machines without libvirt", Err: ErrNoLibvirt,
		Hint: "install a C compiler (apt-get install gcc, or dnf install gcc) and build it with: CGO_ENABLED=1 go build -tags libvirt_dlopen -o bin/bootlab ./cmd/bootlab (make build does)"}
}
