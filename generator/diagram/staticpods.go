package diagram

import (
	"fmt"
	"slices"
	"strings"

	"bootlab/labs"
)

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
	atOnce, later, placers := v.podRows()
	row := g.pods(1, "bootkube", v.node.Name+": put into /etc/kubernetes/manifests by bootkube.sh, at once", atOnce)
	row = g.pods(row, "clusterbootstrap", v.node.Name+": kept in bootstrap-manifests/, put there by cluster-bootstrap in stage "+placers, later)
	g.description = "On the bootstrap node bootkube.sh itself places " + pods(atOnce) + ". The others are rendered one by one, wait in bootstrap-manifests/, and are placed together by cluster-bootstrap, which removes them again: " + pods(later) + ". "
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

// podRows are the static pods of the stages: those that the kubelet starts as soon
// as they are rendered, and those that wait for cluster-bootstrap, with the stage
// that starts it.
func (v *view) podRows() (atOnce, later []podRow, starts string) {
	for _, s := range v.Stages {
		if s.Kind == "start" {
			starts = s.ID
		}
		kubelet := slices.ContainsFunc(s.Copies, func(c labs.Copy) bool {
			return slices.ContainsFunc(arrivals(s, c), func(path string) bool { return strings.HasPrefix(path, "/etc/kubernetes/manifests/") })
		})
		for _, p := range s.Pods {
			row := podRow{id: p.ID, kind: bootstrap, by: s.ID, when: p.Made, file: p.File, pod: p.Name, says: p.About, end: p.End}
			if kubelet {
				row.when = "The kubelet starts it while the next stages render."
				atOnce = append(atOnce, row)
				continue
			}
			row.end = "Tear-down, or any error of cluster-bootstrap."
			later = append(later, row)
		}
	}
	return atOnce, later, starts
}

// pods lists pods with their stages.
func pods(rows []podRow) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.pod+" in "+r.by)
	}
	return strings.Join(all, ", ")
}

// pods draws rows in a panel and returns the row below.
func (g *grid) pods(row int, id, title string, all []podRow) int {
	if len(all) == 0 { // an audited script may lack their stages
		return row
	}
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
