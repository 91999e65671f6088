//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/vms/balancer"
)

// talkingDisk prints a line on the serial port, over and over, and halts in
// between until the clock ticks.
func talkingDisk(t *testing.T) string {
	t.Helper()
	file := haltingDisk(t)
	disk := mustRead(t, file)
	const text = "hello from the boot sector\x1b[31m red\x1b[0m\r\n\x00"
	copy(disk, []byte{
		0x31, 0xc0, 0x8e, 0xd8, // xor ax,ax; mov ds,ax
		0xfb,             // sti
		0xbe, 0x40, 0x7c, // again: mov si,text
		0xac,       // next: lodsb
		0x84, 0xc0, // test al,al
		0x74, 0x09, // jz wait
		0xba, 0xf8, 0x03, // mov dx,0x3f8
		0xee,                   // out dx,al
		0xeb, 0xf5, 0x90, 0x90, // jmp next; nop; nop
		0x90,       // nop
		0xf4,       // wait: hlt
		0xeb, 0xec, // jmp again
	})
	copy(disk[0x40:], text)
	if err := os.WriteFile(file, disk, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReachingMachines(t *testing.T) {
	available(t)
	dir, image := newLab(t, shape{name: "reach"}), talkingDisk(t)
	t.Run("before up", func(t *testing.T) {
		if a := works(t, "vms", "status", dir); !strings.Contains(a.out, "not made") || !strings.Contains(a.out, "next: bootlab vms up "+dir) {
			t.Errorf("status:\n%s", a.out)
		}
		refused(t, []string{"bootstrap is not made yet", "bootlab vms up " + dir}, "vms", "console", dir, "bootstrap")
		refused(t, []string{"bootstrap is not made yet", "bootlab vms up " + dir}, "vms", "log", dir, "bootstrap")
		refused(t, []string{"the lab has no machines yet", "bootlab vms up " + dir}, "vms", "ssh", dir, "bootstrap")
		refused(t, []string{"the load balancer does not run", "bootlab vms up " + dir}, "vms", "balancer", dir)
		refused(t, []string{"bootstrap is not made yet"}, "vms", "snapshot", dir, "one")
		refused(t, []string{"bootstrap is not made yet"}, "vms", "start", dir)
		if made(t) != "" {
			t.Errorf("looking made something:\n%s", made(t))
		}
	})
	up(t, dir, image)
	t.Run("names", func(t *testing.T) {
		bootlab(t, "vms", "console", dir, "master-9").ends(t, 2, `the lab has no machine "master-9"`, "master-0")
		refused(t, []string{"masters means 3 machines"}, "vms", "ssh", dir, "masters")
		refused(t, []string{"master-0 does not run", "bootlab vms start"}, "vms", "console", dir, "master-0")
	})
	t.Run("as the guide looks at it", func(t *testing.T) {
		resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, "192.168.126.1:53")
		}}
		for name, want := range map[string]string{"api": "192.168.126.1", "api-int": "192.168.126.1", "console.apps": "192.168.126.1", "bootstrap": "192.168.126.10"} {
			if got, err := resolver.LookupHost(context.Background(), name+".reach.example.test"); err != nil || !slices.Equal(got, []string{want}) {
				t.Errorf("%s is %v (%v)", name, got, err)
			}
		}
		if argv := virsh(t, "", "domxml-to-native", "qemu-argv", "--domain", "bootlab-reach-bootstrap"); !strings.Contains(argv, "fw_cfg") || !strings.Contains(argv, "bootlab-reach-bootstrap.ign") {
			t.Errorf("QEMU gets\n%s", argv)
		}
		if mark := virsh(t, "", "metadata", "bootlab-reach-bootstrap", "--uri", labs.OwnerNamespace); !strings.Contains(mark, dir) {
			t.Errorf("the mark is\n%s", mark)
		}
		virsh(t, "", "vol-dumpxml", "bootlab-reach-bootstrap.ign", "bootlab-reach")
		virsh(t, "", "net-dhcp-leases", "bootlab-reach")
	})
	t.Run("log", func(t *testing.T) {
		const line = "hello from the boot sector red\n"
		for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
			a := works(t, "vms", "log", dir, "bootstrap")
			if strings.Contains(a.out, "\x1b") || strings.Contains(a.out, "\r") {
				t.Fatalf("the log steers the terminal: %q", a.out)
			}
			if strings.Contains(a.out, line) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the log is %q", a.out)
			}
		}
		refused(t, []string{"the machine was not started yet"}, "vms", "log", dir, "master-0")
		a := during(t, strings.Repeat(line, 30), syscall.SIGINT, "vms", "log", dir, "bootstrap", "--follow")
		if a.status != 0 {
			t.Errorf("status %d:\n%s", a.status, a.out)
		}
		t.Run("for root alone", func(t *testing.T) {
			const nobody, log = 65534, "/var/log/libvirt/qemu/bootlab-reach-bootstrap-serial.log"
			if err := errors.Join(os.Chown(log, nobody, nobody), os.Chmod(log, 0o600)); err != nil {
				t.Fatal(err)
			}
			defer os.Chown(log, 0, 0)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			cmd := command(t, ctx, "vms", "log", dir, "bootstrap")
			cmd.Args = append([]string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/usr/bin/setpriv"
			said(t, cmd).refuses(t, "the log is for root alone", "sudo less -R "+log)
		})
	})
	t.Run("console", func(t *testing.T) {
		program, err := exec.LookPath("script")
		if err != nil {
			t.Skip(err)
		}
		file := command(t, context.Background()).Path
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		// A terminal of its own; after a moment Ctrl and ] end it.
		cmd := exec.CommandContext(ctx, "bash", "-c", `(sleep 3; printf '\035'; sleep 1) | "$1" --quiet --return --command "$2 vms console $3 bootstrap" /dev/null`, "bash", program, file, dir)
		a := said(t, cmd)
		if a.status != 0 || !strings.Contains(a.out, "Connected to domain 'bootlab-reach-bootstrap'") || !strings.Contains(a.out, "hello from the boot sector") {
			t.Errorf("status %d:\n%s%s", a.status, a.out, a.err)
		}
	})
	t.Run("ssh", func(t *testing.T) {
		// The real ssh: nothing answers on that machine, so it ends as ssh does.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		a := said(t, command(t, ctx, "vms", "ssh", dir, "bootstrap", "id", "-u"))
		if a.status != 255 || !strings.Contains(a.err, "ssh: connect to host 192.168.126.") {
			t.Errorf("status %d:\n%s%s", a.status, a.out, a.err)
		}
		out, err := exec.Command("ssh", "-G", "-F", filepath.Join(dir, "out/work/vms/ssh_config"), "master-1").Output()
		for _, want := range []string{"user core", "stricthostkeychecking true", "identitiesonly yes", "hostkeyalias master-1", "identityfile " + filepath.Join(dir, "out/work/vms/id_ed25519")} {
			if err != nil || !strings.Contains(string(out), want+"\n") {
				t.Errorf("%v: ssh has not %q:\n%s", err, want, out)
			}
		}
	})
}

