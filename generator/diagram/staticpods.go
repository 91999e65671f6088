package diagram

import "fmt"

// A podRow is a static pod from its maker to its end.
type podRow struct {
	id, kind  string
	by, when  string
	file      string
	pod, says string
	end       string
}

// staticPods is who puts which static pod where and when, and who takes it away.
// Sources: the stages; openshift/cluster-bootstrap pkg/start; openshift/api
// operator/v1 (installer pods and revisions).
func staticPods(v *view) drawing {
	g := &grid{widths: []int{204, 222, 204, 204}, gaps: []int{28, 28, 28}, rowGap: 12, across: true, even: true}
	g.name, g.title = "static-pods", "Who puts which static pod where and when"
	var before *box
	for col, title := range []string{"Made by", "File for the kubelet", "Pod", "Until"} {
		head := g.box(fmt.Sprintf("head%d", col), lane, 0, col, title).middle()
		if before != nil {
			g.arrow(before, head, "")
		}
		before = head
	}
	row := g.pods(1, "bootkube", v.node.Name+": put into /etc/kubernetes/manifests by bootkube.sh, at once", []podRow{
		{"etcd", bootstrap, "render-etcd", "The kubelet starts it while the next stages render.", "etcd-member-pod.yaml", "etcd-bootstrap-member", "containers etcd and etcdctl", "The file stays. The etcd operator removes the member, you remove the machine."},
		{"mcs", bootstrap, "render-mco", "The kubelet starts it while the next stages render.", "machineconfigoperator-bootstrap-pod.yaml", "bootstrap-machine-config-operator", "the controller first, then the server", "restore-cvo-overrides removes the file."},
	})
	const gone = "Tear-down, or any error of cluster-bootstrap."
	row = g.pods(row, "clusterbootstrap", v.node.Name+": kept in bootstrap-manifests/, put there by cluster-bootstrap in stage start-bootstrap", []podRow{
		{"api", bootstrap, "render-kube-apiserver", "", "kube-apiserver-pod.yaml", "bootstrap-kube-apiserver", "port 6443; readiness on 6080", gone},
		{"kcm", bootstrap, "render-kcm", "", "kube-controller-manager-pod.yaml", "bootstrap-kube-controller-manager", "with cluster-policy-controller", gone},
		{"scheduler", bootstrap, "render-scheduler", "", "kube-scheduler-pod.yaml", "bootstrap-kube-scheduler", "", gone},
		{"cvo", bootstrap, "render-cvo", "", "bootstrap-pod.yaml", "bootstrap-cluster-version-operator", "applies the payload", gone},
		{"cco", bootstrap, "render-cco", "not in credentials mode Manual", "cloud-credential-operator-pod.yaml", "cloud credential operator", "", gone},
	})
	g.description = "On the bootstrap node bootkube.sh itself places the pods of etcd, in render-etcd, and of the Machine Config Server, in render-mco. The pods of API server, controller manager, scheduler, version operator and credential operator are rendered one by one, wait in bootstrap-manifests/, and are placed together by cluster-bootstrap, which removes them again. "
	if v.alone() {
		g.description += "There are no masters in this topology."
		return g
	}
	const stays = "Each new revision replaces it."
	g.pods(row, "masters", "Masters: put there by installer pods of the operators, one master after the other", []podRow{
		{"metcd", master, "etcd operator", "", "", "openshift-etcd/etcd", "on each master", stays},
		{"mapi", master, "kube-apiserver operator", "", "", "openshift-kube-apiserver/kube-apiserver", "on each master", stays},
		{"mkcm", master, "kube-controller-manager operator", "", "", "openshift-kube-controller-manager/kube-controller-manager", "on each master", stays},
		{"mscheduler", master, "kube-scheduler operator", "", "", "openshift-kube-scheduler/openshift-kube-scheduler", "on each master", stays},
	})
	g.description += "On masters the operators of etcd, API server, controller manager and scheduler place theirs, through installer pods; each new revision replaces the one before."
	return g
}

// pods draws rows in a panel and returns the row below.
func (g *grid) pods(row int, id, title string, all []podRow) int {
	var boxes []*box
	for _, p := range all {
		by := g.box(p.id+"by", plain, row, 0, p.by).say(p.when)
		file := g.box(p.id+"file", p.kind, row, 1, "")
		if p.file == "" {
			file.say("a new one with each revision")
		} else {
			file.code(p.file)
		}
		pod := g.box(p.id+"pod", p.kind, row, 2, p.pod).say(p.says)
		end := g.box(p.id+"until", plain, row, 3, "").say(p.end)
		g.arrow(by, file, "")
		g.arrow(file, pod, "")
		g.arrow(pod, end, "")
		boxes = append(boxes, by, file, pod, end)
		row++
	}
	g.panel(id, title, 0, boxes...)
	return row
}
