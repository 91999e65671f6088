package diagnose

import (
	"fmt"
	"strings"
	"testing"
)

// young is a lab at its beginning: no stage has begun, and nothing is known of
// the cluster.
func young(more ...change) []change {
	return append([]change{
		says("bootkube-record", "[]"), says("markers", ""), says("stage-logs", ""), says("bootkube-journal", ""),
		says("stage-lock", `{"lock":"free"}`), says("static-pods", ""), says("etcd-address", ""),
		edit("bootstrap-configmap", `.items = []`),
	}, more...)
}

// entry is one of a record.
func entry(second int, phase, stage, result string) string {
	return fmt.Sprintf(`{"timestamp": "2026-01-02T05:50:%02dZ", "phase": %q, "stage": %q, "result": %q, "errorMessage": ""}`, second, phase, stage, result)
}

// failedByHand is a stage whose script was run twice and failed: the first time
// because of something that was overcome.
func failedByHand(record, script string, lines ...string) change {
	return func(_ *testing.T, e evidence) {
		e["records"] = "==> bootkube.json\n[" + strings.Join([]string{
			entry(0, "service start", "", ""),
			entry(1, "stage start", record, ""), entry(2, "stage end", record, "failure"),
			entry(3, "stage start", record, ""), entry(4, "stage end", record, "failure"),
		}, ",\n") + "]\n\n==> release-image.json\n" + e["release-image-record"]
		e["stage-logs"] = "==> make-pki.log\n==> make-pki.sh begins, 2026-01-02T05:40:00Z\n==> make-pki is done\n\n" +
			"==> " + script + ".log\n==> " + script + ".sh begins, 2026-01-02T05:50:01Z\nError: something of yesterday: no space left on device, exec format error, toomanyrequests, manifest unknown\n" +
			"+==> " + script + ".sh starts, 2026-01-02T05:50:03Z\n  $ podman run --name unauthorized\n" + strings.Join(lines, "\n") + "\n"
	}
}

// failedPull is release-image.service of a node that tries again and again.
func failedPull(message string) change {
	return func(_ *testing.T, e evidence) {
		const at = "2026-01-02T05:50:0"
		e["release-image-record"] = "[" + strings.Join([]string{
			entry(0, "service start", "", ""),
			entry(1, "stage start", "pull-release-image", ""), entry(2, "stage end", "pull-release-image", "failure"),
			entry(3, "stage start", "pull-release-image", ""), entry(4, "stage end", "pull-release-image", "failure"),
			entry(4, "stage start", "pull-release-image", ""),
		}, ",\n") + "]"
		e["bootkube-record"] = ""
		say := func(second int, text string) string {
			return fmt.Sprintf("%s%d+0000 bootstrap release-image-download.sh[1201]: %s\n", at, second, text)
		}
		e["release-image-journal"] = "2026-01-02T05:50:00+0000 bootstrap systemd[1]: Starting release-image.service - Download the OpenShift Release Image...\n" +
			say(1, "Pulling quay.io/okd/scos-release:4.21.0...") + say(2, "Error: an error of yesterday, manifest unknown") +
			say(2, "Pull failed. Retrying quay.io/okd/scos-release:4.21.0...") + say(4, message) +
			say(4, "Pull failed. Retrying quay.io/okd/scos-release:4.21.0...")
	}
}

// failedNodeImage is node-image-pull.service, which keeps no record.
func failedNodeImage(lines ...string) change {
	return func(_ *testing.T, e evidence) {
		e["bootkube-record"] = ""
		e["node-image-journal"] = "2026-01-02T05:50:00+0000 bootstrap systemd[1]: Starting node-image-pull.service...\n"
		for _, line := range lines {
			e["node-image-journal"] += "2026-01-02T05:50:01+0000 bootstrap node-image-pull.sh[1300]: " + line + "\n"
		}
	}
}

// unreachable is a bootstrap node of which only the workstation's end is seen.
func unreachable(complaint, console string) []change {
	return []change{
		gone("clock", "hostname", "bootstrap-configmap", "records", "markers"),
		fails("bootstrap-ssh", 255, complaint), says("bootstrap-console", console),
	}
}

