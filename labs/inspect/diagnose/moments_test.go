package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

// moment is a lab that is well, at some time of its bootstrap, and how a walk
// through all layers ends then.
type moment struct {
	changes []change
	verdict Verdict
	layer   string // where it ends
	alone   string // the same in a lab without masters, if it ends elsewhere: VERDICT at LAYER; "-": it never comes there
}

// stamped is the time so many seconds before the evidence was collected.
func stamped(seconds int) string {
	return evening.Add(-time.Duration(seconds) * time.Second).Format(time.RFC3339)
}

// onRecord makes bootkube's record of lines "SECONDS-AGO PHASE STAGE RESULT
// MESSAGE", of which the last three may be missing.
func onRecord(lines ...string) change {
	return func(_ *testing.T, e evidence) {
		var all []string
		for _, line := range lines {
			words := append(strings.SplitN(line, "|", 5), "", "", "", "")
			var seconds int
			if _, err := fmt.Sscan(words[0], &seconds); err != nil {
				panic(line)
			}
			all = append(all, fmt.Sprintf(`{"timestamp": %q, "phase": %q, "stage": %q, "result": %q, "errorMessage": %q}`,
				stamped(seconds), words[1], words[2], words[3], words[4]))
		}
		e["bootkube-record"] = "[" + strings.Join(all, ",\n") + "]"
		delete(e, "records")
	}
}

// pod is a static pod that was written so many seconds ago.
func pod(seconds int, name string) string {
	return "-rw-------. 1 root root 2812 " + evening.Add(-time.Duration(seconds)*time.Second).Format("2006-01-02 15:04:05.000000000 -0700") + " " + name + "-pod.yaml\n"
}

const (
	etcdPod = "etcd-member"
	mcoPod  = "machineconfigoperator-bootstrap"
)

// controlPlane are the static pods that cluster-bootstrap writes.
func controlPlane(seconds int) string {
	return pod(seconds, "kube-apiserver") + pod(seconds, "kube-controller-manager") + pod(seconds, "kube-scheduler") + pod(seconds, "bootstrap") + pod(seconds, "cloud-credential-operator")
}

// runs are containers that were made so many seconds ago and run.
func runs(seconds int, names ...string) change {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf(`{"id": %q, "metadata": {"name": %q, "attempt": 0}, "state": "CONTAINER_RUNNING", "createdAt": "%d"}`,
			strings.Repeat("a", 64), name, evening.Add(-time.Duration(seconds)*time.Second).UnixNano()))
	}
	return says("containers", `{"containers": [`+strings.Join(all, ", ")+`]}`)
}

func locked(by string) change {
	return says("stage-lock", `{"lock":"`+by+`"}`)
}

// The markers of the renders, in the order of the stages, without one of release-info.
func rendered(t *testing.T, release string) string {
	var all string
	for _, s := range planOf(t, "ha", release).Stages {
		if s.Kind == "render" || s.Kind == "copy" {
			all += s.Marker() + "\n"
		}
	}
	return all
}

// marks makes the markers those of the renders and some more.
func marks(release string, more ...string) change {
	return func(t *testing.T, e evidence) {
		e["markers"] = rendered(t, release) + strings.Join(append(more, ""), "\n")
	}
}

// withoutAPI is a cluster that cannot be asked.
func withoutAPI(t *testing.T, e evidence) {
	for _, ev := range labs.BuiltinDiagnosis().Evidence {
		if ev.On == labs.OnCluster {
			fails(ev.ID, 1, "The connection to the server localhost:6443 was refused - did you specify the right host or port?\n")(t, e)
		}
	}
}

// beforeMasters are masters that were never started.
func beforeMasters(t *testing.T, e evidence) {
	for id := range e {
		if strings.HasPrefix(id, "master-") {
			delete(e, id)
		}
	}
	e["master-consoles"] = ""
	swaps("domains", "running", "shut off")(t, e)
}

