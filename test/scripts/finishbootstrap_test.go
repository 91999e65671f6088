package scripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/controlplane"
)

// gated are releases, one of each way in which progress.service waits, and what
// the cluster says when it need not wait any more.
var gated = map[string]struct {
	says string
	open func(*testing.T, *controlplane.ControlPlane)
}{
	"4.15": {},
	"4.17": {"progress.service says: Waiting for at least 2 available IP addresses", func(t *testing.T, c *controlplane.ControlPlane) {
		c.Apply(t, "apiVersion: v1\nkind: Endpoints\nmetadata: {name: kubernetes, namespace: default}\n"+
			"subsets: [{addresses: [{ip: 192.168.126.20}, {ip: 192.168.126.21}], ports: [{name: https, port: 6443}]}]\n")
	}},
	"4.18": {"progress.service says: Waiting for at least 3 available IP addresses", func(t *testing.T, c *controlplane.ControlPlane) {
		c.SetNodeStatuses(t, apiServerObject, controlplane.NodeStatus{Node: "master-0", Current: 2}, controlplane.NodeStatus{Node: "master-1", Current: 3})
	}},
}

// TestTheBootstrapIsFinished: the end of bootkube.sh, then progress.service, then
// the etcd operator, whose part the test plays.
func TestTheBootstrapIsFinished(t *testing.T) {
	t.Parallel()
	l, c := pivot(t)
	for _, id := range []string{"4.15", "4.17", "4.18"} {
		t.Run(id, func(t *testing.T) {
			l.inRelease(t, id).beforeTheEnd(t)
			s := pivotStage(t, id, "finish-bootstrap")
			if l.analyzed(t, bootkubeRecord) {
				t.Error("analyze calls bootkube successful too early")
			}
			session := l.Start(t, s.ScriptName())
			session.Until(t, "bootkube.service complete")
			if gate := gated[id]; gate.open != nil {
				session.Until(t, "1 of 2: ")
				session.Until(t, gate.says)
				if completed(t, c) != "" {
					t.Error("the ConfigMap was created too early")
				}
				// An API server that runs alone puts its own address back now and then.
				until(t, "the gate opening", func() bool {
					gate.open(t, c)
					time.Sleep(time.Second)
					return strings.Contains(session.said.String(), "Reporting install progress...")
				})
			}
			session.Until(t, "waiting for the etcd operator to remove")
			if got := completed(t, c); got != "complete" {
				t.Errorf("the ConfigMap says %q", got)
			}
			removeMember(t, c)
			r := session.Wait(t)
			r.Want(t, 0, "configmap/bootstrap created", s.ID+" is done")
			for _, note := range s.After {
				if !strings.Contains(words(r.All), words(note.Text)) {
					t.Errorf("nothing was said of %q:\n%s", note.Text, r.All)
				}
			}
			if gated[id].open == nil && strings.Contains(r.All, "topology") {
				t.Errorf("this release asks for no topology:\n%s", r.All)
			}
			allGood(t, l, s)
			l.wantRecords(t)
			l.RunStage(t, s).Want(t, 0, s.ID+" is done already")
			l.wantRecords(t)
		})
	}
}

// wantRecords holds both records to what the services themselves would write.
func (l *Lab) wantRecords(t *testing.T) {
	t.Helper()
	if !l.analyzed(t, bootkubeRecord) || !l.analyzed(t, progressRecord) {
		t.Error("analyze does not call both services successful")
	}
	l.Records(t)
	records, err := ParseRecords([]byte(readFile(t, l.Asset(progressRecord))))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, strings.TrimSpace(r.Phase+" "+r.Stage+" "+r.Result))
	}
	want := []string{"service start",
		"stage start wait-for-bootstrap-complete", "stage end wait-for-bootstrap-complete success",
		"stage start report-bootstrap-complete", "stage end report-bootstrap-complete success", "service end  success"}
	if !slices.Equal(got, want) {
		t.Errorf("progress.json has\n%s", strings.Join(got, "\n"))
	}
}

// unitAt puts a stand-in systemctl first in the PATH that knows one unit, at
// work, and no other.
func unitAt(t *testing.T, l *Lab, unit string) []string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/bash\n# stand-in for systemctl\n" +
		"[[ \"$*\" == 'show --property=ActiveState --value '* ]] || { echo \"unknown: $*\" >&2; exit 1; }\n" +
		"if [[ ${!#} == " + unit + " ]]; then echo active; else echo inactive; fi\n"
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	path := "/usr/bin:/bin:/usr/sbin:/sbin"
	return []string{"PATH=" + dir + ":" + l.ControlPlane.Bin + ":" + path}
}

