package diagnose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

// ago is a time of evidence, so long before it was collected.
func ago(d time.Duration) time.Time { return evening.Add(-d) }

// podsGiven are static pods that the kubelet was given at a time, as ls tells it in
// the zone of the machine.
func podsGiven(at time.Time, names ...string) change {
	text := "total 8\n"
	for _, name := range names {
		text += "-rw-r--r--. 1 root root 2902 " + at.Format("2006-01-02 15:04:05.000000000 -0700") + " " + name + "-pod.yaml\n"
	}
	return says("static-pods", text)
}

// recordEnds is a record of the scripts that ends with those entries, each
// PHASE|STAGE|RESULT|MESSAGE, a second apart from that time on.
func recordEnds(at time.Time, entries ...string) change {
	lines := []string{entryAt(ago(2*time.Hour), "service start", "", "", "")}
	for i, text := range entries {
		words := strings.Split(text+"|||", "|")
		lines = append(lines, entryAt(at.Add(time.Duration(i)*time.Second), words[0], words[1], words[2], words[3]))
	}
	return says("bootkube-record", "["+strings.Join(lines, ",\n")+"]")
}

func entryAt(at time.Time, phase, stage, result, message string) string {
	return fmt.Sprintf(`{"timestamp": %q, "phase": %q, "stage": %q, "result": %q, "errorMessage": %q}`, at.Format(time.RFC3339), phase, stage, result, message)
}

// created is when the one container of that name was made.
func created(name string, at time.Time) change {
	return edit("containers", fmt.Sprintf(`.containers |= map(if .metadata.name == %q then .createdAt = "%d" else . end)`, name, at.UnixNano()))
}

// wantsVerdict compares how a walk ended.
func wantsVerdict(t *testing.T, r *Report, verdict Verdict, layer string) {
	t.Helper()
	if r.Verdict != verdict || r.Layer != layer {
		t.Errorf("%s at %q, not %s at %q; cause %+v", r.Verdict, r.Layer, verdict, layer, r.Cause)
	}
}

const (
	noEtcd        = "curl: (7) Failed to connect to localhost port 9978 after 0 ms: Couldn't connect to server\n"
	noContainer   = "there is no container\n"
	allMarkers    = "api-bootstrap.done\nauth-api-bootstrap.done\ncco-bootstrap.done\nconfig-bootstrap.done\ncvo-bootstrap.done\netcd-bootstrap.done\ningress-operator-bootstrap.done\nkube-apiserver-bootstrap.done\nkube-controller-manager-bootstrap.done\nkube-scheduler-bootstrap.done\nmco-bootstrap.done\nnode-tuning-bootstrap.done\nopenshift-manifests.done\n"
	refusedByAll  = "api is 192.168.126.1\napi fails 000curl: (35) Recv failure: Connection reset by peer\napi-int is 192.168.126.1\napi-int fails 000curl: (35) Recv failure: Connection reset by peer\n"
	bootstrapDown = ",DOWN,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L7OK,200"
)

// Since 4.19 the root of a node is an image on which nothing is ever free.
// df tells 0 KiB of it, as okd-project/okd#2300 shows.
func TestTheImageUnderTheRootIsNoFullDisk(t *testing.T) {
	dir := t.TempDir()
	const df = "#!/usr/bin/env bash\necho 'Avail Inodes IFree Mounted on'\nfor word in \"$@\"; do\n  case ${word} in\n    -*) ;;\n    /) echo '    0  0 0 /' ;;\n" +
		"    *) echo \"98304000 62914048 62500000 ${word}\" ;;\n  esac\ndone\n"
	if err := os.WriteFile(filepath.Join(dir, "df"), []byte(df), 0o755); err != nil {
		t.Fatal(err)
	}
	e := labs.BuiltinDiagnosis().Find("free-space")
	for way, line := range map[string]string{"node": e.Run, "local": e.Local} {
		cmd := exec.Command("bash", "-c", line)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "ASSET_DIR="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(way, err)
		}
		if !strings.Contains(string(out), dir+"\n") {
			t.Errorf("%s: the asset directory is not among\n%s", way, out)
		}
		r := recorded{changes: []change{says("free-space", string(out))}}.walk(t, "host")
		wantsVerdict(t, r, Healthy, "")
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %+v", way, r.Warnings)
		}
	}
}

