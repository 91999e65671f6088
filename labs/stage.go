package labs

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Stage is one step from an empty asset directory to a cluster, as data. Some
// stages are bootkube.sh's own, the others are the lab's and stand around them.
// The file labs/data/stages/ID.yaml holds exactly one.
//
// Every text in it is found again under a key made of the stage's id and the
// ids inside it (see [Stage.Texts]), so that another language is a file of
// keys and texts.
type Stage struct {
	// ID is the one name of the stage: file, template, script and page carry it.
	ID string `yaml:"id"`
	// Bootkube is the name that bootkube.sh records for the stage and puts
	// before .done; empty for a stage of the lab's own.
	Bootkube string `yaml:"bootkube"`
	// Script is the script that does the stage, when it is not ID.sh: two
	// stages of bootkube.sh may share one script.
	Script string `yaml:"script"`
	// Arguments are what Script is called with to do this stage.
	Arguments string `yaml:"arguments"`
	// Kind is one of Kinds.
	Kind string `yaml:"kind"`
	// Phase is one of Phases: the part of the bootstrap that the stage belongs to.
	// Every stage of bootkube.sh has one, in the order of Phases.
	Phase string `yaml:"phase"`
	// Uninterruptible: bootkube.sh must not be stopped in this stage, because half
	// of it cannot be done again.
	Uninterruptible bool `yaml:"uninterruptible"`
	// HangsAfter is the number of minutes after which the stage counts as failed
	// although it is still running; 0 is never. It is for a stage that ends soon or
	// not at all.
	HangsAfter int `yaml:"hangsAfter"`
	Span       `yaml:",inline"`
	When       Condition `yaml:"when"`
	// Places lists where the script makes sense. Empty is local run and lab.
	Places []Place `yaml:"places"`

	// Seconds is how long the stage usually takes once its images are there,
	// rounded up.
	Seconds int `yaml:"seconds"`

	// Next is what follows, where that is not simply the next stage of the order
	// in the same place.
	Next []Onward `yaml:"next"`

	// Optional: the stages that follow do not need this one.
	Optional bool `yaml:"optional"`

	// Parallel: the script runs in a second terminal while another stage is
	// running. It takes a lock of its own, leaves no marker, and keeps its records
	// apart, since bootkube.sh has one stage open at a time.
	Parallel bool `yaml:"parallel"`

	// Model is what the script does by hand and what Differs compares it with,
	// bootkube.sh where it is empty.
	Model string `yaml:"model"`

	Title string `yaml:"title"`
	Why   string `yaml:"why"`
	// Log is the line that bootkube.sh prints when the stage begins.
	Log string `yaml:"log"`
	// Journal is a regular expression for more lines that tell in a journal that the
	// stage is running.
	Journal string `yaml:"journal"`

	// Needs are the commands that the script calls beside coreutils.
	Needs []string `yaml:"needs"`
	// Options are the script's own, beside the modes that every script has.
	Options []Option `yaml:"options"`
	Reads   []File   `yaml:"reads"`
	// Before tells what bootkube.sh does in the stage ahead of the container.
	Before []Note `yaml:"before"`
	// RemoveFirst is the directory that is removed before the work begins.
	RemoveFirst string     `yaml:"removeFirst"`
	Run         *Container `yaml:"run"`
	Command     *Command   `yaml:"command"`
	// Steps are the points that Run reaches, each known by what it prints.
	Steps []Step `yaml:"steps"`
	// Gates are what the cluster must have reached before the stage goes on.
	Gates []Gate `yaml:"gates"`
	// Retry and OnFailure tell how bootkube.sh waits, and what it does when the
	// command fails for good; empty when it simply stops.
	Retry     string   `yaml:"retry"`
	OnFailure string   `yaml:"onFailure"`
	Mkdir     []string `yaml:"mkdir"`
	Copies    []Copy   `yaml:"copies"`
	// After tells what bootkube.sh does in the stage behind its copies.
	After   []Note   `yaml:"after"`
	Outputs []File   `yaml:"outputs"`
	Markers []Marker `yaml:"markers"`
	// Pods are the static pods that the stage renders.
	Pods []StaticPod `yaml:"pods"`
	// Effect is what begins or ends with the stage besides files, for the map of
	// stages. The first item that holds counts.
	Effect []Effect `yaml:"effect"`
	// Story is what the time line tells of the stage.
	Story []Event `yaml:"story"`
	// SkipIf is a marker that makes bootkube.sh leave the stage out, or, for a
	// stage of the lab's own, says that another has made the same results.
	SkipIf string `yaml:"skipIf"`
	// Invalidates are the stages whose results a repetition of this one invalidates.
	Invalidates []Invalidation `yaml:"invalidates"`

	Checks    []Check      `yaml:"checks"`
	Failures  []Failure    `yaml:"failures"`
	Questions []Question   `yaml:"questions"`
	Exercises []Exercise   `yaml:"exercises"`
	Differs   []Difference `yaml:"differs"`
	Links     []Link       `yaml:"links"`
	// Source says where the facts of this stage were read.
	Source string `yaml:"source"`
}

