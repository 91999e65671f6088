package diagnose

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

// report is a public report of a bootstrap that failed, and what its bundle holds.
// The files of a healthy bootstrap up to Moment come by themselves, in the layout
// that installer-gather.sh of Release writes.
//
// Source: openshift/installer data/data/bootstrap/files/usr/local/bin/installer-gather.sh,
// installer-masters-gather.sh and bootkube.sh.template, 4.1 to main.
type report struct {
	Name    string   `yaml:"name"`
	Source  string   `yaml:"source"`
	Release string   `yaml:"release"`
	Want    []string `yaml:"want"` // a cause; or healthy, in-progress, unknown:LAYER, harmless:ID, platform:NAME

	Moment      string `yaml:"moment"`      // one of reportMoments: what was under way
	Minutes     int    `yaml:"minutes"`     // from the boot to the gathering; 75 unless told
	Stage       string `yaml:"stage"`       // of bootkube.sh, as its record calls it
	Tries       int    `yaml:"tries"`       // how often a unit failed; 3 unless told
	Lastrunning int    `yaml:"lastrunning"` // minutes that the last try is under way
	Running     bool   `yaml:"running"`     // nothing has failed
	Status      int    `yaml:"status"`      // of the unit that failed; 1 unless told
	Platform    string `yaml:"platform"`
	Expired     bool   `yaml:"expired"` // the certificates of 24 hours have ended
	APIUp       *bool  `yaml:"apiup"`

	Pull      string               `yaml:"pull"` // what each try of release-image.service prints
	PullEnds  bool                 `yaml:"pullends"`
	PullFirst string               `yaml:"pullfirst"` // what it printed before it came right
	Bootkube  string               `yaml:"bootkube"`  // what each failed try of bootkube.sh prints
	Waits     string               `yaml:"waits"`     // what it repeats without an end
	Unit      string               `yaml:"unit"`      // another unit that fails, and what each try prints
	Journal   string               `yaml:"journal"`
	Early     map[string]string    `yaml:"early"` // lines from the beginning, by journal; @journal is the whole one
	Late      map[string]string    `yaml:"late"`  // and from the end
	Records   [][2]string          `yaml:"records"`
	Console   string               `yaml:"console"` // of a master
	Worker    string               `yaml:"worker"`  // the console of a worker
	Partial   bool                 `yaml:"partial"` // the bootstrap is done, and the installation is not
	Nodes     string               `yaml:"nodes"`   // none, notready, silent or ready
	CSRs      [][]string           `yaml:"csrs"`
	Master    map[string]string    `yaml:"master"` // files of a master
	Units     []string             `yaml:"failedunits"`
	Operators []reportOperator     `yaml:"operators"`
	Container map[string]reportLog `yaml:"containers"`
}

type reportOperator struct {
	Name, Type, Status, Reason, Message string
}

type reportLog struct {
	None    bool // the container was never created
	Running bool
	Reason  string
	Exit    int
	Attempt int
	Log     string // as of a healthy one where it is empty
	Before  string // the log of the attempt before
}

// reportMoments in the order of a bootstrap.
var reportMoments = []string{"pull", "pivot-os", "node-image", "crio", "kubelet", "render", "etcd", "control-plane", "names", "masters", "pivot", "done"}

func (r *report) past(moment string) bool {
	return slices.Index(reportMoments, r.Moment) > slices.Index(reportMoments, moment)
}

// reported is when the machine of a report booted.
var reported = time.Date(2026, 1, 2, 5, 0, 0, 0, time.UTC)

func (r *report) end() time.Time { return reported.Add(time.Duration(r.Minutes) * time.Minute) }

// bundleOf builds the files of one report.
type bundleOf struct {
	*report
	t        *testing.T
	plan     *labs.Plan
	files    map[string]string
	journals map[string]*bytes.Buffer
	records  map[string][]map[string]string
	noise    func(journal string) string // lines between the others, for the real size
}

// write makes the bundle below dir and returns its directory.
func (r *report) write(t *testing.T, dir string, noise func(string) string) string {
	t.Helper()
	r.fill()
	b := &bundleOf{report: r, t: t, files: map[string]string{}, journals: map[string]*bytes.Buffer{}, records: map[string][]map[string]string{}, noise: noise}
	b.plan = planOf(t, "compact", r.known())
	b.build()
	root := filepath.Join(dir, "log-bundle-"+r.end().In(time.Local).Format("20060102150405"))
	for name, text := range b.files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, r.end(), r.end()); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// fill puts in what is not told.
