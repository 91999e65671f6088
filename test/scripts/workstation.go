package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
)

// intoWorkstation starts a command in a mount namespace whose /etc asks the
// lab's name server.
const intoWorkstation = `set -e
mount --make-rprivate /
mount --bind "$1/etc" /etc
shift
exec "$@"`

// workstation gives the workstation beside a bootstrap node that is in a control
// plane, with what get-tools.sh and make-ignition.sh leave there: tools/oc, here
// the stand-in, and the administrator's kubeconfig through the name api.
func (l *Lab) workstation(tb testing.TB) *Lab {
	tb.Helper()
	if l.ControlPlane == nil {
		tb.Fatal("the node is in no control plane")
	}
	w := &Lab{Dir: l.Dir, Env: l.Env, Release: l.Release, Place: labs.Workstation, ControlPlane: l.ControlPlane}
	kubeconfig, err := os.ReadFile(l.Asset("auth/kubeconfig"))
	if err != nil {
		tb.Fatal(err)
	}
	w.put(tb, "install/auth/kubeconfig", strings.ReplaceAll(string(kubeconfig), "://api-int.", "://api."))
	w.put(tb, "install/auth/kubeadmin-password", "aaaaa-bbbbb-ccccc-ddddd")
	w.put(tb, "tools/.keep", "")
	if err := os.Symlink(filepath.Join(l.ControlPlane.Bin, "oc"), w.Asset("tools/oc")); err != nil {
		tb.Fatal(err)
	}
	return w
}

// put writes an asset that no one else may read.
func (l *Lab) put(tb testing.TB, asset, text string) {
	tb.Helper()
	file := l.Asset(asset)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// inRelease generates the lab's scripts for another release; its keys stay.
func (l *Lab) inRelease(tb testing.TB, id string) *Lab {
	tb.Helper()
	file := filepath.Join(l.Dir, "lab.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	release := *l.Release
	release.ID = id
	// A node tells its scripts of which release it is.
	if version := l.Asset("release-info/version"); l.Place == labs.OnNode {
		if err := os.WriteFile(version, []byte(id+".0\n"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	text, err := withRelease(string(data), &release)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	if _, err := Bootlab("generate", l.Dir); err != nil {
		tb.Fatal(err)
	}
	return l
}
