package diagnose

import (
	"strings"
	"testing"
)

// inTime is a bootstrap whose cluster-bootstrap waits for masters since the time
// that is given, as of the evening: nothing behind it has happened.
func inTime(since string) []change {
	return []change{
		edit("bootkube-record", `map(select(.stage != "cvo-overrides" and .stage != "wait-for-ceo" and (.stage // "" | startswith("check-") | not) and .phase != "service end")) | map(select(.stage != "cb-bootstrap" or .phase == "stage start")) | map(if .stage == "cb-bootstrap" then .timestamp = "`+since+`" else . end)`),
		edit("bootstrap-configmap", `.items = []`), without("bootkube-journal", "2026-01-02T04:17:20"),
		swaps("markers", ".bootkube.done\n", ""), swaps("markers", "cb-bootstrap.done\n", ""), swaps("markers", "cvo-overrides.done\n", ""),
	}
}

// late is one whose masters had their time: forty minutes of it.
func late(more ...change) []change { return append(inTime("2026-01-02T05:20:00Z"), more...) }

// stopped are late masters of which the third is no Node, and asked for nothing.
func stopped(more ...change) []change {
	return late(append([]change{
		edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`),
		edit("csrs", `.items |= (.[0:4] + .[6:])`),
	}, more...)...)
}

// console is what Ignition says on the third master after its last attempt.
func console(outcome string) change {
	return adds("master-consoles", "==> master-2\n[   61.1] ignition[712]: GET https://api-int.ha.bootlab.test:22623/config/master: attempt #12\n[   61.2] ignition[712]: GET "+outcome+"\n[ ***  ] A start job is running for Ignition (fetch) (1min 3s / no limit)\n")
}

const mcs = `https://api-int.ha.bootlab.test:22623/config/master`

// said is a line of a journal.
func said(minute, unit, text string) string {
	return "2026-01-02T05:" + minute + "+0000 master-2 " + unit + ": " + text + "\n"
}

func pull(problem string) change {
	return says("master-firstboot-journal@master-2",
		said("50:00", "systemd[1]", "Starting machine-config-daemon-pull.service - Machine Config Daemon Pull...")+
			said("50:01", "sh[1432]", "Trying to pull quay.io/okd/scos-content@sha256:"+strings.Repeat("3", 64)+"...")+
			said("50:04", "sh[1432]", "Error: "+problem)+
			said("50:05", "sh[1440]", "Trying to pull quay.io/okd/scos-content@sha256:"+strings.Repeat("3", 64)+"..."))
}

const notReady = `{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "lastTransitionTime": "2026-01-02T05:30:00Z", "message": "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: No CNI configuration file in /etc/kubernetes/cni/net.d/. Has your network provider started?"}`

// Messages are those of the programs themselves: Ignition's of
// redhat-cop/ocp4-helpernode issues 50, 228 and 255 and openshift/installer issue
// 889; podman's of containers/image; the kubelet's of client-go.
func init() {
	ready := func(node, condition string) change {
		return edit("nodes", `(.items[] | select(.metadata.name == "`+node+`") | .status.conditions) |= map(if .type == "Ready" then `+condition+` else . end)`)
	}
	pending := func(of, at string) change {
		return edit("csrs", `.items |= map(if `+of+` then .status = {} | .metadata.creationTimestamp = "`+at+`" else . end)`)
	}
	cases["masters"] = map[string]recorded{
		"master-clock-off":            {changes: []change{says("master-clock@master-1", "1767322800 2026-01-02T03:00:00Z\nNTP=no\n")}},
		"master-off":                  {changes: stopped(swaps("domains", " 3    bootlab-ha-master-2    running", " -    bootlab-ha-master-2    shut off"))},
		"master-ignition-name":        {changes: stopped(console(`error: Get "` + mcs + `": dial tcp: lookup api-int.ha.bootlab.test on 192.168.126.1:53: no such host`))},
		"master-ignition-certificate": {changes: stopped(console(`error: Get "` + mcs + `": tls: failed to verify certificate: x509: certificate signed by unknown authority`))},
		"master-ignition-clock":       {changes: stopped(console(`error: Get "` + mcs + `": x509: certificate has expired or is not yet valid: current time 2001-01-01T00:00:20Z is before 2026-01-02T03:50:00Z`))},
		"master-ignition-eof":         {changes: stopped(console(`error: Get "` + mcs + `": EOF`))},
		"master-ignition-status":      {changes: stopped(console(`result: Internal Server Error`))},
		"master-ignition-no-answer":   {changes: stopped(console(`error: Get "` + mcs + `": dial tcp 192.168.126.1:22623: connect: connection refused`))},
		"masters-never-asked": {changes: late(
			edit("nodes", ".items = []"), edit("csrs", ".items = []"), without("machine-config-server-log", "I0102 04:05"), says("master-consoles", ""), gone("domains"))},
		"master-pull-refused":     {changes: stopped(pull("initializing source docker://quay.io/okd/scos-content@sha256:33: reading manifest sha256:33 in quay.io/okd/scos-content: unauthorized: access to the requested resource is not authorized"))},
		"master-pull-full":        {changes: stopped(pull(`writing blob: storing blob to file "/var/tmp/storage1/2": write /var/tmp/storage1/2: no space left on device`))},
		"master-pull-unreachable": {changes: stopped(pull(`initializing source docker://quay.io/okd/scos-content@sha256:33: pinging container registry quay.io: Get "https://quay.io/v2/": dial tcp: lookup quay.io on 192.168.126.1:53: server misbehaving`))},
		"master-firstboot-fails": {changes: stopped(says("master-firstboot-journal@master-2",
			said("50:00", "systemd[1]", "Starting machine-config-daemon-pull.service - Machine Config Daemon Pull...")+
				said("51:00", "systemd[1]", "Finished machine-config-daemon-pull.service - Machine Config Daemon Pull.")+
				said("51:01", "systemd[1]", "Starting machine-config-daemon-firstboot.service - Machine Config Daemon Firstboot...")+
				said("52:01", "podman[2001]", "F0102 05:52:01.000000    2001 firstboot_complete_machineconfig.go:51] error running rpm-ostree rebase: exit status 1")+
				said("52:02", "systemd[1]", "machine-config-daemon-firstboot.service: Failed with result 'exit-code'.")))},
		"master-hostname":            {changes: stopped(says("master-hostname-journal@master-2", "2026-01-02T05:58:00+0000 localhost mco-hostname[900]: waiting for non-localhost hostname to be assigned\n"))},
		"master-kubelet-certificate": {changes: stopped(adds("master-kubelet-journal", said("59:00", "kubenswrapper[1890]", `E0102 05:59:00.0    1890 certificate_manager.go:562] "Failed while requesting a signed certificate from the control plane" err="cannot create certificate signing request: Post \"https://api-int.ha.bootlab.test:6443/apis/certificates.k8s.io/v1/certificatesigningrequests\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-01-03T05:59:00Z is after 2026-01-03T03:50:00Z"`)))},
		"master-kubelet-no-way":      {changes: stopped(adds("master-kubelet-journal", said("59:00", "kubenswrapper[1890]", `E0102 05:59:00.0    1890 certificate_manager.go:562] "Failed while requesting a signed certificate from the control plane" err="cannot create certificate signing request: Post \"https://api-int.ha.bootlab.test:6443/apis/certificates.k8s.io/v1/certificatesigningrequests\": dial tcp 192.168.126.1:6443: connect: connection refused"`)))},
		"master-crio-stops": {changes: stopped(says("master-crio-journal@master-2",
			said("55:00", "systemd[1]", "Starting crio.service - Container Runtime Interface for OCI (CRI-O)...")+
				said("55:01", "crio[1720]", `time="2026-01-02T05:55:01.186522987Z" level=fatal msg="validating runtime config: invalid hooks_dir: stat /usr/share/containers/oci/hooks.d: no such file or directory"`)+
				said("55:01", "systemd[1]", "crio.service: Failed with result 'exit-code'.")))},
		"master-kubelet-restarts": {changes: stopped(adds("master-kubelet-journal", said("58:00", "kubenswrapper[1890]", `E0102 05:58:00.0    1890 run.go:72] "command failed" err="failed to run Kubelet: validate service connection: validate CRI v1 runtime API"`)+said("58:10", "systemd[1]", "kubelet.service: Scheduled restart job, restart counter is at 17.")))},

		"csr-other-name": {changes: late(edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`),
			// The request of a worker, in a lab that has none.
			pending(`.metadata.name == "csr-f9k7s"`, "2026-01-02T05:50:00Z")), example: "compact"},
		"csr-client-pending":  {changes: late(edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`), pending(`.metadata.name == "csr-c8v2r"`, "2026-01-02T05:50:00Z"), edit("csrs", `.items |= map(select(.metadata.name != "csr-d4gfj"))`))},
		"csr-serving-pending": {changes: []change{pending(`.metadata.name == "csr-d4gfj"`, "2026-01-02T05:50:00Z")}},
		"csr-denied":          {changes: late(edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`), edit("csrs", `.items |= map(select(.metadata.name != "csr-d4gfj")) | (.items[] | select(.metadata.name == "csr-c8v2r") | .status) = {conditions: [{type: "Denied", status: "True", reason: "KubectlDeny", message: "This CSR was denied by kubectl certificate deny.", lastUpdateTime: "2026-01-02T05:50:00Z"}]}`))},
		"csr-not-issued":      {changes: late(edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`), edit("csrs", `.items |= map(select(.metadata.name != "csr-d4gfj")) | del(.items[] | select(.metadata.name == "csr-c8v2r") | .status.certificate)`))},
		"csr-failed":          {changes: late(edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`), edit("csrs", `.items |= map(select(.metadata.name != "csr-d4gfj")) | (.items[] | select(.metadata.name == "csr-c8v2r") | .status) |= (del(.certificate) | .conditions += [{type: "Failed", status: "True", reason: "SignerValidationFailure", message: "invalid usage for client certificate: server auth"}])`))},

		"node-other-name":    {changes: late(edit("nodes", `(.items[] | select(.metadata.name == "master-2") | .metadata.name) = "dhcp-22.bootlab.test"`))},
		"node-other-address": {changes: late(edit("nodes", `(.items[] | select(.metadata.name == "master-2") | .status.addresses[0].address) = "192.168.126.152"`), ready("master-2", notReady))},
		"no-version-operator": {changes: late(ready("master-0", notReady), edit("pods", ".items = []"),
			edit("containers", `(.containers[] | select(.metadata.name == "cluster-version-operator") | .metadata.attempt) = 7`),
			adds("cluster-version-operator-log", "F0102 05:55:00.000000       1 start.go:30] error: Get \"https://localhost:6443/apis/config.openshift.io/v1/featuregates/cluster\": dial tcp [::1]:6443: connect: connection refused\n"))},
		"network-pods-fail": {changes: late(ready("master-0", notReady), edit("pods", `(.items[] | select(.metadata.name == "ovnkube-node-0x7kd") | .status.containerStatuses[0]) |= (.ready = false | .state = {waiting: {reason: "ImagePullBackOff", message: "Back-off pulling image \"quay.io/okd/scos-content@sha256:44\""}})`))},
		"mtu-too-small":     {changes: late(ready("master-0", notReady), edit("pods", `(.items[] | select(.metadata.name == "ovnkube-node-0x7kd") | .status.containerStatuses[0]) |= (.ready = false | .restartCount = 9 | .state = {waiting: {reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container"}} | .lastState = {terminated: {reason: "Error", message: "I0102 05:50:00 a line before\nF0102 05:50:01 ovnkube.go:136] failed to run ovnkube: failed to start default node network controller: interface MTU (1450) is too small for specified overlay MTU (1458)\n"}})`))},
		"node-no-network":   {changes: late(ready("master-0", notReady))},
		"node-silent":       {changes: []change{ready("master-1", `{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": "2026-01-02T05:30:00Z", "message": "Kubelet stopped posting node status."}`)}},
		"master-missing":    {changes: stopped(says("master-consoles", ""))},
		"masters-too-late": {changes: late(gone("csrs", "master-consoles"), edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`),
			adds("bootkube-journal", said("41:00", "bootkube.sh[2410]", "Error: error while checking pod status: timed out waiting for the condition")))},
	}
}

func TestMasters(t *testing.T) { proveAll(t, "masters") }

func TestMastersThatAreOnTheirWayAreNotWrong(t *testing.T) {
	for name, c := range map[string]recorded{
		"not started":              {changes: append(inTime("2026-01-02T05:57:00Z"), edit("nodes", ".items = []"), edit("csrs", ".items = []"), says("master-consoles", ""), without("machine-config-server-log", "I0102 04:05"))},
		"one is at its first boot": {changes: append(inTime("2026-01-02T05:50:00Z"), edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`), edit("csrs", `.items |= (.[0:4] + .[6:])`))},
		"its request is a moment old": {changes: append(inTime("2026-01-02T05:50:00Z"), edit("nodes", `.items |= map(select(.metadata.name != "master-2"))`),
			edit("csrs", `.items |= map(if .metadata.name == "csr-c8v2r" then .status = {} | .metadata.creationTimestamp = "2026-01-02T05:59:40Z" else . end)`))},
		"the load balancer has not seen the server yet": {changes: append(inTime("2026-01-02T05:57:00Z"), edit("nodes", ".items = []"), edit("csrs", ".items = []"), console(`error: Get "`+mcs+`": EOF`))},
		"the machines are not started":                  {changes: append(inTime("2026-01-02T05:58:00Z"), edit("nodes", ".items = []"), edit("csrs", ".items = []"), swaps("domains", " 3    bootlab-ha-master-2    running", " -    bootlab-ha-master-2    shut off"))},
		"not Ready for five minutes":                    {changes: append(inTime("2026-01-02T05:48:00Z"), edit("nodes", `.items[0].metadata.creationTimestamp = "2026-01-02T05:55:00Z" | .items[0].status.conditions |= map(if .type == "Ready" then `+strings.Replace(notReady, "05:30", "05:55", 1)+` else . end)`))},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.walk(t, "masters"); r.Verdict != NotReached || len(r.Warnings) > 0 {
				t.Errorf("%s, %v, %+v", r.Verdict, r.Warnings, r.Cause)
			}
		})
	}
}

// A refusal that was overcome is no cause of today: the console still has it.
func TestAnEarlierAnswerOfIgnitionIsNoCause(t *testing.T) {
	c := recorded{changes: stopped(console(`error: Get "`+mcs+`": EOF`), adds("master-consoles", "[   71.2] ignition[712]: GET result: OK\n"))}
	if r := c.walk(t, "masters"); r.Cause == nil || r.Cause.ID != "master-missing" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// Without the API nothing is known of masters, and nothing is said.
func TestMastersCannotBeSeenWithoutTheAPI(t *testing.T) {
	c := recorded{changes: []change{gone("nodes", "csrs", "pods", "master-consoles", "bootkube-record", "bootkube-journal")}}
	if r := c.walk(t, "masters"); r.Verdict != Unseen {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// Up to 4.17 cluster-bootstrap counts nodes within the same twenty minutes.
func TestTheTimeOfClusterBootstrapIsOverInOlderReleasesToo(t *testing.T) {
	c := recorded{release: "4.16", changes: late(gone("csrs", "master-consoles"), edit("nodes", `.items |= .[0:1]`),
		adds("bootkube-journal", said("41:00", "bootkube.sh[2410]", "Error: error while checking for nodes status: timed out waiting for the condition")))}
	if r := c.walk(t, "masters"); r.Cause == nil || r.Cause.ID != "masters-too-late" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// A request of a kubelet that came through later is no cause: a second master is
// not there yet, and the journal of the first still has its first, refused tries.
func TestARequestOfAKubeletThatCameThroughIsNoCause(t *testing.T) {
	refused := func(why string) string {
		return said("52:00", "kubenswrapper[1890]", `E0102 05:52:00.0    1890 certificate_manager.go:562] "Failed while requesting a signed certificate from the control plane" err="cannot create certificate signing request: Post \"https://api-int.ha.bootlab.test:6443/apis/certificates.k8s.io/v1/certificatesigningrequests\": `+why+`"`)
	}
	for name, why := range map[string]string{"no way": "dial tcp 192.168.126.1:6443: connect: connection refused", "certificate": "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"} {
		for later, line := range map[string]string{
			"approved":   "I0102 05:53:00.0    1890 csr.go:261] certificate signing request csr-x is approved, waiting to be issued",
			"issued":     "I0102 05:53:00.0    1890 csr.go:257] certificate signing request csr-x is issued",
			"structured": `I0102 05:53:00.0    1890 csr.go:257] "Certificate signing request is issued" csr="csr-x"`,
			"registered": `I0102 05:53:00.0    1890 kubelet_node_status.go:78] "Successfully registered node" node="master-0"`,
		} {
			t.Run(name+" "+later, func(t *testing.T) {
				c := recorded{changes: append(inTime("2026-01-02T05:50:00Z"), edit("nodes", `.items |= .[0:2]`), edit("csrs", `.items |= (.[0:4] + .[6:])`),
					says("master-kubelet-journal", refused(why)+said("53:00", "kubenswrapper[1890]", line)))}
				if r := c.walk(t, "masters"); r.Verdict != NotReached {
					t.Errorf("%s, %+v", r.Verdict, r.Cause)
				}
			})
		}
	}
}

// Of several tries of cluster-bootstrap the last one counts.
func TestTheTimeOfMastersIsThatOfTheLastTry(t *testing.T) {
	none := []change{edit("nodes", ".items = []"), edit("csrs", ".items = []"), says("master-consoles", ""), gone("domains"), without("machine-config-server-log", "I0102 04:05")}
	for name, c := range map[string]struct {
		lines   []string
		verdict Verdict
	}{
		"a second try has begun":     {[]string{"2400|stage start|cb-bootstrap", "1200|stage end|cb-bootstrap|failure|x", "60|stage start|cb-bootstrap"}, NotReached},
		"a good one behind a failed": {[]string{"4800|stage start|cb-bootstrap", "3600|stage end|cb-bootstrap|failure|x", "3500|stage start|cb-bootstrap", "600|stage end|cb-bootstrap|success"}, NotReached},
		"the last one failed":        {[]string{"2400|stage start|cb-bootstrap", "60|stage end|cb-bootstrap|failure|x"}, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := recorded{changes: append(append(inTime("2026-01-02T05:50:00Z"), none...), gone("csrs"), onRecord(c.lines...))}.walk(t, "masters")
			if r.Verdict != c.verdict {
				t.Errorf("%s, %+v", r.Verdict, r.Cause)
			}
		})
	}
}