func (r *report) fill() {
	if r.Minutes == 0 {
		r.Minutes = 75
	}
	if r.Tries == 0 {
		r.Tries = 3
	}
	if r.Status == 0 {
		r.Status = 1
	}
	if r.Platform == "" {
		r.Platform = "None"
	}
}

// minor is the release's second number.
func (r *report) minor() int {
	var major, minor int
	fmt.Sscanf(r.Release, "%d.%d", &major, &minor)
	return minor
}

// known is the release of the catalog that is nearest.
func (r *report) known() string {
	ids := labs.Builtin().ReleaseIDs()
	if slices.Contains(ids, r.Release) {
		return r.Release
	}
	return ids[0]
}

// at is a moment of the bootstrap in minutes, squeezed into short ones.
func (b *bundleOf) at(minute float64) time.Time {
	if length := float64(b.Minutes); length < 20 && b.past("pull") {
		minute = minute * length / 20
	}
	return reported.Add(time.Duration(minute * float64(time.Minute)))
}

var identifier = regexp.MustCompile(`^([@()A-Za-z0-9_.-]+)(\[[0-9]+\])?: (.*)$`)

// log writes lines into a journal, as journalctl --output=short shows them.
func (b *bundleOf) log(journal, ident string, at time.Time, text string) {
	j := b.journals[journal]
	if j == nil {
		j = &bytes.Buffer{}
		b.journals[journal] = j
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		who, pid := ident, "[1843]"
		if m := identifier.FindStringSubmatch(line); m != nil && ident == "" {
			who, line = m[1], m[3]
			if m[2] != "" {
				pid = m[2]
			}
		}
		if who == "systemd" && pid == "[1843]" {
			pid = "[1]"
		}
		fmt.Fprintf(j, "%s bootstrap %s%s: %s\n", at.Format("Jan 02 15:04:05"), who, pid, line)
	}
	if b.noise != nil {
		j.WriteString(b.noise(journal))
	}
}

func (b *bundleOf) record(service, phase, stage, result string, at time.Time, message string) {
	e := map[string]string{"timestamp": at.Format("2006-01-02T15:04:05Z"), "phase": phase}
	for key, value := range map[string]string{"stage": stage, "result": result, "errorMessage": message} {
		if value != "" {
			e[key] = value
		}
	}
	b.records[service] = append(b.records[service], e)
}

// has says whether the release's services keep records: since 4.8.
func (b *bundleOf) hasRecords() bool { return b.minor() >= 8 }

func (b *bundleOf) build() {
	for journal, text := range b.Early {
		b.log(journal, "", b.at(1), text)
	}
	b.release()
	b.units()
	if b.past("kubelet") {
		b.bootkube()
	}
	for journal, text := range b.Late {
		b.log(journal, "", b.end().Add(-5*time.Minute), text)
	}
	b.containers()
	b.resources()
	b.masters()
	b.rendered()
	b.rest()
}

// release is release-image.service.
func (b *bundleOf) release() {
	const image = "quay.io/openshift-release-dev/ocp-release@sha256:a1b2"
	b.record("release-image", "service start", "", "", b.at(0.2), "")
	b.record("release-image", "stage start", "pull-release-image", "", b.at(0.2), "")
	b.log("release-image", "systemd", b.at(0.2), "Starting Download the OpenShift Release Image...")
	b.log("release-image", "release-image-download.sh", b.at(0.2), "Pulling "+image+"...")
	fails := func(text string, at time.Time) {
		b.log("release-image", "release-image-download.sh", at, text)
		b.record("release-image", "stage end", "pull-release-image", "failure", at, text)
		b.log("release-image", "release-image-download.sh", at, "Pull failed. Retrying "+image+"...")
		b.record("release-image", "stage start", "pull-release-image", "", at, "")
	}
	if b.PullFirst != "" {
		fails(b.PullFirst, b.at(0.3))
		fails(b.PullFirst, b.at(0.5))
	}
	if b.Pull != "" && b.PullEnds {
		for i := range b.Tries {
			at := b.at(float64(b.Minutes) * float64(i+1) / float64(b.Tries+1))
			b.log("release-image", "release-image-download.sh", at, b.Pull)
			b.failed("release-image", "release-image.service", "Download the OpenShift Release Image", at, i)
			b.record("release-image", "stage end", "pull-release-image", "failure", at, b.Pull)
			b.record("release-image", "service end", "", "failure", at, b.Pull)
			b.record("release-image", "service start", "", "", at, "")
			b.record("release-image", "stage start", "pull-release-image", "", at, "")
		}
		return
	}
	if b.Pull != "" {
		for i := range 8 {
			fails(b.Pull, b.at(float64(b.Minutes)*float64(i+1)/9))
		}
		return
	}
	if b.Moment == "pull" {
		return
	}
	b.log("release-image", "release-image-download.sh", b.at(0.8), "7df5b82029357ab3601bec214038b683e20603bbbd2e99e447aba5e50e56d607")
	b.log("release-image", "podman", b.at(0.8), "2026-01-02 05:00:48.438543 +0000 UTC m=+0.09 container create 04e72c735752 (image="+image+", name=mystifying_antonelli, io.openshift.release="+b.Release+".0-0.okd-2026-01-01-132511)")
	b.log("release-image", "systemd", b.at(0.8), "Finished Download the OpenShift Release Image.")
	b.record("release-image", "stage end", "pull-release-image", "success", b.at(0.8), "")
	b.record("release-image", "stage start", "image-metadata-arches-match", "", b.at(0.8), "")
	b.record("release-image", "stage end", "image-metadata-arches-match", "success", b.at(0.8), "")
	b.record("release-image", "service end", "", "success", b.at(0.8), "")
}

