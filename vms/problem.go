package vms

// Problem is an error with what to do about it.
type Problem struct {
	Message string
	Hint    string
	Err     error
}

// Error is the message, and what libvirt or the system said.
func (p *Problem) Error() string {
	if p.Err == nil {
		return p.Message
	}
	return p.Message + ": " + p.Err.Error()
}

// Unwrap is what libvirt or the system said.
func (p *Problem) Unwrap() error { return p.Err }