// Kinds are the kinds of stages: prepare makes or fetches what bootkube finds
// ready, copy moves files, render runs an operator's container, wait watches,
// start runs cluster-bootstrap, patch changes an object, check observes, hold
// hands over between a person and bootkube.sh, remove takes away what has done
// its work.
var Kinds = []string{"prepare", "copy", "render", "wait", "start", "patch", "check", "hold", "remove"}

// Phases are the parts of bootkube.sh's work, in their order: render writes files,
// control-plane starts the temporary control plane, hand-over moves the cluster to
// the masters, end looks at the result.
var Phases = []string{PhaseRender, PhaseControlPlane, PhaseHandOver, PhaseEnd}

// The phases.
const (
	PhaseRender       = "render"
	PhaseControlPlane = "control-plane"
	PhaseHandOver     = "hand-over"
	PhaseEnd          = "end"
)

// StaticPod is a static pod whose manifest a stage renders. When the manifest is
// copied to /etc/kubernetes/manifests the kubelet starts it at once, otherwise
// cluster-bootstrap starts it, and ends it.
type StaticPod struct {
	ID string `yaml:"id"`
	// File is the name of the manifest, Name the pod's.
	File string `yaml:"file"`
	Name string `yaml:"name"`
	// Made says when the stage makes it, if not always.
	Made  string `yaml:"made"`
	About string `yaml:"about"`
	// End says what ends it, where cluster-bootstrap does not.
	End  string `yaml:"end"`
	Span `yaml:",inline"`
	When Condition `yaml:"when"`
}

// Effect is what begins or ends outside of files. Its texts may name values of
// the lab, as $ETCD_MEMBERS.
type Effect struct {
	// On is one of Sides.
	On    string `yaml:"on"`
	Title string `yaml:"title"`
	Text  string `yaml:"text"`
	Span  `yaml:",inline"`
	When  Condition `yaml:"when"`
}