// failed is what systemd says of the end of a try, and of the next.
func (b *bundleOf) failed(journal, unit, description string, at time.Time, try int) {
	b.log(journal, "systemd", at, fmt.Sprintf("%s: Main process exited, code=exited, status=%d/n/a\n%s: Failed with result 'exit-code'.", unit, b.Status, unit))
	if b.Lastrunning == 0 && try == b.Tries-1 {
		return
	}
	b.log(journal, "systemd", at.Add(5*time.Second), fmt.Sprintf("%s: Scheduled restart job, restart counter is at %d.\nStopped %s.", unit, try+1, description))
}

var descriptions = map[string]string{"kubelet.service": "Kubernetes Kubelet", "crio.service": "Container Runtime Interface for OCI (CRI-O)",
	"crio-configure.service": "Configure CRI-O to use the pause image", "node-image-pull.service": "Node Image Pull", "release-image-pivot.service": "Pivot bootstrap to the OpenShift Release Image"}

// unitJournal is the journal of the bundle that holds a unit's lines.
func unitJournal(unit string) string {
	switch name := strings.TrimSuffix(unit, ".service"); name {
	case "crio-configure", "crio", "kubelet":
		return name
	}
	return "@journal"
}

// units are those between the pull and bootkube.
func (b *bundleOf) units() {
	for _, u := range []struct{ unit, moment, journal, line string }{
		{"node-image-pull.service", "node-image", "@journal", "node-image-pull.sh: Target node image is quay.io/okd/scos-content@sha256:f864\nnode-image-pull.sh: Checking out node image content"},
		{"crio-configure.service", "crio", "crio-configure", ""},
		{"crio.service", "crio", "crio", ""},
		{"kubelet.service", "kubelet", "kubelet", ""},
	} {
		if b.Unit == u.unit || !b.past(u.moment) || (u.unit == "node-image-pull.service" && b.minor() < 19) {
			continue
		}
		d := descriptions[u.unit]
		b.log(u.journal, "systemd", b.at(1.1), "Starting "+d+"...")
		if u.line != "" {
			b.log(u.journal, "", b.at(1.1), u.line)
		}
		b.log(u.journal, "systemd", b.at(1.2), "Started "+d+".")
		if u.unit == "kubelet.service" {
			for _, pod := range []string{"etcd-bootstrap-member-bootstrap", "bootstrap-kube-apiserver-bootstrap"} {
				b.log("kubelet", "kubelet.sh", b.at(2.5), `I0102 05:02:30.610489    2251 kubelet.go:2421] "SyncLoop ADD" source="file" pods=[openshift/`+pod+"]")
			}
			b.log("kubelet", "kubelet.sh", b.end().Add(-10*time.Second), `I0102 06:14:40.609150    2251 kubelet_node_status.go:413] "Setting node annotation to enable volume controller attach/detach"`)
		}
	}
	if b.Unit == "" {
		return
	}
	journal := unitJournal(b.Unit)
	for i := range b.Tries {
		at := b.end().Add(-time.Duration(b.Tries-i) * 30 * time.Second)
		b.log(journal, "systemd", at, "Starting "+descriptions[b.Unit]+"...")
		b.log(journal, "", at, b.Journal)
		b.failed(journal, b.Unit, descriptions[b.Unit], at, i)
	}
	b.Units = append(b.Units, b.Unit)
}

