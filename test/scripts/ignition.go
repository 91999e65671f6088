package scripts

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
)

// unpackID is the stage that begins with a file of openshift-install's.
const unpackID = "unpack-bootstrap-ignition"

// needsIgnition says whether a stage begins with a bootstrap.ign. It takes the
// place of other stages, so it runs in no good lab but in one of its own.
func needsIgnition(s *labs.Stage) bool { return s.ID == unpackID }

// unpackStage is the stage in the usual lab.
func unpackStage(tb testing.TB) *labs.Stage {
	tb.Helper()
	s := planOf(tb, release, usualLab).Stage(unpackID)
	if s == nil || !HasTemplate(s) {
		tb.Fatalf("%s has no script", unpackID)
	}
	return s
}

var unpacked struct {
	once sync.Once
	lab  *Lab
	err  error
}

// Unpacked gives a lab whose assets came out of a bootstrap.ign, which lies
// beside lab.yaml. It belongs to all tests: clone it to change anything.
func Unpacked(tb testing.TB) *Lab {
	tb.Helper()
	good := Good(tb, podman.Ordinary(tb), labs.Local)
	unpacked.once.Do(func() {
		l := good.copyInto(tb, podman.SharedDir(tb, good.Env.Account), good.Env)
		if unpacked.err = l.writeIgnition(l.ignition(tb)); unpacked.err != nil {
			return
		}
		if r := l.Run(tb, unpackID+".sh", "--force"); r.Status != 0 {
			unpacked.err = fmt.Errorf("status %d:\n%s", r.Status, r.All)
			return
		}
		unpacked.lab = l
	})
	if unpacked.lab == nil {
		tb.Fatal(unpacked.err)
	}
	return unpacked.lab
}

// object is a piece of JSON.
type object = map[string]any

// ownFiles are among the assets of a local run and not in a bootstrap.ign.
var ownFiles = []string{
	"auth/kubeadmin-password", "tls/root-ca.key", "tls/admin-kubeconfig-signer.crt", "tls/admin-kubeconfig-signer.key",
	"tls/admin-kubeconfig-client.crt", "tls/admin-kubeconfig-client.key",
	"tls/kubelet-bootstrap-kubeconfig-signer.crt", "tls/kubelet-bootstrap-kubeconfig-signer.key",
}

// bootstrapFiles are the assets that openshift-install would put into a
// bootstrap.ign, by their path below the asset directory: not what renders have
// added since.
func (l *Lab) bootstrapFiles(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	plan := planOf(tb, release, usualLab)
	var written []labs.File
	for _, id := range []string{"make-pki", "make-kubeconfigs", "make-manifests"} {
		written = append(written, plan.Stage(id).Outputs...)
	}
	for _, top := range bootstrapAssets {
		err := filepath.WalkDir(l.Asset(top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(l.Assets(), path)
			if err != nil || slices.Contains(ownFiles, name) {
				return err
			}
			if !slices.ContainsFunc(written, func(f labs.File) bool { return !strings.HasSuffix(f.Path, "/") && f.Covers(name) }) {
				return nil
			}
			files[name], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return files
}

// ignition makes a config out of the lab's assets, in all the forms that
// Ignition reads: each file is written in another one than its neighbours.
func (l *Lab) ignition(tb testing.TB) object {
	tb.Helper()
	var files []any
	for i, name := range sortedKeys(l.bootstrapFiles(tb)) {
		data := l.bootstrapFiles(tb)[name]
		file := object{"path": "/opt/openshift/" + name, "user": object{"name": "root"}, "overwrite": true}
		if file["mode"] = 0o644; strings.HasPrefix(name, "auth/") || strings.HasPrefix(name, "tls/") {
			file["mode"] = 0o600
		} else if i%2 == 0 {
			delete(file, "mode") // is 0644
		}
		inForm(file, i, data)
		files = append(files, file)
	}
	// What the node has besides, and what must not matter here.
	for _, path := range []string{"/usr/local/bin/bootkube.sh", "/etc/motd", "/opt/openshift-not", "/root/.docker/config.json"} {
		files = append(files, object{"path": path, "mode": 0o555, "append": []any{object{"source": "data:,not%20here"}}})
	}
	files = append(files, object{"path": "/etc/elsewhere", "contents": object{"source": "https://127.0.0.1:1/x"}})
	return object{
		"ignition": object{"version": "3.2.0"},
		"passwd":   object{"users": []any{object{"name": "core"}}},
		"storage":  object{"files": files, "links": []any{object{"path": "/etc/a-link", "target": "/etc/motd"}}},
		"systemd":  object{"units": []any{object{"name": "bootkube.service", "contents": "[Service]\n"}}},
	}
}

// inForm puts data into a file of a config, in one of the forms.
func inForm(file object, form int, data []byte) {
	middle := len(data) / 2
	base64Of := base64.StdEncoding.EncodeToString
	switch form % 9 {
	case 0: // the installer's own
		file["contents"] = object{"source": "data:text/plain;charset=utf-8;base64," + base64Of(data), "verification": object{}}
	case 1:
		file["contents"] = object{"source": "data:," + percent(data)}
	case 2:
		file["contents"] = object{"source": "data:;base64," + base64Of(data), "compression": ""}
	case 3:
		file["contents"] = object{"source": "data:application/x-pem-file;name=a.pem;BASE64," + base64Of(data)}
	case 4:
		file["contents"] = object{"source": "data:;base64," + base64Of(zipped(data)), "compression": "gzip"}
	case 5:
		hash := fmt.Sprintf("sha512-%x", sha512.Sum512(data))
		file["contents"] = object{"source": "data:," + percent(zipped(data)), "compression": "gzip", "verification": object{"hash": hash}}
	case 6:
		file["append"] = []any{
			object{"source": "data:;base64," + base64Of(data[:middle])}, object{"source": nil},
			object{"source": "data:text/plain," + percent(data[middle:])},
		}
	case 7:
		hash := fmt.Sprintf("sha256-%X", sha256.Sum256(data[:middle]))
		file["contents"] = object{"source": "data:;base64," + base64Of(data[:middle]), "verification": object{"hash": hash}}
		file["append"] = []any{object{"source": "data:;base64," + base64Of(zipped(data[middle:])), "compression": "gzip"}}
	case 8:
		file["contents"] = nil
		file["append"] = []any{object{"source": "data:text/plain;charset=utf-8;base64," + base64Of(data)}}
	}
}

// percent writes bytes as a data URL without base64 does: %0A for what is
// neither letter nor digit nor one of a few marks.
func percent(data []byte) string {
	var b strings.Builder
	for _, c := range data {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(`-_.!~*'()\/:,=+`, rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func sortedKeys(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ignitionFile is the file that the stage takes unless it is told another.
func (l *Lab) ignitionFile() string { return filepath.Join(l.Dir, "bootstrap.ign") }

// writeIgnition puts a config there.
func (l *Lab) writeIgnition(config any) error {
	data, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return l.putIgnition(data)
}

func (l *Lab) putIgnition(data []byte) error {
	if err := os.WriteFile(l.ignitionFile(), data, 0o600); err != nil {
		return err
	}
	return l.Env.OwnTree(l.Dir)
}
