package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// reader turns what was found into rows.
type reader struct {
	scene *Scene
	plan  *labs.Plan
	now   time.Time
}

// read fills a snapshot of a lab with machines.
func (r *reader) read(s *Status) {
	bootstrap := r.plan.Lab.Machines.Bootstrap.Name
	s.Rows = []Row{r.machines(), r.units(bootstrap), r.pods(bootstrap), r.members(), r.apiEnds(), r.configServer(bootstrap),
		r.requests(), r.masters(), r.revisions(), r.operators()}
	s.Stages = r.stages(bootstrap)
	s.Log = r.log(bootstrap, s)
	s.Phase = r.phase()
}

// row begins a row that is made from one thing found; its text is empty if that
// was never had.
func (r *reader) row(id, title, eye, evidence string) (Row, []byte) {
	f := r.scene.found[eye][evidence]
	return Row{ID: id, Title: title, Seen: seenAt(f), Problem: r.problem(eye, f)}, f.Text
}

// seenAt is when there was an answer last; zero if there never was.
func seenAt(f host.Found) time.Time {
	if f.Evidence == nil || len(f.Text) == 0 {
		return time.Time{}
	}
	return f.At
}

// problem is why something is not seen now; empty if it is.
func (r *reader) problem(eye string, f host.Found) string {
	last := r.scene.last[eye]
	switch {
	case last == nil:
		return "not asked yet"
	case last.Problem != "":
		return last.Problem
	case f.Evidence == nil:
		return "not asked"
	case !f.Had:
		return f.Problem
	case f.Status != 0:
		if complaint := lastLine(f.Complaint); complaint != "" {
			return Clean(complaint)
		}
		return "status " + strconv.Itoa(f.Status)
	}
	return ""
}

// machines says of each place whether it answers.
func (r *reader) machines() Row {
	row := Row{ID: "machines", Title: "machines", Seen: r.now}
	all, good := 0, 0
	for _, eye := range r.scene.watch.machines() {
		last := r.scene.last[eye]
		if last == nil {
			continue
		}
		all++
		f := Fact{Name: eye, Value: "answers", Mood: Good, Counted: true}
		if last.Problem != "" {
			f = Fact{Name: eye, Value: last.Problem, Since: r.scene.since[eye]}
			if r.scene.good[eye] != nil {
				f.Mood = Bad
			}
		} else if eye == apiEye {
			if problem := r.problem(eye, r.scene.found[eye]["nodes"]); problem != "" {
				f = Fact{Name: eye, Value: problem}
			}
		}
		if f.Counted {
			good++
		}
		row.Facts = append(row.Facts, f)
	}
	row.Facts = append([]Fact{{Value: fmt.Sprintf("%d of %d answer", good, all)}}, row.Facts...)
	return row
}

// units are the services of the bootstrap node.
func (r *reader) units(eye string) Row {
	row, text := r.row("units", "units", eye, "units")
	row.Facts = unitFacts(text)
	return row
}

// unitFacts reads the blocks of systemctl show. What is not installed is left
// out.
func unitFacts(text []byte) []Fact {
	_, states, _ := strings.Cut(string(text), "# states\n")
	var facts []Fact
	for block := range strings.SplitSeq(states, "\n\n") {
		unit := map[string]string{}
		for line := range strings.Lines(block) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				unit[key] = value
			}
		}
		if unit["Id"] == "" || unit["LoadState"] != "loaded" {
			continue
		}
		f := Fact{Name: Clean(strings.TrimSuffix(unit["Id"], ".service"))}
		f.Value, f.Mood = unitState(unit["ActiveState"], unit["SubState"], unit["Result"])
		if n, _ := strconv.Atoi(unit["NRestarts"]); n > 0 {
			f.Value += ", " + counted(n, "restart")
		}
		facts = append(facts, f)
	}
	return facts
}

// unitState is systemd's state in words.
func unitState(active, sub, result string) (string, Mood) {
	switch {
	case active == "active" && sub == "exited":
		return "done", Good
	case active == "active":
		return Clean(sub), Good
	case active == "activating":
		return "starting (" + Clean(sub) + ")", Working
	case active == "failed":
		return "failed (" + Clean(result) + ")", Bad
	case result != "success" && result != "":
		return Clean(active) + " (" + Clean(result) + ")", Bad
	}
	return Clean(active), Plain
}

// pods are the static pods: the files that the kubelet is given, and what runs
// of them.
func (r *reader) pods(eye string) Row {
	row, text := r.row("pods", "static pods", eye, "containers")
	_, files := r.row("", "", eye, "static-pods")
	n := 0
	for line := range strings.Lines(string(files)) {
		if strings.HasPrefix(line, "-") && !strings.Contains(line, " .") {
			n++
		}
	}
	row.Facts = append([]Fact{{Value: counted(n, "file")}}, podFacts(text, r.plan.Lab.Machines.Bootstrap.Name)...)
	if row.Seen.IsZero() {
		row.Facts = nil
	}
	return row
}

