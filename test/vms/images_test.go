//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/images"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
)

func opened(t *testing.T, file string) vms.Image {
	t.Helper()
	image, err := images.Open(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// broken gives the first half of an image and then fails, as one does whose
// program is killed.
type broken struct {
	io.Reader
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("killed")
	}
	return n, err
}

// A machine's disk and definition follow the format of the image, and an upload
// that was cut off is not taken for one.
func TestImagesOfBothFormatsBoot(t *testing.T) {
	available(t)
	raw := haltingDisk(t)
	qcow2 := filepath.Join(t.TempDir(), "halting.qcow2")
	if out, err := exec.Command("qemu-img", "convert", "-O", "qcow2", raw, qcow2).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for format, file := range map[string]string{"raw": raw, "qcow2": qcow2} {
		t.Run(format, func(t *testing.T) {
			lab, dir := smallLab(t, "of-"+format)
			p := provisioner(t, lab, dir, opened(t, file))
			cutOff(t, p)
			uploaded := int64(0)
			p.Uploaded = func(sent, _ int64) { uploaded = sent }
			if err := p.Up(context.Background(), func(string, provision.Thing, bool) {}); err != nil {
				t.Fatal(err)
			}
			if uploaded != p.Base.Size {
				t.Errorf("%d of %d bytes were uploaded", uploaded, p.Base.Size)
			}
			if _, err := p.Start(vms.Machines(lab)[0]); err != nil {
				t.Fatal(err)
			}
			xml := virsh(t, "", "dumpxml", lab.DomainName("bootstrap"))
			if !strings.Contains(xml, "<format type='"+format+"'/>") || !strings.Contains(xml, "base-"+p.Base.SHA256+"."+format) {
				t.Errorf("the machine stands on something else:\n%s", xml)
			}
			info, err := exec.Command("qemu-img", "info", "--force-share", path.Join(vms.LabPoolDir(lab), vms.DiskVolume(lab, "bootstrap"))).CombinedOutput()
			if err != nil || !strings.Contains(string(info), "backing file format: "+format) {
				t.Errorf("%v:\n%s", err, info)
			}
			keepsBase(t, p)
			receipts, err := p.Down(context.Background(), func(string, provision.Thing, bool) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range receipts {
				if r.Left {
					t.Errorf("%+v", r)
				}
			}
			prunesBase(t, p)
		})
	}
}

// cutOff leaves what a killed upload leaves: a volume that has not all of it.
func cutOff(t *testing.T, p *provision.Provisioner) {
	t.Helper()
	if virshSays("pool-info", vms.Pool) != nil {
		text, err := vms.SharedPool().Marshal()
		if err == nil {
			err = p.Host.DefinePool(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := vms.BaseImage(p.Base).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(p.Base.File)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	half := broken{io.LimitReader(file, p.Base.Size/2)}
	if err := p.Host.MakeVolume(vms.Pool, text, half, p.Base.Size, nil); err == nil {
		t.Fatal("half an image was uploaded without an error")
	}
}

func virshSays(args ...string) error {
	return exec.Command("virsh", append([]string{"--connect", labs.LibvirtURI}, args...)...).Run()
}

func keepsBase(t *testing.T, p *provision.Provisioner) {
	t.Helper()
	err := provision.PruneBases(p.Host, func(v libvirt.VolumeState) {
		if strings.Contains(v.Path, p.Base.SHA256) { // other tests leave others
			t.Error("removed, and in use:", v.Path)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func prunesBase(t *testing.T, p *provision.Provisioner) {
	t.Helper()
	removed := ""
	if err := provision.PruneBases(p.Host, func(v libvirt.VolumeState) { removed += v.Path }); err != nil {
		t.Error(err)
	}
	if !strings.Contains(removed, p.Base.SHA256) {
		t.Errorf("no disk stands on it, and it stays; removed: %q", removed)
	}
}

// The probe's code is run by real firmware, in software here: it switches itself
// off. KVM is another matter, and is trusted only where the same happens.
func TestAProbeRunsAndLeavesNothing(t *testing.T) {
	available(t)
	lab, dir := smallLab(t, "probe")
	p := provisioner(t, lab, dir, vms.Image{})
	begin := time.Now()
	ended, err := p.Probe(context.Background(), vms.Emulated, time.Minute)
	if err != nil || !ended {
		t.Errorf("the probe did not switch itself off: %v", err)
	}
	t.Logf("it took %s", time.Since(begin).Round(time.Millisecond))
	if ended, err := p.Probe(context.Background(), vms.Emulated, time.Millisecond); err != nil || ended {
		t.Errorf("a probe is done in no time: %v", err)
	}
	proof, err := p.ProveKVM(context.Background())
	if err != nil || proof.Why == "" {
		t.Error(err)
	}
	t.Logf("%+v", proof)
	// The probe comes to the same, also where libvirt was not asked first.
	ended, err = p.Probe(context.Background(), vms.KVM, 3*time.Second)
	t.Logf("with KVM: %t, %v", ended, err)
	if ended != proof.Works {
		t.Errorf("%+v, and the probe says %t", proof, ended)
	}
	for _, list := range [][]string{{"list", "--all", "--name"}, {"vol-list", vms.Pool}} {
		if virshSays("pool-info", vms.Pool) != nil && list[0] == "vol-list" {
			continue
		}
		if out := virsh(t, "", list...); strings.Contains(out, "probe-") {
			t.Errorf("%s: %s", list[0], out)
		}
	}
}

// What bootlab vms plan prints can be typed: virsh and haproxy take every file.
func TestTheCommandsOfThePlanMakeTheMachines(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "typed", cidr: "192.168.77.0/24"})
	works(t, "generate", dir)
	plan := works(t, "vms", "plan", dir)
	_, lines, ok := strings.Cut(plan.out, "\nexport ")
	if !ok {
		t.Fatal(plan.out)
	}
	// The machine here has no KVM.
	script := "set -o errexit -o pipefail\nexport " + strings.Replace(lines, "/PATH/TO/IMAGE.qcow2", haltingDisk(t), 1)
	script = strings.ReplaceAll(strings.ReplaceAll(script, `.qcow2"`, `.raw"`), `s/SHA256/${sum}/`, `s/SHA256[.]qcow2/${sum}.raw/; s/type=.kvm./type='qemu'/; s/mode=.host-passthrough. migratable=.on./mode='maximum'/; /backingStore/,/backingStore/ s/type=.qcow2./type='raw'/`)
	cmd := exec.Command("bash", "-c", script)
	if a := said(t, cmd); a.status != 0 {
		t.Fatalf("%s\n%s\n%s", script, a.out, a.err)
	}
	t.Cleanup(func() {
		endBalancerOfPlan(t)
		for _, m := range []string{"bootstrap", "master-0", "master-1", "master-2"} {
			virshSays("destroy", "bootlab-typed-"+m)
			virshSays("undefine", "bootlab-typed-"+m)
			virshSays("vol-delete", "--pool", "bootlab-typed", "bootlab-typed-"+m+".ign")
			virshSays("vol-delete", "--pool", "bootlab-typed", "bootlab-typed-"+m+".qcow2")
		}
		for _, args := range [][]string{{"net-destroy", "bootlab-typed"}, {"net-undefine", "bootlab-typed"}, {"pool-destroy", "bootlab-typed"}, {"pool-delete", "bootlab-typed"}, {"pool-undefine", "bootlab-typed"}} {
			if err := virshSays(args...); err != nil {
				t.Error(args, err)
			}
		}
	})
	if got := virsh(t, "", "domstate", "bootlab-typed-bootstrap"); !strings.Contains(got, "running") {
		t.Error(got)
	}
	// Nothing of it carries this lab's mark, so bootlab leaves it alone.
	hears(t, bootlab(t, "vms", "up", dir, "--emulate", "--image", haltingDisk(t)), "bootlab-typed is there already, and this lab did not make it", "nothing was created")
}

// endBalancerOfPlan ends the load balancer that was started as the plan types it:
// its process was not written down.
func endBalancerOfPlan(t *testing.T) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || string(line) != "haproxy\x00-D\x00-f\x00vms/haproxy.cfg\x00" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Errorf("%s: %v", file, err)
		}
		ended++
	}
	if ended == 0 {
		t.Error("the plan started no load balancer")
	}
}

// Green means that up works, and what doctor says fails does stop up.
func TestTheDoctorSaysWhatUpWillDo(t *testing.T) {
	available(t)
	dir, image := newLab(t, shape{name: "patient", cidr: "192.168.88.0/24"}), haltingDisk(t)
	doctor := []string{"doctor", dir, "--emulate", "--image", image}
	raise := []string{"vms", "up", dir, "--emulate", "--image", image}
	network := `<network><name>elsewhere</name><bridge name="virbr7"/><ip address="192.168.88.1" netmask="255.255.255.0"/></network>`
	file := filepath.Join(t.TempDir(), "network.xml")
	if err := os.WriteFile(file, []byte(network), 0o644); err != nil {
		t.Fatal(err)
	}
	virsh(t, "", "net-create", file)
	t.Cleanup(func() { virshSays("net-destroy", "elsewhere") })
	before := made(t)
	for i, args := range [][]string{doctor, raise} {
		a := bootlab(t, args...)
		if a.status != []int{3, 1}[i] || !strings.Contains(a.out+a.err, "failed   network 192.168.88.0/24: libvirt's network elsewhere has 192.168.88.0/24") {
			t.Errorf("%v: status %d\n%s%s", args, a.status, a.out, a.err)
		}
	}
	// It is past the doctor that libvirt itself refuses the network.
	if a := bootlab(t, append(raise, "--skip-doctor")...); a.status != 1 || !strings.Contains(a.err, "error: network bootlab-patient") {
		t.Errorf("status %d\n%s%s", a.status, a.out, a.err)
	}
	works(t, "vms", "down", dir)
	if after := made(t); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	virsh(t, "", "net-destroy", "elsewhere")
	if a := works(t, doctor...); !strings.Contains(a.out, "all checks passed; next: bootlab vms up") || !strings.Contains(a.out, "warning  processor: software emulation was asked for") {
		t.Error(a.out)
	}
	// Left to itself, up takes KVM where it is proven, and says what that means.
	if a := works(t, "doctor", dir, "--image", image); !strings.Contains(a.out, "ok       processor: KVM: ") && !strings.Contains(a.out, "warning  processor: software emulation: ") {
		t.Error(a.out)
	}
	works(t, raise...)
	// Again, while it runs; the image is remembered, and so is that KVM does not work.
	a := works(t, "doctor", dir, "--emulate")
	if !strings.Contains(a.out, "the lab's own load balancer has them") || !strings.Contains(a.out, image) {
		t.Error(a.out)
	}
	works(t, "vms", "up", dir, "--emulate")
}

// A full disk is no riddle: a cache on one of 2 MiB.
func TestAFullCacheIsSaid(t *testing.T) {
	available(t)
	cache := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", cache).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer exec.Command("umount", cache).Run()
	packed, stream := publish(t, 4<<20)
	dir := newLab(t, shape{name: "full"})
	fetch := func() answer {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := command(t, ctx, "vms", "image", "fetch", dir, "--stream-json", stream)
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
		return said(t, cmd)
	}
	fetch().refuses(t, "is full", "no space left on device", "XDG_CACHE_HOME")
	// The packed file fits, what is in it does not.
	packed(1<<20, 3<<20)
	fetch().refuses(t, "is full", "no space left on device", "XDG_CACHE_HOME")
	packed(1<<18, 1<<18)
	if a := fetch(); a.status != 0 || !strings.Contains(a.out, "both hashes are right") {
		t.Errorf("%s%s", a.out, a.err)
	}
}
