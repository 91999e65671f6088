package guide

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

func newExplainCommand(io cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain STAGE|FILE|FIELD|FLAG|KEY|SYMPTOM|PORT|UNIT|LINE [--lab LAB] [--release RELEASE] [--from-audit FILE]",
		Short: "Explain a stage, a file, a flag, a key of lab.yaml, a symptom, a port, a unit, or a line of a log",
		Long: `Explain one thing, from the same data as the scripts and the guide: a stage by
its name here or in bootkube.sh, a file that stages read or write, a field of a
static pod, a kubeconfig or another file that the guide explains part by part, a
flag that bootkube.sh or such a file gives to a program, a key of lab.yaml, or
what bootlab diagnose names: a symptom, or a layer of its walk. For a port or a systemd
unit it explains the component. For a log line, in quotes, it lists the causes that
match the line.
Without --lab or --release, for the default release. With --from-audit, as
bootlab generate --from-audit makes it of that file.`,
		Example: `  bootlab explain render-etcd
  bootlab explain etcd-bootstrap --release 4.16
  bootlab explain manifests/cluster-config.yaml
  bootlab explain etcd-member-pod.yaml
  bootlab explain hostNetwork
  bootlab explain --etcd-image
  bootlab explain networking.machineNetwork
  bootlab explain csr-client-pending
  bootlab explain 22623
  bootlab explain crio.service
  bootlab explain "x509: certificate signed by unknown authority"`,
		// An operator's flag is an argument here, so cobra must not parse flags.
		DisableFlagParsing:    true,
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			request, err := parseExplain(args)
			if err != nil {
				return err
			}
			if request.help {
				return c.Help()
			}
			return runExplain(io, request)
		},
		ValidArgsFunction: completeExplain,
	}
}

// explainRequest is a parsed command line of explain.
type explainRequest struct {
	what, lab, release, audited string
	help                        bool
}

func parseExplain(args []string) (*explainRequest, error) {
	r := &explainRequest{}
	usage := func(problem string) error {
		return cli.Usage(cli.Hint(fmt.Errorf("%s", problem), "usage: bootlab explain STAGE|FILE|FIELD|FLAG|KEY|SYMPTOM|PORT|UNIT|LINE [--lab LAB] [--release RELEASE] [--from-audit FILE]"))
	}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		target := map[string]*string{"--lab": &r.lab, "--release": &r.release, "--from-audit": &r.audited}[name]
		switch {
		case args[i] == "--help" || args[i] == "-h":
			r.help = true
		case target != nil && joined:
			*target = value
		case target != nil:
			if i++; i == len(args) {
				return nil, usage(name + " wants a value")
			}
			*target = args[i]
		case r.what == "":
			r.what = args[i]
		default:
			for _, word := range []string{args[i], r.what} {
				if near := cli.DidYouMean(word, []string{"--lab", "--release", "--from-audit", "--help"}); near != "" {
					return nil, cli.Usage(cli.Hint(fmt.Errorf("one thing at a time: %s or %s", r.what, args[i]), near))
				}
			}
			return nil, usage("one thing at a time: " + r.what + " or " + args[i])
		}
	}
	if r.what == "" && !r.help {
		return nil, usage("explain what?")
	}
	return r, nil
}

func runExplain(io cli.Streams, r *explainRequest) error {
	plan, err := explainPlan(io, r)
	if err != nil {
		return err
	}
	e := &explainer{plan: plan}
	for _, explain := range []func(string) bool{e.stage, e.flag, e.key, e.symptom, e.layer, e.port, e.unit, e.file, e.parts, e.chapter, e.said} {
		if explain(r.what) {
			_, err := fmt.Fprint(io.Out, e.text.String()+e.origin())
			return err
		}
	}
	return cli.Unknown(
		fmt.Errorf("%s is no stage, file, field, flag, key, symptom, port, unit, chapter or known line of release %s", r.what, plan.Version()),
		r.what, e.names(), "stages: "+strings.Join(e.stageIDs(), " "),
	)
}

// explainPlan is the plan of the lab that was named, else that of the default
// lab in the release that was named.
func explainPlan(io cli.Streams, r *explainRequest) (*labs.Plan, error) {
	from := cli.FromAudit{File: r.audited}
	if r.audited != "" {
		from.Release = r.release
	}
	if r.lab != "" {
		return cli.LoadPlanFrom(io, r.lab, from)
	}
	catalog := labs.Builtin()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, errs
	}
	if r.release != "" {
		lab.Release.Version = r.release
	}
	if r.audited != "" {
		return from.Plan(lab, catalog)
	}
	plan, err := catalog.Resolve(lab)
	return plan, withReleaseHint(err)
}

// explainer collects the explanation of one thing.
type explainer struct {
	plan *labs.Plan
	text strings.Builder
}

func (e *explainer) line(format string, args ...any) { fmt.Fprintf(&e.text, format+"\n", args...) }

