package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// BootkubePath is where the script stands on a bootstrap node.
const BootkubePath = "/usr/local/bin/bootkube.sh"

// maxIgnition bounds an Ignition config, and what is unpacked from it; the
// installer's has some 300 kB.
const maxIgnition = 32 << 20

// maxMerges bounds how often a config may lead to another.
const maxMerges = 4

// FromIgnition takes bootkube.sh out of an Ignition config: a bootstrap.ign, or
// a config that merges one from a data URL. Nothing is fetched.
func FromIgnition(r io.Reader) ([]byte, error) {
	data, err := readLimited(r, maxIgnition)
	if err != nil {
		return nil, err
	}
	script, err := scriptIn(data, maxMerges)
	if err == nil && script == nil {
		err = &Refusal{Message: "holds no " + BootkubePath, Hint: "give the bootstrap.ign of openshift-install create ignition-configs"}
	}
	return script, err
}

// contents is a file's content in Ignition: a URL, perhaps of compressed data.
type contents struct {
	Source      string `json:"source"`
	Compression string `json:"compression"`
}

type ignitionConfig struct {
	Ignition struct {
		Config struct {
			Merge   []contents `json:"merge"`
			Append  []contents `json:"append"`
			Replace contents   `json:"replace"`
		} `json:"config"`
	} `json:"ignition"`
	Storage struct {
		Files []struct {
			Path     string   `json:"path"`
			Contents contents `json:"contents"`
		} `json:"files"`
	} `json:"storage"`
}

func scriptIn(data []byte, merges int) ([]byte, error) {
	var c ignitionConfig
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, &Refusal{Message: "is no Ignition config: " + err.Error(), Hint: "a bootstrap.ign is JSON"}
	}
	for _, f := range c.Storage.Files {
		if f.Path == BootkubePath {
			return f.Contents.read()
		}
	}
	if merges == 0 {
		return nil, nil
	}
	for _, m := range append(append(c.Ignition.Config.Merge, c.Ignition.Config.Append...), c.Ignition.Config.Replace) {
		if !strings.HasPrefix(m.Source, "data:") {
			continue
		}
		inner, err := m.read()
		if err != nil {
			return nil, err
		}
		if script, err := scriptIn(inner, merges-1); script != nil || err != nil {
			return script, err
		}
	}
	return nil, nil
}

// read decodes a data URL.
func (c contents) read() ([]byte, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(c.Source, "data:"), ",")
	if !ok || !strings.HasPrefix(c.Source, "data:") {
		return nil, &Refusal{Message: "has a file that is no data URL", Hint: "give the bootstrap.ign itself"}
	}
	var data []byte
	var err error
	if strings.HasSuffix(head, ";base64") {
		data, err = base64.StdEncoding.DecodeString(body)
	} else {
		var text string
		text, err = url.PathUnescape(body)
		data = []byte(text)
	}
	if err != nil {
		return nil, &Refusal{Message: "has a data URL that cannot be decoded: " + err.Error(), Hint: "write the bootstrap.ign again"}
	}
	switch c.Compression {
	case "":
		return readLimited(bytes.NewReader(data), maxIgnition)
	case "gzip":
		return gunzip(data)
	}
	return nil, &Refusal{Message: fmt.Sprintf("has a file with compression %q; Ignition knows gzip", c.Compression), Hint: "write the bootstrap.ign again"}
}

// readLimited reads a file that may be compressed as a whole.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, &Refusal{Message: fmt.Sprintf("is larger than %d bytes", limit), Hint: "a bootstrap.ign has some 300 kB"}
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return gunzip(data)
	}
	return data, nil
}

func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, &Refusal{Message: "is broken gzip: " + err.Error(), Hint: "copy the file again"}
	}
	out, err := io.ReadAll(io.LimitReader(z, maxIgnition+1))
	switch {
	case err != nil:
		return nil, &Refusal{Message: "is broken gzip: " + err.Error(), Hint: "copy the file again"}
	case len(out) > maxIgnition:
		return nil, &Refusal{Message: fmt.Sprintf("unpacks to more than %d bytes", maxIgnition), Hint: "a bootstrap.ign has some 300 kB"}
	}
	return out, nil
}
