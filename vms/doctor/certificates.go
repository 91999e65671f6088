package doctor

import (
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"bootlab/labs"
)

// ignitionConfig is the part of an Ignition file that holds certificates.
type ignitionConfig struct {
	Ignition struct {
		Config struct {
			Merge []resource `json:"merge"`
		} `json:"config"`
	} `json:"ignition"`
	Storage struct {
		Files []struct {
			Path     string   `json:"path"`
			Contents resource `json:"contents"`
		} `json:"files"`
	} `json:"storage"`
}

type resource struct {
	Source      string `json:"source"`
	Compression string `json:"compression"`
}

// tlsDir is where the installer puts certificates on the bootstrap node.
// Source: openshift/installer pkg/asset/ignition/bootstrap/common.go.
const tlsDir = labs.AssetDir + "/tls"

// deepest is how often a config may name another inside itself.
const deepest = 4

// Bounds for certificates: those of openshift-install last a day, and a
// bootstrap takes its time.
const (
	certificateDay  = 24 * time.Hour
	certificateSoon = 4 * time.Hour
)

// FirstToEnd finds the certificate in an Ignition file that ends first. Configs
// that are merged into it count where they are in the file itself.
func FirstToEnd(config []byte) (name string, end time.Time, err error) {
	err = eachCertificate(config, 0, func(file string, c *x509.Certificate) {
		if name == "" || c.NotAfter.Before(end) {
			name, end = file, c.NotAfter
		}
	})
	if err == nil && name == "" {
		err = errNoCertificate
	}
	return name, end, err
}

var errNoCertificate = errors.New("no certificate was found")

func eachCertificate(config []byte, depth int, visit func(string, *x509.Certificate)) error {
	if depth == deepest {
		return fmt.Errorf("configs are merged more than %d deep", deepest)
	}
	var c ignitionConfig
	if err := json.Unmarshal(config, &c); err != nil {
		return err
	}
	for _, m := range c.Ignition.Config.Merge {
		text, err := m.data()
		if err == nil {
			err = eachCertificate(text, depth+1, visit)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range c.Storage.Files {
		if path.Dir(f.Path) != tlsDir || path.Ext(f.Path) != ".crt" {
			continue
		}
		text, err := f.Contents.data()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if parsed, err := x509.ParseCertificate(block.Bytes); err == nil {
				visit(path.Base(f.Path), parsed)
			}
		}
	}
	return nil
}

// largestConfig bounds what is unpacked, in bytes.
const largestConfig = 64 << 20

// data is what a data URL holds (RFC 2397); other URLs are not followed.
func (r resource) data() ([]byte, error) {
	rest, ok := strings.CutPrefix(r.Source, "data:")
	if !ok {
		return []byte("{}"), nil
	}
	kind, text, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, fmt.Errorf("not a data URL")
	}
	plain, err := url.PathUnescape(text)
	data := []byte(plain)
	if err == nil && strings.HasSuffix(kind, ";base64") {
		data, err = base64.StdEncoding.DecodeString(plain)
	}
	if err != nil || r.Compression != "gzip" {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, largestConfig))
}

// CertificatesOver says of an Ignition file on this host that its first
// certificates have ended, by what stands in it, else by its age.
func CertificatesOver(file string, now time.Time) (bool, error) {
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	if _, end, err := FirstToEnd(text); err == nil {
		return now.After(end), nil
	}
	return now.Sub(info.ModTime()) > certificateDay, nil
}
