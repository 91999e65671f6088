// Package host looks at machines: this one, a node of a lab over ssh, or what a
// log bundle kept of one. It changes nothing on them.
package host

import (
	"context"
	"errors"
)

// Host is a machine that is looked at.
type Host interface {
	// Name is how messages call it: "this machine", "bootstrap", "master-0".
	Name() string
	// Run runs a line of bash, as root on a node, and gives what it printed. A
	// line that ends with another status than 0 is no error; a host that cannot
	// be reached, or that runs nothing ([ErrRunsNothing]), is one. Output
	// beyond limit bytes is cut at its beginning.
	Run(ctx context.Context, line string, limit int) (Result, error)
	// ReadFile gives the last limit bytes of a file; one that is not there is
	// fs.ErrNotExist.
	ReadFile(ctx context.Context, file string, limit int) ([]byte, error)
	// List gives the names of the files in a directory, sorted.
	List(ctx context.Context, dir string) ([]string, error)
}

// Result is what a line of bash did.
type Result struct {
	Out, Err []byte
	Status   int
	Cut      bool // the beginning of Out is missing
}

// ErrRunsNothing is the answer of a bundle to [Host.Run].
var ErrRunsNothing = errors.New("a bundle runs no commands")

// ErrUnreachable wraps why a node cannot be reached.
var ErrUnreachable = errors.New("the machine cannot be reached")

// Hosts are the machines of a lab, as far as there is a way to them.
type Hosts struct {
	Here      Host            // the workstation; nil in a bundle
	Bootstrap Host            // nil in a local run
	Masters   map[string]Host // by machine name
	// Local: there are no machines, and AssetDir and Root are directories of
	// this one.
	Local    bool
	AssetDir string // /opt/openshift, or out/work/assets of a local run
	Root     string // HOST_ROOT: empty, or out/work/host of a local run
	// Work is out/work of the lab on the workstation; empty in a bundle.
	Work string
	// OC and Kubeconfig are oc on the workstation and the administrator's
	// kubeconfig there; empty when the lab has not got so far.
	OC, Kubeconfig string
}