const (
	noNames   = "api is 192.168.126.1\napi fails 000curl: (35) Recv failure: Connection reset by peer\napi-int is 192.168.126.1\napi-int fails 000curl: (35) Recv failure: Connection reset by peer\napps is 192.168.126.1\n"
	noMCS     = "config 000curl: (7) Failed to connect to localhost port 22624 after 0 ms: Couldn't connect to server\ntls 000curl: (7) Failed to connect to localhost port 22623 after 0 ms: Couldn't connect to server\n"
	wellEtcd  = "{\"health\":\"true\",\"reason\":\"\"}\nstatus 200\n"
	apiListen = "ok\nlocalhost status 200\n"
)

// atBoot is a bootstrap node behind its first boot: the release image is there,
// kubelet and CRI-O run, and no stage was begun.
func atBoot(t *testing.T, e evidence) {
	withoutAPI(t, e)
	beforeMasters(t, e)
	for _, id := range []string{"etcd-log", "kube-apiserver-log", "cluster-version-operator-log", "machine-config-server-log", "mcs-controller-log"} {
		fails(id, 1, "there is no container "+strings.TrimSuffix(id, "-log")+"\n")(t, e)
	}
	fails("etcd-members", 1, "there is no container etcdctl\n")(t, e)
	fails("etcd-answer", 58, "curl: (58) could not load PEM client certificate\n")(t, e)
	fails("etcd-metrics", 58, "curl: (58) could not load PEM client certificate\n")(t, e)
	fails("etcd-files", 1, "stat: cannot statx 'etc/kubernetes/static-pod-resources/etcd-member/ca.crt': No such file or directory\n")(t, e)
	fails("api-answer", 7, noListener)(t, e)
	e["name-answers"] = noNames
	e["mcs-answer"] = noMCS + "balanced 000curl: (35) Recv failure: Connection reset by peer\n"
	e["mcs-files"] = "absent /etc/mcc/bootstrap\nabsent /etc/mcs/bootstrap\nabsent /etc/mcs\nabsent /etc/ssl/mcs\n"
	e["balancer-stats"] = strings.ReplaceAll(strings.ReplaceAll(e["balancer-stats"], "MAINT", "DOWN"), ",UP,", ",DOWN,")
	e["containers"], e["stage-lock"], e["bootkube-record"] = `{"containers":[]}`, `{"lock":"free"}`, "[]"
	for _, id := range []string{"bootkube-journal", "progress-journal", "stage-logs", "markers", "etcd-address"} {
		e[id] = ""
	}
	e["static-pods"] = "total 0\n"
	e["kubelet-journal"], _, _ = strings.Cut(e["kubelet-journal"], "2026-01-02T04:01:31")
}

// stages are what the record has of those before cluster-bootstrap.
var stages = []string{"3600|stage start|openshift-manifests", "3599|stage end|openshift-manifests|success", "3590|stage start|mco-bootstrap", "3589|stage end|mco-bootstrap|success"}

// etcdRuns is etcd on the bootstrap node, and a Machine Config Server beside it.
func etcdRuns(t *testing.T, e evidence) {
	well := healthy(t)
	for _, id := range []string{"etcd-log", "machine-config-server-log", "mcs-controller-log", "mcs-files", "kubelet-journal", "etcd-address"} {
		e[id] = well[id]
	}
	waits := healthy(t)
	waiting()[0](t, waits)
	e["etcd-answer"], e["etcd-files"], e["etcd-metrics"] = wellEtcd, waits["etcd-files"], waits["etcd-metrics"]
	e["mcs-answer"] = "config 200\ntls 200\nbalanced 200\n"
	e["etcd-members"] = `{"header":{"cluster_id":13455796455940752355,"member_id":443629905751424238,"raft_term":2},"members":[{"ID":443629905751424238,"name":"etcd-bootstrap","peerURLs":["https://192.168.126.10:2380"],"clientURLs":["https://192.168.126.10:2379"]}]}`
	e["kubelet-journal"], _, _ = strings.Cut(well["kubelet-journal"], "2026-01-02T04:03:11")
	runs(3000, "etcd", "etcdctl", "machine-config-server")(t, e)
	e["static-pods"] = "total 8\n" + pod(3590, etcdPod) + pod(3580, mcoPod)
}

