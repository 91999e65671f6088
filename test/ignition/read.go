package ignition

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
)

// Read parses a config of specification 3.2.0 and merges what it names, in the
// order in which Ignition does. Warnings are errors here. Only data URLs are
// followed.
func Read(text []byte) (types.Config, error) {
	config, report, err := v3_2.Parse(text)
	if err != nil {
		return config, fmt.Errorf("%w: %s", err, report.String())
	}
	if len(report.Entries) > 0 {
		return config, errors.New(report.String())
	}
	merged := config
	for _, source := range config.Ignition.Config.Merge {
		data, err := Fetch(source)
		if err != nil {
			return config, err
		}
		child, err := Read(data)
		if err != nil {
			return config, err
		}
		merged = v3_2.Merge(merged, child)
	}
	return merged, nil
}

// Fetch is what a resource holds: its data URL decoded, unpacked and held
// against its hash.
func Fetch(r types.Resource) ([]byte, error) {
	if r.Source == nil {
		return nil, errors.New("there is no source")
	}
	url, err := dataurl.DecodeString(*r.Source)
	if err != nil {
		return nil, fmt.Errorf("%.40s: %w", *r.Source, err)
	}
	data := url.Data
	if r.Compression != nil && *r.Compression == "gzip" {
		reader, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
	return data, verify(r.Verification.Hash, data)
}

// verify compares with the hash of what was unpacked, as Ignition does.
func verify(want *string, data []byte) error {
	if want == nil {
		return nil
	}
	kind, _, _ := strings.Cut(*want, "-")
	var sum []byte
	switch kind {
	case "sha512":
		s := sha512.Sum512(data)
		sum = s[:]
	case "sha256":
		s := sha256.Sum256(data)
		sum = s[:]
	default:
		return fmt.Errorf("%s is no hash that Ignition knows", *want)
	}
	if got := kind + "-" + hex.EncodeToString(sum); got != *want {
		return fmt.Errorf("the hash is %s, not %s", got, *want)
	}
	return nil
}
