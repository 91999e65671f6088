//go:build cgo && libvirt_dlopen

package libvirt

import (
	"errors"
	"slices"
	"strings"

	"libvirt.org/go/libvirt"
)

// connection is a [Host] by way of libvirt's own library.
type connection struct {
	c *libvirt.Connect
}

// Connect opens a libvirt connection, as qemu:///system or test:///default.
func Connect(uri string) (Host, error) {
	c, err := libvirt.NewConnect(uri)
	if err != nil {
		return nil, connectProblem(uri, said(err))
	}
	return &connection{c}, nil
}

// said is what libvirt says, without its numbers.
func said(err error) error {
	var e libvirt.Error
	if errors.As(err, &e) {
		return errors.New(e.Message)
	}
	return err
}

func (h *connection) Close() error {
	_, err := h.c.Close()
	return err
}

func (h *connection) Version() (string, error) {
	n, err := h.c.GetLibVersion()
	if err != nil {
		return "", err
	}
	return version(n), nil
}

// absent says whether an error only tells that there is no such thing.
func absent(err error) bool {
	var e libvirt.Error
	return errors.As(err, &e) && slices.Contains([]libvirt.ErrorNumber{
		libvirt.ERR_NO_DOMAIN, libvirt.ERR_NO_NETWORK, libvirt.ERR_NO_STORAGE_POOL, libvirt.ERR_NO_STORAGE_VOL, libvirt.ERR_NO_DOMAIN_SNAPSHOT}, e.Code)
}

// looked turns "there is none" into an answer.
func looked(err error) (there bool, _ error) {
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

// each turns a list of libvirt's into ours, leaves out what has gone since the
// list was made, and frees all of it.
func each[Object, State any](look func(*Object) (State, error), free func(*Object) error) func([]Object, error) ([]State, error) {
	return func(all []Object, err error) ([]State, error) {
		var out []State
		for i := range all {
			if err == nil {
				var state State
				if state, err = look(&all[i]); err == nil {
					out = append(out, state)
				} else if absent(err) {
					err = nil
				}
			}
			free(&all[i])
		}
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

func (h *connection) HasKVM() (bool, error) {
	capabilities, err := h.c.GetDomainCapabilities("", "x86_64", "q35", "kvm", 0)
	if err != nil || !strings.Contains(capabilities, "<domain>kvm</domain>") {
		return false, nil // libvirt says with an error that it has none
	}
	text, err := h.c.GetCapabilities()
	if err != nil {
		return false, err
	}
	return h.virtualises(text), nil
}

// virtualises says whether the processor of a host has the instructions that KVM
// needs. The host's capabilities name a model, and only those features beside it
// that the model has not: the models of AMD have svm, so the list is written out
// first.
func (h *connection) virtualises(capabilities string) bool {
	_, rest, _ := strings.Cut(capabilities, "<cpu>")
	inside, _, _ := strings.Cut(rest, "</cpu>")
	cpu := "<cpu>" + inside + "</cpu>"
	if full, err := h.c.BaselineCPU([]string{cpu}, libvirt.CONNECT_BASELINE_CPU_EXPAND_FEATURES); err == nil {
		cpu += full
	}
	return strings.Contains(cpu, "name='vmx'") || strings.Contains(cpu, "name='svm'")
}