func TestFinishingTheBootstrapMeetsWhatIsThere(t *testing.T) {
	t.Parallel()
	l, c := pivot(t)
	s := pivotStage(t, release, "finish-bootstrap")
	create := func(t *testing.T, status string) {
		c.Kubectl(t, "create", "configmap", "bootstrap", "--namespace=kube-system", "--from-literal=status="+status)
	}
	// good is where nothing is missing but what the script does itself.
	good := func(t *testing.T) {
		t.Helper()
		l.beforeTheEnd(t)
		gated["4.18"].open(t, c)
		removeMember(t, c)
	}
	nothingDone := func(t *testing.T) {
		t.Helper()
		if l.has(".bootkube.done") || l.has(progressRecord) || completed(t, c) != "" || l.analyzed(t, bootkubeRecord) {
			t.Error("something was done all the same")
		}
	}

	t.Run("one master", func(t *testing.T) {
		good(t)
		c.SetNodeStatuses(t, apiServerObject)
		c.SetStatus(t, infrastructure, map[string]any{"controlPlaneTopology": "SingleReplica"})
		l.RunStage(t, s).Want(t, 0, "topology is not HighlyAvailable, no need to wait for API availability", s.ID+" is done")
		l.wantRecords(t)
	})
	t.Run("no topology", func(t *testing.T) {
		good(t)
		c.SetStatus(t, infrastructure, map[string]any{"controlPlaneTopology": nil})
		l.RunStage(t, s, "--timeout=1").Want(t, 1, "status.infrastructureTopology of the infrastructures/cluster object is empty", "cause: The Infrastructure object has no status")
		if completed(t, c) != "" {
			t.Error("the ConfigMap is there")
		}
	})
	t.Run("the gate stays shut", func(t *testing.T) {
		good(t)
		c.SetNodeStatuses(t, apiServerObject, controlplane.NodeStatus{Node: "master-0", Current: 7})
		l.RunStage(t, s, "--timeout=1").Want(t, 1, "1 of 2: master-0", "no sign of two nodes that run a revision of the API server within 1 s", "cause: Fewer than two masters")
		if completed(t, c) != "" || !l.analyzed(t, bootkubeRecord) || l.analyzed(t, progressRecord) {
			t.Error("bootkube.sh has ended, and progress.service has not")
		}
		gated["4.18"].open(t, c)
		r := l.RunStage(t, s)
		r.Want(t, 0, s.ID+" is done")
		l.shown(t, s.ID, r)
		allGood(t, l, s)
	})
	t.Run("the member stays", func(t *testing.T) {
		good(t)
		c.SetConditions(t, etcdObject, controlplane.Condition{Type: "EtcdBootstrapMemberRemoved", Status: "False"})
		l.RunStage(t, s, "--timeout=1").Want(t, 1, "no sign of the etcd operator to remove the bootstrap's member", "cause: One member is unhealthy")
		removeMember(t, c)
		l.RunStage(t, s).Want(t, 0, "the ConfigMap is there already and says complete", s.ID+" is done")
		l.wantRecords(t)
	})
	t.Run("as 4.14 spells it", func(t *testing.T) {
		good(t)
		c.SetStatus(t, etcdObject, map[string]any{"conditions": []controlplane.Condition{
			{Type: "EtcdRunningInCluster", Status: "True"}, {Type: "EtcdBoostrapMemberRemoved", Status: "True"},
		}})
		l.RunStage(t, s).Want(t, 0, "EtcdBoostrapMemberRemoved True", s.ID+" is done")
	})
	t.Run("etcd needs the node", func(t *testing.T) {
		good(t)
		c.SetConditions(t, etcdObject, controlplane.Condition{Type: "EtcdRunningInCluster", Status: "False", Reason: "NotEnoughEtcdMembers", Message: "still waiting for three healthy etcd members"})
		l.RunStage(t, s).Want(t, 1, "still waiting for three healthy etcd members", "etcd still needs the member on this node", "wait-for-ceo.sh")
		nothingDone(t)
	})
	t.Run("a stage was killed", func(t *testing.T) {
		good(t)
		l.put(t, bootkubeRecord, `[{"timestamp":"2026-01-01T00:00:00Z","phase":"service start"},{"timestamp":"2026-01-01T00:00:00Z","phase":"stage start","stage":"wait-for-ceo"}]`)
		l.RunStage(t, s).Want(t, 1, "stage wait-for-ceo began and did not end")
		nothingDone(t)
	})
	t.Run("a marker is missing", func(t *testing.T) {
		good(t)
		for marker, script := range map[string]string{"cb-bootstrap.done": "start-bootstrap.sh", "cvo-overrides.done": "restore-cvo-overrides.sh"} {
			if err := os.Remove(l.Asset(marker)); err != nil {
				t.Fatal(err)
			}
			l.RunStage(t, s).Want(t, 4, marker+" is missing", "run "+script+" first")
			nothingDone(t)
			l.put(t, marker, "")
		}
	})
	t.Run("the ConfigMap is there", func(t *testing.T) {
		good(t)
		create(t, "complete")
		before := c.Kubectl(t, "get", "configmap", "bootstrap", "--namespace=kube-system", "--output=jsonpath={.metadata.resourceVersion}")
		l.RunStage(t, s).Want(t, 0, "is there already and says complete", s.ID+" is done")
		if after := c.Kubectl(t, "get", "configmap", "bootstrap", "--namespace=kube-system", "--output=jsonpath={.metadata.resourceVersion}"); before != after {
			t.Error("it was written again")
		}
	})
	t.Run("the ConfigMap says something else", func(t *testing.T) {
		good(t)
		create(t, "elsewhere")
		l.RunStage(t, s).Want(t, 1, "already exists", "cause: A ConfigMap of that name exists")
		if got := completed(t, c); got != "elsewhere" {
			t.Errorf("it says %q now", got)
		}
	})
	t.Run("progress.service does it", func(t *testing.T) {
		good(t)
		create(t, "complete")
		l.RunWith(t, unitAt(t, l, "progress.service"), s.ScriptName()).Want(t, 0, "progress.service is running on this node", s.ID+" is done")
		if l.has(progressRecord) || !l.analyzed(t, bootkubeRecord) {
			t.Error("the record of progress.service is not the script's, that of bootkube.sh is")
		}
	})
	t.Run("bootkube.service is running", func(t *testing.T) {
		good(t)
		l.RunWith(t, unitAt(t, l, "bootkube.service"), s.ScriptName()).Want(t, 1, "bootkube.service is running")
		nothingDone(t)
	})
	t.Run("every mode", func(t *testing.T) {
		good(t)
		eachMode(t, l, s)
		nothingDone(t)
		l.RunStage(t, s, "--dry-run").Want(t, 0, "touch .bootkube.done", "create configmap bootstrap", "wait_for 2700 'two nodes", "wait_for 1200 'the etcd operator")
	})
	t.Run("interrupted", func(t *testing.T) {
		good(t)
		c.SetConditions(t, etcdObject, controlplane.Condition{Type: "EtcdBootstrapMemberRemoved", Status: "False"})
		session := l.Start(t, s.ScriptName())
		session.Until(t, "waiting for the etcd operator to remove")
		session.Interrupt()
		session.Wait(t).Want(t, 1, "interrupted", "run "+s.ScriptName()+" again")
		removeMember(t, c)
		l.RunStage(t, s).Want(t, 0, s.ID+" is done")
		l.wantRecords(t)
	})
	t.Run("killed and run again", func(t *testing.T) {
		for _, at := range sample.Of(t, 2, []int{0, 1, 2, 3, 4}) {
			good(t)
			session := l.Start(t, s.ScriptName(), "--step")
			for range at {
				session.Step(t)
				session.Enter()
			}
			session.Step(t)
			session.Kill(t)
			l.unlocked(t)
			l.RunStage(t, s).Want(t, 0, s.ID+" is done")
			allGood(t, l, s)
			if !l.analyzed(t, bootkubeRecord) || !l.analyzed(t, progressRecord) {
				t.Error("analyze does not call both services successful")
			}
		}
	})
	t.Run("broken", func(t *testing.T) {
		for _, check := range sample.Of(t, 4, s.Checks) {
			t.Run(check.ID, func(t *testing.T) {
				good(t)
				l.RunStage(t, s).Want(t, 0)
				breaks(t, l, s, check.ID, fixtures(t, s.ID)[check.ID])
				session := l.Start(t, s.ScriptName())
				session.Until(t, "waiting for the etcd operator to remove")
				removeMember(t, c)
				session.Wait(t).Want(t, 0, "is marked as done, but a check fails", s.ID+" is done")
				allGood(t, l, s)
			})
		}
	})
	hopeless(t, l, s, controlplane.ForAPIInt, good)
}

