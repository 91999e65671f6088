package diagnose

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"bootlab/labs/sample"
)

// benign is what journals of a real size are full of: retries, and errors that end
// by themselves. %d is a number that goes round, %s what differs in each line.
var benign = []string{
	`kubelet.sh[2251]: I0102 05:%02[1]d:41.%[2]s    2251 kubelet_node_status.go:736] "Recording event message for node" node="bootstrap" event="NodeHasSufficientMemory"`,
	`kubelet.sh[2251]: E0102 05:%02[1]d:41.%[2]s    2251 kubelet.go:2190] node "bootstrap" not found`,
	`podman[%[1]d]: 2026-01-02 05:00:48.43 +0000 UTC m=+0.09 container exec %[2]s (image=quay.io/okd/scos-content@sha256:04e7, name=etcdctl)`,
	`bootkube.sh[1843]: [#%[1]d] failed to create some manifests: %[2]s`,
	`bootkube.sh[1843]: "99_openshift-machineconfig_99-worker-ssh.yaml": unable to get REST mapping for "99-%[1]d-%[2]s.yaml": no matches for kind "MachineConfig" in version "machineconfiguration.openshift.io/v1"`,
	`audit[1]: SERVICE_START pid=%[1]d uid=0 auid=4294967295 ses=4294967295 msg='unit=kubelet comm="systemd" exe="/usr/lib/systemd/systemd" res=success' %[2]s`,
}

// differing is what differs between lines that are alike, as digests, names of pods
// and durations do: without it a journal packs far better than a real one.
func differing(n int) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(n)))
	return hex.EncodeToString(sum[:6+n%16])
}

// inflate puts benign lines between those of the journals of a bundle, so that each
// has about so many bytes. They have the times of the lines before them.
func inflate(t testing.TB, dir string, size int) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "bootstrap/journals/*.log"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		if len(lines) < 3 { // -- No entries --
			continue
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		each, n := size/len(lines), 0
		for _, line := range lines {
			out.Write(line)
			if len(line) < 27 || line[3] != ' ' {
				continue
			}
			head := string(line[:15]) + " bootstrap "
			for end := out.Len() + each; out.Len() < end; n++ {
				fmt.Fprintf(&out, head+benign[n%len(benign)]+"\n", n%60, differing(n))
			}
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

// The verdict is the same when journals have the size of real ones: in CI some reports
// with a few MB, in the complete run all with 20. BOOTLAB_REAL_SIZE=100 takes all
// reports, and that many MB.
func TestVerdictsHoldAtRealSize(t *testing.T) {
	all := reports(t)
	mb, chosen := 2, sample.Of(t, len(all)/16, all)
	if sample.All() {
		mb = 20
	}
	if told := os.Getenv("BOOTLAB_REAL_SIZE"); told != "" {
		fmt.Sscan(told, &mb)
		chosen = all
	}
	size := mb << 20
	for _, r := range chosen {
		t.Run(r.Name, func(t *testing.T) {
			dir := r.write(t, t.TempDir(), nil)
			inflate(t, dir, size)
			if outcome, verdict := r.outcome(judged(t, dir)); outcome != right {
				t.Errorf("%s: %s, want %v", outcome, verdict, r.Want)
			}
		})
	}
}

// BenchmarkBundle judges a bundle of 100 MB, packed as people have it, and in turn
// unpacks and reads it alone. Processor time is counted, for on a busy machine the time
// that passed says little.
func BenchmarkBundle(b *testing.B) {
	t := &testing.T{}
	r := reports(b)[3]
	dir := r.write(t, b.TempDir(), nil)
	inflate(b, dir, 28<<20)
	packed := filepath.Join(b.TempDir(), filepath.Base(dir)+".tar.gz")
	pack(b, dir, packed)
	var reading, judging time.Duration
	for b.Loop() {
		begun := processorTime(b)
		unpack(b, packed)
		read := processorTime(b)
		judged(b, packed)
		reading, judging = reading+read-begun, judging+processorTime(b)-read
	}
	whole, ratio := packing(b, dir, packed)
	b.ReportMetric(whole, "MB")
	b.ReportMetric(ratio, "packed-to-1")
	b.ReportMetric(reading.Seconds()/float64(b.N), "reading-cpu-s")
	b.ReportMetric(judging.Seconds()/float64(b.N), "judging-cpu-s")
	b.ReportMetric(judging.Seconds()/reading.Seconds(), "judging/reading")
}

// packing is how large a bundle is, in MB, and how well it packs.
func packing(b *testing.B, dir, packed string) (whole, ratio float64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); err == nil && infoErr == nil && info.Mode().IsRegular() {
			whole += float64(info.Size())
		}
		return nil
	})
	info, err := os.Stat(packed)
	if err != nil {
		b.Fatal(err)
	}
	return whole / 1e6, whole / float64(info.Size())
}

// processorTime is what this process used of all processors.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// pack makes an archive of a directory.
func pack(b testing.TB, dir, file string) {
	b.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	if err := archive.AddFS(os.DirFS(filepath.Dir(dir))); err != nil {
		b.Fatal(err)
	}
	archive.Close()
	zip.Close()
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
}

// unpack writes the files of an archive to a directory and reads them, as a person
// does who looks into it.
func unpack(b *testing.B, file string) {
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	dir, archive := b.TempDir(), tar.NewReader(zip)
	for n := 0; ; n++ {
		if _, err := archive.Next(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprint(n))
		out, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(out, archive); err != nil {
			b.Fatal(err)
		}
		out.Close()
		if _, err := os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
		os.Remove(name)
	}
}
