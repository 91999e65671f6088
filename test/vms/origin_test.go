//go:build cgo && libvirt_dlopen

package vms

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// publish serves a packed image of random bytes, and writes the stream metadata
// of it. The function it gives publishes another: that many random bytes, and
// nothing but zeros up to a size.
func publish(t *testing.T, random int) (again func(random, size int), stream string) {
	t.Helper()
	var now []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(now))
	}))
	t.Cleanup(server.Close)
	stream = filepath.Join(t.TempDir(), "stream.json")
	again = func(random, size int) {
		image := append(emptyQcow2(t), make([]byte, size)...)
		at := len(image) - size
		rand.New(rand.NewSource(1)).Read(image[at : at+random])
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(image)
		z.Close()
		now = b.Bytes()
		text := fmt.Sprintf(`{"stream": "c10s", "architectures": {"x86_64": {"artifacts": {"qemu": {"release": "10.0.1", "formats": {"qcow2.gz": {"disk":
  {"location": "%s/%x.qcow2.gz", "sha256": "%x", "uncompressed-sha256": "%x"}}}}}}}}`, server.URL, sha256.Sum256(now), sha256.Sum256(now), sha256.Sum256(image))
		if err := os.WriteFile(stream, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again(random, random)
	return again, stream
}

func emptyQcow2(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "empty.qcow2")
	if out, err := exec.Command("qemu-img", "create", "-q", "-f", "qcow2", file, "1G").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return mustRead(t, file)
}
