//go:build cgo && libvirt_dlopen

package vms

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/build"
)

// program is bootlab with libvirt, where other accounts reach it.
var program = sync.OnceValues(func() (string, error) {
	return build.Program{Package: "bootlab/cmd/bootlab", Tags: "libvirt_dlopen", Cgo: true}.Place(filepath.Join(scratch, "bootlab"))
})

// answer is what a command printed, and its exit status.
type answer struct {
	out, err string
	status   int
}

// patience is how long one command may take before the test gives up.
const patience = 90 * time.Second

func command(t testing.TB, ctx context.Context, args ...string) *exec.Cmd {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// said runs a command that was prepared. Its output goes to files: HAProxy stays
// in the background, and a pipe would not end with the command.
func said(t testing.TB, cmd *exec.Cmd) answer {
	t.Helper()
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "out"), filepath.Join(dir, "err")}
	for i, file := range files {
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if i == 0 {
			cmd.Stdout = f
		} else {
			cmd.Stderr = f
		}
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return answer{read(files[0]), read(files[1]), cmd.ProcessState.ExitCode()}
}

// bootlab runs one command line.
func bootlab(t testing.TB, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return said(t, command(t, ctx, args...))
}

// works runs a command line that has to succeed.
func works(t testing.TB, args ...string) answer {
	t.Helper()
	a := bootlab(t, args...)
	if a.status != 0 {
		t.Fatalf("%v ended with %d\n%s%s", args, a.status, a.out, a.err)
	}
	return a
}

// refused runs a command line that has to fail with a message and a hint that
// hold those words.
func refused(t *testing.T, words []string, args ...string) answer {
	t.Helper()
	a := bootlab(t, args...)
	a.refuses(t, words...)
	return a
}

func (a answer) refuses(t *testing.T, words ...string) {
	t.Helper()
	a.ends(t, 1, words...)
}

// ends is a message with a hint, and a status.
func (a answer) ends(t *testing.T, status int, words ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d", a.status, status)
	}
	for _, word := range append(words, "error: ", "  hint: ") {
		if !strings.Contains(a.err, word) {
			t.Errorf("%q is missing in:\n%s%s", word, a.out, a.err)
		}
	}
	if n := strings.Count("\n"+a.err, "\nerror: "); n != 1 {
		t.Errorf("%d messages instead of one:\n%s", n, a.err)
	}
}

// haltingDisk is a disk whose boot sector switches interrupts off and halts: a
// machine that starts from it runs and takes no time of the processor.
func haltingDisk(t testing.TB) string {
	t.Helper()
	disk := make([]byte, 1<<20)
	copy(disk, []byte{0xfa, 0xf4, 0xeb, 0xfd}) // cli; hlt; jmp back
	disk[510], disk[511] = 0x55, 0xaa
	file := filepath.Join(t.TempDir(), "halting.raw")
	if err := os.WriteFile(file, disk, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// shape is what a test's lab has of its own.
type shape struct {
	name, cidr string
	uid        string // metadata.uid
	memory     string // of the bootstrap, MiB
	extra      string // more lines of lab.yaml
}

func (s shape) text() string {
	if s.memory == "" {
		s.memory = "2048"
	}
	text := "apiVersion: v1\nmetadata:\n  name: " + s.name + "\n"
	if s.uid != "" {
		text += "  uid: " + s.uid + "\n"
	}
	text += "baseDomain: example.test\nrelease:\n  distribution: okd\n  version: \"4.21\"\n" +
		"topology: compact\nmachines:\n  bootstrap: {memory: " + s.memory + ", cpus: 1, disk: 16}\n"
	if s.cidr != "" {
		text += "networking:\n  machineNetwork:\n    - cidr: " + s.cidr + "\n"
	}
	return text + s.extra
}

// write makes or changes the lab.yaml in dir.
func (s shape) write(t testing.TB, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, labs.LabFile), []byte(s.text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newLab is a directory with lab.yaml and Ignition files, and is taken down when
// the test ends.
func newLab(t testing.TB, s shape) string {
	t.Helper()
	dir := t.TempDir()
	s.write(t, dir)
	for _, role := range []string{"bootstrap", "master", "worker"} {
		writeIgnition(t, dir, role, `{"ignition":{"version":"3.2.0"}}`)
	}
	t.Cleanup(func() {
		if a := bootlab(t, "vms", "down", dir); a.status != 0 {
			t.Errorf("down ended with %d\n%s%s", a.status, a.out, a.err)
		}
	})
	return dir
}

func writeIgnition(t testing.TB, dir, role, text string) {
	t.Helper()
	file := filepath.Join(dir, "out", "work", "assets", "ignition", role+".ign")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// virsh asks libvirt itself, past bootlab.
func virsh(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("virsh", append([]string{"--connect", labs.LibvirtURI}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("virsh %v: %v: %s", args, err, out.String())
	}
	return out.String()
}

// made are the names of everything that libvirt has under the names of bootlab's
// labs; the pool of base images does not count.
func made(t testing.TB) string {
	t.Helper()
	var out []string
	for _, list := range [][]string{{"list", "--all", "--name"}, {"net-list", "--all", "--name"}, {"pool-list", "--all", "--name"}} {
		for _, name := range strings.Fields(virsh(t, "", list...)) {
			if strings.HasPrefix(name, "bootlab-") {
				out = append(out, list[0]+" "+name)
			}
		}
	}
	return strings.Join(out, "\n")
}
