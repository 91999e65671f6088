package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/ignition"
	"bootlab/test/podman"
)

// bootkubeHead is what the stand-in of bootkube.sh begins with. It records as
// bootstrap-service-record.sh does: two service starts, and a trap at the end
// which calls a stage that was cut off by the status of the command before.
const bootkubeHead = `#!/usr/bin/env bash
set -euoE pipefail
export PATH=%[1]s
RECORDS=/var/log/openshift/bootkube.json STAGE_NAME=''
entry() {
  mkdir --parents "${RECORDS%%/*}"
  { cat "${RECORDS}" 2> /dev/null || echo '[]'; } | jq --arg timestamp "$(date +%%Y-%%m-%%dT%%H:%%M:%%SZ)" --arg stage "${STAGE_NAME}" --arg phase "$1" --arg result "${2:-}" \
    '. + [{$timestamp, $stage, $phase, $result} | with_entries(select(.value != ""))]' > "${RECORDS}.tmp" &&
    mv "${RECORDS}.tmp" "${RECORDS}"
}
begin() { STAGE_NAME=$1; entry 'stage start'; }
end() { entry 'stage end' success; STAGE_NAME=''; }
at_exit() {
  local result=success
  [ "$1" -eq 0 ] || result=failure
  [ -z "${STAGE_NAME}" ] || { entry 'stage end' "${result}"; STAGE_NAME=''; }
  entry 'service end' "${result}"
}
trap 'at_exit $?' EXIT
entry 'service start'
entry 'service start'
mkdir --parents /etc/kubernetes/manifests /etc/kubernetes/bootstrap-configs /etc/kubernetes/bootstrap-manifests bootstrap-manifests manifests
`

// bootkube is a stand-in for bootkube.sh of the lab's release: its stages up to
// the wait for etcd, with its markers, made from stage data and not from our
// scripts. It waits for the file /opt/stand-in/etcd-is-healthy, and is done.
func (l *Lab) bootkube(tb testing.TB) string {
	tb.Helper()
	plan := planOf(tb, l.Release.ID, usualLab)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	fmt.Fprintf(&b, bootkubeHead, l.Env.Bin+":"+podman.SystemPath)
	line("RELEASE_IMAGE_DIGEST=%s\nVERSION=%s\nKUBERNETES_VERSION=%s", l.Release.Image, l.Release.Version, l.Release.Kubernetes)
	line("ETCD_ENDPOINTS=https://localhost:2379\nCLUSTER_PROFILE_ANNOTATION=self-managed-high-availability")
	for _, v := range plan.Bootkube.Images {
		line("%s=%s", v.Variable, l.Release.Images[v.Name])
	}
	for _, s := range plan.Stages {
		switch {
		case s.ID == "wait-for-etcd":
			line("begin %s\nuntil [ -e /opt/stand-in/etcd-is-healthy ]; do sleep 0.1; done\nend", s.Bootkube)
			line("touch /opt/openshift/.bootkube.done\necho 'bootkube.service complete'")
			return b.String()
		case s.Bootkube != "" && s.Kind != "check":
			line("if [ ! -f %s ]; then\nbegin %s", s.Markers[0].File, s.Bootkube)
			bootkubeStage(plan, s, line)
			line("touch %s\nend\nfi", s.Markers[0].File)
		}
	}
	tb.Fatal("the release has no wait for etcd")
	return ""
}