// apiRuns is the temporary control plane running; no master has come yet.
func apiRuns(t *testing.T, e evidence) {
	well := healthy(t)
	for _, ev := range labs.BuiltinDiagnosis().Evidence {
		if ev.On == labs.OnCluster {
			if text, ok := well[ev.ID]; ok {
				e[ev.ID] = text
			} else {
				delete(e, ev.ID)
			}
		}
	}
	for _, id := range []string{"nodes", "csrs", "bootstrap-configmap", "pods", "clusteroperators", "events"} {
		edit(id, `.items = []`)(t, e)
	}
	for _, id := range []string{"etcd", "kubeapiserver", "kubecontrollermanager", "kubescheduler"} {
		edit(id, `.items[0].status = {}`)(t, e)
	}
	edit("clusterversion", `.items[0].status = {history: [{state: "Partial", startedTime: "`+stamped(500)+`"}], conditions: []}`)(t, e)
	waits := healthy(t)
	waiting()[0](t, waits)
	e["balancer-stats"], e["kube-apiserver-log"], e["cluster-version-operator-log"] = waits["balancer-stats"], well["kube-apiserver-log"], well["cluster-version-operator-log"]
	e["api-answer"], e["name-answers"] = apiListen, well["name-answers"]
	e["domains"] = well["domains"]
	e["static-pods"] = "total 24\n" + pod(3590, etcdPod) + pod(3580, mcoPod) + controlPlane(580)
	runs(570, "etcd", "etcdctl", "machine-config-server", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "cluster-version-operator")(t, e)
}

// mastersRun are masters that joined and run a control plane of their own, behind
// a bootstrap node whose own is gone. The operators are done or not.
func mastersRun(t *testing.T, e evidence) {
	well := healthy(t)
	for id, text := range well {
		if strings.HasPrefix(id, "master-") || slices.Contains([]string{"domains", "kube-apiserver-log", "cluster-version-operator-log"}, id) {
			e[id] = text
		}
	}
	for _, ev := range labs.BuiltinDiagnosis().Evidence {
		if ev.On == labs.OnCluster {
			if text, ok := well[ev.ID]; ok {
				e[ev.ID] = text
			} else {
				delete(e, ev.ID)
			}
		}
	}
	edit("bootstrap-configmap", `.items = []`)(t, e)
	edit("etcd", `.items[0].status.conditions |= map(select(.type != "EtcdBootstrapMemberRemoved"))`)(t, e)
	fails("api-answer", 7, noListener)(t, e)
	e["name-answers"] = well["name-answers"]
	e["balancer-stats"] = strings.ReplaceAll(well["balancer-stats"], "MAINT", "DOWN")
	e["static-pods"] = "total 8\n" + pod(3590, etcdPod) + pod(3580, mcoPod)
	runs(3000, "etcd", "etcdctl", "machine-config-server")(t, e)
}

// withoutMCS is the node behind cvo-overrides.
func withoutMCS(t *testing.T, e evidence) {
	e["mcs-answer"] = noMCS + "balanced 200\n"
	e["static-pods"] = "total 4\n" + pod(3590, etcdPod)
	runs(3000, "etcd", "etcdctl")(t, e)
}

// membersGrow are members that etcd's operator has not all added yet.
func membersGrow(t *testing.T, e evidence) {
	edit("etcd", `.items[0].status.conditions |= map(if .type == "EtcdRunningInCluster" then .status = "False" | .reason = "NotEnoughEtcdMembers" | .message = "still waiting for three healthy etcd members" | .lastTransitionTime = "`+stamped(700)+`" else . end)`)(t, e)
	edit("etcd-members", `.members = [{ID: 443629905751424238, name: "etcd-bootstrap", peerURLs: ["https://192.168.126.10:2380"], clientURLs: ["https://192.168.126.10:2379"]}, {ID: 4439300218170757341, peerURLs: ["https://192.168.126.20:2380"], isLearner: true}]`)(t, e)
	edit("events", `(.items[] | select(.reason == "MemberAddAsLearner") | .lastTimestamp) = "`+stamped(60)+`"`)(t, e)
	edit("clusterversion", `.items[0].status = {history: [{state: "Partial", startedTime: "`+stamped(1500)+`"}], conditions: []}`)(t, e)
}

