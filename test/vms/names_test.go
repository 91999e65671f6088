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
	"sync/atomic"
	"testing"

	"bootlab/vms/provision"
)

const (
	directCIDR    = "192.168.153.0/24"
	directGateway = "192.168.153.1"
	atBootstrap   = "192.168.153.10"
)

var atMasters = []string{"192.168.153.20", "192.168.153.21", "192.168.153.22"}

// asks puts one question to the lab's name server, past bootlab and past libvirt.
func asks(t *testing.T, question ...string) []string {
	t.Helper()
	out, err := exec.Command("dig", append([]string{"+short", "+tries=2", "+time=5", "@" + directGateway}, question...)...).Output()
	if err != nil {
		t.Fatalf("dig %v: %v", question, err)
	}
	answer := strings.Fields(string(out))
	slices.Sort(answer)
	return answer
}

// namesAre asks for every name of the lab.
func namesAre(t *testing.T, when string, api ...string) {
	t.Helper()
	for name, want := range map[string][]string{
		"api": api, "api-int": api, "console.apps": atMasters, "any.thing.apps": atMasters,
		"bootstrap": {atBootstrap}, "master-0": atMasters[:1], "master-2": atMasters[2:], "no-such-name": nil,
	} {
		if got := asks(t, name+".direct.example.test"); !slices.Equal(got, want) {
			t.Errorf("%s %s is %v, want %v", when, name, got, want)
		}
	}
	for address, want := range map[string]string{atBootstrap: "bootstrap", atMasters[0]: "master-0"} {
		if got := asks(t, "-x", address); !slices.Equal(got, []string{want + ".direct.example.test."}) {
			t.Errorf("%s %s is %v", when, address, got)
		}
	}
	if got := asks(t, "AAAA", "api.direct.example.test"); len(got) > 0 {
		t.Errorf("%s api has IPv6 addresses: %v", when, got)
	}
}

// keptRecords are the addresses with records in the network's definition.
func keptRecords(t *testing.T) string {
	t.Helper()
	var out []string
	for line := range strings.Lines(virsh(t, "", "net-dumpxml", "--inactive", "bootlab-direct")) {
		if _, rest, ok := strings.Cut(line, "<host ip='"); ok {
			address, _, _ := strings.Cut(rest, "'")
			out = append(out, address)
		}
	}
	return strings.Join(out, " ")
}

// leads is what bootlab vms balancer says of api.
func leads(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	var all []provision.Lead
	a := works(t, append([]string{"vms", "balancer", dir, "--output", "json"}, args...)...)
	if err := json.Unmarshal([]byte(a.out), &all); err != nil {
		t.Fatal(err, a.out)
	}
	var out []string
	for _, l := range all {
		if strings.HasPrefix(l.Name, "api.") {
			out = append(out, l.Machine)
		}
	}
	slices.Sort(out)
	return out
}

// resolve asks the lab's name server as a program does.
func resolve(name string) ([]string, error) {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, directGateway+":53")
	}}
	return resolver.LookupHost(context.Background(), name+".direct.example.test.")
}

// neverWithout asks for names over and over until it is stopped, and fails the
// test if there was ever no answer or an empty one. It gives the number of
// questions.
func neverWithout(t *testing.T) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var asked atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for _, name := range []string{"api", "api-int", "bootstrap", "master-0"} {
				if got, err := resolve(name); err != nil || len(got) == 0 {
					t.Errorf("while the names change %s is %v (%v)", name, got, err)
				}
				asked.Add(1)
			}
		}
	}()
	return func() int64 {
		cancel()
		<-done
		return asked.Load()
	}
}

