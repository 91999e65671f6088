package mask

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"
)

func BenchmarkMask(b *testing.B) {
	var log bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&log, "2026-01-02T03:04:%02d+0000 bootstrap.mylab.example.com bootkube.sh[%d]: E0102 03:04:05.%06d 1 reflector.go:150] failed to list *v1.Secret: Get \"https://localhost:6443/api/v1/secrets?limit=500\": dial tcp [::1]:6443: connect: connection refused\n", i%60, i, i)
	}
	for name, text := range map[string][]byte{"journal": log.Bytes(), "one word": bytes.Repeat([]byte("A"), 4<<20)} {
		b.Run(name, func(b *testing.B) {
			m := newTestMasker()
			b.SetBytes(int64(len(text)))
			begun := processorTime(b)
			for b.Loop() {
				m.Bytes(text)
			}
			// On a busy machine this says more than the time that passed.
			b.ReportMetric(float64(len(text))*float64(b.N)/1e6/(processorTime(b)-begun).Seconds(), "MB/cpu-s")
		})
	}
}

// processorTime is what this process used of all processors.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