// bootkubeSays are the lines of bootkube.sh at the beginning of stages.
var bootkubeSays = map[string]string{"openshift-manifests": "Moving OpenShift manifests in with the rest of them", "cvo-bootstrap": "Rendering Cluster Version Operator Manifests...",
	"etcd-bootstrap": "Rendering CEO Manifests...", "config-bootstrap": "Rendering cluster config manifests...", "kube-apiserver-bootstrap": "Rendering Kubernetes API server core manifests...",
	"kube-controller-manager-bootstrap": "Rendering Kubernetes Controller Manager core manifests...", "kube-scheduler-bootstrap": "Rendering Kubernetes Scheduler core manifests...",
	"ingress-operator-bootstrap": "Rendering Ingress Operator core manifests...", "mco-bootstrap": "Rendering MCO manifests...", "cco-bootstrap": "Rendering CCO manifests...",
	"wait-for-etcd": "Waiting for etcd bootstrap...", "cb-bootstrap": "Starting cluster-bootstrap...", "wait-for-ceo": "Waiting for CEO to finish...", "cvo-overrides": "Restoring CVO overrides"}

// stages are those of bootkube.sh in the plan's order.
func (b *bundleOf) stages() []*labs.Stage {
	var all []*labs.Stage
	for _, s := range b.plan.Stages {
		if s.Bootkube != "" && !strings.HasPrefix(s.RecordName(), "resolve") && !strings.HasPrefix(s.RecordName(), "check") {
			all = append(all, s)
		}
	}
	return all
}

// reached is the stage that is under way or failed.
func (b *bundleOf) reached() string {
	if b.Stage != "" {
		return b.Stage
	}
	return map[string]string{"render": "", "etcd": "wait-for-etcd", "control-plane": "cb-bootstrap", "names": "cb-bootstrap", "masters": "cb-bootstrap", "pivot": "wait-for-ceo", "done": ""}[b.Moment]
}

func (b *bundleOf) bootkube() {
	start := func(at time.Time) {
		b.record("bootkube", "service start", "", "", at, "")
		b.log("bootkube", "systemd", at, "Started Bootstrap a Kubernetes cluster.")
	}
	start(b.at(1.5))
	reached, minute := b.reached(), 1.6
	none := reached == "" && b.Moment == "render"
	for _, s := range b.stages() {
		if none {
			break
		}
		name := s.RecordName()
		b.begin(name, b.at(minute))
		if name == reached {
			break
		}
		if name == "cb-bootstrap" {
			b.controlPlane(b.at(minute))
			minute += 20
		}
		minute += 0.4
		b.record("bootkube", "stage end", name, "success", b.at(minute), "")
		if m := s.Marker(); m != "" && b.hasRecords() {
			b.files["rendered-assets/openshift/"+m] = ""
		}
	}
	for _, e := range b.Records {
		b.record("bootkube", "stage start", e[0], "", b.at(minute), "")
		b.record("bootkube", "stage end", e[0], e[1], b.at(minute), "")
	}
	if b.Moment == "done" {
		b.log("bootkube", "bootkube.sh", b.at(minute), "bootkube.service complete")
		b.log("bootkube", "systemd", b.at(minute), "bootkube.service: Deactivated successfully.")
		b.record("bootkube", "service end", "", "success", b.at(minute), "")
		b.files["rendered-assets/openshift/.bootkube.done"] = ""
		return
	}
	b.last(reached, minute, start)
}

func (b *bundleOf) begin(stage string, at time.Time) {
	if line := bootkubeSays[stage]; line != "" {
		b.log("bootkube", "bootkube.sh", at, line)
	}
	b.record("bootkube", "stage start", stage, "", at, "")
}

// controlPlane is what cluster-bootstrap prints while all is well.
func (b *bundleOf) controlPlane(at time.Time) {
	b.log("bootkube", "bootkube.sh", at, "Starting temporary bootstrap control plane...\nWaiting up to 20m0s for the Kubernetes API\n"+
		"Still waiting for the Kubernetes API: Get \"https://localhost:6443/readyz\": dial tcp [::1]:6443: connect: connection refused")
	b.log("bootkube", "bootkube.sh", at.Add(40*time.Second), "API is up")
}

