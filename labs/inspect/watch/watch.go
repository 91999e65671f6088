package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// Watch is a lab that is looked at again and again.
type Watch struct {
	plan  *labs.Plan
	hosts *host.Hosts
	usual func(recordName string) time.Duration
	eyes  []*Eye
}

// NewWatch makes ready to look. durations say how long stages took before, and
// may be nil.
func NewWatch(plan *labs.Plan, hosts *host.Hosts, durations record.Durations) *Watch {
	seconds := map[string]int{}
	for _, s := range plan.Stages {
		seconds[s.RecordName()] = s.Seconds
	}
	w := &Watch{plan: plan, hosts: hosts, usual: func(name string) time.Duration {
		key := record.DurationKey(name, plan.Version(), hosts.Local)
		if took, known := durations.Usual(key, time.Now()); known {
			return took
		}
		return time.Duration(seconds[name]) * time.Second
	}}
	w.eyes = w.open()
	return w
}

// Eye looks at one place, in its own time: a machine that hangs holds up nothing
// else.
type Eye struct {
	Of string // "bootstrap", a master's name, "etcd", "API" or "local"
	// Rest is how many quarters of an interval lie between two looks, at least:
	// what costs little is looked at more often.
	Rest int
	// Share is how many times as long as a look took the next one waits, so that
	// looking does not load what is looked at.
	Share int
	look  func(ctx context.Context) *Sight
}

// Sight is what an eye saw once.
type Sight struct {
	Of    string
	At    time.Time
	Took  time.Duration
	Found []host.Found
	// Problem is why nothing could be seen.
	Problem string
	// Stages and Log are seen in a local run.
	Stages []Stage
	Log    LogLine
	Ends   Ending
}

// Look looks once.
func (e *Eye) Look(ctx context.Context) *Sight {
	start := time.Now().UTC()
	s := e.look(ctx)
	s.Of, s.At, s.Took = e.Of, start, time.Since(start)
	return s
}

// Pause is how long to wait after a look.
func (e *Eye) Pause(s *Sight, interval time.Duration) time.Duration {
	return max(interval/4*time.Duration(e.Rest), s.Took*time.Duration(e.Share))
}

// The eyes that are on no machine of their own.
const (
	localEye = "local"
	etcdEye  = "etcd"
	namesEye = "names"
	apiEye   = "API"
	endsEye  = "certificates"
)

// Eyes are all places of the lab that are looked at.
func (w *Watch) Eyes() []*Eye { return w.eyes }

func (w *Watch) open() []*Eye {
	if w.hosts.Local {
		return []*Eye{{Of: localEye, Rest: 4, look: w.lookAtLocalRun}, {Of: endsEye, Rest: 160, Share: 10, look: w.lookAtCertificates(w.evidence(onAnyHost))}}
	}
	bootstrap := w.plan.Lab.Machines.Bootstrap.Name
	eyes := []*Eye{{Of: bootstrap, Rest: 1, Share: 2, look: w.glance("", append(w.evidence(onBootstrap), lastLines...))}}
	for _, name := range slices.Sorted(maps.Keys(w.hosts.Masters)) {
		eyes = append(eyes, &Eye{Of: name, Rest: 2, Share: 2, look: w.glance(name, w.evidence(onMaster))})
	}
	return append(eyes, &Eye{Of: namesEye, Rest: 4, Share: 3, look: w.glance("", w.evidence(onNames))},
		&Eye{Of: etcdEye, Rest: 8, Share: 3, look: w.lookAtEtcd(w.evidence(onEtcd), w.evidence(onEtcdLater))},
		&Eye{Of: apiEye, Rest: 4, Share: 3, look: w.glance("", w.evidence(onCluster))},
		&Eye{Of: endsEye, Rest: 60, Share: 10, look: w.lookAtCertificates(w.evidence(onAnyHost))})
}

// machines are the eyes that are on a machine, or on the API.
func (w *Watch) machines() []string {
	var names []string
	for _, e := range w.eyes {
		switch e.Of {
		case localEye, namesEye, etcdEye, endsEye:
		default:
			names = append(names, e.Of)
		}
	}
	return names
}

// What the eyes look at: evidence of the diagnosis by id, and a little that it
// does not need.
var (
	onBootstrap = []string{"units", "records", "markers", "static-pods", "containers", "sockets"}
	onAnyHost   = []string{"certificates"}
	onNames     = []string{"api-answer", "name-answers"}
	onMaster    = []string{"master-units"}
	onEtcd      = []string{"etcd-members", "etcd-health"}
	onEtcdLater = []string{"master-etcd-members", "master-etcd-health"}
	onCluster   = []string{"nodes", "csrs", "clusterversion", "clusteroperators", "etcd", "kubeapiserver", "kubecontrollermanager", "kubescheduler", "bootstrap-configmap"}
)