const (
	image    = "quay.io/okd/scos-release@sha256:5c26b8ef7739f86135330511e1ae586810e12795ecabb877a6fa9ac172221e68"
	source   = "Error: initializing source docker://" + image + ": "
	ping     = source + `pinging container registry quay.io: Get "https://quay.io/v2/": `
	manifest = source + "reading manifest sha256:5c26b8ef7739f86135330511e1ae586810e12795ecabb877a6fa9ac172221e68 in quay.io/okd/scos-release: "
	booted   = "[    0.000000] Linux version 5.14.0-570.el9.x86_64\nbootstrap login: \n"
	booting  = "[    0.000000] Linux version 5.14.0-570.el9.x86_64\n[    5.000000] ignition[702]: failed to fetch config: resource requires networking\n"
)

// What podman and ssh say is what podman 4.3 and OpenSSH 9 printed here when they
// were led to each fault; what Ignition says is of coreos/ignition internal/main.go
// and of the emergency shell of fedora-coreos-config.
func init() {
	pull := func(message string) recorded { return recorded{changes: young(failedPull(message))} }
	byHand := func(record, script string, lines ...string) recorded {
		return recorded{changes: young(failedByHand(record, script, lines...))}
	}
	node := func(complaint, console string) recorded {
		return recorded{changes: unreachable(complaint, console)}
	}
	cases["host"] = map[string]recorded{
		"other-architecture": {changes: []change{says("image-architecture", "arm64\n")}},
		"exec-format":        byHand("etcd-bootstrap", "render-etcd", `exec /usr/bin/cluster-etcd-operator: exec format error`),
		"disk-full":          {changes: []change{says("free-space", " 31 62914048 62500000 /\n 98304000 0 0 /mnt/btrfs\n")}},
		"out-of-memory": {changes: []change{edit("bootstrap-configmap", `.items = []`),
			adds("kernel-journal", "2026-01-02T05:52:10+0000 bootstrap kernel: Out of memory: Killed process 4711 (kube-apiserver) total-vm:1837264kB, anon-rss:912345kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:2312kB oom_score_adj:-997\n")}},
		"disk-low":     {changes: []change{says("free-space", " 1004096 62914048 62500000 /\n")}},
		"memory-low":   {changes: []change{swaps("memory", "9123456", "423456")}},
		"memory-small": {changes: []change{swaps("memory", "16084680", "7583120"), swaps("memory", "9123456", "4123456")}},
	}
	cases["node"] = map[string]recorded{
		"ignition-failed": node("ssh: connect to host 192.168.126.10 port 22: Connection refused\r\n",
			booting+"[   12.1] ignition[812]: Ignition failed: failed to create files: failed to create files/directories/links: op(1): gzip: invalid header\n"),
		"emergency":     node("ssh: connect to host 192.168.126.10 port 22: No route to host\r\n", booting+"Press Enter for emergency shell or wait 4 minutes 45 seconds for reboot.\n"),
		"kernel-panic":  node("ssh: connect to host 192.168.126.10 port 22: No route to host\r\n", booting+"Fatal glibc error: CPU does not support x86-64-v3\n"),
		"ssh-host-key":  node("No ED25519 host key is known for bootstrap and you have requested strict checking.\r\nHost key verification failed.\r\n", booted),
		"ssh-key":       node("core@192.168.126.10: Permission denied (publickey).\r\n", booted),
		"ssh-name":      node("ssh: Could not resolve hostname bootstrap: Name or service not known\r\n", booted),
		"ssh-no-config": node("Can't open user config file /home/me/mylab/out/work/vms/ssh_config: No such file or directory\r\n", booted),
		"ssh-refused":   node("ssh: connect to host 192.168.126.10 port 22: Connection refused\r\n", booted),
		"ssh-unreachable": node("ssh: connect to host 192.168.126.10 port 22: No route to host\r\n",
			booted),
		"not-started": node("ssh: connect to host 192.168.126.10 port 22: No route to host\r\n", ""),
		"clock-wrong": {changes: []change{says("clock", "1767319200 2026-01-02T02:00:00Z\n"), edit("bootstrap-configmap", `.items = []`)}},
		"clock-off":   {changes: []change{says("clock", "1767333000 2026-01-02T05:50:00Z\n")}},
	}
	cases["image"] = map[string]recorded{
		"pull-proxy":           pull(ping + "proxyconnect tcp: dial tcp 192.0.2.9:3128: connect: connection refused"),
		"registry-name":        pull(ping + "dial tcp: lookup quay.io on 192.168.126.1:53: no such host"),
		"registry-untrusted":   pull(ping + "tls: failed to verify certificate: x509: certificate signed by unknown authority"),
		"registry-clock":       pull(ping + "x509: certificate has expired or is not yet valid: current time 2025-12-02T02:00:00Z is before 2026-01-01T00:00:00Z"),
		"registry-plain":       pull(ping + "http: server gave HTTP response to HTTPS client"),
		"pull-secret-broken":   byHand("release-info", "release-info", source+"getting username and password: 1 error occurred:", `	* reading JSON file "/home/me/pull-secret.json": unmarshaling JSON at "/home/me/pull-secret.json": unexpected end of JSON input`),
		"pull-secret-missing":  byHand("release-info", "release-info", "Error: stat /home/me/pull-secret.json: no such file or directory"),
		"rate-limit":           pull(manifest + "StatusCode: 429, Too Many Requests"),
		"pull-denied":          pull(manifest + "unauthorized: access to the requested resource is not authorized"),
		"no-such-image":        pull(manifest + "manifest unknown"),
		"pull-no-space":        pull(`Error: writing blob: storing blob to file "/var/tmp/storage2134/1": write /var/tmp/storage2134/1: no space left on device`),
		"registry-unreachable": pull(ping + "dial tcp 192.0.2.1:443: i/o timeout"),
		"registry-broken":      byHand("etcd-bootstrap", "render-etcd", "Error: parsing image configuration: Error fetching blob: invalid status code from registry 503 (Service Unavailable)"),
		"signature":            pull("Error: copying system image from manifest list: Source image rejected: A signature was required, but no signature exists"),
		"two-container-refs":   {changes: young(failedNodeImage("Expected single docker ref, found:", "ostree/container/image/docker_3A__2F__2F_quay_2E_io/fedora/fedora-coreos_3A_stable"))},
	}
	cases["render"] = map[string]recorded{
		"running":      {changes: []change{says("stage-lock", `{"lock":"held","phase":"stage start","stage":"etcd-bootstrap"}`)}},
		"killed":       {changes: young(byHandDone("render-api"), says("stage-lock", `{"lock":"free","phase":"stage start","stage":"etcd-bootstrap","timestamp":"2026-01-02T05:50:00Z"}`))},
		"out-of-order": {changes: young(byHandDone("render-api"), says("markers", "release-info.done\nopenshift-manifests.done\nkube-apiserver-bootstrap.done\n"))},
		"input-gone": {changes: young(byHandDone("render-api"), says("markers", "release-info.done\nopenshift-manifests.done\napi-bootstrap.done\n"),
			says("asset-files", "d 700 4096 2026-01-02T05:40:00 release-info\nf 644 20 2026-01-02T05:40:00 release-info/version\n"))},
		"name-taken": byHand("etcd-bootstrap", "render-etcd",
			`Error: creating container storage: the container name "etcd-render" is already in use by 1f2e3d4c5b6a. You have to remove that container to be able to reuse that name: that name is already in use`),
		"container-limits": byHand("api-bootstrap", "render-api", "Error: runc: runc create failed: unable to start container process: error during container init: error setting rlimits for ready process: error setting rlimit type 7: operation not permitted: OCI permission denied"),
		"no-entrypoint":    byHand("api-bootstrap", "render-api", `Error: runc: runc create failed: unable to start container process: exec: "/usr/bin/render": stat /usr/bin/render: no such file or directory: OCI runtime attempted to invoke a command that was not found`),
		"undecodable":      byHand("kube-controller-manager-bootstrap", "render-kcm", `F0102 05:50:04.123456       1 render.go:61] unable to decode "/assets/manifests/notes.yaml": Object 'Kind' is missing in '{"hello":"you"}'`),
		"contradiction":    byHand("config-bootstrap", "render-config", `F0102 05:50:04.123456       1 render.go:61] the following manifests are not consistent so results would be unpredictable depending on apply order: "/assets/manifests/cluster-network-02-config.yml" and "/assets/manifests/zz.yaml" both set Network.config.openshift.io/cluster in ns/, but have different values`),
		"permission":       byHand("etcd-bootstrap", "render-etcd", "F0102 05:50:04.123456       1 render.go:61] open /assets/etcd-bootstrap/tls/etcd-ca-bundle.crt: permission denied"),
		"static-pods-left": {changes: young(failedByHand("cb-bootstrap", "start-bootstrap", "Error: something else"), says("static-pods", "-rw-r--r-- 1 root root 9 2026-01-02 05:00:00.000000000 +0000 kube-apiserver-pod.yaml\n"))},
		"other-address":    {changes: young(says("etcd-address", "--initial-advertise-peer-urls=https://10.0.2.15:2380\n"))},
	}
}

