package ignition

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2/types"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/templates"
)

// generated renders a shipped lab in a release.
func generated(t *testing.T, example, release string) map[string]generator.File {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, example, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = release
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	out, err := generator.Render(plan, templates.FS, generator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]generator.File{}
	for _, f := range out.Files {
		files[f.Path] = f
	}
	return files
}

const overlayFile = "ignition/overlay.ign"

// object is a piece of JSON.
type object = map[string]any

// units are the installer's, in 4.14 to main.
var units = map[string]string{
	"bootkube.service":    "[Unit]\nDescription=Bootstrap a Kubernetes cluster\nRequires=crio-configure.service\nWants=kubelet.service\nAfter=kubelet.service crio-configure.service\nConditionPathExists=!/opt/openshift/.bootkube.done\n\n[Service]\nWorkingDirectory=/opt/openshift\nExecStart=/usr/local/bin/bootkube.sh\n\nRestart=on-failure\nRestartSec=5s\n",
	"approve-csr.service": "[Unit]\nDescription=Approve CSRs during bootstrap phase\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/usr/local/bin/approve-csr.sh /opt/openshift/auth/kubeconfig-loopback\n\nRestart=on-failure\nRestartSec=5s\n\n[Install]\nWantedBy=multi-user.target\n",
	"progress.service":    "[Unit]\nDescription=Report the completion of the cluster bootstrap process\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/usr/local/bin/report-progress.sh /opt/openshift/auth/kubeconfig\n\nRestart=on-failure\nRestartSec=5s\n\n[Install]\nWantedBy=multi-user.target\n",
	"zincati.service":     "",
}

