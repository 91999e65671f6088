package images

import (
	"strings"
	"testing"
)

var (
	sumA = strings.Repeat("a", 64)
	sumB = strings.Repeat("b", 64)
)

// streamText has the shape of what openshift-install prints.
func streamText(disk string) string {
	return `{"stream": "c10s", "metadata": {"last-modified": "2025-11-03T00:00:00Z"}, "architectures": {"aarch64": {}, "x86_64": {
  "artifacts": {
    "metal": {"release": "10.0.1", "formats": {"pxe": {"kernel": {"location": "https://example.test/k"}}, "raw.gz": {"disk": {"location": "https://example.test/metal"}}}},
    "qemu": {"release": "10.0.20251103-0", "formats": {"qcow2.gz": {` + disk + `}}}
  }, "images": {}}}}`
}

func TestTheImageForQEMUIsFoundInStreamMetadata(t *testing.T) {
	a, err := ParseStream([]byte(streamText(`"disk": {"location": "https://example.test/scos.qcow2.gz", "sha256": "` + sumA + `", "uncompressed-sha256": "` + sumB + `"}`)))
	want := Artifact{Stream: "c10s", Release: "10.0.20251103-0", URL: "https://example.test/scos.qcow2.gz", SHA256: sumA, Unpacked: sumB}
	if err != nil || a != want {
		t.Errorf("%+v, %v", a, err)
	}
	if err := a.From("https://mirror.example.test/x"); err != nil || a.URL != "https://mirror.example.test/x" || a.SHA256 != sumA {
		t.Error(a, err)
	}
}

func TestOtherMetadataIsRefused(t *testing.T) {
	disk := func(location, packed, unpacked string) string {
		return streamText(`"disk": {"location": "` + location + `", "sha256": "` + packed + `", "uncompressed-sha256": "` + unpacked + `"}`)
	}
	for text, want := range map[string]string{
		"":                                 "no stream metadata",
		"<html>":                           "no stream metadata",
		`{"architectures": {"s390x": {}}}`: "nothing for x86_64",
		streamText(""):                     "no disk of format qcow2.gz",
		streamText(`"kernel": {}`):         "no disk of format qcow2.gz",
		disk("https://e.test/x", "", sumB): "no SHA-256",
		disk("https://e.test/x", sumA, ""): "no SHA-256",
		disk("https://e.test/x", "../../etc/"+sumA[10:], sumB): "no SHA-256",
		disk("file:///etc/passwd", sumA, sumB):                 "no place to fetch",
		disk("scos.qcow2.gz", sumA, sumB):                      "no place to fetch",
	} {
		if _, err := ParseStream([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}
