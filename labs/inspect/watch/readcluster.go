package watch

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"
)

// object is what is read of the API's objects.
type object struct {
	Metadata struct{ Name string }
	Spec     struct {
		Username   string
		SignerName string
		Request    []byte
	}
	Data   map[string]string
	Status struct {
		Conditions              []condition
		LatestAvailableRevision int
		NodeStatuses            []nodeStatus
		History                 []struct {
			State, Version string
		}
	}
}

type condition struct{ Type, Status, Reason, Message string }

type nodeStatus struct {
	NodeName                           string
	CurrentRevision                    int
	TargetRevision, LastFailedRevision int
}

// objects reads a list of the API.
func objects(text []byte) []object {
	var list struct{ Items []object }
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list.Items
}

// is says whether a condition has a status.
func (o *object) is(kind, status string) bool {
	return slices.ContainsFunc(o.Status.Conditions, func(c condition) bool { return c.Type == kind && c.Status == status })
}

// reason is that of a condition.
func (o *object) reason(kind string) string {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return Clean(c.Reason)
		}
	}
	return ""
}

// requests are the certificate signing requests: who waits.
func (r *reader) requests() Row {
	row, text := r.row("csrs", "CSRs", apiEye, "csrs")
	if !row.Seen.IsZero() {
		row.Facts = requestFacts(objects(text))
	}
	return row
}

func requestFacts(all []object) []Fact {
	pending := map[string]int{}
	waiting, approved, denied := 0, 0, 0
	for i := range all {
		o := &all[i]
		switch {
		case o.is("Denied", "True"):
			denied++
		case o.is("Approved", "True"):
			approved++
		default:
			waiting++
			pending[asksFor(o)]++
		}
	}
	sum := Fact{Value: fmt.Sprintf("%d pending, %d approved", waiting, approved)}
	if denied > 0 {
		sum.Value += fmt.Sprintf(", %d denied", denied)
		sum.Mood = Bad
	}
	facts := []Fact{sum}
	for _, who := range sortedKeys(pending) {
		facts = append(facts, Fact{Name: who, Value: fmt.Sprintf("%d pending", pending[who]), Mood: Working})
	}
	return facts
}

// asksFor is who will get the certificate, and what for: a node's first request
// comes from the bootstrapper, and only the request itself names the node.
func asksFor(o *object) string {
	who := o.Spec.Username
	if block, _ := pem.Decode(o.Spec.Request); block != nil {
		if request, err := x509.ParseCertificateRequest(block.Bytes); err == nil && request.Subject.CommonName != "" {
			who = request.Subject.CommonName
		}
	}
	who = strings.TrimPrefix(strings.TrimPrefix(who, "system:node:"), "system:serviceaccount:")
	switch o.Spec.SignerName {
	case "kubernetes.io/kube-apiserver-client-kubelet":
		who += " (client)"
	case "kubernetes.io/kubelet-serving":
		who += " (serving)"
	}
	return Clean(who)
}

// masters are the control plane nodes: from the first answer by SSH, which there
// is when Ignition is done, to Ready.
func (r *reader) masters() Row {
	row, text := r.row("masters", "masters", apiEye, "nodes")
	nodes := map[string]*object{}
	for _, o := range objects(text) {
		nodes[o.Metadata.Name] = &o
	}
	for _, m := range r.plan.Lab.Machines.Masters {
		last := r.scene.last[m.Name]
		if last == nil {
			continue
		}
		// What is known of the machine alone is worth showing too.
		row.Seen = latest(row.Seen, last.At)
		f := Fact{Name: m.Name}
		f.Value, f.Mood = r.master(m.Name, nodes)
		row.Facts = append(row.Facts, f)
	}
	if len(row.Facts) > 0 {
		row.Problem = ""
	}
	return row
}