// last is the stage that is under way: it fails again and again, or waits.
func (b *bundleOf) last(stage string, minute float64, start func(time.Time)) {
	if b.Waits == "" && b.Bootkube == "" {
		if stage == "cb-bootstrap" && b.apiUp() {
			b.controlPlane(b.at(minute))
		}
		if b.Running {
			return
		}
	}
	if b.Waits != "" {
		if stage == "cb-bootstrap" {
			b.log("bootkube", "bootkube.sh", b.at(minute), "Starting temporary bootstrap control plane...")
		}
		for i := range 10 {
			b.log("bootkube", "bootkube.sh", b.at(minute+float64(i)*(float64(b.Minutes)-minute)/10.5), b.Waits)
		}
		return
	}
	text := b.Bootkube
	if text == "" { // cluster-bootstrap gives up after 20 minutes, and for the API after as many
		text = "Error: error while checking pod status: timed out waiting for the condition\nTearing down temporary bootstrap control plane...\nError: error while checking pod status: timed out waiting for the condition"
		if !b.apiUp() {
			text = "Error: context deadline exceeded"
		}
	}
	step := (float64(b.Minutes) - minute - float64(b.Lastrunning)) / float64(b.Tries)
	for i := range b.Tries {
		if b.Lastrunning > 0 && i == b.Tries-1 {
			return // it is under way
		}
		at := b.end().Add(-time.Duration((float64(b.Tries-i-1)*step + float64(b.Lastrunning)) * float64(time.Minute)))
		b.log("bootkube", "bootkube.sh", at.Add(-2*time.Second), text)
		if stage != "" {
			b.record("bootkube", "stage end", stage, "failure", at.Add(-time.Second), text)
		}
		b.record("bootkube", "service end", "", "failure", at.Add(-time.Second), text)
		b.failed("bootkube", "bootkube.service", "Bootstrap a Kubernetes cluster", at.Add(-time.Second), i)
		if i < b.Tries-1 {
			start(at.Add(5 * time.Second))
			if stage != "" {
				b.begin(stage, at.Add(6*time.Second))
			}
			if stage == "cb-bootstrap" && b.Bootkube == "" && b.apiUp() {
				b.controlPlane(at.Add(7 * time.Second))
			}
		}
	}
}

// apiUp says whether the temporary API server answers.
func (b *bundleOf) apiUp() bool {
	if b.APIUp != nil {
		return *b.APIUp
	}
	return b.past("names") || b.Nodes != ""
}

func containerID(name string, attempt int) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(name, attempt)))
	return hex.EncodeToString(sum[:])
}

func (b *bundleOf) containers() {
	all := map[string]reportLog{}
	if b.past("etcd") {
		all["etcd"] = reportLog{Running: true, Log: `{"level":"info","ts":"2026-01-02T05:10:16.707Z","caller":"embed/serve.go:98","msg":"ready to serve client requests"}`}
	}
	if b.apiUp() {
		all["kube-apiserver"] = reportLog{Running: true, Log: "I0102 05:12:12.113121       1 secure_serving.go:213] Serving securely on [::]:6443"}
		all["machine-config-server"] = reportLog{Running: true, Log: "I0102 05:16:17.901441       1 api.go:74] Launching server on :22624\nI0102 05:16:17.901441       1 api.go:74] Launching server on :22623\n" +
			`I0102 05:17:17.801441       1 api.go:116] Pool master requested by address:"192.0.2.21:51234" User-Agent:"Ignition/2.15.0"`}
	}
	if b.Console != "" && !strings.Contains(b.Console, "GET result: ") {
		all["machine-config-server"] = reportLog{Running: true, Log: "I0102 05:16:17.901441       1 api.go:74] Launching server on :22623"}
	}
	for name, log := range b.Container {
		if log.None {
			delete(all, name)
			continue
		}
		if log.Log == "" {
			log.Log = all[name].Log
		}
		all[name] = log
	}
	for name, log := range all {
		state := "CONTAINER_RUNNING"
		if !log.Running {
			state = "CONTAINER_EXITED"
		}
		id := containerID(name, log.Attempt)
		reason := log.Reason
		if reason == "" && !log.Running {
			reason = "Error"
		}
		inspect := map[string]any{"status": map[string]any{"id": id, "metadata": map[string]any{"name": name, "attempt": log.Attempt}, "state": state,
			"createdAt": b.end().Add(-10 * time.Minute).Format(time.RFC3339Nano), "exitCode": log.Exit, "reason": reason}}
		text, _ := json.MarshalIndent(inspect, "", "  ")
		b.files["bootstrap/containers/"+name+"-"+id+".inspect"] = string(text)
		b.files["bootstrap/containers/"+name+"-"+id+".log"] = strings.TrimRight(log.Log, "\n") + "\n"
		if log.Before == "" {
			log.Before = "I0102 05:20:12.113121       1 an attempt before"
		} else if log.Attempt == 0 {
			b.t.Fatal(name + " has an attempt before the first")
		}
		if log.Attempt > 0 { // an older attempt, whose id may come later
			old := containerID(name, log.Attempt-1)
			inspect["status"].(map[string]any)["id"] = old
			inspect["status"].(map[string]any)["state"] = "CONTAINER_EXITED"
			inspect["status"].(map[string]any)["reason"] = "Error"
			inspect["status"].(map[string]any)["createdAt"] = b.end().Add(-20 * time.Minute).Format(time.RFC3339Nano)
			text, _ := json.MarshalIndent(inspect, "", "  ")
			b.files["bootstrap/containers/"+name+"-"+old+".inspect"] = string(text)
			b.files["bootstrap/containers/"+name+"-"+old+".log"] = strings.TrimRight(log.Before, "\n") + "\n"
		}
	}
}