// bootkubeStage writes what bootkube.sh does in a stage.
func bootkubeStage(plan *labs.Plan, s *labs.Stage, line func(string, ...any)) {
	if s.RemoveFirst != "" {
		line("rm --recursive --force %s", s.RemoveFirst)
	}
	if s.ID == "render-mco" {
		line("podman run --quiet --rm --net=none --entrypoint=cat ${RELEASE_IMAGE_DIGEST} /release-manifests/image-references > image-references")
	}
	if s.Run != nil {
		image := "${RELEASE_IMAGE_DIGEST}"
		if s.Run.Image != "release" {
			image = "${" + plan.ImageVariable(s.Run.Image) + "}"
		}
		words := []string{"podman run"}
		for _, o := range plan.Bootkube.Podman {
			words = append(words, o.Option)
		}
		words = append(words, "--name "+s.Run.Name)
		for _, o := range s.Run.Options {
			words = append(words, o.Option)
		}
		line("flags=()")
		var flags []string
		for _, f := range s.Run.Flags {
			if f.When.File != "" {
				line("[ ! -f %s ] || flags+=(%s)", f.When.File, f)
			} else {
				flags = append(flags, f.String())
			}
		}
		volume := s.Run.Volume
		if volume == "" {
			volume = plan.Bootkube.AssetVolume
		}
		words = append(append(words, `--volume "`+volume+`"`, image, s.Run.Command), flags...)
		line(`%s "${flags[@]}"`, strings.Join(words, " "))
	}
	if len(s.Mkdir) > 0 {
		line("mkdir --parents %s", strings.Join(s.Mkdir, " "))
	}
	for _, c := range s.Copies {
		command := "cp"
		if c.Recursive {
			command += " --recursive"
		}
		switch {
		case c.When.File != "":
			line("[ ! -f %s ] || %s %s %s", c.When.File, command, c.From, c.To)
		case c.When.Dir != "":
			line("[ ! -d %s ] || %s %s %s", c.When.Dir, command, c.From, c.To)
		case c.When.NotEmpty != "":
			line(`[ -z "$(ls -A %s 2> /dev/null)" ] || %s %s %s`, c.When.NotEmpty, command, c.From, c.To)
		default:
			line("%s %s %s", command, c.From, c.To)
		}
	}
}

// services puts the three services of the node in place: the units as the
// installer writes them, but for the program of bootkube.service, and the
// drop-ins of the generated overlay.
func (l *Lab) services(tb testing.TB, bootkube string) {
	tb.Helper()
	overlay, err := os.ReadFile(filepath.Join(l.Dir, "out", "ignition", "overlay.ign"))
	if err != nil {
		tb.Fatal(err)
	}
	config, err := ignition.Read(overlay)
	if err != nil {
		tb.Fatal(err)
	}
	put := func(path, text string, mode os.FileMode) {
		file := l.Asset(path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			tb.Fatal(err)
		}
	}
	for _, u := range config.Systemd.Units {
		put("/etc/systemd/system/"+u.Name+".d/"+u.Dropins[0].Name, *u.Dropins[0].Contents, 0o644)
	}
	for _, dir := range config.Storage.Directories {
		if err := os.MkdirAll(l.Asset(dir.Path), os.FileMode(*dir.Mode)); err != nil {
			tb.Fatal(err)
		}
	}
	put("/opt/stand-in/bootkube.sh", bootkube, 0o755)
	put("/opt/stand-in/beside.sh", "#!/usr/bin/env bash\nuntil [ -e /opt/openshift/.bootkube.done ]; do sleep 0.1; done\n", 0o755)
	put("/etc/systemd/system/bootkube.service", "[Unit]\nWants=kubelet.service\nConditionPathExists=!/opt/openshift/.bootkube.done\n"+
		"\n[Service]\nWorkingDirectory=/opt/openshift\nExecStart=/opt/stand-in/bootkube.sh\n\nRestart=on-failure\nRestartSec=5s\n", 0o644)
	for _, name := range []string{"approve-csr", "progress"} {
		put("/etc/systemd/system/"+name+".service", "[Unit]\nWants=bootkube.service\nAfter=bootkube.service\n\n[Service]\nExecStart=/opt/stand-in/beside.sh\n\nRestart=on-failure\n", 0o644)
	}
	tb.Cleanup(func() {
		for _, unit := range []string{"bootkube", "approve-csr", "progress"} {
			l.Exec(tb, "systemctl", "stop", unit+".service")
		}
	})
}
