package serial

import (
	"bytes"
	"strings"

	"bootlab/vms"
)

// What Ignition and the system print on the console of a first boot. Every stage
// of Ignition ends with "Ignition finished successfully", so only the last one
// says that all is done.
// Source: coreos/ignition v2.24.0 internal/main.go, internal/exec/engine.go;
// openshift-docs, "Ignition: ran on" on the console of an RHCOS machine;
// coreos/fedora-coreos-config 35coreos-emergency-shell; dracut's and systemd's
// emergency shells.
var (
	firstBoot      = []byte("ignition.firstboot") // on the kernel's command line
	ignitionDone   = [][]byte{[]byte("files passed"), []byte("Ignition: ran on")}
	ignitionFailed = [][]byte{[]byte("Ignition failed"), []byte("Ignition has failed"), []byte("Entering emergency mode"), []byte("You are in emergency mode")}
)

// Ignition says of a serial log how Ignition stands, and why.
func Ignition(log []byte) (state, why string) {
	// The log outlives the machine: another one of that name may have written
	// before.
	if at := lastOf(log, firstBoot); at > 0 {
		log = log[at:]
	}
	failed, done := lastOf(log, ignitionFailed...), lastOf(log, ignitionDone...)
	if lines := whyIgnitionFailed(log); len(lines) > 0 {
		why = lines[len(lines)-1]
	}
	switch {
	case done >= 0 && failed > done:
		return "done", "the system is in emergency mode"
	case done >= 0:
		return "done", ""
	case failed >= 0:
		return "failed", why
	case bytes.Contains(log, []byte("gnition")):
		return "under way", why
	}
	return "-", ""
}

// lastOf is where the last of these texts begins; -1 if there is none.
func lastOf(log []byte, texts ...[]byte) int {
	at := -1
	for _, text := range texts {
		at = max(at, bytes.LastIndex(log, text))
	}
	return at
}

// needsNetwork is no failure: Ignition tries without network first.
const needsNetwork = "resource requires networking"

// whyIgnitionFailed are the lines of a serial log that say it, newest last.
func whyIgnitionFailed(log []byte) []string {
	var out []string
	for _, line := range strings.Split(string(log), "\n") {
		line = strings.TrimSpace(vms.PlainText(line))
		if strings.Contains(line, needsNetwork) {
			continue
		}
		if strings.Contains(line, "CRITICAL") || strings.Contains(line, "failed to fetch") || strings.Contains(line, "ignition[") && strings.Contains(line, "rror") {
			out = append(out, line)
		}
	}
	if len(out) > 10 {
		out = out[len(out)-10:]
	}
	return out
}
