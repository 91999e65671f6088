package serial

import (
	"strings"
	"testing"
)

// Lines as they came out of the serial ports of machines.
const (
	firstBootLine = "[    0.000000] Command line: BOOT_IMAGE=vmlinuz root=LABEL=root ignition.firstboot=1 ignition.platform.id=qemu\r\n"
	fetchedLine   = "[   49.986834] ignition[252]: fetch-offline: fetch-offline passed\r\n[   50.214016] ignition[252]: Ignition finished successfully\r\n"
	refusedLine   = "[   33.486953] ignition[309]: GET error: Get \"https://api-int.guests.example.test:9443/config/master\": x509: certificate signed by unknown authority\r\n"
	attemptLine   = "[   33.694913] ignition[309]: GET https://api-int.guests.example.test:9443/config/master: attempt #2\r\n"
	badHashLine   = "[   31.232103] ignition[270]: failed to fetch config: hash verification failed (calculated 4cf5 but expected 2b41)\r\n"
	failedLine    = "[   31.301992] ignition[270]: Ignition failed: hash verification failed (calculated 4cf5 but expected 2b41)\r\n"
	offlineLine   = "[   31.153101] ignition[262]: failed to fetch config: resource requires networking\r\n"
	filesLine     = "[   63.909388] ignition[377]: INFO     : files: files passed\r\n[   63.913605] ignition[377]: INFO     : Ignition finished successfully\r\n"
	emergencyLine = "\x1b[0mEntering emergency mode. Exit the shell to continue.\r\n"
	coreOSFailed  = "------\r\nIgnition has failed. Please ensure your config is valid. Note that only\r\nIgnition spec v3.0.0+ configs are accepted.\r\n"
	coreOSRan     = "Ignition: ran on 2022/03/14 14:48:33 UTC (this boot)\r\n"
)

func TestIgnitionIsReadFromTheSerialLog(t *testing.T) {
	for name, c := range map[string]struct{ log, state, why string }{
		"nothing yet":            {"", "-", ""},
		"just begun":             {firstBootLine, "under way", ""},
		"a stage is done":        {firstBootLine + fetchedLine, "under way", ""},
		"without network":        {firstBootLine + offlineLine, "under way", ""},
		"no one trusts":          {firstBootLine + fetchedLine + refusedLine + attemptLine, "under way", "certificate signed by unknown authority"},
		"all stages":             {firstBootLine + fetchedLine + filesLine, "done", ""},
		"all after a while":      {firstBootLine + refusedLine + filesLine, "done", ""},
		"CoreOS says so":         {firstBootLine + coreOSRan, "done", ""},
		"failed":                 {firstBootLine + badHashLine + failedLine + emergencyLine, "failed", "hash verification failed"},
		"CoreOS says it failed":  {firstBootLine + coreOSFailed, "failed", ""},
		"emergency later":        {firstBootLine + filesLine + emergencyLine, "done", "emergency mode"},
		"of a machine before":    {firstBootLine + filesLine + firstBootLine + fetchedLine, "under way", ""},
		"a failure before":       {firstBootLine + failedLine + firstBootLine + filesLine, "done", ""},
		"something else failed":  {"ordinary text\r\n", "-", ""},
		"after a reboot as well": {firstBootLine + filesLine + "[    0.000000] Command line: root=LABEL=root\r\n", "done", ""},
	} {
		state, why := Ignition([]byte(c.log))
		if state != c.state || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %q, %q; wanted %q, %q", name, state, why, c.state, c.why)
		}
	}
}
