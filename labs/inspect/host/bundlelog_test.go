package host

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a service says once, at its start or in the middle, is kept of a log that is
// far longer than its limit; so is the end, whole and in order.
func TestALongLogKeepsWhatIsRare(t *testing.T) {
	d := newDigest(64 << 10)
	fmt.Fprintln(d, "2026-01-02T05:00:00+0000 h etcd[1]: ready to serve client requests")
	for i := range 60_000 {
		if i == 30_000 {
			fmt.Fprintln(d, "2026-01-02T05:30:00+0000 h etcd[1]: Error: something that happens once")
		}
		fmt.Fprintf(d, "2026-01-02T05:%02d:00+0000 h kubelet[%d]: node %x not found\n", i/1000%60, i, i)
	}
	fmt.Fprint(d, "the last line has no end")
	text, cut := d.bytes()
	got := string(text)
	if !cut || len(got) > 256<<10 {
		t.Errorf("cut %v, %d bytes", cut, len(got))
	}
	last := -1
	for _, want := range []string{"ready to serve", "[0]: node 0 ", "something that happens once", "[59999]: node ea5f not found\nthe last line has no end"} {
		at := strings.Index(got, want)
		if at <= last {
			t.Errorf("%q stands at %d, behind %d", want, at, last)
		}
		last = at
	}
	if strings.Count(got, "ready to serve") != 1 || !strings.HasSuffix(got, "no end") {
		t.Error("a line is there twice, or the end is not")
	}
}

// A log of nothing but different lines stays within bounds.
func TestALogOfManyKindsIsBounded(t *testing.T) {
	d := newDigest(64 << 10)
	word := []byte("aaaaaaaa")
	for range 200_000 {
		for i := range word {
			if word[i]++; word[i] <= 'z' {
				break
			}
			word[i] = 'a'
		}
		fmt.Fprintf(d, "Error: %s and %s\n", word, word)
	}
	if text, _ := d.bytes(); len(text) > 10*64<<10 || len(d.kinds) > 2*mostKinds {
		t.Errorf("%d bytes of %d kinds", len(text), len(d.kinds))
	}
}

// A journal of the installer has no year; one of New Year's Eve is of the year before.
func TestTimesOfJournalsGetTheirYear(t *testing.T) {
	at := time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)
	for line, want := range map[string]string{
		"Jan 02 05:00:01 h kubelet[1]: x\n":                     "2026-01-02T05:00:01+0000 h kubelet[1]: x\n",
		"Jan  2 05:00:01 h kubelet[1]: x\n":                     "2026-01-02T05:00:01+0000 h kubelet[1]: x\n",
		"Dec 31 23:59:59 h kubelet[1]: x":                       "2025-12-31T23:59:59+0000 h kubelet[1]: x",
		"Fri 2026-01-02 05:00:01 UTC h kubelet.service[1]: x\n": "2026-01-02T05:00:01+0000 h kubelet.service[1]: x\n",
		"2026-01-02T05:00:01+0000 h kubelet[1]: x\n":            "2026-01-02T05:00:01+0000 h kubelet[1]: x\n",
		"-- No entries --\n":                                    "-- No entries --\n",
		"Mon 2026-01-02":                                        "Mon 2026-01-02",
	} {
		if got := string(fullTimes([]byte(line), at)); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}