var reportMasters = []string{"master-0", "master-1", "master-2"}

func (b *bundleOf) resources() {
	names := []string{"apiservices", "clusteroperators", "clusterversion", "configmaps", "csr", "endpoints", "events", "kubeapiserver", "kubecontrollermanager", "machineconfigpools", "machineconfigs", "namespaces", "nodes", "openshiftapiserver", "pods", "rolebindings", "roles", "services"}
	if b.minor() >= 12 {
		names = append(names, "etcd", "kubescheduler")
	}
	if !b.apiUp() {
		for _, n := range names {
			b.files["resources/"+n+".json"] = ""
		}
		return
	}
	list := func(items ...any) string {
		if items == nil {
			items = []any{}
		}
		text, _ := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]string{"resourceVersion": ""}}, "", "    ")
		return string(text) + "\n"
	}
	for _, n := range names {
		b.files["resources/"+n+".json"] = list()
	}
	object := func(namespace, name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name, "creationTimestamp": b.at(12).Format(time.RFC3339)}}
	}
	b.files["resources/namespaces.json"] = list(object("", "default"), object("", "kube-system"))
	maps := []any{object("kube-system", "root-ca")}
	if b.Moment == "done" || (b.Moment == "pivot" && b.Operators != nil) {
		done := object("kube-system", "bootstrap")
		done["metadata"].(map[string]any)["creationTimestamp"] = b.at(26).Format(time.RFC3339)
		done["data"] = map[string]any{"status": "complete"}
		maps = append(maps, done)
	}
	b.files["resources/configmaps.json"] = list(maps...)
	b.nodes(list)
	b.clusterState(list, object)
	var csrs []any
	for i, c := range b.CSRs {
		request := "-----BEGIN CERTIFICATE REQUEST-----\n" + base64.StdEncoding.EncodeToString([]byte("0..U\x04\x03\x13"+string(rune(len("system:node:"+c[2])))+"system:node:"+c[2]+" ")) + "\n-----END CERTIFICATE REQUEST-----\n"
		one := map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("csr-%d", i), "creationTimestamp": b.at(30).Format(time.RFC3339)},
			"spec":   map[string]any{"signerName": c[1], "username": "system:serviceaccount:openshift-machine-config-operator:" + c[0], "request": base64.StdEncoding.EncodeToString([]byte(request))},
			"status": map[string]any{}}
		if len(c) > 3 {
			one["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "lastUpdateTime": b.at(31).Format(time.RFC3339), "lastTransitionTime": b.at(31).Format(time.RFC3339)}}}
		}
		csrs = append(csrs, one)
	}
	b.files["resources/csr.json"] = list(csrs...)
}

func (b *bundleOf) nodes(list func(...any) string) {
	if b.Nodes != "ready" && b.Nodes != "notready" && b.Nodes != "silent" {
		return
	}
	var nodes []any
	for i, name := range reportMasters {
		status, message := "True", "kubelet is posting ready status"
		switch b.Nodes {
		case "silent":
			status, message = "Unknown", "Kubelet stopped posting node status."
		case "notready":
			status, message = "False", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: No CNI configuration file in /etc/kubernetes/cni/net.d/. Has your network provider started?"
		}
		nodes = append(nodes, map[string]any{"metadata": map[string]any{"name": name, "creationTimestamp": b.at(15).Format(time.RFC3339), "labels": map[string]string{"node-role.kubernetes.io/master": ""}},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status, "message": message, "reason": "KubeletNotReady", "lastTransitionTime": b.at(16).Format(time.RFC3339), "lastHeartbeatTime": b.end().Add(-30 * time.Second).Format(time.RFC3339)}},
				"addresses": []any{map[string]string{"type": "InternalIP", "address": fmt.Sprintf("192.0.2.%d", 21+i)}}}})
	}
	b.files["resources/nodes.json"] = list(nodes...)
	b.files["resources/masters.list"] = strings.Join(reportMasters, "\n") + "\n"
}

