// Package role is what a stand-in is told about the part it plays: a small file
// in its image, written when the image is built and read when it runs.
package role

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"bootlab/standin/facts"
)

// Path is where the file lies in an image.
const Path = "/stand-in.json"

// FaultVariable names, in the environment of an image, the faults of its
// stand-in, separated by commas.
const FaultVariable = "STAND_IN_FAULTS"

// Role is the part of one image.
type Role struct {
	Release string `json:"release"` // as 4.21
	Version string `json:"version"` // of the payload
	// Kubernetes is the version that the payload declares.
	Kubernetes string `json:"kubernetes"`
	Image      string `json:"image"` // payload name, or "release"
	// Offline: the machine may have no address but loopback.
	Offline bool `json:"offline,omitempty"`
	// Calls are the calls that bootkube.sh of the release makes.
	Calls []facts.Call `json:"calls"`
	// Variables are those of bootkube.sh that a call's values may hold.
	Variables map[string]string `json:"variables"`
}

// Load reads the role of the image this process runs in.
func Load() (*Role, error) {
	data, err := os.ReadFile(Path)
	if err != nil {
		return nil, err
	}
	r := &Role{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", Path, err)
	}
	return r, nil
}

// Encode gives the content of the file.
func (r *Role) Encode() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }

// Faults are those that the environment names.
func Faults() map[string]bool {
	faults := map[string]bool{}
	for _, name := range strings.Split(os.Getenv(FaultVariable), ",") {
		if name != "" {
			faults[name] = true
		}
	}
	return faults
}

// Expand puts the variables of bootkube.sh into a value. It is false when the
// role does not know one of them, and so cannot say what the value must be.
func (r *Role) Expand(value string) (string, bool) {
	known := true
	expanded := os.Expand(value, func(name string) string {
		v, there := r.Variables[name]
		known = known && there
		return v
	})
	return expanded, known
}

// Installer is what the stand-in for openshift-install is told: it stands behind
// InstallerMark in the program's own file.
type Installer struct {
	Release string // as 4.21
	Version string
	// Image is what is built in as the release image.
	Image string
	// Fault is one of the program's faults.
	Fault string
}

// InstallerMark stands between the program and what it is told.
const InstallerMark = "\n--stand-in build--\n"

// Encode gives the end of the program's file.
func (i Installer) Encode() ([]byte, error) {
	said, err := json.Marshal(i)
	return append([]byte(InstallerMark), said...), err
}
