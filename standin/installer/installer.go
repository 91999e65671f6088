// Package installer stands in for openshift-install. It is no installer: it
// takes the commands that scripts of the workstation call, refuses what the real
// one refuses, in its words and with its exit status, takes away what the real
// one takes away, and writes files of the same names, modes and forms. What only
// a stand-in refuses begins with "stand-in:".
//
// Source: openshift/installer cmd/openshift-install, pkg/asset/store,
// pkg/asset/installconfig, pkg/asset/ignition/bootstrap, main.
package installer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bootlab/standin/role"
)

// faults are ways in which a real run goes wrong, or other results than scripts
// expect.
var faults = []string{
	"",
	"killed",       // it ends in the middle of writing
	"other-ca",     // worker.ign names another root CA
	"newer-spec",   // configs are of version 3.4.0
	"ignore-image", // it installs the built-in release image all the same
	"expired",      // the day of the certificates is over
	"large",        // bootstrap.ign is too large
}

// Main is the program.
func Main() {
	b, err := readBuild()
	if err != nil {
		refuse("%v", err)
	}
	if !slices.Contains(faults, b.Fault) {
		refuse("no fault %q", b.Fault)
	}
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "version":
		fmt.Printf("%s %s\nbuilt from commit 0000000000000000000000000000000000000000\nrelease image %s\nrelease architecture amd64\n",
			os.Args[0], b.Version, b.Image)
	case len(args) == 4 && args[0] == "create" && args[1] == "ignition-configs" && args[2] == "--dir":
		createIgnition(b, args[3])
	default:
		refuse("called with %q", args)
	}
}

func readBuild() (b role.Installer, err error) {
	file, err := os.Executable()
	if err != nil {
		return b, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return b, err
	}
	at := bytes.LastIndex(data, []byte(role.InstallerMark))
	if at < 0 {
		return b, fmt.Errorf("nothing is said of this build")
	}
	return b, json.Unmarshal(data[at+len(role.InstallerMark):], &b)
}

// refuse ends the program for a reason of the stand-in's own.
func refuse(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "stand-in: "+format+"\n", args...)
	os.Exit(1)
}

// directory is --dir, with the log in it.
type directory struct {
	path string
	log  *os.File
}

// say is a line of logrus, on the terminal and in the log.
func (d *directory) say(level, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(os.Stderr, "level=%s msg=%s\n", level, text)
	fmt.Fprintf(d.log, "time=\"2026-01-01T00:00:00Z\" level=%s msg=%q\n", level, text)
}

// fail ends as the real one does where install-config.yaml is wrong.
func (d *directory) fail(format string, args ...any) {
	d.say("error", "failed to fetch Master Machines: failed to load asset \"Install Config\": failed to create install config: "+format, args...)
	os.Exit(3)
}

// write writes a file as the real one does, which leaves it to its user's group
// to read.
func (d *directory) write(name string, data []byte) {
	path := filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		refuse("%v", err)
	}
	if err := os.WriteFile(path, data, 0o640); err != nil {
		refuse("%v", err)
	}
	// Whatever the umask is: scripts must not count on it.
	if os.Chmod(path, 0o640) != nil || os.Chmod(filepath.Dir(path), 0o750) != nil {
		refuse("modes of %s", name)
	}
}

func createIgnition(b role.Installer, path string) {
	log, err := os.OpenFile(filepath.Join(path, ".openshift_install.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		refuse("%v", err)
	}
	d := &directory{path, log}
	if _, err := os.Stat(filepath.Join(path, ".openshift_install_state.json")); err == nil {
		refuse("%s holds the state of an earlier run, whose certificates would be used again", path)
	}
	image := b.Image
	if override := os.Getenv("OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE"); override != "" {
		d.say("warning", "Found override for release image (%s). Please be warned, this is not advised", override)
		if b.Fault != "ignore-image" {
			image = override
		}
	}
	c := d.readConfig(b)
	d.say("info", "Consuming Install Config from target directory")
	if err := os.Remove(filepath.Join(path, "install-config.yaml")); err != nil {
		refuse("%v", err)
	}
	made, err := makeAll(b, c, image)
	if err != nil {
		refuse("%v", err)
	}
	for i, f := range made {
		if b.Fault == "killed" && i == 2 {
			d.write(f.name, f.data[:len(f.data)/2])
			fmt.Fprintln(os.Stderr, "killed")
			os.Exit(137)
		}
		d.write(f.name, f.data)
	}
	d.say("info", "Ignition-Configs created in: %s and %s/auth", path, path)
}
