package diagnose

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"os"
)

// waiting turns the healthy lab back to when cluster-bootstrap waits for masters:
// everything of the bootstrap node is running.
func waiting(more ...change) []change {
	back := func(t *testing.T, e evidence) {
		t.Helper()
		names, err := filepath.Glob("testdata/waiting/*")
		if err != nil || len(names) == 0 {
			t.Fatal("no evidence of a lab that waits", err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(name)
			e[strings.TrimSuffix(base, filepath.Ext(base))] = string(text)
		}
	}
	return slices.Concat([]change{back}, more)
}

// units is what the kubelet's health says when units are in those states.
func units(crio, kubelet string) change {
	return says("kubelet-health", "crio.service "+crio+"\nkubelet.service "+kubelet+
		"\nhealthz curl: (7) Failed to connect to 127.0.0.1 port 10248 after 0 ms: Couldn't connect to server\n")
}

// kubeletTries is a journal in which the kubelet was started twice, and ended
// each time with that line.
func kubeletTries(line string) change {
	const at = "2026-01-02T05:59:40+0000 bootstrap "
	const try = at + "systemd[1]: Starting kubelet.service - Kubernetes Kubelet...\n"
	const end = at + "systemd[1]: kubelet.service: Main process exited, code=exited, status=1/FAILURE\n" +
		at + "systemd[1]: kubelet.service: Failed with result 'exit-code'.\n"
	return says("kubelet-journal", strings.Repeat(try+at+"kubelet.sh[2001]: "+line+"\n"+end, 2))
}

// The words are those of kubernetes v1.34.2 and cri-client v0.34.2, and CRI-O's
// of openshift/os issue 1089.
func init() {
	restarts := units("active", "activating")
	cases["kubelet"] = map[string]recorded{
		"crio-not-configured": {changes: waiting(units("inactive", "activating"), says("units",
			"# failed\n# states\nId=crio-configure.service\nLoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=125\nNRestarts=4\n\nId=crio.service\nActiveState=inactive\nSubState=dead\nResult=success\n"))},
		"crio-stops": {changes: waiting(units("activating", "activating"), adds("crio-journal",
			`2026-01-02T05:59:38+0000 bootstrap systemd[1]: Starting crio.service - Container Runtime Interface for OCI (CRI-O)...
2026-01-02T05:59:39+0000 bootstrap crio[1801]: time="2026-01-02T05:59:39Z" level=fatal msg="validating network config: invalid plugin_dirs entry: mkdir /opt/cni: permission denied"
2026-01-02T05:59:39+0000 bootstrap systemd[1]: Starting crio.service - Container Runtime Interface for OCI (CRI-O)...
`))},
		"pause-image": {changes: waiting(restarts, says("records", "==> bootkube.json\n[]\n==> kubelet.json\n"+
			`[{"timestamp":"2026-01-02T05:50:00Z","phase":"service start"},{"timestamp":"2026-01-02T05:50:00Z","preCommand":"kubelet-pause-image","phase":"pre-command start"},`+
			`{"timestamp":"2026-01-02T05:50:03Z","preCommand":"kubelet-pause-image","phase":"pre-command end","result":"failure","errorLine":"53 /usr/local/bin/release-image.sh","errorMessage":"Error: initializing source: unauthorized"}]`+"\n"))},
		"kubelet-no-crio": {changes: waiting(restarts, kubeletTries(
			`E0102 05:59:40.010000    2001 run.go:72] "command failed" err="failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint \"unix:///var/run/crio/crio.sock\": rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /var/run/crio/crio.sock: connect: no such file or directory\""`))},
		"kubelet-port": {changes: waiting(restarts, kubeletTries(
			`E0102 05:59:40.010000    2001 server.go:231] "Failed to listen and serve" err="listen tcp 0.0.0.0:10250: bind: address already in use"`))},
		"kubelet-health-port": {changes: waiting(says("kubelet-health", "crio.service active\nkubelet.service active\nhealthz <html>\n"), adds("kubelet-journal",
			"2026-01-02T05:59:40+0000 bootstrap kubelet.sh[1890]: E0102 05:59:40.010000    1890 server.go:916] \"Failed to start healthz server\" err=\"listen tcp 127.0.0.1:10248: bind: address already in use\"\n"))},
		"kubelet-swap": {changes: waiting(restarts, kubeletTries(
			`E0102 05:59:40.010000    2001 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"`))},
		"broken-static-pod": {changes: waiting(adds("kubelet-journal",
			`2026-01-02T05:59:31+0000 bootstrap kubelet.sh[1890]: E0102 05:59:31.000000    1890 file.go:187] "Could not process manifest file" err="/etc/kubernetes/manifests/etcd-member-pod.yaml: couldn't parse as pod(yaml: line 3: mapping values are not allowed in this context), please check config file" path="/etc/kubernetes/manifests/etcd-member-pod.yaml"
2026-01-02T05:59:51+0000 bootstrap kubelet.sh[1890]: I0102 05:59:51.000000    1890 kubelet_getters.go:218] "Pod status updated" pod="openshift-etcd/etcd-bootstrap-member-bootstrap" status="Running"
`))},
		"static-pods-unreadable": {changes: waiting(says("kubelet-health", "crio.service active\nkubelet.service active\nhealthz \n"), adds("kubelet-journal",
			"2026-01-02T05:59:31+0000 bootstrap kubelet.sh[1890]: E0102 05:59:31.000000    1890 file.go:98] \"Unable to read config path\" err=\"path does not exist, ignoring\" path=\"/etc/kubernetes/manifests\"\n"),
			fails("static-pods", 2, "ls: cannot access '/etc/kubernetes/manifests': No such file or directory\n"))},
		"kubelet-stops": {changes: waiting(restarts, kubeletTries(
			`E0102 05:59:40.010000    2001 run.go:72] "command failed" err="failed to parse kubelet flag: unknown flag: --cloud-provider-of-old"`))},
		"crio-off":           {changes: waiting(units("inactive", "activating"))},
		"kubelet-off":        {changes: waiting(units("active", "inactive"))},
		"hostname-localhost": {changes: waiting(says("hostname", "localhost\n"))},
	}
}

func TestEachCauseOfTheKubeletIsProven(t *testing.T) { proveAll(t, "kubelet") }

// What was overcome is no cause of today: each fault, and then a kubelet that is
// well.
func TestAFaultOfTheKubeletThatWasOvercomeProvesNothing(t *testing.T) {
	well := func(_ *testing.T, e evidence) {
		e["kubelet-health"] = "crio.service active\nkubelet.service active\nhealthz ok\n"
		e["kubelet-journal"] += "2026-01-02T06:30:00+0000 bootstrap kubelet.sh[1890]: I0102 06:30:00.000000    1890 kubelet.go:2515] \"SyncLoop ADD\" source=\"file\" pods=[\"openshift-etcd/etcd-bootstrap-member-bootstrap\"]\n"
	}
	for id, c := range cases["kubelet"] {
		if id == "hostname-localhost" {
			continue
		}
		r := recorded{changes: slices.Concat(c.changes, []change{well})}.walk(t, "kubelet")
		if r.Verdict != Healthy || len(r.Warnings) > 0 {
			t.Errorf("%s: %s, %+v, %+v", id, r.Verdict, r.Cause, r.Warnings)
		}
	}
}