// clusterState is what the operators say of themselves, when masters are there.
func (b *bundleOf) clusterState(list func(...any) string, object func(string, string) map[string]any) {
	condition := func(kind, status, reason, message string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": b.at(20).Format(time.RFC3339)}
	}
	done := b.Moment == "done" || b.Moment == "pivot" && b.Operators != nil
	version := object("", "version")
	available, installed := "False", "False"
	if done {
		available, installed = "True", "True"
	}
	if b.Partial {
		installed = "False"
	}
	version["status"] = map[string]any{"conditions": []any{condition("Available", installed, "", "Done applying "+b.Release), condition("Failing", "False", "", "")},
		"history": []any{map[string]any{"state": "Partial", "startedTime": b.at(13).Format(time.RFC3339), "version": b.Release + ".1"}}}
	b.files["resources/clusterversion.json"] = list(version)
	if b.Nodes != "ready" && b.Operators == nil {
		return
	}
	var operators []any
	names := []string{"etcd", "kube-apiserver", "network", "machine-api"}
	for _, told := range b.Operators {
		if !slices.Contains(names, told.Name) {
			names = append(names, told.Name)
		}
	}
	for _, name := range names {
		o := object("", name)
		conditions := []any{condition("Available", "True", "AsExpected", ""), condition("Degraded", "False", "AsExpected", "")}
		for _, told := range b.Operators {
			if told.Name == name {
				conditions = []any{condition("Available", "False", told.Reason, told.Message), condition(told.Type, told.Status, told.Reason, told.Message)}
			}
		}
		o["status"] = map[string]any{"conditions": conditions}
		operators = append(operators, o)
	}
	b.files["resources/clusteroperators.json"] = list(operators...)
	for _, n := range []string{"etcd", "kubeapiserver", "kubecontrollermanager", "kubescheduler"} {
		if _, ok := b.files["resources/"+n+".json"]; !ok {
			continue
		}
		o := object("", "cluster")
		var revisions []any
		for _, m := range reportMasters {
			revision := 0
			if done {
				revision = 4
			}
			revisions = append(revisions, map[string]any{"nodeName": m, "currentRevision": revision})
		}
		o["status"] = map[string]any{"nodeStatuses": revisions, "conditions": []any{condition("EtcdRunningInCluster", available, "", ""), condition("EtcdBootstrapMemberRemoved", available, "", ""), condition("EtcdMembersDegraded", "False", "", "")}}
		b.files["resources/"+n+".json"] = list(o)
	}
}

func (b *bundleOf) masters() {
	if b.Console != "" {
		b.files["serial/lab-master-0-serial.log"] = b.Console
	}
	if b.Worker != "" {
		b.files["serial/lab-worker-0-serial.log"] = b.Worker
	}
	for name, text := range b.Master {
		if strings.HasSuffix(name, ".log") {
			old := b.journals
			b.journals = map[string]*bytes.Buffer{}
			b.log("x", "", b.end().Add(-2*time.Minute), text)
			if j := b.journals["x"]; j != nil {
				text = strings.ReplaceAll(j.String(), " bootstrap ", " master-0 ")
			}
			b.journals = old
		}
		b.files["control-plane/192.0.2.21/"+name] = text
	}
	if b.Master != nil {
		b.files["control-plane/192.0.2.21/network/hostname.txt"] = "master-0\n"
	}
}

