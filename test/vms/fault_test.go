//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/test/build"
)

// during runs a command and sends it a signal as soon as its output holds a text.
func during(t *testing.T, text string, signal syscall.Signal, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(t, ctx, args...)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil && !strings.Contains(string(mustRead(t, out.Name())), text) {
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Signal(signal)
	cmd.Wait()
	all := string(mustRead(t, out.Name()))
	return answer{all, all, cmd.ProcessState.ExitCode()}
}

// longDisk takes a moment to be uploaded.
func longDisk(t *testing.T) string {
	t.Helper()
	file := haltingDisk(t)
	if err := os.Truncate(file, 320<<20); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestInterruptedUpGoesOn(t *testing.T) {
	available(t)
	image := longDisk(t)
	for _, c := range []struct {
		name, at string
		signal   syscall.Signal
	}{
		{"Ctrl-C during the upload", "  10% of 320 MiB", syscall.SIGINT},
		{"killed during the upload", "  10% of 320 MiB", syscall.SIGKILL},
		{"Ctrl-C among machines", "make file bootlab-halted-master-0", syscall.SIGINT},
		{"killed among machines", "make disk bootlab-halted-master-1", syscall.SIGKILL},
		{"killed at the network", "make network", syscall.SIGKILL},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newLab(t, shape{name: "halted"})
			a := during(t, c.at, c.signal, "vms", "up", dir, "--emulate", "--image", image)
			if c.signal == syscall.SIGINT {
				a.refuses(t, "interrupted", "bootlab vms up "+dir+" goes on")
			}
			if strings.Contains(a.out, "bootstrap runs") {
				t.Fatalf("it was done before the signal came:\n%s", a.out)
			}
			works(t, "vms", "up", dir, "--emulate", "--image", image)
			if again := works(t, "vms", "up", dir, "--emulate", "--image", image); strings.Contains(again.out, "make ") {
				t.Errorf("the one after that still made something:\n%s", again.out)
			}
			works(t, "vms", "down", dir)
			if left := made(t); left != "" {
				t.Errorf("left:\n%s", left)
			}
			works(t, "vms", "image", "prune")
		})
	}
}

func TestInterruptedDownGoesOn(t *testing.T) {
	available(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := newLab(t, shape{name: "downed"})
			up(t, dir, haltingDisk(t))
			a := during(t, "remove machine", signal, "vms", "down", dir)
			if signal == syscall.SIGINT {
				a.refuses(t, "interrupted", "bootlab vms down "+dir+" goes on", "not reached")
			}
			if !strings.Contains(made(t), "pool-list bootlab-downed") {
				t.Fatalf("it was done before the signal came:\n%s", a.out)
			}
			if a := works(t, "vms", "down", dir); !strings.Contains(a.out, "nothing of the lab is left") || made(t) != "" {
				t.Errorf("left:\n%s\nit said:\n%s", made(t), a.out)
			}
		})
	}
}