func (r *reader) master(name string, nodes map[string]*object) (string, Mood) {
	for _, full := range []string{name, name + "." + r.plan.Lab.Domain()} {
		switch o := nodes[full]; {
		case o == nil:
		case o.is("Ready", "True"):
			return "Ready", Good
		default:
			return "NotReady", Working
		}
	}
	if r.scene.good[name] == nil {
		return "no SSH yet", Plain
	}
	if r.scene.last[name].Problem != "" {
		return "no answer by SSH", Plain
	}
	_, text := r.row("", "", name, "master-units")
	for _, f := range unitFacts(text) {
		if f.Name == "kubelet" && f.Mood == Good {
			return "kubelet runs, no node yet", Working
		}
	}
	return "Ignition done, first boot", Working
}

// rolled are the operators that bring static pods to the masters.
var rolled = []struct{ evidence, title string }{
	{"etcd", "etcd"}, {"kubeapiserver", "kube-apiserver"},
	{"kubecontrollermanager", "kube-controller-manager"}, {"kubescheduler", "kube-scheduler"},
}

// revisions are how many nodes have the newest static pods.
func (r *reader) revisions() Row {
	row := Row{ID: "revisions", Title: "revisions"}
	for _, o := range rolled {
		one, text := r.row("", "", apiEye, o.evidence)
		row.Seen = latest(row.Seen, one.Seen)
		if row.Problem == "" {
			row.Problem = one.Problem
		}
		for _, item := range objects(text) {
			row.Facts = append(row.Facts, revisionFact(o.title, &item))
		}
	}
	return row
}

func revisionFact(title string, o *object) Fact {
	newest, at, failed := o.Status.LatestAvailableRevision, 0, ""
	for _, n := range o.Status.NodeStatuses {
		if n.CurrentRevision == newest && newest > 0 {
			at++
		}
		if n.LastFailedRevision > n.CurrentRevision {
			failed = fmt.Sprintf(", revision %d failed on %s", n.LastFailedRevision, Clean(n.NodeName))
		}
	}
	f := Fact{Name: title, Value: fmt.Sprintf("%d of %d nodes at %d%s", at, len(o.Status.NodeStatuses), newest, failed)}
	switch {
	case failed != "":
		f.Mood = Bad
	case newest > 0 && at == len(o.Status.NodeStatuses):
		f.Mood = Good
	case newest > 0:
		f.Mood = Working
	}
	return f
}

// operators are the cluster operators: how many are there, and which are not.
func (r *reader) operators() Row {
	row, text := r.row("operators", "operators", apiEye, "clusteroperators")
	if !row.Seen.IsZero() {
		row.Facts = operatorFacts(objects(text))
	}
	return row
}

func operatorFacts(all []object) []Fact {
	available, progressing, degraded := 0, 0, 0
	var facts []Fact
	for i := range all {
		o := &all[i]
		f := Fact{Name: Clean(o.Metadata.Name), Value: "available", Mood: Good, Counted: true}
		if o.is("Available", "True") {
			available++
		} else {
			f = Fact{Name: f.Name, Value: because("not available", o.reason("Available")), Mood: Working}
		}
		if o.is("Progressing", "True") {
			progressing++
		}
		if o.is("Degraded", "True") {
			degraded++
			f = Fact{Name: f.Name, Value: because("degraded", o.reason("Degraded")), Mood: Bad}
		}
		facts = append(facts, f)
	}
	slices.SortStableFunc(facts, func(a, b Fact) int { return int(b.Mood) - int(a.Mood) })
	sum := Fact{Value: fmt.Sprintf("%d of %d available, %d progressing, %d degraded", available, len(all), progressing, degraded)}
	return append([]Fact{sum}, facts...)
}

func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + " (" + reason + ")"
}

// phase is what the cluster itself says; empty as long as it says nothing.
func (r *reader) phase() string {
	_, version := r.row("", "", apiEye, "clusterversion")
	_, maps := r.row("", "", apiEye, "bootstrap-configmap")
	for _, o := range objects(version) {
		if h := o.Status.History; len(h) > 0 && h[0].State == "Completed" {
			return "the cluster is installed: version " + Clean(h[0].Version)
		}
	}
	for _, o := range objects(maps) {
		if o.Metadata.Name == "bootstrap" && o.Data["status"] == "complete" {
			return "the bootstrap is complete; operators roll out"
		}
	}
	return ""
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

func sortedKeys(counts map[string]int) []string {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	return sorted(keys)
}
