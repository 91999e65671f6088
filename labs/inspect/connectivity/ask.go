package connectivity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// Report is what was found. Its form in JSON is for other programs and stays.
type Report struct {
	Paths []*Path `json:"paths"`
	// Unreached are machines that cannot be asked, with the reason.
	Unreached map[string]string `json:"unreached"`
	// BootstrapDone: bootkube.sh has ended, and nothing has to run on the bootstrap
	// node any more.
	BootstrapDone bool `json:"bootstrapDone"`
}

// Broken are the paths that have to be open now and are not.
func (r *Report) Broken() []*Path {
	return slices.DeleteFunc(slices.Clone(r.Paths), func(p *Path) bool { return !p.Broken() })
}

// Asked is whether anybody could be asked at all.
func (r *Report) Asked() bool {
	return slices.ContainsFunc(r.Paths, func(p *Path) bool { return p.State != NotAsked })
}

// patience bounds what is asked on one machine; one port takes at most 5 s, and
// all of a machine are asked at once.
const patience = 45 * time.Second

// limit is far above what the lines print, in bytes.
const limit = 1 << 20

// Ask asks from every machine of a plan, or from one alone, for the ports that
// it needs. It never fails: what cannot be asked says why.
func Ask(ctx context.Context, plan *labs.Plan, hosts *host.Hosts, from string) *Report {
	byName := map[string]host.Host{labs.AskerWorkstation: hosts.Here, plan.Lab.Machines.Bootstrap.Name: hosts.Bootstrap}
	maps.Copy(byName, hosts.Masters)
	preamble := hosts.Preamble(plan.Lab)
	r := &Report{Paths: paths(plan), Unreached: map[string]string{}}
	signs := r.look(ctx, byName, preamble, plan.Lab.Machines.Bootstrap.Name)
	for _, p := range r.Paths {
		p.expect(signs, r.BootstrapDone, plan.Lab.Machines.Bootstrap.Name)
	}
	if from != "" {
		r.Paths = slices.DeleteFunc(r.Paths, func(p *Path) bool { return p.From != from })
	}
	var wait sync.WaitGroup
	var one sync.Mutex
	for name, h := range byName {
		mine := slices.DeleteFunc(slices.Clone(r.Paths), func(p *Path) bool { return p.From != name })
		if _, gone := r.Unreached[name]; gone || h == nil {
			mark(mine, NotAsked)
			continue
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := probe(ctx, h, preamble, mine); err != nil {
				one.Lock()
				r.Unreached[name] = err.Error()
				one.Unlock()
			}
		}()
	}
	wait.Wait()
	return r
}

func mark(paths []*Path, state State) {
	for _, p := range paths {
		p.State = state
	}
}

// lookLine prints a line for everything that runs here and opens ports.
const lookLine = `
for file in "${HOST_ROOT}"/etc/kubernetes/manifests/*.yaml; do
  [[ ! -e ${file} ]] || printf 'pod %s\n' "${file##*/}"
done
for unit in kubelet.service systemd-journal-gatewayd.socket; do
  [[ $(systemctl is-active "${unit}" 2> /dev/null) != active ]] || printf 'unit %s\n' "${unit}"
done
crictl ps --output=json 2> /dev/null | jq --raw-output '.containers[] | "container " + .metadata.name' 2> /dev/null
[[ ! -e ${ASSET_DIR}/.bootkube.done ]] || echo 'done'
echo always
`

// look asks every machine what runs on it.
func (r *Report) look(ctx context.Context, hosts map[string]host.Host, preamble, bootstrap string) map[sign]bool {
	signs := map[sign]bool{}
	var one sync.Mutex
	var wait sync.WaitGroup
	for name, h := range hosts {
		if name == labs.AskerWorkstation {
			continue
		}
		if h == nil {
			r.Unreached[name] = "the lab has no machines: this is a local run"
			continue
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			result, err := h.Run(ctx, preamble+lookLine, limit)
			one.Lock()
			defer one.Unlock()
			if err != nil {
				r.Unreached[name] = err.Error()
				return
			}
			for line := range strings.Lines(string(result.Out)) {
				line = strings.TrimSpace(line)
				signs[sign{name, line}] = true
				r.BootstrapDone = r.BootstrapDone || line == "done" && name == bootstrap
			}
		}()
	}
	wait.Wait()
	return signs
}

// expect says whether the port has to be open now.
func (p *Path) expect(signs map[sign]bool, done bool, bootstrap string) {
	for _, s := range p.signs {
		if done && s.machine == bootstrap && s.sign != "always" {
			p.Because = "the bootstrap is done"
			continue
		}
		if signs[s] {
			p.Expected, p.Because = true, s.sign+" on "+s.machine
			return
		}
	}
	if p.Because == "" {
		p.Because = "nothing there opens it yet"
	}
}

// probeHead asks for ports that stand as "INDEX HOST PORT BALANCED" behind it, all
// at once, and prints "INDEX STATE" for each. A load balancer without a server
// takes a connection and closes it; who has one waits for words.
const probeHead = `
probe() { # INDEX HOST PORT BALANCED
  local said status=0
  # shellcheck disable=SC2016 # the inner bash has these parameters
  said="$(LC_ALL=C timeout 5 bash -c '
    exec 3<> "/dev/tcp/$0/$1" || exit 1
    [[ $2 == yes ]] || exit 0
    read -r -t 1 -n 1 -u 3
    (( $? > 128 )) || exit 9' "$2" "$3" "$4" 2>&1)" || status=$?
  case "${status} ${said}" in
    0*) said='open' ;;
    9*) said='closed at once' ;;
    124*) said='no answer' ;;
    *refused*) said='refused' ;;
    *'No route to host'* | *unreachable*) said='no route' ;;
    *'not known'* | *'failure in name resolution'* | *'No address associated'*) said='name not resolved' ;;
    *timed\ out*) said='no answer' ;;
    *) said='not known' ;;
  esac
  printf '%s %s\n' "$1" "${said}"
}
while read -r index host port balanced; do
  probe "${index}" "${host}" "${port}" "${balanced}" &
done <<'END'
`

const probeTail = `END
wait
`

// probe asks from one machine for all paths that begin there.
func probe(ctx context.Context, h host.Host, preamble string, paths []*Path) error {
	if len(paths) == 0 {
		return nil
	}
	var list strings.Builder
	for i, p := range paths {
		p.State = Unknown
		balanced := "no"
		if p.balanced {
			balanced = "yes"
		}
		fmt.Fprintf(&list, "%d %s %s %s\n", i, p.Address, p.Port, balanced)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	result, err := h.Run(ctx, preamble+probeHead+list.String()+probeTail, limit)
	if err != nil {
		mark(paths, NotAsked)
		return err
	}
	for line := range strings.Lines(string(result.Out)) {
		number, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(paths) {
			paths[i].State = State(state)
		}
	}
	return nil
}

func numberOf(port int) string { return strconv.Itoa(port) }