// Event is a box or an arrow of the time line. Its texts may name values of the
// lab, as $ETCD_MEMBERS.
type Event struct {
	// On is one of Sides, the bootstrap node where it is empty. What is elsewhere
	// stands beside the event before.
	On string `yaml:"on"`
	// Call: the node asks, and On answers.
	Call bool `yaml:"call"`
	// Of names what the stage starts, for the titles of the stages around it.
	Of string `yaml:"of"`
	// Heading is the stage's id where it is empty.
	Heading string `yaml:"heading"`
	Text    string `yaml:"text"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
}

// Sides are where an effect or an event shows: on the bootstrap node, on the
// masters, or in the cluster.
var Sides = []string{SideNode, SideMasters, SideCluster}

// The sides.
const (
	SideNode    = "node"
	SideMasters = "masters"
	SideCluster = "cluster"
)

// Onward is what follows a stage, in words.
type Onward struct {
	Text string `yaml:"text"`
	Span `yaml:",inline"`
	When Condition `yaml:"when"`
}

// Place is where a script runs.
type Place string

const (
	// Local is the workstation, as any user, inside out/work.
	Local Place = "local"
	// OnNode is the bootstrap node, as root, in /opt/openshift.
	OnNode Place = "lab"
	// Workstation is the workstation too, but about the lab's machines and its
	// cluster; the scripts stand beside those of the local run and share its
	// directories.
	Workstation Place = "workstation"
)

// Span holds the first and the last minor release an item is true for, both
// inclusive; an empty end is open.
type Span struct {
	Since string `yaml:"since"`
	Until string `yaml:"until"`
}

// InPlace is whether an installation is bootstrap-in-place.
type InPlace bool

// GobEncode keeps the difference between false and nil, which gob does not send.
func (p InPlace) GobEncode() ([]byte, error) { return strconv.AppendBool(nil, bool(p)), nil }

// GobDecode reads what GobEncode wrote.
func (p *InPlace) GobDecode(data []byte) error {
	value, err := strconv.ParseBool(string(data))
	*p = InPlace(value)
	return err
}

// Condition says when an item counts. Topology, distribution, platform and keys
// of lab.yaml are decided when a lab is resolved; File, Dir and NotEmpty are asked when the
// script runs.
type Condition struct {
	File     string `yaml:"file"`     // this file is there
	Dir      string `yaml:"dir"`      // this directory is there
	NotEmpty string `yaml:"notEmpty"` // this directory holds something
	// InPlace: nil is always, true only in a bootstrap-in-place installation,
	// false only outside one. No lab is installed in place.
	InPlace *InPlace `yaml:"inPlace"`
	// ClusterProfile: the installer has a cluster profile set. No lab has.
	ClusterProfile bool     `yaml:"clusterProfile"`
	Distribution   string   `yaml:"distribution"` // okd or ocp
	Topology       []string `yaml:"topology"`     // of Topologies
	Platforms      []string `yaml:"platforms"`    // the installer's platform names
	// With: lab.yaml sets one of these keys, as proxy or proxy.httpProxy.
	// Without: it sets none of these.
	With    []string `yaml:"with"`
	Without []string `yaml:"without"`
}

// Container is a podman run of bootkube.sh. The options that every such run
// has stand once, in the release (see [Release.PodmanBase]).
type Container struct {
	// Image is a name in the payload, or "release" for the release image.
	Image string `yaml:"image"`
	// Name is the container's.
	Name string `yaml:"name"`
	// Volume replaces the usual "$PWD:/assets:z".
	Volume  string   `yaml:"volume"`
	Options []Option `yaml:"options"`
	// Command stands behind the image: a path where the image has no
	// entrypoint, else a subcommand.
	Command string `yaml:"command"`
	Flags   []Flag `yaml:"flags"`
}

// Command is a command of bootkube.sh on the host.
type Command struct {
	Line  string `yaml:"line"`
	Flags []Flag `yaml:"flags"`
}

// Option is an option of podman, or of a script of ours.
type Option struct {
	Option string `yaml:"option"`
	Span   `yaml:",inline"`
	When   Condition `yaml:"when"`
	Why    string    `yaml:"why"`
	// Variable is the script's variable that an option of ours sets.
	Variable string `yaml:"variable"`
}

// Flag is a flag of the command inside a container. Value may hold shell
// variables of the script, as $VERSION.
type Flag struct {
	Flag  string `yaml:"flag"`
	Value string `yaml:"value"`
	// Setting is the setting of the script that holds the flag's value: a list with
	// commas has one item a line, a URL is its path, and a flag without a value is
	// the flag itself.
	Setting string `yaml:"setting"`
	// Separate: value as an argument of its own, not behind an equals sign.
	Separate bool `yaml:"separate"`
	Span     `yaml:",inline"`
	When     Condition `yaml:"when"`
	Why      string    `yaml:"why"`
	Source   string    `yaml:"source"`
}

// Copy moves results to where the next reader looks. A path with a leading
// slash is the host's, any other is below the asset directory.
type Copy struct {
	From      string `yaml:"from"`
	To        string `yaml:"to"`
	Recursive bool   `yaml:"recursive"`
	// Without are directories whose files are not copied, by their names: on a
	// rerun they are in From, and on the first run they came later.
	Without []string `yaml:"without"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
	Why     string    `yaml:"why"`
	Source  string    `yaml:"source"`
}

// File is something that a stage reads or writes.
type File struct {
	Path string `yaml:"path"`
	Span `yaml:",inline"`
	When Condition `yaml:"when"`
	Why  string    `yaml:"why"`
	// Optional: the stage goes on without it.
	Optional bool `yaml:"optional"`
	// Secret: its content is a key, a token or a password.
	Secret bool `yaml:"secret"`
	// From names the stage that makes a file which is read, where that is not
	// to be seen from outputs and copies: a lab input or the host's.
	From string `yaml:"from"`
}

// Covers says whether the entry means a path: the same path, a directory above
// it (written with a trailing slash), or a pattern that matches it.
func (f File) Covers(path string) bool { return covers(f.Path, path) }

// String is the flag as it is typed, $NAME for a variable of the script.
func (f Flag) String() string {
	switch {
	case f.Value == "":
		return f.Flag
	case f.Separate:
		return f.Flag + " " + f.Value
	}
	return f.Flag + "=" + f.Value
}

// SettingValue is what the script has under the name in Setting.
func (f Flag) SettingValue() string {
	if _, address, isURL := strings.Cut(f.Flag, "://"); isURL {
		_, path, _ := strings.Cut(address, "/")
		return path
	}
	if f.Value == "" {
		return f.Flag
	}
	return strings.ReplaceAll(f.Value, ",", "\n")
}

// Arrives says whether a copy can put a file at a path: at To itself, or as a
// file of From's name below it.
func (c Copy) Arrives(file string) bool {
	if !strings.HasSuffix(c.To, "/") {
		return c.To == file
	}
	rest, below := strings.CutPrefix(file, c.To)
	if !below || c.Recursive {
		return below
	}
	ok, err := path.Match(path.Base(c.From), rest)
	return err == nil && ok
}

// Marker is the file that says a stage of bootkube.sh ran to its end.
type Marker struct {
	File string `yaml:"file"`
	Span `yaml:",inline"`
}