// bootstrap is a config like the installer's bootstrap.ign, of some 300 kB: keys
// and certificates, which no compression makes small, manifests and scripts.
func bootstrap(t *testing.T) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var files []any
	add := func(path string, mode int, data []byte) {
		files = append(files, object{"overwrite": true, "path": path, "user": object{"name": "root"}, "mode": mode,
			"contents": object{"source": "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(data), "verification": object{}}})
	}
	for i := range 70 { // certificates and keys: 1200 bytes of DER each, in PEM
		der := make([]byte, 1200)
		for j := range der {
			der[j] = byte(random.UintN(256))
		}
		add(fmt.Sprintf("/opt/openshift/tls/%d.crt", i), 0o600, []byte("-----BEGIN CERTIFICATE-----\n"+base64.StdEncoding.EncodeToString(der)+"\n-----END CERTIFICATE-----\n"))
	}
	node := generated(t, "compact", "4.21")
	for _, name := range []string{"release-info", "render-mco", "render-etcd", "verify-api", "start-bootstrap", "run-bootkube-until", "finish-bootstrap", "wait-for-masters", "lib/stage", "lib/host"} {
		add("/usr/local/bin/"+path.Base(name)+".sh", 0o555, node["node/"+name+".sh"].Data)
	}
	files = append(files, object{"path": "/etc/motd", "mode": 0o644, "append": []any{object{"source": "data:,This%20is%20the%20bootstrap%20node%0A"}}})
	var services []any
	for _, name := range []string{"approve-csr.service", "bootkube.service", "progress.service"} {
		services = append(services, object{"name": name, "contents": units[name], "enabled": name != "bootkube.service"})
	}
	services = append(services, object{"name": "zincati.service", "dropins": []any{object{"name": "okd-machine-os-disabled.conf", "contents": "[Unit]\nConditionPathExists=/enoent\n"}}})
	text, err := json.Marshal(object{
		"ignition": object{"version": "3.2.0"},
		"passwd":   object{"users": []any{object{"name": "core", "sshAuthorizedKeys": []string{"ssh-ed25519 AAAA mine", "ssh-ed25519 BBBB installer"}}}},
		"storage":  object{"files": files}, "systemd": object{"units": services},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < 250_000 || len(text) > 350_000 {
		t.Fatalf("a bootstrap.ign of %d bytes is not like a real one", len(text))
	}
	return text
}

// parent does what make-ignition.sh does with jq.
func parent(t *testing.T, configs ...[]byte) []byte {
	t.Helper()
	var merge []any
	for _, c := range configs {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(c)
		w.Close()
		merge = append(merge, object{"compression": "gzip", "source": "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes()),
			"verification": object{"hash": fmt.Sprintf("sha512-%x", sha512.Sum512(c))}})
	}
	text, err := json.Marshal(object{"ignition": object{"version": "3.2.0", "config": object{"merge": merge}}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t *testing.T, text []byte) types.Config {
	t.Helper()
	c, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// file finds a file of a config.
func file(t *testing.T, c types.Config, path string) types.File {
	t.Helper()
	at := slices.IndexFunc(c.Storage.Files, func(f types.File) bool { return f.Path == path })
	if at < 0 {
		t.Fatalf("%s is not there", path)
	}
	return c.Storage.Files[at]
}

func TestIgnitionTakesTheOverlayOfEveryLabAndRelease(t *testing.T) {
	for _, example := range []string{"bootstrap-only", "compact", "ha"} {
		for _, release := range labs.Builtin().ReleaseIDs() {
			files := generated(t, example, release)
			c := read(t, files[overlayFile].Data)
			seen := 0
			for name, f := range files {
				script, node := strings.CutPrefix(name, "node/")
				if !node {
					continue
				}
				seen++
				at := file(t, c, "/opt/bootlab/"+script)
				data, err := Fetch(at.Contents)
				if err != nil || !bytes.Equal(data, f.Data) || *at.Mode != int(f.Mode) {
					t.Errorf("%s, %s: %s arrives otherwise, %v", example, release, script, err)
				}
			}
			if seen < 20 || len(c.Storage.Files) != seen+1 {
				t.Errorf("%s, %s: %d scripts, %d files", example, release, seen, len(c.Storage.Files))
			}
		}
	}
}

func TestTheBootstrapNodeGetsBothConfigsMerged(t *testing.T) {
	installers := bootstrap(t)
	c := read(t, parent(t, installers, generated(t, "compact", "4.21")[overlayFile].Data))
	before := read(t, installers)
	for _, unit := range c.Systemd.Units {
		its := units[unit.Name]
		if its != "" && (unit.Contents == nil || *unit.Contents != its) {
			t.Errorf("%s lost its contents", unit.Name)
		}
		if held := its != ""; len(unit.Dropins) != 1 || held != (unit.Dropins[0].Name == "10-bootlab.conf") {
			t.Errorf("%s has the drop-ins %+v", unit.Name, unit.Dropins)
		}
		if enabled := unit.Enabled != nil && *unit.Enabled; enabled != slices.Contains([]string{"approve-csr.service", "progress.service"}, unit.Name) {
			t.Errorf("%s: enabled is %v", unit.Name, enabled)
		}
	}
	if len(c.Systemd.Units) != len(units) {
		t.Errorf("%d units", len(c.Systemd.Units))
	}
	if len(c.Passwd.Users) != 1 || len(c.Passwd.Users[0].SSHAuthorizedKeys) != 2 {
		t.Errorf("users %+v", c.Passwd.Users)
	}
	for _, f := range before.Storage.Files {
		after := file(t, c, f.Path)
		if *after.Mode != *f.Mode || (f.Contents.Source != nil && *after.Contents.Source != *f.Contents.Source) || len(after.Append) != len(f.Append) {
			t.Errorf("%s is another file", f.Path)
		}
	}
	file(t, c, "/opt/bootlab/render-etcd.sh")
	file(t, c, "/etc/motd.d/50-bootlab")
}

// TestKeysOfBothConfigsAreMerged: a lab may add a key of its own.
func TestKeysOfBothConfigsAreMerged(t *testing.T) {
	more := []byte(`{"ignition":{"version":"3.2.0"},"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 CCCC lab"]}]}}`)
	c := read(t, parent(t, bootstrap(t), more))
	if keys := c.Passwd.Users[0].SSHAuthorizedKeys; len(keys) != 3 {
		t.Errorf("keys %v", keys)
	}
}

// The machine reads the config through fw_cfg, which takes the longer the
// larger it is, and with the square of it.
func TestTheConfigsStaySmall(t *testing.T) {
	for _, release := range []string{"4.14", "main"} {
		overlay := generated(t, "ha", release)[overlayFile].Data
		all := len(parent(t, bootstrap(t), overlay))
		share := all - len(parent(t, bootstrap(t)))
		t.Logf("%s: %d bytes, %d of them the overlay's", release, all, share)
		if all > 400_000 {
			t.Errorf("%s: the bootstrap node's config has %d bytes", release, all)
		}
		if share > 130_000 {
			t.Errorf("%s: the overlay's share are %d bytes", release, share)
		}
	}
}

func TestADamagedConfigIsRefused(t *testing.T) {
	good := string(generated(t, "compact", "4.21")[overlayFile].Data)
	for what, edit := range map[string][2]string{
		"another version": {`"version": "3.2.0"`, `"version": "3.9.0"`},
		"an unknown key":  {`"directories"`, `"directoires"`},
		"a relative path": {`"/opt/bootlab/render-etcd.sh"`, `"opt/render-etcd.sh"`},
	} {
		text := strings.Replace(good, edit[0], edit[1], 1)
		if _, err := Read([]byte(text)); err == nil || text == good {
			t.Errorf("%s passes", what)
		}
	}
	c := read(t, []byte(good))
	f := c.Storage.Files[0].Contents
	other := strings.Replace(*f.Source, "bash", "dash", 1)
	f.Source = &other
	if _, err := Fetch(f); err == nil {
		t.Error("other bytes pass")
	}
}
