//go:build cgo && libvirt_dlopen

package vms

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// up makes a lab and starts its bootstrap.
func up(t *testing.T, dir, image string) answer {
	t.Helper()
	return works(t, "vms", "up", dir, "--emulate", "--image", image)
}

// A lab that is up was made from files; whoever changes one of them afterwards
// hears of it before anything is touched.
func TestWhatChangedSinceUp(t *testing.T) {
	available(t)
	s := shape{name: "changed"}
	dir, image := newLab(t, s), haltingDisk(t)
	up(t, dir, image)
	again := []string{"vms", "up", dir, "--emulate", "--image", image}
	if a := works(t, again...); strings.Contains(a.out, "make ") || strings.Contains(a.out, "remove ") {
		t.Errorf("a second up did something:\n%s", a.out)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "out", "work", "vms", "journal.jsonl"))
	if want := `"do":"make","kind":"network","name":"bootlab-changed","result":"done"`; err != nil || !strings.Contains(string(journal), want) {
		t.Errorf("%v: the journal lacks %s:\n%s", err, want, journal)
	}

	cases := []struct {
		name, says string
		lab        string
	}{
		{"address", "network bootlab-changed runs as an earlier lab.yaml wanted it", strings.Replace(s.text(), "bootstrap: {", "bootstrap: {address: 192.168.126.200, ", 1)},
		{"machine", "network bootlab-changed runs as an earlier lab.yaml wanted it", strings.Replace(s.text(), "compact", "ha", 1)},
		{"memory of one that runs", "domain bootlab-changed-bootstrap runs as an earlier lab.yaml wanted it", strings.Replace(s.text(), "2048", "2304", 1)},
		{"disk", "the disk of bootstrap was made with 16 GiB, and lab.yaml says 17", strings.Replace(s.text(), "disk: 16", "disk: 17", 1)},
	}
	t.Run("another bootlab", func(t *testing.T) {
		// What it writes differs in the text, and asks for the same machine.
		for _, name := range []string{"bootlab-changed-bootstrap", "bootlab-changed-master-0"} {
			text := virsh(t, "", "dumpxml", "--inactive", name)
			older := regexp.MustCompile(`definition="sha256:[0-9a-f]+"`).ReplaceAllString(strings.Replace(text, "<on_crash>destroy", "<on_crash>restart", 1), `definition="sha256:00"`)
			if older == text {
				t.Fatalf("nothing to change in\n%s", text)
			}
			file := filepath.Join(t.TempDir(), "older.xml")
			if err := os.WriteFile(file, []byte(older), 0o600); err != nil {
				t.Fatal(err)
			}
			virsh(t, "", "define", file)
		}
		if a := works(t, again...); strings.Contains(a.out, "make ") || strings.Contains(a.out, "remove ") {
			t.Errorf("up did something:\n%s", a.out)
		}
	})
	before := made(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "lab.yaml"), []byte(c.lab), 0o644); err != nil {
				t.Fatal(err)
			}
			defer s.write(t, dir)
			hears(t, bootlab(t, again...), c.says, "bootlab vms down "+dir)
		})
	}
	t.Run("memory of one that does not run", func(t *testing.T) {
		defer s.write(t, dir)
		shape{name: "changed", extra: "  masters:\n    - {name: master-0, memory: 3072}\n    - {name: master-1}\n    - {name: master-2}\n"}.write(t, dir)
		works(t, again...)
		if xml := virsh(t, "", "dumpxml", "bootlab-changed-master-0"); !strings.Contains(xml, ">3145728</memory>") {
			t.Errorf("the machine has not the new memory:\n%s", xml)
		}
	})
	works(t, again...)
	t.Run("image", func(t *testing.T) {
		other := haltingDisk(t)
		if err := os.WriteFile(other, append(mustRead(t, image), make([]byte, 512)...), 0o644); err != nil {
			t.Fatal(err)
		}
		hears(t, bootlab(t, "vms", "up", dir, "--emulate", "--image", other), "stands on another base image", "bootlab vms down "+dir)
	})
	works(t, again...)
	t.Run("Ignition", func(t *testing.T) {
		writeIgnition(t, dir, "master", `{"ignition":{"version":"3.2.0"},"systemd":{}}`)
		defer writeIgnition(t, dir, "master", `{"ignition":{"version":"3.2.0"}}`)
		hears(t, bootlab(t, again...), "master-0 was made with another Ignition file", "bootlab vms down "+dir)
	})
	if after := made(t); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// hears asserts that a command failed and said why, in its findings or its
// message.
func hears(t *testing.T, a answer, words ...string) {
	t.Helper()
	if a.status != 1 {
		t.Errorf("status %d, want 1", a.status)
	}
	for _, word := range append(words, "error: ", "  hint: ") {
		if !strings.Contains(a.err, word) {
			t.Errorf("%q is missing in:\n%s%s", word, a.out, a.err)
		}
	}
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