func TestALabWithoutBalancer(t *testing.T) {
	available(t)
	if _, err := exec.LookPath("dig"); err != nil {
		t.Skip(err)
	}
	dir, image := newLab(t, shape{name: "direct", cidr: directCIDR}), haltingDisk(t)
	// Somebody has a port of the load balancer: for this lab that is no matter.
	other, err := net.Listen("tcp", ":6443")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	command := func(words ...string) []string { return append(words, dir, "--emulate", "--image", image) }
	if a := bootlab(t, command("doctor")...); a.status != 3 || !strings.Contains(a.out, "somebody listens on") {
		t.Errorf("doctor on a host whose port is taken: %d\n%s%s", a.status, a.out, a.err)
	}
	works(t, append(command("doctor"), "--no-balancer")...)
	works(t, append(command("vms", "up"), "--no-balancer")...)
	works(t, command("doctor")...) // it is remembered
	for _, file := range []string{"haproxy.cfg", "haproxy.pid", "haproxy.sock"} {
		if _, err := os.Stat(filepath.Join(dir, "out/work/vms", file)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", file, err)
		}
	}
	namesAre(t, "after up", atBootstrap)
	statusSays(t, dir, "network active, no load balancer: api and api-int lead to bootstrap\n")

	t.Run("switch", func(t *testing.T) { namesSwitch(t, dir) })
	t.Run("killed", func(t *testing.T) { switchIsKilled(t, dir) })
	t.Run("by hand", func(t *testing.T) {
		// As it stands after a kill between two changes.
		virsh(t, "", "net-update", "bootlab-direct", "delete", "dns-host", "<host ip='"+atMasters[1]+"'/>", "--live", "--config")
		if a := works(t, "vms", "status", dir); !strings.Contains(a.out, "next: bootlab vms balancer "+dir+" --without-bootstrap") {
			t.Errorf("status:\n%s", a.out)
		}
		works(t, "vms", "balancer", dir, "--without-bootstrap")
		namesAre(t, "after it was fixed", atMasters...)
	})
	t.Run("up", func(t *testing.T) {
		if a := works(t, command("vms", "up")...); strings.Contains(a.out, "make ") {
			t.Errorf("a second up made something:\n%s", a.out)
		}
		namesAre(t, "after another up", atMasters...)
		refused(t, []string{"was made without load balancer", "bootlab vms down " + dir}, append(command("vms", "up"), "--no-balancer=false")...)
	})
	t.Run("host boots", func(t *testing.T) {
		virsh(t, "", "destroy", "bootlab-direct-bootstrap")
		virsh(t, "", "net-destroy", "bootlab-direct")
		statusSays(t, dir, "network inactive, no load balancer: api and api-int lead to master-0, master-1, master-2\n", "next: bootlab vms up "+dir)
		// Without a network that is active it is the definition that changes.
		works(t, "vms", "balancer", dir, "--with-bootstrap")
		works(t, command("vms", "up")...)
		namesAre(t, "after the host has booted", atBootstrap)
	})
	t.Run("without the machine", func(t *testing.T) {
		// As the guide removes it.
		works(t, "vms", "balancer", dir, "--without-bootstrap")
		virsh(t, "", "destroy", "bootlab-direct-bootstrap")
		virsh(t, "", "undefine", "bootlab-direct-bootstrap", "--snapshots-metadata", "--managed-save")
		if a := works(t, command("vms", "up")...); strings.Contains(a.out, "make ") {
			t.Errorf("up made something:\n%s", a.out)
		}
		refused(t, []string{"the bootstrap was removed"}, "vms", "balancer", dir, "--with-bootstrap")
		// A network that is recreated does not lead to it.
		virsh(t, "", "net-destroy", "bootlab-direct")
		virsh(t, "", "net-undefine", "bootlab-direct")
		works(t, command("vms", "up")...)
		namesAre(t, "without the machine", atMasters...)
	})
	if a := works(t, "vms", "down", dir); !strings.Contains(a.out, "nothing of the lab is left") || strings.Contains(a.out, "haproxy") {
		t.Errorf("down:\n%s", a.out)
	}
	other.Close()
	works(t, command("vms", "up")...) // down has forgotten
	statusSays(t, dir, "network active, load balancer running")
	refused(t, []string{"was made with a load balancer", "bootlab vms down " + dir}, append(command("vms", "up"), "--no-balancer")...)
}

func statusSays(t *testing.T, dir string, words ...string) {
	t.Helper()
	a := works(t, "vms", "status", dir)
	for _, word := range words {
		if !strings.Contains(a.out, word) {
			t.Errorf("status does not say %q:\n%s", word, a.out)
		}
	}
}

// namesSwitch leads the names to the masters and back, while somebody asks.
func namesSwitch(t *testing.T, dir string) {
	stop := neverWithout(t)
	for range 2 { // run twice, it is done once
		if got := leads(t, dir, "--without-bootstrap"); !slices.Equal(got, []string{"master-0", "master-1", "master-2"}) {
			t.Errorf("without the bootstrap api leads to %v", got)
		}
	}
	namesAre(t, "without the bootstrap", atMasters...)
	if got := keptRecords(t); got != strings.Join(atMasters, " ") {
		t.Errorf("the definition leads to %s", got)
	}
	statusSays(t, dir, "no load balancer: api and api-int lead to master-0, master-1, master-2\n")
	if a := works(t, "vms", "balancer", dir); !strings.Contains(a.out, "api-int.direct.example.test  192.168.153.21  master-1\n") {
		t.Errorf("as text:\n%s", a.out)
	}
	if got := leads(t, dir, "--with-bootstrap"); !slices.Equal(got, []string{"bootstrap"}) {
		t.Errorf("with the bootstrap api leads to %v", got)
	}
	namesAre(t, "with the bootstrap", atBootstrap)
	if got := keptRecords(t); got != atBootstrap {
		t.Errorf("the definition leads to %s", got)
	}
	if asked := stop(); asked < 100 {
		t.Errorf("only %d questions were asked", asked)
	}
}

// switchIsKilled kills the command as soon as the name has so many addresses, and
// runs it again.
func switchIsKilled(t *testing.T, dir string) {
	between := 0
	for _, addresses := range []int{2, 3, 4, 2, 3, 4} {
		works(t, "vms", "balancer", dir, "--with-bootstrap")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		cmd := command(t, ctx, "vms", "balancer", dir, "--without-bootstrap")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cmd.Wait()
		}()
		for got, err := resolve("api"); err == nil && len(got) < addresses && ctx.Err() == nil; got, err = resolve("api") {
			if len(got) > 1 && len(got) == len(atMasters) && !slices.Contains(got, atBootstrap) {
				break // it was faster
			}
		}
		cmd.Process.Kill()
		<-ended
		cancel()
		if got := asks(t, "api.direct.example.test"); slices.Contains(got, atBootstrap) && len(got) > 1 {
			between++
		}
		works(t, "vms", "balancer", dir, "--without-bootstrap")
		if got := asks(t, "api.direct.example.test"); !slices.Equal(got, atMasters) || keptRecords(t) != strings.Join(atMasters, " ") {
			t.Errorf("killed at %d addresses, and run again: %v, and in the definition %s", addresses, got, keptRecords(t))
		}
	}
	if between == 0 {
		t.Error("none was killed between two changes")
	}
	t.Logf("%d of 6 were killed between two changes", between)
}