// container is one of crictl ps --output=json.
type container struct {
	Metadata  struct{ Name string }
	State     string
	CreatedAt string
	Labels    map[string]string
	// Attempt is how often the kubelet started it again.
	Attempt int `json:"-"`
}

func (c *container) UnmarshalJSON(data []byte) error {
	type plain container
	var more struct {
		Metadata struct{ Attempt int }
	}
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	err := json.Unmarshal(data, &more)
	c.Attempt = more.Metadata.Attempt
	return err
}

// manyAttempts is when a container that starts again and again is in the way.
const manyAttempts = 3

// podFacts counts the containers of each pod of the control plane, by the newest
// attempt of each.
func podFacts(text []byte, node string) []Fact {
	var list struct{ Containers []container }
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	newest := map[string]map[string]container{}
	var order []string
	for _, c := range list.Containers {
		pod := c.Labels["io.kubernetes.pod.name"]
		if pod == "" {
			continue
		}
		if newest[pod] == nil {
			newest[pod] = map[string]container{}
			order = append(order, pod)
		}
		if old, known := newest[pod][c.Metadata.Name]; !known || old.Attempt <= c.Attempt {
			newest[pod][c.Metadata.Name] = c
		}
	}
	var facts []Fact
	for _, pod := range order {
		run, attempts := 0, 0
		for _, c := range newest[pod] {
			if c.State == "CONTAINER_RUNNING" {
				run++
			} else {
				attempts = max(attempts, c.Attempt)
			}
		}
		f := Fact{Name: Clean(podName(pod, node)), Value: fmt.Sprintf("%d/%d run", run, len(newest[pod])), Mood: Good}
		if run == 0 {
			f.Mood = Working
		}
		if attempts >= manyAttempts {
			f.Mood, f.Value = Bad, f.Value+fmt.Sprintf(", attempt %d", attempts)
		}
		facts = append(facts, f)
	}
	slices.SortFunc(facts, func(a, b Fact) int { return strings.Compare(a.Name, b.Name) })
	return facts
}

// podName is a static pod's name without what all of them have.
func podName(pod, node string) string {
	if at := strings.LastIndex(pod, "-"+node); at > 0 {
		pod = pod[:at]
	}
	return strings.TrimPrefix(pod, "bootstrap-")
}

// members are those of etcd.
func (r *reader) members() Row {
	row, text := r.row("etcd", "etcd", etcdEye, "etcd-members")
	_, health := r.row("", "", etcdEye, "etcd-health")
	row.Facts = memberFacts(text, health)
	return row
}

// memberFacts joins etcdctl's member list with its health, by the address.
func memberFacts(members, health []byte) []Fact {
	var list struct {
		Members []struct {
			Name                 string
			PeerURLs, ClientURLs []string
			IsLearner            bool
		}
	}
	if json.Unmarshal(members, &list) != nil {
		return nil
	}
	var ends []struct {
		Endpoint string
		Health   bool
	}
	healthy, asked := map[string]bool{}, false
	if json.Unmarshal(health, &ends) == nil {
		for _, e := range ends {
			healthy[e.Endpoint], asked = e.Health, true
		}
	}
	voters, learners := 0, 0
	var facts []Fact
	for _, m := range list.Members {
		f := Fact{Name: Clean(m.Name), Value: "voter", Mood: Good}
		if m.IsLearner {
			f.Value, f.Mood = "learner", Working
			learners++
		} else {
			voters++
		}
		switch {
		case m.Name == "":
			f.Name, f.Value, f.Mood = Clean(strings.Join(m.PeerURLs, " ")), "has not started", Working
		case asked && !m.IsLearner && len(m.ClientURLs) > 0 && !healthy[m.ClientURLs[0]]:
			f.Value, f.Mood = f.Value+", not healthy", Bad
		}
		facts = append(facts, f)
	}
	sum := Fact{Value: counted(voters, "voter") + ", " + counted(learners, "learner")}
	return append([]Fact{sum}, facts...)
}

// apiEnds are the three ways to the API, as the bootstrap node finds them.
func (r *reader) apiEnds() Row {
	row, answer := r.row("api", "API", namesEye, "api-answer")
	_, names := r.row("", "", namesEye, "name-answers")
	row.Facts = apiFacts(answer, r.scene.found[namesEye]["api-answer"].Complaint, names)
	if len(row.Facts) > 0 && r.scene.last[namesEye].Problem == "" {
		row.Problem = ""
	}
	return row
}

