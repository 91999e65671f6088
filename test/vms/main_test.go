//go:build cgo && libvirt_dlopen

package vms

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// inside marks the process that runs in the namespaces.
const inside = "BOOTLAB_TEST_IN_NAMESPACES"

// needed are the programs without which there is no libvirt.
var needed = []string{"libvirtd", "virtlogd", "qemu-system-x86_64", "qemu-img", "dnsmasq", "haproxy", "ip", "unshare", "firewalld", "dbus-daemon"}

// missingPrograms is why the tests cannot run here; empty when they can.
var unavailable string

func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" {
		os.Exit(runInside(m))
	}
	if unavailable = lacking(); unavailable != "" {
		os.Exit(m.Run())
	}
	os.Exit(enter())
}

func lacking() string {
	if os.Geteuid() != 0 {
		return "a libvirt of its own needs root"
	}
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			return "no " + program + " on this machine"
		}
	}
	return ""
}

// enter runs this program again in namespaces of its own: network, so that
// bridges and listeners are no one else's, mounts, so that the daemon's files
// are, and processes, so that all of them end with it. The shell in between is
// the first process there: it takes in what daemons leave, which this program
// would not.
func enter() int {
	args := append([]string{"--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--",
		"bash", "-c", `"$@"; exit "$?"`, "bash", os.Args[0]}, os.Args[1:]...)
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), inside+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	asked, ask, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	answers, answer, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cmd.ExtraFiles = []*os.File{ask, answers} // askFD and answerFD
	go serveGuest(asked, answer)
	if err := cmd.Run(); err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			return exit.ExitCode()
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// scratch is a directory that lasts as long as the tests.
var scratch string

func runInside(m *testing.M) int {
	// The daemons are to end without holding on to them.
	syscall.CloseOnExec(askFD)
	syscall.CloseOnExec(answerFD)
	base, err := os.MkdirTemp("", "bootlab-vms-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(base)
	scratch = base
	// One test runs a program there as somebody else.
	if err := os.Chmod(base, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := startLibvirt(base); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// startLibvirt gives the daemons directories of their own and starts them.
func startLibvirt(base string) error {
	for _, dir := range []string{"/run", "/var/lib/libvirt", "/var/log/libvirt", "/var/cache/libvirt", "/etc/libvirt"} {
		own := filepath.Join(base, filepath.FromSlash(dir))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		if dir == "/etc/libvirt" {
			if out, err := exec.Command("cp", "--archive", dir+"/.", own).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			// Configuration, and none of the host's machines, networks and pools.
			for _, objects := range []string{"qemu", "storage", "secrets"} {
				os.RemoveAll(filepath.Join(own, objects))
			}
			if err := asRoot(filepath.Join(own, "qemu.conf")); err != nil {
				return err
			}
		}
		if out, err := exec.Command("mount", "--bind", own, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	// Packages make these, and daemon and virsh expect them.
	for _, dir := range []string{"/var/log/libvirt/qemu", "/run/lock"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, command := range [][]string{{"ip", "link", "set", "lo", "up"}, {"virtlogd", "--daemon"}, {"libvirtd", "--daemon"}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", command, err, out)
		}
	}
	for range 100 {
		if _, err := os.Stat("/run/libvirt/libvirt-sock"); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("libvirtd made no socket")
}

// asRoot lets QEMU run as root. Where /dev/kvm is root's alone, libvirtd would
// otherwise find that what it may do and what QEMU may do differ, and ask QEMU
// again for all it can at every definition: half a minute each.
func asRoot(config string) error {
	file, err := os.OpenFile(config, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString("user = \"root\"\ngroup = \"root\"\nsecurity_driver = \"none\"\n")
	return err
}

// available skips a test where there is no libvirt; under CI that is a failure.
func available(t testing.TB) {
	t.Helper()
	switch {
	case unavailable == "":
	case os.Getenv("CI") == "true":
		t.Fatal(unavailable)
	default:
		t.Skip(unavailable)
	}
}