func TestOneCommandAtATime(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "locked"})
	works(t, "vms", "down", dir) // makes the directory of the lock
	lock, err := os.Open(filepath.Join(dir, "out", "work", "vms", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	refused(t, []string{"another bootlab vms is running on this lab"}, "vms", "up", dir)
	refused(t, []string{"another bootlab vms is running on this lab"}, "vms", "down", dir)
	works(t, "vms", "status", dir) // looking is allowed
	lock.Close()
	works(t, "vms", "down", dir)
}

// mounted runs a command line with a file system changed by a line of shell,
// which no one else sees.
func mounted(t *testing.T, mount string, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(t, ctx, args...)
	cmd.Args = append([]string{"unshare", "--mount", "bash", "-c", mount + ` && exec "$@"`, "bash", cmd.Path}, args...)
	cmd.Path, _ = exec.LookPath("unshare")
	return said(t, cmd)
}

func TestAHostWithoutLibvirt(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "without"})
	t.Run("no daemon", func(t *testing.T) {
		a := mounted(t, "mount -t tmpfs none /run/libvirt", "vms", "status", dir)
		a.refuses(t, "cannot connect to libvirt at qemu:///system", "sudo systemctl start libvirtd")
	})
	t.Run("no library", func(t *testing.T) {
		hide := `for f in $(ldconfig -p | awk '/libvirt\.so\.0/ { print $NF }'); do mount --bind /dev/null "$(realpath "$f")"; done`
		a := mounted(t, hide, "vms", "status", dir)
		a.refuses(t, "cannot connect to libvirt at qemu:///system", "libvirt.so.0", "apt-get install libvirt-daemon-system")
	})
	t.Run("no rights", func(t *testing.T) {
		const nobody = 65534
		own := t.TempDir()
		shape{name: "without"}.write(t, own)
		for _, file := range []string{filepath.Dir(own), own, filepath.Join(own, "lab.yaml")} {
			if err := os.Chown(file, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		ask := func() answer {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			cmd := command(t, ctx, "vms", "status", own)
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + own}
			return said(t, cmd)
		}
		// Here polkit cannot be asked; elsewhere the socket is the group's alone.
		ask().refuses(t, "cannot connect to libvirt at qemu:///system", "usermod -aG libvirt")
		const socket = "/run/libvirt/libvirt-sock"
		before, err := os.Stat(socket)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(socket, 0o770); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(socket, before.Mode())
		ask().refuses(t, "cannot connect to libvirt at qemu:///system", "Permission denied", "usermod -aG libvirt")
	})
	t.Run("built without it", func(t *testing.T) {
		file, err := build.Program{Package: "bootlab/cmd/bootlab", Tags: "libvirt_dlopen"}.File()
		if err != nil {
			t.Fatal(err)
		}
		said(t, exec.Command(file, "vms", "status", dir)).refuses(t, "built without libvirt", "./setup lab --machines")
	})
}

func TestImagesThatAreNone(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "image"})
	whole := filepath.Join(t.TempDir(), "whole.qcow2")
	if out, err := exec.Command("qemu-img", "create", "-f", "qcow2", whole, "1G").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		name, says string
		data       []byte
	}{
		{"cut off", "is cut off", mustRead(t, whole)[:4096]},
		{"packed", "is compressed", append([]byte("\x1f\x8b"), make([]byte, 1022)...)},
		{"no disk", "is neither qcow2 nor a raw disk", make([]byte, 1024)},
		{"empty", "is too short", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(file, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			hears(t, bootlab(t, "vms", "up", dir, "--emulate", "--image", file), c.says, "nothing was created")
			hears(t, bootlab(t, "vms", "up", dir, "--emulate", "--skip-doctor", "--image", file), c.says)
		})
	}
	if left := made(t); left != "" {
		t.Errorf("made:\n%s", left)
	}
}

func TestAFullFileSystem(t *testing.T) {
	available(t)
	const pool = "/var/lib/libvirt/images/bootlab"
	dir := newLab(t, shape{name: "full"})
	small := haltingDisk(t)
	up(t, dir, small) // makes the pool
	works(t, "vms", "down", dir)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "none", pool).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mountedStill := true
	t.Cleanup(func() {
		if mountedStill {
			exec.Command("umount", pool).Run()
		}
	})
	large := haltingDisk(t)
	if err := os.Truncate(large, 8<<20); err != nil {
		t.Fatal(err)
	}
	again := []string{"vms", "up", dir, "--emulate", "--image", large}
	hears(t, bootlab(t, again...), "the base image alone takes", "nothing was created")
	refusal := bootlab(t, append(again, "--skip-doctor")...)
	hears(t, refusal, "the file system of "+pool+" is full", "bootlab vms image prune")
	works(t, "vms", "down", dir)
	works(t, "vms", "image", "prune")
	if out, err := exec.Command("umount", pool).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mountedStill = false
	works(t, again...)
}
