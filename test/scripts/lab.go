package scripts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
	"bootlab/templates"
	"bootlab/test/checkout"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
	"bootlab/test/registry"
	"bootlab/test/standin"
)

// release is what labs install unless a test says otherwise, and usualLab is
// the shipped lab they are.
const (
	release  = "4.21"
	usualLab = "compact"
)

// Lab is a generated lab.
type Lab struct {
	Dir     string // holds lab.yaml, out and, for the node, node
	Env     *podman.Env
	Release *standin.Release
	Place   labs.Place
	// Cluster or ControlPlane is what a node is in; without either it is in the
	// network of this machine.
	Cluster      *Cluster
	ControlPlane *controlplane.ControlPlane
	// Printed is what each script of a good lab printed, by stage.
	Printed map[string]string
}

// Scripts, Assets and Host are its directories as this process sees them.
func (l *Lab) Scripts() string {
	if l.Place == labs.OnNode {
		return filepath.Join(l.Dir, "out", "node")
	}
	return filepath.Join(l.Dir, "out", "scripts")
}

func (l *Lab) Assets() string {
	if l.Place == labs.OnNode {
		return filepath.Join(l.Dir, "node", "opt", "openshift")
	}
	return filepath.Join(l.Dir, "out", "work", "assets")
}

func (l *Lab) Host() string {
	if l.Place == labs.OnNode {
		return filepath.Join(l.Dir, "node")
	}
	return filepath.Join(l.Dir, "out", "work", "host")
}

// Asset is a path below the asset directory, or below the host's root if it
// begins with a slash.
func (l *Lab) Asset(path string) string {
	if strings.HasPrefix(path, "/") {
		return filepath.Join(l.Host(), path)
	}
	return filepath.Join(l.Assets(), path)
}

// shared is the registry that most labs use.
var shared = sync.OnceValues(registry.Run)

// Registry gives the shared registry.
func Registry(tb testing.TB) *registry.Registry {
	tb.Helper()
	r, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

var (
	releaseLock sync.Mutex
	releases    = map[string]*standin.Release{}
)

// SharedRelease gives a faultless release on the shared registry.
func SharedRelease(tb testing.TB, id string) *standin.Release {
	tb.Helper()
	releaseLock.Lock()
	defer releaseLock.Unlock()
	if releases[id] == nil {
		r, err := standin.Push(Registry(tb), id, standin.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		releases[id] = r
	}
	return releases[id]
}

// binary is the bootlab program, built once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := podman.Base()
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "bootlab")
	cmd := exec.Command("go", "build", "-o", out, "./cmd/bootlab")
	cmd.Dir = checkout.Root()
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build bootlab: %w\n%s", err, text)
	}
	return out, nil
})