// bootkube.sh looks images up by itself, and writes no release-info.
func TestWhatBootkubeRendersWantsNoReleaseInfo(t *testing.T) {
	byService := func(more ...change) recorded {
		return recorded{changes: young(append([]change{
			says("bootkube-record", "["+entry(0, "service start", "", "")+","+entry(1, "stage start", "api-bootstrap", "")+","+entry(2, "stage end", "api-bootstrap", "success")+"]"),
			says("markers", "openshift-manifests.done\napi-bootstrap.done\nauth-api-bootstrap.done\nconfig-bootstrap.done\n"),
			says("stage-lock", `{"lock":"bootkube.service"}`)}, more...)...)}
	}
	wantsVerdict(t, byService().walk(t, "render"), NotReached, "render")
	// What is really wrong is seen behind it.
	if r := byService(says("stage-lock", `{"lock":"free","phase":"stage start","stage":"cvo-bootstrap","timestamp":"2026-01-02T05:50:00Z"}`)).walk(t, "render"); r.Cause == nil || r.Cause.ID != "killed" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
	// A lab of scripts has done it, and took it back.
	if r := byService(says("bootkube-record", "["+entry(0, "service start", "", "")+","+entry(1, "stage start", "release-info", "")+","+entry(2, "stage end", "release-info", "success")+"]")).walk(t, "render"); r.Cause == nil || r.Cause.ID != "out-of-order" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// run-bootkube-until.sh stops the service, mostly in the middle of a stage, and
// Ctrl-C a script.
func TestAStopThatWasWantedIsNoFailure(t *testing.T) {
	for _, why := range []string{"stopped by run-bootkube-until.sh", "interrupted"} {
		r := recorded{changes: young(recordEnds(ago(time.Hour), "stage start|api-bootstrap", "stage end|api-bootstrap|success", "stage start|cvo-bootstrap", "stage end|cvo-bootstrap|failure|"+why),
			says("markers", "openshift-manifests.done\napi-bootstrap.done\n"))}.walk(t, "render")
		wantsVerdict(t, r, NotReached, "render")
	}
	// Where bootkube.sh came to it, it says so itself: its trap calls the stage failed.
	stopped := func(until ...string) recorded {
		all := ""
		for i, text := range until {
			words := strings.Split(text+"|", "|")
			all += "," + entryAt(ago(time.Hour-time.Duration(4*i)*time.Second), words[0], "run-bootkube-until", words[1], "")
		}
		return recorded{changes: young(recordEnds(ago(time.Hour-time.Second), "stage start|cvo-bootstrap", "stage end|cvo-bootstrap|failure", "service end||failure"),
			says("markers", "openshift-manifests.done\napi-bootstrap.done\n"), func(_ *testing.T, e evidence) {
				e["records"] = "==> bootkube.json\n" + e["bootkube-record"] + "\n\n==> bootlab/run-bootkube-until.json\n[" + strings.TrimPrefix(all, ",") + "]\n\n==> release-image.json\n" + e["release-image-record"]
			})}
	}
	wantsVerdict(t, stopped("stage start", "stage end|success").walk(t, "render"), NotReached, "render")
	wantsVerdict(t, stopped("stage start", "stage end|failure").walk(t, "render"), Unknown, "render")
	wantsVerdict(t, stopped().walk(t, "render"), Unknown, "render")
}

// The node goes at the end, and nothing can be asked there.
func TestAKubeletOfANodeThatIsGoneIsNoQuestion(t *testing.T) {
	wantsVerdict(t, recorded{changes: []change{gone(onBootstrap...)}}.walk(t, "kubelet"), Healthy, "")
	// While the node is there its kubelet is asked.
	wantsVerdict(t, recorded{changes: []change{says("kubelet-health", "crio.service active\nkubelet.service activating\nhealthz \n")}}.walk(t, "kubelet"), Unknown, "kubelet")
}

// The kubelet pulls an image before it starts a container.
func TestAStaticPodIsGivenItsTimeToStart(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	etcd := func(at time.Time, more ...change) recorded {
		return recorded{changes: waiting(append([]change{podsGiven(at, "etcd-member"), fails("etcd-answer", 7, noEtcd), fails("etcd-log", 1, noContainer),
			says("markers", allMarkers), recordEnds(at, "stage start|etcd-bootstrap", "stage end|etcd-bootstrap|success")}, more...)...)}
	}
	api := func(at time.Time, more ...change) recorded {
		return recorded{changes: waiting(append([]change{podsGiven(at, "etcd-member", "kube-apiserver"), fails("api-answer", 7, noListener), fails("kube-apiserver-log", 1, noContainer),
			recordEnds(at, "stage start|cb-bootstrap")}, more...)...)}
	}
	etcdSays := says("etcd-log", container("etcd", "CONTAINER_RUNNING", `{"level":"info","ts":"`+ago(10*time.Second).Format("2006-01-02T15:04:05.000000Z")+`","msg":"starting"}`))
	apiSays := says("kube-apiserver-log", container("kube-apiserver", "CONTAINER_RUNNING", "I0102 05:59:50.100000       1 options.go:249] external host was not specified"))
	for name, c := range map[string]struct {
		r       recorded
		verdict Verdict
		layer   string
	}{
		"etcd is pulled":             {etcd(ago(time.Minute)), NotReached, "etcd"},
		"etcd begins":                {etcd(ago(time.Minute), etcdSays), NotReached, "etcd"},
		"etcd, in another zone":      {etcd(ago(time.Minute).In(east)), NotReached, "etcd"},
		"etcd does not come":         {etcd(ago(6 * time.Minute)), Unknown, "etcd"},
		"etcd's file alone tells it": {etcd(ago(6*time.Minute).In(east), says("bootkube-record", "[]")), Unknown, "etcd"},
		"etcd's record alone":        {etcd(ago(6*time.Minute), gone("static-pods")), Unknown, "etcd"},
		"the API is pulled":          {api(ago(time.Minute)), NotReached, "api"},
		"the API begins":             {api(ago(9*time.Minute), apiSays), NotReached, "api"},
		"the API is not ready":       {api(ago(time.Minute), apiSays, says("api-answer", "[-]etcd failed\n\nlocalhost status 500\n")), NotReached, "api"},
		"the API does not come":      {api(ago(11*time.Minute), apiSays), Unknown, "api"},
		"the API's file alone":       {api(ago(11*time.Minute).In(east), says("bootkube-record", "[]")), Unknown, "api"},
		"it ended without an API": {api(ago(30*time.Minute), podsGiven(ago(time.Hour), "etcd-member"), says("bootkube-journal", ""),
			recordEnds(ago(30*time.Minute), "stage start|cb-bootstrap", "stage end|cb-bootstrap|failure|cluster-bootstrap ended with status 1")), Unknown, "api"},
		"it was interrupted": {api(ago(30*time.Minute), podsGiven(ago(time.Hour), "etcd-member"), says("bootkube-journal", ""),
			recordEnds(ago(30*time.Minute), "stage start|cb-bootstrap", "stage end|cb-bootstrap|failure|interrupted")), NotReached, "api"},
		"it was restarted": {api(ago(time.Minute), podsGiven(ago(time.Hour), "etcd-member"),
			recordEnds(ago(time.Minute), "stage start|cb-bootstrap", "stage end|cb-bootstrap|failure|x", "stage start|cb-bootstrap")), NotReached, "api"},
	} {
		t.Run(name, func(t *testing.T) { wantsVerdict(t, c.r.walk(t, "etcd", "api"), c.verdict, c.layer) })
	}
}

// Behind a timeout and Ctrl-C cluster-bootstrap says no word of its own; the
// script's record tells that this is how it ends without masters.
func TestWithoutMastersTheEndIsByDesign(t *testing.T) {
	const log = "==> start-bootstrap.log\n==> start-bootstrap.sh begins, 2026-01-02T05:39:40Z\nStarting temporary bootstrap control plane...\nAPI is up\n==> taking back what cluster-bootstrap began\n"
	ended := func(message string) recorded {
		return recorded{example: "bootstrap-only", changes: waiting(podsGiven(ago(time.Hour), "etcd-member", "machineconfigoperator-bootstrap"),
			recordEnds(ago(20*time.Minute), "stage start|cb-bootstrap", "stage end|cb-bootstrap|failure|"+message), says("bootkube-journal", ""), says("stage-logs", log),
			fails("api-answer", 7, noListener), says("name-answers", refusedByAll), swaps("kube-apiserver-log", "CONTAINER_RUNNING", "CONTAINER_EXITED"))}
	}
	wantsVerdict(t, ended("ended by design: this lab has no masters").walk(t, "etcd", "api", "names"), Healthy, "")
	wantsVerdict(t, ended("cluster-bootstrap ended with status 1").walk(t, "etcd", "api", "names"), Unknown, "api")
	// It was restarted, and is running.
	again := ended("ended by design: this lab has no masters")
	again.changes = append(again.changes, recordEnds(ago(time.Minute), "stage end|cb-bootstrap|failure|ended by design: this lab has no masters", "stage start|cb-bootstrap"))
	wantsVerdict(t, again.walk(t, "etcd", "api", "names"), NotReached, "api")
}

// A balancer finds out by its checks that the API server is there.
func TestABalancerIsGivenItsTimeToSee(t *testing.T) {
	down := func(at time.Time) recorded {
		return recorded{changes: waiting(says("name-answers", refusedByAll), created("kube-apiserver", at), says("markers", allMarkers), recordEnds(at, "stage start|cb-bootstrap"),
			swaps("balancer-stats", ",UP,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L7OK,200", bootstrapDown))}
	}
	wantsVerdict(t, down(ago(20*time.Second)).walk(t, "api", "names"), NotReached, "names")
	if r := down(ago(time.Hour)).walk(t, "api", "names"); r.Cause == nil || r.Cause.ID != "balancer-no-server" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
	// The masters' API servers come behind the one that goes.
	for at, verdict := range map[time.Duration]Verdict{20 * time.Second: NotReached, time.Hour: Unknown} {
		r := recorded{changes: waiting(says("name-answers", refusedByAll), says("markers", allMarkers+"cb-bootstrap.done\n"), fails("api-answer", 7, noListener),
			recordEnds(ago(at), "stage end|cb-bootstrap|success"))}.walk(t, "api", "names")
		wantsVerdict(t, r, verdict, "names")
	}
}

// bootkube.sh and restore-cvo-overrides take the pod away behind cvo-overrides;
// masters that come later ask the server in the cluster.
func TestAMachineConfigServerThatWasTakenAwayIsNoCause(t *testing.T) {
	const closed = "000curl: (7) Failed to connect to localhost port 22624 after 0 ms: Couldn't connect to server"
	silent := func(markers string, pods ...string) recorded {
		return recorded{changes: waiting(says("markers", allMarkers+markers), podsGiven(ago(time.Hour), pods...), mcsSays(closed, closed, "200"),
			edit("containers", `.containers |= map(select(.metadata.name != "machine-config-server"))`))}
	}
	wantsVerdict(t, silent("cb-bootstrap.done\ncvo-overrides.done\n", "etcd-member").walk(t, "mcs"), Healthy, "")
	wantsVerdict(t, silent("cb-bootstrap.done\n", "etcd-member").walk(t, "mcs"), Unknown, "mcs")
	wantsVerdict(t, silent("cb-bootstrap.done\ncvo-overrides.done\n", "etcd-member", "machineconfigoperator-bootstrap").walk(t, "mcs"), Unknown, "mcs")
	// What the kubelet was given just now is on its way.
	begun := silent("", "etcd-member", "machineconfigoperator-bootstrap")
	begun.changes = append(begun.changes, podsGiven(ago(time.Minute), "etcd-member", "machineconfigoperator-bootstrap"), recordEnds(ago(time.Minute), "stage start|mco-bootstrap", "stage end|mco-bootstrap|success"))
	wantsVerdict(t, begun.walk(t, "mcs"), NotReached, "mcs")
	// And the balancer looks every five seconds.
	balanced := recorded{changes: waiting(mcsSays("200", "200", "000curl: (52) Empty reply from server"), created("machine-config-server", ago(5*time.Second)),
		podsGiven(ago(time.Minute), "machineconfigoperator-bootstrap"), recordEnds(ago(time.Minute), "stage end|mco-bootstrap|success"))}
	wantsVerdict(t, balanced.walk(t, "mcs"), NotReached, "mcs")
}

// What the kernel ended long ago is no cause of today.
func TestAnOldWantOfMemoryIsNoCauseOfTheAPIServer(t *testing.T) {
	for at, verdict := range map[time.Duration]Verdict{10 * time.Minute: Proven, 8 * time.Hour: NotReached} {
		r := recorded{changes: waiting(fails("api-answer", 7, noListener), podsGiven(ago(time.Minute), "etcd-member", "kube-apiserver"), fails("kube-apiserver-log", 1, noContainer),
			says("markers", allMarkers), recordEnds(ago(time.Minute), "stage start|cb-bootstrap"),
			says("kernel-journal", ago(at).Format("2006-01-02T15:04:05-0700")+" bootstrap kernel: Out of memory: Killed process 77 (etcd) total-vm:1kB\n"))}.walk(t, "api")
		wantsVerdict(t, r, verdict, "api")
	}
}

// A signer that has ended is told while the API answers all the same, until
// masters carry the control plane with certificates of their own.
func TestASignerThatEndedIsToldWhileTheAPIAnswers(t *testing.T) {
	over := swaps("certificate-ends", "good aggregator-signer.crt", "ended aggregator-signer.crt")
	for name, c := range map[string]struct {
		r    recorded
		told int
	}{
		"the API answers": {recorded{changes: waiting(over)}, 1},
		"it is done":      {recorded{changes: []change{over}}, 0},
	} {
		r := c.r.walk(t, "api")
		wantsVerdict(t, r, Healthy, "")
		if len(r.Warnings) != c.told {
			t.Errorf("%s: %+v", name, r.Warnings)
		}
	}
}

// start-bootstrap.sh --timeout leaves cluster-bootstrap running, and says failure.
func TestAStartThatIsNotWaitedForGoesOn(t *testing.T) {
	const cluster = `[{"Names":["cluster-bootstrap"],"State":%q,"Status":"x"}]`
	left := func(at time.Duration, state string) recorded {
		return recorded{changes: waiting(recordEnds(ago(at), "stage start|cb-bootstrap",
			"stage end|cb-bootstrap|failure|cluster-bootstrap is still running, which is not waited for any longer"),
			says("podman-containers", fmt.Sprintf(cluster, state)), says("markers", allMarkers), says("stage-lock", `{"lock":"free","phase":"stage end","stage":"cb-bootstrap"}`),
			podsGiven(ago(at), "etcd-member", "kube-apiserver"), fails("api-answer", 7, noListener), fails("kube-apiserver-log", 1, noContainer))}
	}
	wantsVerdict(t, left(time.Minute, "running").walk(t, "render", "api"), NotReached, "api")
	wantsVerdict(t, left(time.Hour, "running").walk(t, "render", "api"), Unknown, "api")
	if r := left(time.Minute, "exited").walk(t, "render", "api"); r.Cause == nil || r.Cause.ID != "static-pods-left" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}
