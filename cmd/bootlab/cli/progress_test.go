package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// transfer tells of 100 MiB, of which 20 are there already, in 8 seconds.
func transfer(bar bool) string {
	var b bytes.Buffer
	p := NewProgress(&b)
	clock := time.Unix(0, 0)
	p.bar, p.now = bar, func() time.Time { return clock }
	for done := int64(20); done <= 100; done++ {
		p.Bytes("fetch", done<<20, 100<<20)
		clock = clock.Add(100 * time.Millisecond)
	}
	p.Bytes("check", 100<<20, 100<<20)
	p.End()
	return b.String()
}

func TestWithoutATerminalProgressIsPlainLines(t *testing.T) {
	want := "  fetch   20% of 100 MiB\n  fetch   30% of 100 MiB, 10.0 MiB/s, 7s left\n  fetch   40% of 100 MiB, 10.0 MiB/s, 6s left\n" +
		"  fetch   50% of 100 MiB, 10.0 MiB/s, 5s left\n  fetch   60% of 100 MiB, 10.0 MiB/s, 4s left\n  fetch   70% of 100 MiB, 10.0 MiB/s, 3s left\n" +
		"  fetch   80% of 100 MiB, 10.0 MiB/s, 2s left\n  fetch   90% of 100 MiB, 10.0 MiB/s, 1s left\n  fetch  100% of 100 MiB, 10.0 MiB/s\n  check  100% of 100 MiB\n"
	if got := transfer(false); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestOnATerminalProgressIsOneLineWithABar(t *testing.T) {
	got := transfer(true)
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, "\r  fetch  [############............]  50% of 100 MiB, 10.0 MiB/s, 5s left\x1b[K") ||
		!strings.HasSuffix(got, "\r  check  [########################] 100% of 100 MiB\x1b[K\n") {
		t.Errorf("%q", got)
	}
	if drawn := strings.Count(got, "\r"); drawn > 45 {
		t.Errorf("drawn %d times", drawn)
	}
}

func TestProgressWithoutATotalTellsBytesAndRate(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b)
	clock := time.Unix(0, 0)
	p.now = func() time.Time { return clock }
	p.Bytes("fetch", 0, 0)
	clock = clock.Add(4 * time.Second)
	p.Bytes("fetch", 8<<20, 0)
	if got := b.String(); got != "  fetch  0 MiB\n  fetch  8 MiB, 2.0 MiB/s\n" {
		t.Errorf("%q", got)
	}
}