// finishAlone is finish-bootstrap.sh where every stage before it is done, in a
// cluster of one master whose etcd operator says the conditions.
func finishAlone(t *testing.T, conditions string) *scriptAlone {
	t.Helper()
	s := newScriptAlone(t, labs.OnNode, "finish-bootstrap.sh", map[string]string{"systemctl": "echo inactive\n", "oc": `case "$*" in
  *'create configmap bootstrap'*) echo complete > "${DIR}/completed" ;;
  *'get configmap bootstrap'*) cat "${DIR}/completed" ;;
  *'get infrastructures'*) cat "${DIR}/topology" ;;
  *'get etcds'*) cat "${DIR}/conditions" ;;
  *) exit 1 ;;
esac
`})
	for _, file := range []string{"auth/kubeconfig", "cb-bootstrap.done", "cvo-overrides.done"} {
		s.Put(t, "assets/"+file, "")
	}
	s.Put(t, "topology", "SingleReplica")
	s.Put(t, "conditions", conditions)
	return s
}

// TestTheEndIsRecordedWhereTheRecordIsLost: a record that is missing or torn
// starts over, as it does in every stage.
func TestTheEndIsRecordedWhereTheRecordIsLost(t *testing.T) {
	t.Parallel()
	const good = `{"status": {"conditions": [{"type": "EtcdRunningInCluster", "status": "True"}, {"type": "EtcdBootstrapMemberRemoved", "status": "True"}]}}`
	for name, text := range map[string]string{"missing": "", "torn": `[{"timestamp":"2026-01-01T00:00:00Z","phase":"serv`, "no array": `{"phase":"service start"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := finishAlone(t, good)
			records := []string{"host/var/log/openshift/bootkube.json", "host/var/log/openshift/progress.json"}
			for _, record := range records {
				if text != "" {
					s.Put(t, record, text)
				}
			}
			r := s.Run(t)
			r.Want(t, 0, "bootkube.service complete", "finish-bootstrap is done")
			if strings.Contains(r.All, "jq: ") || strings.Contains(r.All, "parse error") {
				t.Errorf("it says\n%s", r.All)
			}
			if _, err := os.Stat(s.Asset(".bootkube.done")); err != nil || s.Read("completed") != "complete\n" {
				t.Errorf("%v, the ConfigMap says %q", err, s.Read("completed"))
			}
			for _, record := range records {
				written, err := ParseRecords([]byte(s.Read(record)))
				if err != nil || len(written) == 0 {
					t.Fatalf("%s: %v: %q", record, err, s.Read(record))
				}
				if last := written[len(written)-1]; last.Phase != "service end" || last.Result != "success" {
					t.Errorf("%s ends with %+v", record, last)
				}
				if text != "" && s.Read(record+".torn") != text {
					t.Errorf("the old %s is not kept", record)
				}
			}
		})
	}
}

// TestAGateThatTimesOutIsAFailureOfItsService: the record of progress.service ends
// with it, and that of bootkube.service, which ended before, stays a success. A
// rerun ends both well. What follows progress.service fails no service: none of the
// node waits for the etcd operator.
func TestAGateThatTimesOutIsAFailureOfItsService(t *testing.T) {
	t.Parallel()
	condition := func(kind, status string) string {
		return `{"type": "` + kind + `", "status": "` + status + `"}`
	}
	conditions := func(removed string) string {
		return `{"status": {"conditions": [` + condition("EtcdRunningInCluster", "True") + ", " + condition("EtcdBootstrapMemberRemoved", removed) + "]}}"
	}
	s := finishAlone(t, conditions("False"))
	ends := func(want map[string]Record) {
		t.Helper()
		for name, want := range want {
			var records []Record
			if err := json.Unmarshal([]byte(s.Read("host/var/log/openshift/"+name+".json")), &records); err != nil || len(records) == 0 {
				t.Fatalf("%s: %v", name, err)
			}
			got := records[len(records)-1]
			if got.Timestamp = ""; got != want {
				t.Errorf("the record of %s ends with %+v, not %+v", name, got, want)
			}
		}
	}
	success := Record{Phase: "service end", Result: "success"}
	const noTopology, noRemoval = "no sign of the topology of the control plane within 1 s", "no sign of the etcd operator to remove the bootstrap's member within 1 s"

	s.Put(t, "topology", "")
	s.Run(t, "--timeout=1").Want(t, 1, "error: "+noTopology, "cause: The Infrastructure object has no status yet")
	ends(map[string]Record{"bootkube": success, "progress": {Phase: "service end", Result: "failure", ErrorMessage: noTopology}})

	s.Put(t, "topology", "SingleReplica")
	s.Run(t, "--timeout=1").Want(t, 1, "error: "+noRemoval)
	ends(map[string]Record{"bootkube": success, "progress": success})

	s.Put(t, "conditions", conditions("True"))
	s.Run(t).Want(t, 0, "finish-bootstrap is done")
	ends(map[string]Record{"bootkube": success, "progress": success})
}