// Invalidation says what a repetition invalidates, and why.
type Invalidation struct {
	Stage string `yaml:"stage"`
	Span  `yaml:",inline"`
	Why   string `yaml:"why"`
	// Never: once that stage is done, not even --force repeats this one.
	Never bool `yaml:"never"`
}

// Note is one step, described in words.
type Note struct {
	ID   string `yaml:"id"`
	Text string `yaml:"text"`
	Span `yaml:",inline"`
}

// Step is a point that a container reaches, told by the script when it does.
type Step struct {
	ID string `yaml:"id"`
	// Line is part of the line that the container prints at this point. A step
	// without one is told before the container starts.
	Line string `yaml:"line"`
	// Minutes is the time limit that begins here; 0 is none.
	Minutes int    `yaml:"minutes"`
	Text    string `yaml:"text"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
}

// Gate is a question to the cluster that is asked until the answer is enough.
type Gate struct {
	ID string `yaml:"id"`
	// Question is what oc is asked, as get endpoints kubernetes, and Path the
	// jsonpath that cuts the answer down to words, which are counted. Both are
	// empty where the script's own function of the gate's name looks.
	Question string `yaml:"question"`
	Path     string `yaml:"path"`
	AtLeast  int    `yaml:"atLeast"`
	// Minutes is how long the script waits for it.
	Minutes int `yaml:"minutes"`
	// Title is what is waited for, and Says how the component announces it in
	// its log.
	Title string `yaml:"title"`
	Says  string `yaml:"says"`
	Why   string `yaml:"why"`
	Span  `yaml:",inline"`
}

// Seconds is the limit as the shell counts.
func (g Gate) Seconds() int { return g.Minutes * 60 }

// Failure is a way in which the stage usually goes wrong: what is seen, where
// it comes from, what to do.
type Failure struct {
	ID      string `yaml:"id"`
	Message string `yaml:"message"` // as the component prints it, on one line; … stands for anything
	Cause   string `yaml:"cause"`
	Fix     string `yaml:"fix"`
	Span    `yaml:",inline"`
	Source  string `yaml:"source"`
}

// pattern matches a line that has the message.
func (f Failure) pattern() string {
	parts := strings.Split(f.Message, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return strings.Join(parts, ".+")
}

// Question asks the learner, with the answer to unfold.
type Question struct {
	ID     string `yaml:"id"`
	Ask    string `yaml:"ask"`
	Answer string `yaml:"answer"`
	Span   `yaml:",inline"`
}

// Exercise changes an input: predict, run, verify.
type Exercise struct {
	ID       string `yaml:"id"`
	Do       string `yaml:"do"`
	Expect   string `yaml:"expect"`
	PutRight string `yaml:"putRight"`
	Span     `yaml:",inline"`
}

// Difference is a place where our script departs from bootkube.sh. What is not
// listed as one is a bug.
type Difference struct {
	ID   string `yaml:"id"`
	What string `yaml:"what"`
	Why  string `yaml:"why"`
	Span `yaml:",inline"`
	When Condition `yaml:"when"`
	// Places: empty is both.
	Places []Place `yaml:"places"`
}

// Link leads to the public source or documentation of a fact.
type Link struct {
	Title string `yaml:"title"`
	URL   string `yaml:"url"`
}

// AsksCluster says whether the script asks a running cluster, and so has what
// cluster-lib.sh offers.
func (s *Stage) AsksCluster() bool {
	return s.Kind == "wait" || s.Kind == "start" || slices.Contains(s.Needs, "oc")
}

// ScriptName is the name of the script that does the stage.
func (s *Stage) ScriptName() string {
	if s.Script != "" {
		return s.Script + ".sh"
	}
	return s.ID + ".sh"
}

// Call is how the script is called to do the stage.
func (s *Stage) Call() string {
	if s.Arguments == "" {
		return s.ScriptName()
	}
	return s.ScriptName() + " " + s.Arguments
}

// In says whether the stage's script makes sense in a place.
func (s *Stage) In(place Place) bool {
	if len(s.Places) == 0 {
		return place != Workstation
	}
	for _, p := range s.Places {
		if p == place {
			return true
		}
	}
	return false
}

// Marker is the file that the stage's script writes when its checks pass:
// bootkube's where bootkube has one, else the lab's own. What only waits, or
// runs beside another stage, has none and is done each time.
func (s *Stage) Marker() string {
	switch {
	case len(s.Markers) > 0:
		return s.Markers[0].File
	case s.Parallel || s.Kind == "wait" || s.Kind == "hold" || s.Kind == "check":
		return ""
	}
	return s.ID + ".done"
}

// RecordName is the name under which the stage stands in the progress records:
// bootkube's own, else the stage's id.
func (s *Stage) RecordName() string {
	if s.Bootkube != "" {
		return s.Bootkube
	}
	return s.ID
}
