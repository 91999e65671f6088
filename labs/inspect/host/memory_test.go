package host

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/fstest"
	"time"
)

// A file in memory takes what a file on a disk takes: parts in any order, and over
// each other.
func TestAFileInMemoryKeepsWhatIsWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	n, want := &node{}, make([]byte, 3*chunkSize)
	end := 0
	for range 300 {
		from := random.IntN(len(want))
		part := make([]byte, random.IntN(min(len(want)-from, chunkSize)+1))
		if random.IntN(3) > 0 {
			for i := range part {
				part[i] = byte(random.Uint32())
			}
		}
		copy(want[from:], part)
		if _, err := n.WriteAt(part, int64(from)); err != nil {
			t.Fatal(err)
		}
		if len(part) > 0 {
			end = max(end, from+len(part))
		}
	}
	got := make([]byte, end)
	if _, err := n.ReadAt(got, 0); err != nil || !bytes.Equal(got, want[:end]) {
		t.Errorf("it holds something else; %v", err)
	}
}

// Zeros take no memory: an archive of 2 MB can hold 2 GB of them.
func TestZerosTakeNoMemory(t *testing.T) {
	n := &node{}
	for at := int64(0); at < 64<<20; at += chunkSize {
		n.WriteAt(zeros[:], at)
	}
	for i, chunk := range n.chunks {
		if chunk != nil {
			t.Fatalf("chunk %d is kept", i)
		}
	}
	if n.size != 64<<20 {
		t.Errorf("it has %d bytes", n.size)
	}
}

func TestATreeInMemoryIsAFileSystem(t *testing.T) {
	m := newMemory()
	for _, dir := range []string{"a", "a/b"} {
		if err := m.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"top", "a/one", "a/b/two"} {
		f, err := m.create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteAt([]byte("text of "+name), 0)
		m.date(name, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	}
	var fsys fs.FS = remembered{t.Context(), m}
	if err := fstest.TestFS(fsys, "top", "a/one", "a/b/two"); err != nil {
		t.Error(err)
	}
}