// rendered are the assets that the gathering copies.
func (b *bundleOf) rendered() {
	infra := "apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata:\n  creationTimestamp: null\n  name: cluster\nspec:\n  platformSpec:\n    type: " + b.Platform +
		"\nstatus:\n  apiServerInternalURI: https://api-int.lab.example.com:6443\n  apiServerURL: https://api.lab.example.com:6443\n  controlPlaneTopology: HighlyAvailable\n  infrastructureName: lab-x7k2p\n  infrastructureTopology: HighlyAvailable\n  platform: " + b.Platform + "\n"
	b.files["rendered-assets/openshift/manifests/cluster-infrastructure-02-config.yml"] = infra
	b.files["rendered-assets/openshift/manifests/cluster-dns-02-config.yml"] = "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata:\n  name: cluster\nspec:\n  baseDomain: lab.example.com\n"
	b.files["rendered-assets/openshift/manifests/cluster-config.yaml"] = "apiVersion: v1\ndata:\n  install-config: |\n    apiVersion: v1\n    baseDomain: example.com\n    controlPlane:\n      name: master\n      replicas: 3\n    metadata:\n      name: lab\n    networking:\n      machineNetwork:\n      - cidr: 192.0.2.0/24\n    platform:\n      none: {}\nkind: ConfigMap\nmetadata:\n  name: cluster-config-v1\n  namespace: kube-system\n"
	if b.past("kubelet") {
		from := reported.Add(-time.Hour)
		if b.Expired {
			from = reported.Add(-30 * time.Hour)
		}
		for _, name := range []string{"kube-apiserver-localhost-server", "kube-apiserver-lb-server", "kubelet-signer", "admin-kubeconfig-client"} {
			b.files["rendered-assets/openshift/tls/"+name+".crt"] = certificateFrom(b.t, name, from)
		}
	}
}

func certificateFrom(t *testing.T, name string, from time.Time) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: from.Add(24 * time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// rest are the files that every bundle has.
func (b *bundleOf) rest() {
	units := "  UNIT LOAD ACTIVE SUB DESCRIPTION\n"
	for _, u := range b.Units {
		units += "* " + u + " loaded failed failed " + descriptions[u] + "\n"
	}
	b.files["failed-units.txt"] = units + fmt.Sprintf("\n%d loaded units listed.\n", len(b.Units))
	b.files["gather.log"] = "Gathering bootstrap systemd summary ...\nGathering bootstrap journals ...\n"
	b.files["bootstrap/network/ip-addr.txt"] = "2: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500\n    inet 192.0.2.20/24 brd 192.0.2.255 scope global noprefixroute ens3\n"
	b.files["bootstrap/network/ip-route.txt"] = "default via 192.0.2.1 dev ens3 proto static metric 100\n"
	if b.minor() >= 5 {
		b.files["bootstrap/network/hostname.txt"] = "bootstrap\n"
	}
	whole := b.journals["@journal"]
	for _, name := range []string{"release-image", "crio-configure", "bootkube", "kubelet", "crio", "approve-csr", "ironic", "master-bmh-update"} {
		text := "-- No entries --\n"
		if j := b.journals[name]; j != nil {
			text = "-- Logs begin at Fri 2026-01-02 05:00:00 UTC, end at " + b.end().Format("Mon 2006-01-02 15:04:05") + " UTC. --\n" + sorted(j.String())
		}
		b.files["bootstrap/journals/"+name+".log"] = text
	}
	if whole != nil && b.Unit != "" {
		b.files["unit-status/"+b.Unit+".log"] = sorted(whole.String())
	}
	if whole != nil {
		b.files["bootstrap/journals/journal.log.gz"] = zipped(b.t, withUnits(sorted(whole.String())))
		for _, u := range b.Units {
			b.files["unit-status/"+u+".log"] = sorted(whole.String())
		}
	}
	if !b.hasRecords() {
		return
	}
	for service, entries := range b.records {
		text, _ := json.MarshalIndent(entries, "", "  ")
		b.files["bootstrap/services/"+service+".json"] = string(text) + "\n"
	}
}

// sorted puts the lines of a journal into the order of their times.
func sorted(journal string) string {
	lines := strings.SplitAfter(journal, "\n")
	slices.SortStableFunc(lines, func(x, y string) int {
		if len(x) < 15 || len(y) < 15 {
			return len(y) - len(x)
		}
		return strings.Compare(x[:15], y[:15])
	})
	return strings.Join(lines, "")
}

// withUnits is journalctl --output=with-unit: the unit stands where the name of
// the program was.
func withUnits(journal string) string {
	return regexp.MustCompile(`(?m)^(\S+ \S+ \S+) bootstrap (\S+?)(\.sh)?(\[[0-9]+\]): `).ReplaceAllStringFunc(journal, func(head string) string {
		unit := "node-image-pull.service"
		if strings.Contains(head, "echo[") {
			unit = "node-image-finish.service"
		}
		m := regexp.MustCompile(`^(\S+ \S+ \S+) bootstrap \S+?(\[[0-9]+\]): `).FindStringSubmatch(head)
		return "Fri 2026-01-02 " + strings.Fields(m[1])[2] + " UTC bootstrap " + unit + m[2] + ": "
	})
}