// apiFacts reads what curl says of localhost, api and api-int. While localhost
// does not answer, the names cannot either.
func apiFacts(answer []byte, complaint string, names []byte) []Fact {
	_, code, asked := strings.Cut(string(answer), "localhost status ")
	if !asked {
		return nil
	}
	here := apiFact("localhost", strings.TrimSpace(code), lastLine(complaint))
	facts := []Fact{here}
	for line := range strings.Lines(string(names)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) < 3 || words[0] != "api" && words[0] != "api-int" {
			continue
		}
		f := Fact{Name: words[0]}
		switch words[1] {
		case "answers":
			code, _, _ := strings.Cut(words[2], " ")
			f = apiFact(f.Name, code, "")
		case "fails":
			f.Value = refusal(words[2])
		default:
			if words[2] != "nothing" {
				continue
			}
			f.Value = "the name is not known"
		}
		if f.Mood == Plain && here.Mood == Good {
			f.Mood = Bad
		}
		facts = append(facts, f)
	}
	return facts
}

func apiFact(name, code, complaint string) Fact {
	switch code {
	case "200":
		return Fact{Name: name, Value: "ready", Mood: Good}
	case "000":
		return Fact{Name: name, Value: refusal(complaint)}
	}
	return Fact{Name: name, Value: "answers " + Clean(code), Mood: Working}
}

// curlWords is what curl says beside the reason: its own status, how long it
// took, which is never the same twice, and in some releases before the reason what
// --write-out asked for.
var curlWords = regexp.MustCompile(`^(000 from [0-9.]*)?(curl: \(\d+\) )?| after \d+ ms`)

// refusal is why curl got no answer.
func refusal(complaint string) string {
	return Clean(strings.TrimSpace(curlWords.ReplaceAllString(complaint, "")))
}

// configServer is the Machine Config Server of the bootstrap node.
func (r *reader) configServer(eye string) Row {
	row, text := r.row("mcs", "MCS", eye, "sockets")
	if row.Seen.IsZero() {
		return row
	}
	f := Fact{Value: "does not listen on 22623 yet"}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 3 && strings.HasSuffix(words[3], ":22623") {
			f = Fact{Value: "listens on 22623", Mood: Good}
		}
	}
	row.Facts = []Fact{f}
	return row
}

// stages are those of the bootstrap node, by its records and markers.
func (r *reader) stages(eye string) []Stage {
	_, records := r.row("", "", eye, "records")
	_, markers := r.row("", "", eye, "markers")
	_, units := r.row("", "", eye, "units")
	there := map[string]bool{}
	for marker := range strings.Lines(string(markers)) {
		there[strings.TrimSpace(marker)] = true
	}
	running := map[string]bool{}
	for _, f := range unitFacts(units) {
		running[f.Name] = f.Mood == Working || f.Mood == Good && f.Value != "done"
	}
	p := &progress{services: services(records), usual: r.scene.watch.usual,
		marked: func(marker string) bool { return there[marker] },
		running: func(service string) bool {
			// A script that does the same by hand is no unit. Whether it is still at
			// work cannot be seen here, so it is trusted.
			return running[service] || !running[bootkube]
		},
	}
	if len(records) == 0 && len(markers) == 0 {
		return nil
	}
	return p.stages(r.plan, labs.OnNode)
}

// largestRecord is how much of each file there is, in bytes.
const largestRecord = 1 << 20

// services are the records that stand behind each other, each behind a line with
// its file.
func services(text []byte) []*record.Service {
	var all []*record.Service
	for _, part := range bytes.Split(append([]byte("\n"), text...), []byte("\n==> "))[1:] {
		file, data, _ := bytes.Cut(part, []byte("\n"))
		data = bytes.TrimRight(data, "\n")
		name := strings.TrimSuffix(string(file[bytes.LastIndexByte(file, '/')+1:]), ".json")
		s := &record.Service{Name: name}
		if len(data) >= largestRecord {
			s.Log = record.ReadEnd(data)
		} else {
			s.Log = record.Read(bytes.NewReader(data))
		}
		all = append(all, s)
	}
	return all
}

// log is the newest of the last lines of scripts and of bootkube.
func (r *reader) log(eye string, s *Status) LogLine {
	_, text := r.row("", "", eye, "last-lines")
	var newest LogLine
	latest := -1.0
	for line := range strings.Lines(string(text)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) < 3 {
			continue
		}
		at, err := strconv.ParseFloat(words[0], 64)
		if err != nil || at <= latest {
			continue
		}
		latest, newest = at, LogLine{Stage: Clean(words[1]), Line: Clean(words[2])}
		// The journal's line names host and process first.
		if _, message, ok := strings.Cut(words[2], "]: "); ok {
			newest = LogLine{Stage: "bootkube", Line: Clean(message)}
		}
	}
	return newest
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
