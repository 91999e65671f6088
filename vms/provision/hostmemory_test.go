package provision

import (
	"os"
	"path/filepath"
	"testing"
)

// What machines may still take is not free, even though it is available now.
func TestMemoryThatMachinesMayTakeIsNotFree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(file, []byte("MemTotal:       25165824 kB\nMemFree:         1048576 kB\nMemAvailable:   20971520 kB\nHugePages_Total:       0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := hostMemory(file)
	if m.Total != 24<<10 || m.Available != 20<<10 || m.Free() != 20<<10 {
		t.Errorf("%+v, free %d", m, m.Free())
	}
	for committed, want := range map[int]int{4 << 10: 20 << 10, 12 << 10: 12 << 10, 28 << 10: 0} {
		m.Committed = committed
		if m.Free() != want {
			t.Errorf("with %d committed %d are free, want %d", committed, m.Free(), want)
		}
	}
	if m := hostMemory(file + "-not-there"); m.Free() != 0 {
		t.Errorf("%+v", m)
	}
}
