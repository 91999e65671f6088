package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// underLimit names the archive that the process of the test opens. It is set
// in a process of its own, whose memory is limited.
const underLimit = "BOOTLAB_TEST_SPARSE_ARCHIVE"

// mostData is how much memory that process may have, in bytes. Without the
// fixes the archives below need more than twice as much.
const mostData = 512 << 20

// A file with holes begins with a map of its parts. Before Go 1.25.2 and 1.24.8
// (CVE-2025-58183), and in the older format before 1.26.2 and 1.25.9
// (CVE-2026-32288), archive/tar kept a map of any length in memory: an archive
// of 4 MB took more than 10 GB.
func TestTheMapOfASparseFileIsBounded(t *testing.T) {
	if file := os.Getenv(underLimit); file != "" {
		openLimited(t, file)
		return
	}
	for name, data := range map[string][]byte{"pax": paxSparse(t), "old": oldSparse(t)} {
		t.Run(name, func(t *testing.T) {
			if len(data) > 8<<20 {
				t.Fatalf("the archive has %d bytes: it is to be small", len(data))
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestTheMapOfASparseFileIsBounded$", "-test.v")
			cmd.Env = append(os.Environ(), underLimit+"="+saved(t, "x.tar.gz", data))
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
				t.Errorf("with %d MiB of memory: %v\n%.1000s", mostData>>20, err, out)
			}
		})
	}
}

// openLimited opens an archive with little memory.
func openLimited(t *testing.T, file string) {
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostData, Max: mostData}); err != nil {
		t.Fatal(err)
	}
	b := opened(t, file, bundleLimits)
	if got := text(t, b.FS(), "bootstrap/journals/bootkube.log"); got != "good" {
		t.Errorf("the file before the sparse one is %q", got)
	}
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "the archive is torn") {
		t.Errorf("notes: %q", notes)
	}
}

// sparseRaw is how long the maps are, in bytes.
const sparseRaw = 1 << 30

// paxSparse is an archive with a map in the format PAX 1.0: text before the
// file's content, the number of parts and for each its place and length.
func paxSparse(t *testing.T) []byte {
	t.Helper()
	const parts = sparseRaw / len("0\n0\n")
	begin := fmt.Sprintf("%d\n", parts)
	for len(begin)%4 != 0 {
		begin = "0" + begin
	}
	h := tarHeader(tar.TypeReg, "GNUSparseFile.0/x", sparseRaw+512)
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=x", "GNU.sparse.realsize=0"} {
		// The length of a record counts its own two digits.
		records += fmt.Sprintf("%d %s\n", len(r)+4, r)
	}
	pax := append(tarHeader('x', "x", len(records)), padded(records)...)
	return sparseArchive(t, append(append(pax, h...), begin...), []byte("0\n0\n"))
}

// oldSparse is an archive with a map in the older format of GNU tar: blocks of
// 21 parts, each of which says whether another one follows.
func oldSparse(t *testing.T) []byte {
	t.Helper()
	h := tarHeader('S', top+"x", 0)
	copy(h[257:], "ustar  \x00")
	h[482] = 1 // more parts follow
	copy(h[483:], "00000000000\x00")
	block := make([]byte, 512)
	for at := 0; at < 21*24; at += 12 {
		copy(block[at:], "00000000000\x00")
	}
	block[504] = 1
	return sparseArchive(t, summed(h), block)
}

// tarHeader is one header, with its checksum.
func tarHeader(kind byte, name string, size int) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00", size))
	copy(h[136:], "00000000000\x00")
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	return summed(h)
}

func summed(h []byte) []byte {
	copy(h[148:], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

func padded(text string) []byte {
	return append([]byte(text), make([]byte, (512-len(text)%512)%512)...)
}

// sparseArchive is a good file, then begin, then a unit until the map is as
// long as it is to be. Each gzip stream is made once and stands there often.
func sparseArchive(t *testing.T, begin, unit []byte) []byte {
	t.Helper()
	good := append(append(tarHeader(tar.TypeReg, journal, 4), padded("good")...), begin...)
	const long = 8 << 20
	many := packed(t, bytes.Repeat(unit, long/len(unit)))
	return append(packed(t, good), bytes.Repeat(many, sparseRaw/long)...)
}

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(data); err != nil {
		t.Fatal(err)
	}
	zip.Close()
	return out.Bytes()
}
