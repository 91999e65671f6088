package balancer

import (
	"os/exec"
	"path/filepath"
	"testing"

	"bootlab/labs/labtest"
	"bootlab/vms"
)

// The path of a lab may hold anything that HAProxy would take for its own.
func TestTheBalancersSocketMayHaveAnyPath(t *testing.T) {
	program, err := Program()
	if err != nil {
		t.Skip(err)
	}
	for _, dir := range []string{"plain", "with space", "it's", `a"b`, "a$HOME", "a#b", `back\slash`} {
		file := labtest.File(t, []byte(vms.Balancer(labtest.Shipped(t, "compact"), filepath.Join("/tmp", dir, "haproxy.sock"))))
		if out, err := exec.Command(program, "-c", "-f", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", dir, err, out)
		}
	}
}
