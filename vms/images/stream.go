package images

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"

	"bootlab/vms"
)

// Artifact is a disk image that somebody publishes, packed with gzip.
type Artifact struct {
	Stream  string `json:"stream"`  // as rhcos-4.21 or c10s
	Release string `json:"release"` // as 9.6.20251212-1
	URL     string `json:"url"`
	// SHA256 is that of the packed file, Unpacked that of the image in it.
	SHA256   string `json:"sha256"`
	Unpacked string `json:"unpacked"`
}

// streamFile is the part of CoreOS's stream metadata that names the image for
// QEMU. Source: openshift/installer data/data/coreos/*.json, the same shape in
// every release; coreos/stream-metadata-go.
type streamFile struct {
	Stream        string `json:"stream"`
	Architectures map[string]struct {
		Artifacts map[string]struct {
			Release string `json:"release"`
			Formats map[string]struct {
				// Not every format has one: pxe has a kernel instead.
				Disk *struct {
					Location string `json:"location"`
					SHA256   string `json:"sha256"`
					Unpacked string `json:"uncompressed-sha256"`
				} `json:"disk"`
			} `json:"formats"`
		} `json:"artifacts"`
	} `json:"architectures"`
}

// What a lab's machines are made of, for [vms.Architecture].
const (
	artifactPlatform = "qemu"
	artifactFormat   = "qcow2.gz"
)

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ParseStream finds the image for QEMU in stream metadata, as openshift-install
// coreos print-stream-json prints it.
func ParseStream(text []byte) (Artifact, error) {
	const hint = "it is what openshift-install coreos print-stream-json prints"
	var f streamFile
	if err := json.Unmarshal(text, &f); err != nil {
		return Artifact{}, &vms.Problem{Message: "this is no stream metadata", Err: err, Hint: hint}
	}
	arch, ok := f.Architectures[vms.Architecture]
	if !ok {
		return Artifact{}, &vms.Problem{Message: "the stream metadata has nothing for " + vms.Architecture, Hint: hint}
	}
	platform := arch.Artifacts[artifactPlatform]
	disk := platform.Formats[artifactFormat].Disk
	if disk == nil {
		return Artifact{}, &vms.Problem{Message: fmt.Sprintf("the stream metadata has no disk of format %s for %s", artifactFormat, artifactPlatform), Hint: hint}
	}
	a := Artifact{Stream: f.Stream, Release: platform.Release, URL: disk.Location, SHA256: disk.SHA256, Unpacked: disk.Unpacked}
	if !hexSHA256.MatchString(a.SHA256) || !hexSHA256.MatchString(a.Unpacked) {
		return Artifact{}, &vms.Problem{Message: "the stream metadata gives no SHA-256 of the image", Hint: hint}
	}
	return a, a.From(a.URL)
}

// From takes the same file from somewhere else, as a mirror.
func (a *Artifact) From(location string) error {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return &vms.Problem{Message: fmt.Sprintf("%q is no place to fetch an image from", location), Hint: "name an https:// URL of the packed image"}
	}
	a.URL = location
	return nil
}
