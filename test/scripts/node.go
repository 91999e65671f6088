package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
)

// nodeDirs are the directories of the bootstrap node that scripts write to or
// read from, each shown to them in place of the host's own.
var nodeDirs = []string{"etc", "opt", "root", "var/log"}

// intoNode starts a command in a mount namespace where those directories are
// the lab's.
const intoNode = `set -e
mount --make-rprivate /
for dir in etc opt root var/log; do mount --bind "$1/${dir}" "/${dir}"; done
shift
exec "$@"`

// prepareNode makes the directories: /etc as it is here, the others empty but
// for what a bootstrap node has.
func (l *Lab) prepareNode() error {
	for _, dir := range append(nodeDirs[1:], "opt/openshift", "root/.docker") {
		if err := os.MkdirAll(filepath.Join(l.Host(), dir), 0o755); err != nil {
			return err
		}
	}
	if out, err := exec.Command("cp", "--archive", "/etc", l.Host()).CombinedOutput(); err != nil {
		return &exec.Error{Name: "cp: " + string(out), Err: err}
	}
	if err := os.RemoveAll(filepath.Join(l.Host(), "etc", "kubernetes")); err != nil {
		return err
	}
	login := filepath.Join(l.Host(), "root", ".docker", "config.json")
	return os.WriteFile(login, []byte(`{"auths":{"fake":{"auth":"YTpi"}}}`+"\n"), 0o600)
}

// bootstrapAssets are what a bootstrap.ign brings.
var bootstrapAssets = []string{"auth", "manifests", "openshift", "tls", "original_cvo_overrides.patch"}

// takeAssets copies files and directories out of another lab's assets.
func (l *Lab) takeAssets(from *Lab, names ...string) error {
	if err := os.MkdirAll(l.Assets(), 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := os.Lstat(from.Asset(name)); err != nil {
			return err
		}
		if out, err := exec.Command("cp", "--archive", from.Asset(name), l.Assets()).CombinedOutput(); err != nil {
			return &exec.Error{Name: "cp: " + string(out), Err: err}
		}
	}
	return l.Env.OwnTree(l.Dir)
}