func TestTheBalancerTellsAndObeys(t *testing.T) {
	available(t)
	dir, image := newLab(t, shape{name: "balanced"}), haltingDisk(t)
	up(t, dir, image)
	state := func(args ...string) map[string]string {
		t.Helper()
		var servers []balancer.Server
		a := works(t, append([]string{"vms", "balancer", dir, "--output", "json"}, args...)...)
		if err := json.Unmarshal([]byte(a.out), &servers); err != nil {
			t.Fatal(err, a.out)
		}
		out := map[string]string{}
		for _, s := range servers {
			out[s.Backend+"/"+s.Machine] = s.State
		}
		return out
	}
	if got := state(); len(got) != 4+4+3+3 || got["api/bootstrap"] == "" || got["api/bootstrap"] == "MAINT" {
		t.Errorf("servers: %v", got)
	}
	if got := state("--without-bootstrap"); got["api/bootstrap"] != "MAINT" || got["machine-config-server/bootstrap"] != "MAINT" || got["api/master-0"] == "MAINT" {
		t.Errorf("without the bootstrap: %v", got)
	}
	if got := state("--with-bootstrap"); got["api/bootstrap"] == "MAINT" {
		t.Errorf("with the bootstrap: %v", got)
	}
	if a := works(t, "vms", "balancer", dir); !strings.Contains(a.out, "machine-config-server  bootstrap") {
		t.Errorf("as text:\n%s", a.out)
	}

	bootAgain(t, dir, "balanced")
	a := works(t, "vms", "status", dir)
	if !strings.Contains(a.out, "network inactive, load balancer not running") || !strings.Contains(a.out, "next: bootlab vms up "+dir) {
		t.Errorf("status:\n%s", a.out)
	}
	refused(t, []string{"the load balancer does not run", "bootlab vms up " + dir}, "vms", "balancer", dir)
	up(t, dir, image)
	if a := works(t, "vms", "status", dir); !strings.Contains(a.out, "network active, load balancer running") {
		t.Errorf("status:\n%s", a.out)
	}
	bootAgain(t, dir, "balanced")
	if a := works(t, "vms", "down", dir); !strings.Contains(a.out, "nothing of the lab is left") || made(t) != "" {
		t.Errorf("left:\n%s\ndown said:\n%s", made(t), a.out)
	}
	if _, err := os.Stat("/var/lib/libvirt/images/bootlab/labs/balanced"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}

// bootAgain leaves what a host has after it has booted: definitions, but neither
// processes nor networks nor started pools.
func bootAgain(t *testing.T, dir, lab string) {
	t.Helper()
	pid := strings.TrimSpace(string(mustRead(t, filepath.Join(dir, "out/work/vms/haproxy.pid"))))
	if out, err := exec.Command("kill", "-KILL", pid).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	virsh(t, "", "destroy", "bootlab-"+lab+"-bootstrap")
	virsh(t, "", "net-destroy", "bootlab-"+lab)
	virsh(t, "", "pool-destroy", "bootlab-"+lab)
	virsh(t, "", "pool-destroy", "bootlab")
}

func TestSnapshots(t *testing.T) {
	available(t)
	dir, image := newLab(t, shape{name: "snap"}), talkingDisk(t)
	up(t, dir, image)
	domain := func(m string) string { return strings.TrimSpace(virsh(t, "", "domstate", "bootlab-snap-"+m)) }
	works(t, "vms", "snapshot", dir, "one")
	if domain("bootstrap") != "running" || domain("master-0") != "shut off" {
		t.Errorf("after the snapshot: %s, %s", domain("bootstrap"), domain("master-0"))
	}
	works(t, "vms", "start", dir, "master-0", "--overcommit")
	works(t, "vms", "revert", dir, "one")
	if domain("bootstrap") != "running" || domain("master-0") != "shut off" {
		t.Errorf("after the revert: %s, %s", domain("bootstrap"), domain("master-0"))
	}
	refused(t, []string{"bootstrap has a snapshot one already"}, "vms", "snapshot", dir, "one")
	refused(t, []string{"bootstrap has no snapshot two, so nothing was reverted", "it has one"}, "vms", "revert", dir, "two")
	works(t, "vms", "snapshot", dir, "some", "master-1", "master-2")
	refused(t, []string{"bootstrap has no snapshot some"}, "vms", "revert", dir, "some")
	works(t, "vms", "revert", dir, "some", "master-1")
	if a := bootlab(t, "vms", "snapshot", dir, "../x"); a.status != 2 || !strings.Contains(a.err, "is no name for a snapshot") {
		t.Errorf("status %d: %s", a.status, a.err)
	}

	t.Run("listed and deleted", func(t *testing.T) {
		if a := works(t, "vms", "snapshots", dir); a.out != "bootstrap: one\nmaster-0: one\nmaster-1: one, some\nmaster-2: one, some\n" {
			t.Errorf("listed:\n%s", a.out)
		}
		// A machine that lab.yaml changed would be made anew, and lose its snapshots.
		s := shape{name: "snap", extra: "  masters:\n    - {name: master-0, memory: 3072}\n    - {name: master-1}\n    - {name: master-2}\n"}
		s.write(t, dir)
		hears(t, bootlab(t, "vms", "up", dir, "--emulate", "--image", image), "master-0 is to be made anew", "snapshots that would be lost: one", "bootlab vms snapshots "+dir)
		shape{name: "snap"}.write(t, dir)
		works(t, "vms", "snapshots", dir, "--delete", "some", "master-1")
		works(t, "vms", "snapshots", dir, "--delete", "some")
		refused(t, []string{"no machine has a snapshot some"}, "vms", "snapshots", dir, "--delete", "some")
		if list := virsh(t, "", "snapshot-list", "--name", "bootlab-snap-master-2"); strings.Contains(list, "some") {
			t.Errorf("it is still there:\n%s", list)
		}
	})
	t.Run("all or none", func(t *testing.T) {
		// The disk of the last one cannot be written: the others' snapshots go again.
		disk := "/var/lib/libvirt/images/bootlab/labs/snap/bootlab-snap-master-2.qcow2"
		if err := os.Rename(disk, disk+".away"); err != nil {
			t.Fatal(err)
		}
		a := bootlab(t, "vms", "snapshot", dir, "broken")
		if err := os.Rename(disk+".away", disk); err != nil {
			t.Fatal(err)
		}
		if a.status != 1 || !strings.Contains(a.err, "snapshot of master-2") || domain("bootstrap") != "running" {
			t.Errorf("status %d, bootstrap %s:\n%s", a.status, domain("bootstrap"), a.err)
		}
		for _, m := range []string{"bootstrap", "master-0", "master-1"} {
			if list := virsh(t, "", "snapshot-list", "--name", "bootlab-snap-"+m); strings.Contains(list, "broken") {
				t.Errorf("%s has kept its snapshot:\n%s", m, list)
			}
		}
	})
	t.Run("after the first day", func(t *testing.T) {
		file := filepath.Join(dir, "out/work/assets/ignition/bootstrap.ign")
		old := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
		if a := works(t, "vms", "revert", dir, "one"); !strings.Contains(a.err, "the first certificates of this lab have ended") {
			t.Errorf("no warning:\n%s%s", a.out, a.err)
		}
	})
}