// lastLines is the last line of what is running: of the newest log of a script,
// and of bootkube. To diagnose, their ends are collected whole.
var lastLines = []*labs.Evidence{
	{ID: "last-lines", On: labs.OnBootstrap, Form: labs.TextForm, Limit: 8, Seconds: 5, Run: `
newest="$(find "${HOST_ROOT}/var/log/openshift/bootlab" -maxdepth 1 -name '*.log' -printf '%T@ %p\n' 2> /dev/null | sort --numeric-sort | tail --lines=1)"
if [[ -n ${newest} ]]; then
  file="${newest#* }"
  printf '%s %s %s\n' "${newest%% *}" "$(basename -- "${file}" .log)" "$(tail --lines=1 -- "${file}")"
fi
journalctl --boot --no-pager --unit=bootkube.service --lines=1 --output=short-unix 2> /dev/null | grep -v '^--'
true`},
}

// evidence finds what the plan's release has of those ids.
func (w *Watch) evidence(ids []string) []*labs.Evidence {
	d := labs.BuiltinDiagnosis().For(w.plan)
	var all []*labs.Evidence
	for _, id := range ids {
		if e := d.Find(id); e != nil {
			all = append(all, e)
		}
	}
	return all
}

// glance is a look at one machine, or at the API.
func (w *Watch) glance(node string, evidence []*labs.Evidence) func(context.Context) *Sight {
	return func(ctx context.Context) *Sight {
		found, err := w.hosts.Glance(ctx, w.plan.Lab, node, evidence)
		if err != nil {
			return &Sight{Problem: why(err)}
		}
		return &Sight{Found: found}
	}
}

// lookAtEtcd asks the bootstrap node, and when it is gone the masters.
func (w *Watch) lookAtEtcd(first, later []*labs.Evidence) func(context.Context) *Sight {
	return func(ctx context.Context) *Sight {
		s := w.glance("", first)(ctx)
		for _, name := range slices.Sorted(maps.Keys(w.hosts.Masters)) {
			if s.answers() {
				break
			}
			if other := w.glance(name, later)(ctx); other.answers() {
				return other
			}
		}
		return s
	}
}

// lookAtCertificates keeps of all certificates only which end next.
func (w *Watch) lookAtCertificates(evidence []*labs.Evidence) func(context.Context) *Sight {
	return func(ctx context.Context) *Sight {
		s := w.glance("", evidence)(ctx)
		if s.answers() {
			s.Ends = nextEnd(host.ParseCertificates(s.Found[0].Text), time.Now().UTC())
		}
		s.Found = nil
		return s
	}
}

// answers says whether the first thing asked for is there.
func (s *Sight) answers() bool {
	return s.Problem == "" && len(s.Found) > 0 && s.Found[0].Had && s.Found[0].Status == 0
}

// nextEnd is the next end, unless one is not valid yet: then a clock is wrong, and
// that strikes first.
func nextEnd(all []host.Certificate, now time.Time) Ending {
	endings := host.Clock(all, now)
	if len(endings) == 0 {
		return Ending{}
	}
	next := endings[0]
	for _, e := range endings {
		if e.Level == host.NotYet {
			next = e
			break
		}
	}
	what := Clean(next.Certificates[0].Subject)
	if more := len(next.Certificates) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return Ending{At: next.At, Level: next.Level, What: what}
}

func why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return Clean(strings.TrimPrefix(err.Error(), host.ErrUnreachable.Error()+": "))
}

// Run looks until the context ends, and shows the status after each look. It
// returns when all eyes are shut.
func (w *Watch) Run(ctx context.Context, interval time.Duration, show func(*Status)) {
	scene := w.Scene()
	sights := make(chan *Sight)
	var wait sync.WaitGroup
	for _, eye := range w.Eyes() {
		wait.Add(1)
		go func() {
			defer wait.Done()
			eye.keepLooking(ctx, interval, sights)
		}()
	}
	go func() {
		wait.Wait()
		close(sights)
	}()
	for s := range sights {
		if ctx.Err() == nil {
			scene.Add(s)
			show(scene.Status(time.Now().UTC()))
		}
	}
}

func (e *Eye) keepLooking(ctx context.Context, interval time.Duration, sights chan<- *Sight) {
	for ctx.Err() == nil {
		s := e.Look(ctx)
		sights <- s
		select {
		case <-ctx.Done():
		case <-time.After(e.Pause(s, interval)):
		}
	}
}
