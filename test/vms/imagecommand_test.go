//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// overTLS passes requests on to a server that has no TLS, and gives the file
// with its certificate.
func overTLS(t *testing.T, stream string) (location, certificate string) {
	t.Helper()
	text := string(mustRead(t, stream))
	_, rest, _ := strings.Cut(text, `"location": "`)
	plain, _, _ := strings.Cut(rest, `"`)
	at, err := url.Parse(plain)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = at.Scheme, at.Host
	}})
	server.TLS.MinVersion = tls.VersionTLS12
	t.Cleanup(server.Close)
	certificate = filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(certificate, pem.EncodeToMemory(block), 0o644); err != nil {
		t.Fatal(err)
	}
	return server.URL + at.Path, certificate
}

// From the metadata of the lab's own openshift-install to a machine that starts:
// up takes what was fetched.
func TestTheFetchedImageIsWhatUpTakes(t *testing.T) {
	available(t)
	_, stream := publish(t, 1<<20)
	location, certificate := overTLS(t, stream)
	dir, cache := newLab(t, shape{name: "fetched"}), t.TempDir()
	run := func(args ...string) answer {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := command(t, ctx, args...)
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "SSL_CERT_FILE="+certificate)
		return said(t, cmd)
	}
	fetch := []string{"vms", "image", "fetch", dir, "--url", location}
	run("vms", "image", "fetch", dir).refuses(t, "no openshift-install of the lab", "get-tools.sh")
	hears(t, run("vms", "up", dir, "--emulate"), "disk image: the lab has none", "bootlab vms image fetch LAB")

	// A stand-in for the program, which prints its metadata and nothing else.
	installer := filepath.Join(dir, "out", "work", "assets", "tools", "openshift-install")
	if err := os.MkdirAll(filepath.Dir(installer), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/bash\n[[ \"$*\" == 'coreos print-stream-json' ]] || exit 9\ncat " + stream + "\n"
	if err := os.WriteFile(installer, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if a := run(fetch...); a.status != 0 || !strings.Contains(a.out, "both hashes are right") || !strings.Contains(a.out, "100%") {
		t.Fatalf("%s%s", a.out, a.err)
	}
	if a := run("vms", "image", "list"); a.status != 0 || !strings.Contains(a.out, "10.0.1") || !strings.Contains(a.out, dir) {
		t.Errorf("%s%s", a.out, a.err)
	}
	if a := run("vms", "up", dir, "--emulate"); a.status != 0 {
		t.Fatalf("%s%s", a.out, a.err)
	}
	if a := run("vms", "image", "prune"); a.status != 0 || a.out != "" && strings.Contains(a.out, cache) {
		t.Errorf("prune takes what a lab uses:\n%s%s", a.out, a.err)
	}
	if a := run("vms", "image", "verify"); a.status != 0 || !strings.Contains(a.out, "is right") {
		t.Errorf("%s%s", a.out, a.err)
	}
	images, _ := filepath.Glob(filepath.Join(cache, "bootlab", "images", "*.qcow2"))
	if len(images) != 1 {
		t.Fatal(images)
	}
	if err := os.WriteFile(images[0], append(mustRead(t, images[0]), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	run("vms", "image", "verify").ends(t, 3, "1 image damaged")
	hears(t, run("vms", "up", dir, "--emulate"), "has changed since the lab took it")
}