// byHandDone is a stage that its script has done.
func byHandDone(script string) change {
	return func(_ *testing.T, e evidence) {
		e["records"] = "==> bootkube.json\n[" + entry(0, "service start", "", "") + "," + entry(1, "stage start", "release-info", "") + "," + entry(2, "stage end", "release-info", "success") + "]\n"
		e["stage-logs"] = "==> " + script + ".log\n==> " + script + " is done\n"
	}
}

func TestTheGroundIsJudged(t *testing.T) {
	for _, layer := range []string{"host", "node", "image", "render"} {
		t.Run(layer, func(t *testing.T) { proveAll(t, layer) })
	}
}

// fillRecords puts the records of the services together, where a test does not
// give them as a whole.
func (e evidence) fillRecords() {
	if _, told := e["records"]; told {
		return
	}
	text := ""
	for _, service := range []string{"bootkube", "release-image"} {
		if record := e[service+"-record"]; record != "" {
			text += "==> " + service + ".json\n" + record + "\n"
		}
	}
	if text != "" {
		e["records"] = text
	}
}

// What is running, was not begun, or was overcome is no cause.
func TestTheGroundIsNotBlamedForWhatIsUnderWay(t *testing.T) {
	overcome := func(t *testing.T, e evidence) {
		failedByHand("etcd-bootstrap", "render-etcd", "Error: exec format error, permission denied, missing required flag: --etcd-image")(t, e)
		e["records"] = strings.Replace(e["records"], "]\n", ","+entry(5, "stage start", "etcd-bootstrap", "")+","+entry(6, "stage end", "etcd-bootstrap", "success")+"]\n", 1)
	}
	running := func(t *testing.T, e evidence) {
		failedByHand("etcd-bootstrap", "render-etcd", "Error: exec format error, permission denied, missing required flag: --etcd-image")(t, e)
		e["records"] = strings.Replace(e["records"], "]\n", ","+entry(5, "stage start", "etcd-bootstrap", "")+"]\n", 1)
		e["stage-lock"] = `{"lock":"held","phase":"stage start","stage":"etcd-bootstrap"}`
	}
	for name, c := range map[string]struct {
		changes []change
		verdict Verdict
		layer   string
	}{
		"nothing has begun":           {young(says("release-image-record", ""), says("records", "")), NotReached, "image"},
		"the node boots":              {unreachable("ssh: connect to host 192.168.126.10 port 22: Connection refused\r\n", booting), NotReached, "node"},
		"the console cannot be read":  {append(unreachable("ssh: connect to host 192.168.126.10 port 22: No route to host\r\n", ""), fails("bootstrap-console", 1, "cannot be read")), Unseen, "node"},
		"the first pull is running":   {young(says("bootkube-record", ""), says("release-image-record", "["+entry(0, "service start", "", "")+","+entry(1, "stage start", "pull-release-image", "")+"]")), NotReached, "image"},
		"a failed pull was overcome":  {young(failedPull("x"), says("release-image-record", healthy(t)["release-image-record"]), says("bootkube-record", "")), NotReached, "render"},
		"a node image was overcome":   {young(failedNodeImage("Failed to fetch release image; retrying...", "Checking out node image content")), NotReached, "render"},
		"no image is known yet":       {young(says("release-image-record", ""), says("records", ""), says("image-architecture", "")), NotReached, "image"},
		"half of the stages are done": {young(byHandDone("render-api"), says("markers", "release-info.done\nopenshift-manifests.done\n")), NotReached, "render"},
		"a failure was overcome":      {young(overcome), NotReached, "render"},
		"a failed stage runs again":   {young(running), NotReached, "render"},
		"the bootstrap node was removed": {append(unreachable("ssh: connect to host 192.168.126.10 port 22: No route to host\r\n", ""),
			says("bootstrap-configmap", healthy(t)["bootstrap-configmap"])), Healthy, ""},
		"values that differ, and no files":   {young(failedByHand("etcd-bootstrap", "render-etcd", "was never seen before: two nodes, but have different values")), Unknown, "render"},
		"a file elsewhere cannot be decoded": {young(failedByHand("kube-controller-manager-bootstrap", "render-kcm", `was never seen before: unable to decode "/etc/elsewhere"`)), Unknown, "render"},
		"an unknown message":                 {young(failedByHand("etcd-bootstrap", "render-etcd", "something that was never seen before")), Unknown, "render"},
		"an unknown failure between stages": {young(says("bootkube-record", "["+entry(0, "service start", "", "")+","+entry(1, "service end", "", "failure")+"]"),
			says("bootkube-journal", "2026-01-02T05:50:00+0000 bootstrap systemd[1]: Started bootkube.service - Bootstrap a Kubernetes cluster.\n2026-01-02T05:50:01+0000 bootstrap bootkube.sh[1]: something that was never seen before\n")), Unknown, "render"},
		"an unknown failure of what prepares": {young(failedByHand("make-pki", "make-pki", "something that was never seen before")), Unknown, "host"},
	} {
		t.Run(name, func(t *testing.T) {
			r := recorded{changes: c.changes}.walk(t, "host", "node", "image", "render")
			if r.Verdict != c.verdict || r.Layer != c.layer {
				t.Fatalf("%s at %q, cause %+v", r.Verdict, r.Layer, r.Cause)
			}
			if r.Verdict == Unknown && !strings.Contains(fmt.Sprint(r.Evidence), "was never seen before") {
				t.Errorf("what it said is not among %+v", r.Evidence)
			}
		})
	}
}

