package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"bootlab/labs"
)

// asked is a machine and the evidence that it is asked for, in order.
type asked struct {
	host    Host
	node    string // for Found
	why     string // why there is no host
	lines   []*labs.Evidence
	options string // what the place adds to the settings
}

// Collect asks the machines for evidence: all machines at once, and each for one
// thing after the other. It never fails: what could not be collected says why. A
// machine that cannot be reached, or hangs, is not asked again. progress, which may be
// nil, hears of each thing as it comes.
func (p *Hosts) Collect(ctx context.Context, lab *labs.Lab, all []*labs.Evidence, progress func(Found)) []Found {
	groups := p.groups(ctx, lab, all)
	results := make([][]Found, len(groups))
	var wait sync.WaitGroup
	var one sync.Mutex
	for i, g := range groups {
		wait.Add(1)
		go func() {
			defer wait.Done()
			preamble := p.Preamble(lab) + g.options
			results[i] = p.ask(ctx, g, preamble, func(f Found) {
				if progress != nil {
					one.Lock()
					defer one.Unlock()
					progress(f)
				}
			})
		}()
	}
	wait.Wait()
	return inOrder(all, slices.Concat(results...))
}

// Why a local run has none of what only machines have: nothing is wrong with it.
const (
	NotInLocalRun = "a local run has none"
	NoMachines    = "the lab has no machines: this is a local run"
	NoAPI         = "there is no way to the cluster's API"
)

// inOrder puts what was found into the order of the evidence, and of the nodes.
func inOrder(all []*labs.Evidence, found []Found) []Found {
	place := map[*labs.Evidence]int{}
	for i, e := range all {
		place[e] = i
	}
	slices.SortStableFunc(found, func(a, b Found) int { return place[a.Evidence] - place[b.Evidence] })
	return found
}

func (p *Hosts) groups(ctx context.Context, lab *labs.Lab, all []*labs.Evidence) []asked {
	on := map[string][]*labs.Evidence{}
	for _, e := range all {
		on[e.On] = append(on[e.On], e)
	}
	groups := []asked{
		{host: p.Here, why: "a bundle has no workstation", lines: on[labs.OnHere], options: p.hereOptions()},
	}
	bootstrap := p.Bootstrap
	if p.Local {
		bootstrap = p.Here
	}
	groups = append(groups, asked{host: bootstrap, why: NoMachines, lines: on[labs.OnBootstrap]})
	for _, name := range slices.Sorted(maps.Keys(p.Masters)) {
		groups = append(groups, asked{host: p.Masters[name], node: name, lines: on[labs.OnMasters]})
	}
	return append(groups, p.clusterGroup(ctx, on[labs.OnCluster]))
}

// On a bootstrap node the API is asked by the kubeconfig that cluster-bootstrap
// gave its own pods, which leads to this node and needs no load balancer, and when
// that control plane is gone by the administrator's, as openshift/installer
// installer-gather.sh does; after the node is gone, from here.
const nodeOptions = `oc() {
  local kubeconfig=/etc/kubernetes/bootstrap-secrets/kubeconfig
  [[ -f ${kubeconfig} ]] || kubeconfig=${ASSET_DIR}/auth/kubeconfig
  command oc --kubeconfig="${kubeconfig}"` + ocOptions + ` "$@"
}
`

// ocOptions: oc keeps what it learns of the API in $HOME/.kube/cache; where that
// cannot be written it goes on without. Source: kubernetes/client-go
// discovery/cached/disk/cached_discovery.go.
const ocOptions = " --cache-dir=/dev/null --request-timeout=5s"

func (p *Hosts) hereOptions() string {
	oc := "command oc"
	if p.OC != "" {
		oc = quote(p.OC)
	}
	return "oc() { " + oc + " --kubeconfig=" + quote(p.Kubeconfig) + ocOptions + " \"$@\"; }\n"
}

func (p *Hosts) clusterGroup(ctx context.Context, lines []*labs.Evidence) asked {
	g := asked{lines: lines, why: NoAPI}
	switch {
	case p.Local || len(lines) == 0:
	case p.Bootstrap != nil && reaches(ctx, p.Bootstrap):
		g.host, g.options = p.Bootstrap, nodeOptions
	case p.Here != nil && p.Kubeconfig != "":
		g.host, g.options = p.Here, p.hereOptions()
	}
	return g
}

func reaches(ctx context.Context, h Host) bool {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err := h.Run(ctx, "true", 1)
	return err == nil
}

// givenUpAfter is how many questions in a row a machine may leave without an
// answer: one that hangs would cost the time of every other one too.
const givenUpAfter = 2

func (p *Hosts) ask(ctx context.Context, g asked, preamble string, progress func(Found)) []Found {
	var out []Found
	gone, unanswered := "", 0
	if g.host == nil {
		gone = g.why
	}
	for _, e := range g.lines {
		f := Found{Evidence: e, Node: g.node, At: time.Now().UTC(), Problem: gone}
		line := e.Run
		if p.Local {
			line = e.Local
		}
		switch {
		case gone != "":
		case line == "":
			f.Problem = NotInLocalRun
		default:
			err := f.ask(ctx, g.host, preamble+line)
			if unanswered++; !errors.Is(err, context.DeadlineExceeded) {
				unanswered = 0
			}
			if errors.Is(err, ErrUnreachable) || unanswered == givenUpAfter {
				gone = f.Problem
			}
		}
		progress(f)
		out = append(out, f)
	}
	return out
}

// ask runs one line, and keeps what it says.
func (f *Found) ask(ctx context.Context, h Host, line string) error {
	ctx, cancel := context.WithTimeout(ctx, f.Evidence.Timeout())
	defer cancel()
	r, err := h.Run(ctx, line, f.Evidence.Limit<<10)
	f.Took = time.Since(f.At)
	f.Text, f.Status, f.Complaint, f.Cut = r.Out, r.Status, string(r.Err), r.Cut
	if err != nil {
		f.Problem = fmt.Sprintf("%s: %v", h.Name(), err)
		return err
	}
	f.Had = true
	return nil
}
