//go:build !cgo || !libvirt_dlopen

package vms

// Connect opens a libvirt connection; this build has none.
func Connect(uri string) (Host, error) {
	return nil, &Problem{Message: "no machines without libvirt", Err: ErrNoLibvirt,
		Hint: "build it with: CGO_ENABLED=1 go build -tags libvirt_dlopen -o bin/bootlab ./cmd/bootlab (make build does)"}
}