// A bundle of openshift-install whose node never got its release image has one
// record, and no line that names its file.
func TestARecordThatIsAloneIsRead(t *testing.T) {
	c := recorded{changes: young(failedPull(manifest+"unauthorized: access to the requested resource is not authorized"), func(_ *testing.T, e evidence) {
		e["records"] = e["release-image-record"]
	}, gone("markers", "stage-logs", "stage-lock", "clock", "asset-files", "bootstrap-ssh", "bootstrap-console", "workstation-records", "free-space"))}
	if r := c.walk(t, "host", "node", "image", "render"); r.Cause == nil || r.Cause.ID != "pull-denied" {
		t.Errorf("%s at %s, %+v", r.Verdict, r.Layer, r.Cause)
	}
}

// Messages of a script's own, in what it shows before it runs anything, are no
// message of a component.
func TestAScriptsOwnWordsProveNothing(t *testing.T) {
	r := recorded{changes: young(failedByHand("etcd-bootstrap", "render-etcd",
		"  $ podman run x exec format error", "==> exec format error", "not ok 3 - permission denied", "  ---", "  id: exec",
		"  command: |-", "    grep 'exec format error' file", "  expected: |-", "    no permission denied", "  found: |2-", "    nothing", "  hint: |-", "    permission denied", "  ..."))}.walk(t, "host", "node", "image", "render")
	if r.Verdict != Unknown {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// The line that a run begins with had other words in earlier versions of the scripts.
func TestOnlyTheLastRunIsRead(t *testing.T) {
	for name, first := range map[string]string{"earlier": "==> render-etcd.sh begins, ", "now": "+==> render-etcd.sh starts, ", "with arguments": "==> render-etcd.sh --force begins, "} {
		log := first + "2026-01-02T05:50:01Z\nexec format error\n" + first + "2026-01-02T05:50:03Z\nof the last run\n"
		if got := strings.Join(lastRun([]byte(log)), "\n"); got != "of the last run" {
			t.Errorf("%s: %q is read", name, got)
		}
	}
}

// Two failures between which the service was started again are told apart.
func TestTheFailedTryIsTheOneThatIsRead(t *testing.T) {
	for record, want := range map[string]Verdict{"etcd-bootstrap": Unknown, "openshift-manifests": Unknown} {
		r := recorded{changes: young(failedByBootkube(record, "nothing that is known"))}.walk(t, "host", "node", "image", "render")
		if r.Verdict != want {
			t.Errorf("%s: %s, %+v", record, r.Verdict, r.Cause)
		}
	}
}