// byService is the state of the units while bootkube.service works.
func byService(progress string) change {
	return func(t *testing.T, e evidence) {
		locked("bootkube.service")(t, e)
		for unit, state := range map[string]string{"bootkube": "active", "approve-csr": "active", "progress": progress} {
			swaps("units", "Id="+unit+".service\nLoadState=loaded\nActiveState=inactive", "Id="+unit+".service\nLoadState=loaded\nActiveState="+state)(t, e)
		}
		e["progress-journal"] = "2026-01-02T04:00:00+0000 bootstrap report-progress.sh[2411]: Waiting for bootstrap to complete...\n"
	}
}

// nodeGone is a bootstrap node that was removed, so that the workstation asks.
func nodeGone(t *testing.T, e evidence) {
	for _, ev := range labs.BuiltinDiagnosis().Evidence {
		if ev.On == labs.OnBootstrap {
			delete(e, ev.ID)
		}
	}
	fails("bootstrap-ssh", 255, "ssh: connect to host 192.168.126.10 port 22: No route to host\n")(t, e)
	e["bootstrap-console"] = ""
}

func after(before []string, more ...string) []string { return slices.Concat(before, more) }

// moments are those of a lab of one release.
func moments(release string) map[string]moment {
	begun := after(stages, "60|stage start|cb-bootstrap")
	waits := after(stages, "600|stage start|cb-bootstrap")
	passed := after(stages, "2900|stage start|cb-bootstrap", "1500|stage end|cb-bootstrap|failure|x", "1400|stage start|cb-bootstrap", "700|stage end|cb-bootstrap|success")
	restored := after(stages, "3500|stage start|cb-bootstrap", "2450|stage end|cb-bootstrap|failure|x", "2400|stage start|cb-bootstrap", "1100|stage end|cb-bootstrap|success", "1100|stage start|cvo-overrides", "1090|stage end|cvo-overrides|success")
	ended := after(stages, "4000|stage start|cb-bootstrap", "2900|stage end|cb-bootstrap|success", "2880|stage end|cvo-overrides|success", "2880|stage start|wait-for-ceo", "2700|stage end|wait-for-ceo|success")
	const byDesign = "ended by design: this lab has no masters"
	log := func(lines ...string) change {
		return says("stage-logs", "==> render-etcd.log\n==> render-etcd.sh begins, 2026-01-02T05:00:00Z\n==> render-etcd is done; next: render-kube-apiserver.sh\n\n==> start-bootstrap.log\n==> start-bootstrap.sh begins, 2026-01-02T05:50:00Z\nStarting temporary bootstrap control plane...\n"+strings.Join(lines, "\n")+"\n")
	}
	service := func(text string) change {
		return says("bootkube-journal", "2026-01-02T04:00:00+0000 bootstrap systemd[1]: Started bootkube.service - Bootstrap a Kubernetes cluster.\n"+text)
	}
	fresh := says("static-pods", "total 8\n"+pod(10, etcdPod)+pod(5, mcoPod))
	startedNow := says("static-pods", "total 24\n"+pod(3590, etcdPod)+pod(3580, mcoPod)+controlPlane(55))
	bare, noAPI := []change{atBoot}, []change{atBoot, etcdRuns}
	up := []change{atBoot, etcdRuns, apiRuns}
	over := []change{atBoot, etcdRuns, apiRuns, mastersRun}
	cons := func(base []change, more ...change) []change { return slices.Concat(base, more) }
	marked := func(more ...string) change { return marks(release, append(more, "release-info.done")...) }
	served := func(more ...string) change { return marks(release, more...) }
	complete := func(seconds int) change {
		return edit("bootstrap-configmap", `.items = [{metadata: {name: "bootstrap", namespace: "kube-system", creationTimestamp: "`+stamped(seconds)+`"}, data: {status: "complete"}}]`)
	}
	letGo := edit("etcd", `.items[0].status.conditions += [{type: "EtcdBootstrapMemberRemoved", status: "True", reason: "BootstrapAlreadyRemoved", lastTransitionTime: "`+stamped(100)+`"}]`)

	return map[string]moment{
		"by hand: booted only":        {changes: bare, verdict: NotReached, layer: "render"},
		"by hand: after release-info": {changes: cons(bare, onRecord("9|stage start|release-info", "5|stage end|release-info|success"), says("markers", "release-info.done\n")), verdict: NotReached, layer: "render"},
		"by hand: a render running": {changes: cons(bare, onRecord("9|stage start|release-info", "8|stage end|release-info|success", "5|stage start|openshift-manifests", "4|stage end|openshift-manifests|success", "3|stage start|api-bootstrap"),
			says("markers", "release-info.done\nopenshift-manifests.done\n"), says("stage-lock", `{"lock":"held","phase":"stage start","stage":"api-bootstrap","timestamp":"`+stamped(3)+`"}`)), verdict: NotReached, layer: "render"},
		"by hand: after render-all":            {changes: cons(bare, onRecord(stages...), marked(), fresh), verdict: NotReached, layer: "etcd"},
		"by hand: etcd is up":                  {changes: cons(noAPI, onRecord(after(stages, "100|stage start|wait-for-etcd", "90|stage end|wait-for-etcd|success")...), marked()), verdict: NotReached, layer: "api"},
		"by hand: start-bootstrap just begun":  {changes: cons(noAPI, onRecord(begun...), marked(), startedNow, locked("held"), log()), verdict: NotReached, layer: "api"},
		"by hand: the API was up a moment ago": {changes: cons(up, onRecord(begun...), marked(), startedNow, locked("held"), log("API is up"), says("name-answers", noNames), swaps("balancer-stats", ",UP,", ",DOWN,"), runs(8, "etcd", "kube-apiserver")), verdict: NotReached, layer: "names"},
		"by hand: masters are waited for":      {changes: cons(up, onRecord(waits...), marked(), locked("held"), log("API is up")), verdict: NotReached, layer: "masters", alone: "healthy at "},
		"by hand: a second try has begun": {changes: cons(up, onRecord(after(stages, "2400|stage start|cb-bootstrap", "1100|stage end|cb-bootstrap|failure|cluster-bootstrap ended with status 1", "90|stage start|cb-bootstrap")...), marked(), locked("held"), runs(80, "etcd", "kube-apiserver", "machine-config-server"),
			log("API is up", "Error: error while checking pod status: timed out waiting for the condition", "==> start-bootstrap.sh begins, "+stamped(90), "Starting temporary bootstrap control plane...", "API is up")), verdict: NotReached, layer: "masters", alone: "-"},
		"by hand: ended by design": {changes: cons(noAPI, onRecord(after(waits, "20|stage end|cb-bootstrap|failure|"+byDesign)...), marked(), says("kube-apiserver-log", "==> kube-apiserver-x attempt 0 CONTAINER_EXITED\nI0102 05:59:40.000000       1 genericapiserver.go:600] shutting down\n"),
			log("API is up", "==> taking back what cluster-bootstrap began", "==> start-bootstrap ends here by design: the API was up and took what is in manifests/; topology compact goes on from here")), verdict: Healthy, alone: "alone"},
		"by hand: after cb-bootstrap":                                    {changes: cons(over, onRecord(passed...), marked("cb-bootstrap.done"), log("API is up", "All self-hosted control plane components successfully started"), membersGrow), verdict: NotReached, layer: "members", alone: "-"},
		"by hand: after cb-bootstrap, and the API is asked on localhost": {changes: cons(over, onRecord(passed...), marked("cb-bootstrap.done"), log("API is up"), withoutAPI), verdict: NotReached, layer: "masters", alone: "-"},
		"by hand: wait-for-ceo running":                                  {changes: cons(over, onRecord(after(restored, "800|stage start|wait-for-ceo")...), marked("cb-bootstrap.done", "cvo-overrides.done"), locked("held"), withoutMCS, membersGrow), verdict: NotReached, layer: "members", alone: "-"},
		"by hand: wait-for-ceo done":                                     {changes: cons(over, onRecord(after(restored, "800|stage start|wait-for-ceo", "400|stage end|wait-for-ceo|success")...), marked("cb-bootstrap.done", "cvo-overrides.done"), withoutMCS), verdict: NotReached, layer: "finished", alone: "-"},
		"by hand: finish-bootstrap waits for a second API server": {changes: cons(over, onRecord(after(ended, "1500|service end||success")...), marked("cb-bootstrap.done", "cvo-overrides.done", ".bootkube.done"), locked("held"), withoutMCS,
			edit("endpoints", `.items[0].subsets[0].addresses |= .[0:1]`)), verdict: NotReached, layer: "finished", alone: "-"},
		"by hand: finish-bootstrap waits for etcd": {changes: cons(over, onRecord(after(ended, "200|service end||success")...), marked("cb-bootstrap.done", "cvo-overrides.done", ".bootkube.done"), locked("held"), withoutMCS, complete(150)), verdict: NotReached, layer: "finished", alone: "-"},
		"by hand: finished, with the node still there": {changes: cons(over, onRecord(after(ended, "400|service end||success")...), marked("cb-bootstrap.done", "cvo-overrides.done", ".bootkube.done", "finish-bootstrap.done"), withoutMCS, complete(250), letGo,
			fails("etcd-answer", 7, noListener), adds("domains", " 9    bootlab-ha-bootstrap   running\n")), verdict: Healthy, alone: "-"},
		"the node is removed": {changes: cons(over, complete(4000), letGo, nodeGone), verdict: Healthy, alone: "-"},

		"by bootkube.sh: half way": {changes: cons(bare, byService("active"), service(""), onRecord("60|service start", "60|service start", "30|stage start|openshift-manifests", "29|stage end|openshift-manifests|success", "28|stage start|api-bootstrap", "27|stage end|api-bootstrap|success", "2|stage start|etcd-bootstrap"),
			says("markers", "openshift-manifests.done\napi-bootstrap.done\n")), verdict: NotReached, layer: "render"},
		"by bootkube.sh: etcd is pulled": {changes: cons(bare, byService("active"), service(""), onRecord(after(stages, "3|stage start|wait-for-etcd")...), served(), fresh), verdict: NotReached, layer: "etcd"},
		"by bootkube.sh: just begun":     {changes: cons(noAPI, byService("active"), service("2026-01-02T05:59:00+0000 bootstrap bootkube.sh[2410]: Starting cluster-bootstrap...\n"), onRecord(begun...), served(), startedNow), verdict: NotReached, layer: "api"},
		"by bootkube.sh: masters are waited for": {changes: cons(up, byService("active"), service("2026-01-02T05:50:00+0000 bootstrap bootkube.sh[2410]: Starting cluster-bootstrap...\n2026-01-02T05:50:30+0000 bootstrap bootkube.sh[2410]: API is up\n"), onRecord(waits...), served()),
			verdict: NotReached, layer: "masters", alone: "healthy at "},
		"by bootkube.sh: a second try has begun": {changes: cons(up, byService("active"), service("2026-01-02T05:20:00+0000 bootstrap bootkube.sh[2410]: Starting cluster-bootstrap...\n"), runs(80, "etcd", "kube-apiserver", "machine-config-server"),
			onRecord(after(stages, "2400|stage start|cb-bootstrap", "1100|stage end|cb-bootstrap|failure|Error", "1100|service end||failure", "1095|service start", "90|stage start|cb-bootstrap")...), served()), verdict: NotReached, layer: "masters", alone: "-"},
		"by bootkube.sh: wait-for-ceo running": {changes: cons(over, byService("active"), service("2026-01-02T05:46:00+0000 bootstrap bootkube.sh[2410]: Waiting for CEO to finish...\n"), onRecord(after(restored, "800|stage start|wait-for-ceo")...), served("cb-bootstrap.done", "cvo-overrides.done"), withoutMCS, membersGrow),
			verdict: NotReached, layer: "members", alone: "-"},
		"by bootkube.sh: progress.service waits for a second API server": {changes: cons(over, byService("active"), locked("free"), onRecord(after(ended, "700|service end||success")...), served("cb-bootstrap.done", "cvo-overrides.done", ".bootkube.done"), withoutMCS,
			edit("endpoints", `.items[0].subsets[0].addresses |= .[0:1]`), adds("progress-journal", "2026-01-02T05:48:21"+progress+"Waiting for at least 2 available IP addresses for the default/kubernetes service\n")), verdict: NotReached, layer: "finished", alone: "-"},
		"by bootkube.sh: etcd has not let go yet": {changes: cons(over, byService("inactive"), locked("free"), onRecord(after(ended, "200|service end||success")...), served("cb-bootstrap.done", "cvo-overrides.done", ".bootkube.done"), withoutMCS, complete(100)), verdict: NotReached, layer: "finished", alone: "-"},
		"by bootkube.sh: finished, with the node still there": {changes: cons(over, byService("inactive"), locked("free"), onRecord(after(ended, "400|service end||success")...), served("cb-bootstrap.done", "cvo-overrides.done", ".bootkube.done"), withoutMCS, complete(250), letGo,
			fails("etcd-answer", 7, noListener)), verdict: Healthy, alone: "-"},
	}
}