// Bootlab runs the program and gives what it said.
func Bootlab(args ...string) (string, error) {
	program, err := binary()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("bootlab %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// Options say what is to be special about a lab.
type Options struct {
	Place   labs.Place
	Release *standin.Release // nil is the usual one
	From    string           // a shipped lab, or one of kinds
	// Edit changes lab.yaml, or puts files beside it.
	Edit func(dir, text string) (string, error)
}

// NewLab generates a lab for the account of a podman environment.
func NewLab(tb testing.TB, env *podman.Env, options Options) *Lab {
	tb.Helper()
	l := &Lab{Dir: filepath.Join(podman.TempDir(tb, env.Account), "mylab"), Env: env, Release: options.Release, Place: options.Place}
	if l.Release == nil {
		l.Release = SharedRelease(tb, release)
	}
	if l.Place == "" {
		l.Place = labs.Local
	}
	if err := l.generate(options); err != nil {
		tb.Fatal(err)
	}
	env.Own(tb, l.Dir)
	return l
}

func (l *Lab) generate(options Options) error {
	if err := initialize(l.Dir, "--from", shippedOf(options.From)); err != nil {
		return err
	}
	file := filepath.Join(l.Dir, "lab.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := withRelease(string(data), l.Release)
	if err != nil {
		return err
	}
	if text, err = withKind(l.Dir, text, options.From); err != nil {
		return err
	}
	if options.Edit != nil {
		if text, err = options.Edit(l.Dir, text); err != nil {
			return err
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	if l.Place == labs.OnNode {
		if err := l.prepareNode(); err != nil {
			return err
		}
	}
	return generate(l.Dir)
}

// withRelease names a release in the commented lab.yaml, as a person would.
func withRelease(text string, r *standin.Release) (string, error) {
	lines := strings.Split(text, "\n")
	found := 0
	for i, line := range lines {
		key, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "  "), "# "), ": ")
		switch {
		case key == "version" && strings.HasPrefix(line, "  "):
			lines[i] = fmt.Sprintf("  version: %q", r.ID)
			found++
		case key == "image" && strings.HasPrefix(line, "  "):
			lines[i] = fmt.Sprintf("  image: %q", r.Image)
			found++
		}
	}
	if found != 2 {
		return "", fmt.Errorf("the commented lab.yaml has %d lines for version and image of the release", found)
	}
	return strings.Join(lines, "\n"), nil
}

// Stages are those of the usual lab that have a script in the place and need no
// running cluster and no bootstrap.ign, in the order they run.
func Stages(tb testing.TB, id string, place labs.Place) []*labs.Stage {
	tb.Helper()
	return stagesOf(tb, id, usualLab, place)
}

func stagesOf(tb testing.TB, id, from string, place labs.Place) []*labs.Stage {
	tb.Helper()
	var out []*labs.Stage
	for _, s := range planOf(tb, id, from).Stages {
		if HasTemplate(s) && s.In(place) && !needsCluster(s) && !needsIgnition(s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		tb.Fatal("no stage has a script")
	}
	return out
}

// needsCluster says whether a stage watches or changes a running cluster. Such
// stages run in no good lab: each has tests of its own, with a stand-in for
// what it asks.
func needsCluster(s *labs.Stage) bool {
	return slices.Contains([]string{"wait", "start", "patch", "check", "hold", "remove"}, s.Kind)
}

// clusterStage finds a stage that needs a running cluster.
func clusterStage(tb testing.TB, id, stage string) *labs.Stage {
	tb.Helper()
	s := planOf(tb, id, usualLab).Stage(stage)
	if s == nil || !HasTemplate(s) || !needsCluster(s) {
		tb.Fatalf("%s of %s is no such stage", stage, id)
	}
	return s
}

// planOf is the plan of a shipped lab, or one of kinds, in a release.
func planOf(tb testing.TB, id, from string) *labs.Plan {
	tb.Helper()
	data, err := labText(from)
	if err != nil {
		tb.Fatal(err)
	}
	lab := &labs.Lab{Topology: "compact"}
	lab.Release.Distribution = "okd"
	if err := yaml.Unmarshal(data, lab); err != nil {
		tb.Fatal(err)
	}
	lab.Release.Version = id
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// HasTemplate says whether a stage has a script, its own or another stage's.
func HasTemplate(s *labs.Stage) bool {
	f, err := templates.FS.Open("scripts/" + s.ScriptName() + ".tmpl")
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// goodLabs are labs on which every script has run, by account and place.
var goodLabs = struct {
	sync.Mutex
	made map[string]*goodLab
}{made: map[string]*goodLab{}}

type goodLab struct {
	once sync.Once
	lab  *Lab
	err  error
}

// Good gives a lab on which every script has run. It belongs to all tests:
// clone it to change anything.
func Good(tb testing.TB, account podman.Account, place labs.Place) *Lab {
	tb.Helper()
	goodLabs.Lock()
	key := fmt.Sprint(account.Name, place)
	g := goodLabs.made[key]
	if g == nil {
		g = &goodLab{}
		goodLabs.made[key] = g
	}
	goodLabs.Unlock()
	env := func() *podman.Env { return podman.Shared(tb, account, Registry(tb)) }
	g.once.Do(func() { g.lab, g.err = makeGood(tb, account, place, env()) })
	if g.err == nil && g.lab == nil {
		podman.Unavailable(tb, "no podman for "+account.Name)
	}
	if g.err != nil {
		tb.Fatal(g.err)
	}
	return g.lab
}

func makeGood(tb testing.TB, account podman.Account, place labs.Place, env *podman.Env) (*Lab, error) {
	l := &Lab{Dir: filepath.Join(podman.SharedDir(tb, account), "mylab"), Env: env, Release: SharedRelease(tb, release), Place: place}
	if place == labs.OnNode {
		// The node's assets come from openshift-install; a local run's do as well.
		if err := l.takeAssets(Good(tb, account, labs.Local), bootstrapAssets...); err != nil {
			return nil, err
		}
	}
	if err := l.generate(Options{}); err != nil {
		return nil, err
	}
	if place == labs.Local && account != podman.Ordinary(tb) {
		// The same names, so the same certificates. TestTheWholeChain makes new ones
		// as each account.
		if err := l.takeAssets(Good(tb, podman.Ordinary(tb), labs.Local), "tls"); err != nil {
			return nil, err
		}
	}
	env.Own(tb, l.Dir)
	l.Printed = map[string]string{}
	for _, s := range Stages(tb, release, place) {
		r := l.Run(tb, s.ScriptName())
		l.Printed[s.ID] = r.All
		if r.Status != 0 || !strings.Contains(r.All, s.ID+" is done") {
			return nil, fmt.Errorf("%s ended with status %d:\n%s", s.ScriptName(), r.Status, r.All)
		}
	}
	return l, nil
}

// Clone copies the lab; the copy uses the same podman.
func (l *Lab) Clone(tb testing.TB) *Lab {
	tb.Helper()
	return l.copyTo(tb, l.Env)
}

// Apart copies the lab, with a podman that no one else uses.
func (l *Lab) Apart(tb testing.TB) *Lab {
	tb.Helper()
	return l.copyTo(tb, podman.New(tb, l.Env.Account, Registry(tb)))
}

func (l *Lab) copyTo(tb testing.TB, env *podman.Env) *Lab {
	tb.Helper()
	return l.copyInto(tb, podman.TempDir(tb, l.Env.Account), env)
}

func (l *Lab) copyInto(tb testing.TB, dir string, env *podman.Env) *Lab {
	tb.Helper()
	if out, err := exec.Command("cp", "--archive", l.Dir, dir).CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return &Lab{Dir: filepath.Join(dir, "mylab"), Env: env, Release: l.Release, Place: l.Place}
}

// Undo makes a stage not done: its marker and outputs go, its inputs stay. What
// was made from its outputs is not done either.
func (l *Lab) Undo(tb testing.TB, s *labs.Stage) {
	tb.Helper()
	l.unmark(tb, s)
	var errs []error
	for _, marker := range l.markers(s) {
		errs = append(errs, os.RemoveAll(marker))
	}
	for _, out := range s.Outputs {
		if s.RemoveFirst != "" {
			errs = append(errs, os.RemoveAll(l.Asset(s.RemoveFirst)))
			break
		}
		errs = append(errs, os.RemoveAll(l.Asset(strings.TrimSuffix(out.Path, "/"))))
	}
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// unmark makes the stages not done that a repetition of this one invalidates, and
// those that were made from them.
func (l *Lab) unmark(tb testing.TB, s *labs.Stage) {
	tb.Helper()
	for _, inv := range s.Invalidates {
		other := labs.Builtin().Stage(inv.Stage)
		if inv.Never || other.Optional {
			continue
		}
		for _, marker := range l.markers(other) {
			if err := os.RemoveAll(marker); err != nil {
				tb.Fatal(err)
			}
		}
		l.unmark(tb, other)
	}
}

// markers are the files that say a stage is done: bootkube.sh's, or ID.done.
func (l *Lab) markers(s *labs.Stage) []string {
	if len(s.Markers) == 0 {
		return []string{l.Asset(s.ID + ".done")}
	}
	var out []string
	for _, m := range s.Markers {
		out = append(out, l.Asset(m.File))
	}
	return out
}