// origin says what the explanation goes by, when that was not reviewed.
func (e *explainer) origin() string {
	a := e.plan.Audited
	if a == nil {
		return ""
	}
	return fmt.Sprintf("\nNot reviewed: made from %s (sha256 %s) and stage data of %s, %s.\n", a.File, a.SHA256, a.Nearest, a.Count())
}

func (e *explainer) stageIDs() []string {
	var ids []string
	for _, s := range e.plan.Stages {
		ids = append(ids, s.ID)
	}
	return ids
}

func (e *explainer) stage(what string) bool {
	what = strings.TrimSuffix(what, ".sh")
	for _, s := range e.plan.Stages {
		if s.ID == what || s.Bootkube == what {
			e.describe(s)
			return true
		}
	}
	return false
}

func (e *explainer) describe(s *labs.Stage) {
	e.line("%s: %s\n\n%s", s.ID, s.Title, strings.TrimSpace(s.Why))
	if s.Bootkube != "" {
		e.line("\nIn bootkube.sh of %s: stage %s", e.plan.Version(), s.Bootkube)
	}
	if s.Run != nil {
		e.line("\nContainer %s, image %s: %s", s.Run.Name, s.Run.Image, s.Run.Command)
		for _, f := range s.Run.Flags {
			e.line("  %s%s\n      %s", f, conditionOf(f.When), strings.TrimSpace(f.Why))
		}
	}
	e.files("Reads", s.Reads)
	e.files("Writes", s.Outputs)
	for _, c := range s.Copies {
		e.line("  %s -> %s\n      %s", c.From, c.To, strings.TrimSpace(c.Why))
	}
	if len(s.Checks) > 0 {
		e.line("\nChecks:")
	}
	for _, c := range s.Checks {
		e.line("  %s", c.Title)
	}
	if len(s.Differs) > 0 {
		e.line("\nDiffers from the real one:")
	}
	for _, d := range s.Differs {
		e.line("  %s %s", d.What, d.Why)
	}
}

// conditionOf says in words when a flag is given.
func conditionOf(w labs.Condition) string {
	if w.File == "" {
		return ""
	}
	return " (only if there is a file " + w.File + ")"
}

func (e *explainer) files(title string, files []labs.File) {
	if len(files) == 0 {
		return
	}
	e.line("\n%s:", title)
	for _, f := range files {
		e.line("  %s\n      %s", f.Path, strings.TrimSpace(f.Why))
	}
}

func (e *explainer) flag(what string) bool {
	if !strings.HasPrefix(what, "-") {
		return false
	}
	for _, s := range e.plan.Stages {
		if s.Run == nil {
			continue
		}
		for _, f := range s.Run.Flags {
			if f.Flag == what {
				e.line("%s: %s%s\n    %s", s.ID, f, conditionOf(f.When), strings.TrimSpace(f.Why))
			}
		}
		for _, o := range s.Run.Options {
			if strings.HasPrefix(o.Option, what) {
				e.line("%s, podman: %s\n    %s", s.ID, o.Option, strings.TrimSpace(o.Why))
			}
		}
	}
	for _, o := range e.plan.Bootkube.Podman {
		if strings.HasPrefix(o.Option, what) {
			e.line("every podman run of bootkube.sh: %s\n    %s", o.Option, strings.TrimSpace(o.Why))
		}
	}
	e.parts(what)
	return e.text.Len() > 0
}

func (e *explainer) key(what string) bool {
	for _, f := range labs.Fields() {
		if f.Path == what {
			e.line("%s in lab.yaml\n\n%s", f.Path, strings.TrimSpace(f.Why))
			if f.Default != "" {
				e.line("\ndefault: %s", f.Default)
			}
			if f.Allowed != "" {
				e.line("allowed: %s", f.Allowed)
			}
			return true
		}
	}
	return false
}

// file tells what stands in a file, where it is known part by part, and who
// writes and who reads it. A path is one of the asset directory or of the host;
// directories and patterns count where no stage names the file itself.
func (e *explainer) file(what string) bool {
	e.annotated(what)
	what = e.path(what)
	exactly := func(f labs.File) bool { return f.Path == what }
	if !e.written(exactly, func(c labs.Copy) bool { return c.To == what }) {
		e.written(func(f labs.File) bool { return f.Covers(what) }, func(c labs.Copy) bool { return c.Arrives(what) })
	}
	for _, s := range e.plan.Stages {
		for _, f := range s.Reads {
			if f.Covers(what) {
				e.line("%s reads %s\n    %s", s.ID, f.Path, strings.TrimSpace(f.Why))
			}
		}
	}
	return e.text.Len() > 0
}

func (e *explainer) written(made func(labs.File) bool, came func(labs.Copy) bool) bool {
	before := e.text.Len()
	for _, s := range e.plan.Stages {
		for _, f := range s.Outputs {
			if made(f) {
				e.line("%s writes %s\n    %s", s.ID, f.Path, strings.TrimSpace(f.Why))
			}
		}
		for _, c := range s.Copies {
			if came(c) {
				e.line("%s copies %s to %s\n    %s", s.ID, c.From, c.To, strings.TrimSpace(c.Why))
			}
		}
	}
	return e.text.Len() > before
}