// told are warnings that are right in a lab that is well.
var told = []string{"running", "bootstrap-still-there", "bootstrap-balanced"}

// A lab that is well and not done is not reached, at any time and in any release:
// no cause is proven, and no layer is bad for an unknown reason.
func TestALabThatIsWellHasNoCauseAtAnyTime(t *testing.T) {
	// One of each way to end a bootstrap: see the gates of finish-bootstrap.
	for _, release := range []string{"4.14", "4.16", "4.21"} {
		for name, m := range moments(release) {
			t.Run(release+" "+name, func(t *testing.T) {
				if m.alone != "alone" {
					m.judge(t, "ha", release, m.verdict, m.layer)
				}
				switch {
				case m.alone == "alone" || m.alone == "":
					m.judge(t, "bootstrap-only", release, m.verdict, m.layer)
				case m.alone != "-":
					verdict, layer, _ := strings.Cut(m.alone, " at ")
					m.judge(t, "bootstrap-only", release, Verdict(verdict), layer)
				}
			})
		}
	}
}

// mastersServed are the lines of the load balancer that name a master.
var mastersServed = regexp.MustCompile(`(?m)^.*\bmaster-[0-9].*\n`)

func (m moment) judge(t *testing.T, example, release string, verdict Verdict, layer string) {
	t.Helper()
	changes := m.changes
	if example == "bootstrap-only" {
		changes = append(slices.Clone(changes), func(_ *testing.T, e evidence) {
			e["balancer-config"] = mastersServed.ReplaceAllString(e["balancer-config"], "")
			e["balancer-stats"] = mastersServed.ReplaceAllString(e["balancer-stats"], "")
		})
	}
	r := recorded{example: example, release: release, changes: changes}.walk(t, allLayers()...)
	if r.Verdict != verdict || r.Layer != layer {
		t.Errorf("%s: %s at %q, not %s at %q; cause %+v", example, r.Verdict, r.Layer, verdict, layer, r.Cause)
	}
	for _, w := range r.Warnings {
		if !slices.Contains(told, w.ID) {
			t.Errorf("%s: warning %+v", example, w)
		}
	}
}

// The recorded lab bears every marker that bootkube.sh leaves.
func TestTheHealthyMarkersAreThoseOfThePlan(t *testing.T) {
	have := strings.Fields(healthy(t)["markers"])
	for _, s := range planOf(t, "ha", "4.21").Stages {
		if s.Bootkube == "" {
			continue
		}
		for _, m := range s.Markers {
			if !slices.Contains(have, m.File) {
				t.Errorf("%s leaves %s", s.ID, m.File)
			}
		}
	}
}
