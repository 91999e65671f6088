package scripts

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/podman"
)

// TestAClockThatWasSetBackIsNoReasonForNewKeys: to a clock that is behind, the
// certificates of an hour ago are of the future.
func TestAClockThatWasSetBackIsNoReasonForNewKeys(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	l.reissued(t, "kube-apiserver-lb-server", "kube-apiserver-lb-signer", func(c *x509.Certificate) {
		life := c.NotAfter.Sub(c.NotBefore)
		c.NotBefore = time.Now().Add(time.Hour)
		c.NotAfter = c.NotBefore.Add(life)
	})
	l.Env.Own(t, l.Dir)
	points, _ := verified(t, l, stage(t, "make-pki"))
	if len(Failed(points)) == 0 {
		t.Fatal("no check notices it")
	}
	for _, p := range points {
		if !p.OK && (!strings.Contains(p.Hint, "Compare the clock of this machine") || strings.Contains(p.Hint, "--force")) {
			t.Errorf("%s found %q and advises %q", p.ID, p.Found, p.Hint)
		}
	}
}
