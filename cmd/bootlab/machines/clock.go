package machines

import (
	"fmt"
	"os"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/vms"
	"bootlab/vms/doctor"
	"bootlab/vms/provision"
)

// notMade is the state of a machine that is not there, as vms says it.
const notMade = "not made"

// IgnitionClock says when the first certificate ends that the bootstrap node got
// from its Ignition file; empty where there is no such machine or no such file.
func IgnitionClock(dir string, machines []provision.Status, now time.Time) string {
	for _, m := range machines {
		if m.Role != vms.Bootstrap || m.State == notMade {
			continue
		}
		text, err := os.ReadFile(ignitionFile(dir, vms.Bootstrap))
		if err != nil {
			return ""
		}
		name, end, err := doctor.FirstToEnd(text)
		switch {
		case err != nil:
			return ""
		case now.After(end):
			return fmt.Sprintf("certificates: %s has ended, %s ago; what was not handed over by then cannot be", name, cli.Left(now.Sub(end)))
		}
		return fmt.Sprintf("certificates: %s ends first, at %s UTC, in %s", name, end.UTC().Format("2006-01-02 15:04"), cli.Left(end.Sub(now)))
	}
	return ""
}
