package guide

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

// names are all that explain knows by a name of its own: what a misspelt word is
// held against, and what the shell completes.
func (e *explainer) names() []string {
	var all []string
	for _, s := range e.plan.Stages {
		all = append(all, s.ID, s.ID+".sh", s.Bootkube)
		all = append(all, filesOf(s)...)
		if s.Run != nil {
			for _, f := range s.Run.Flags {
				all = append(all, f.Flag)
			}
		}
	}
	for _, f := range labs.Fields() {
		all = append(all, f.Path)
	}
	for _, layer := range e.diagnoses()[0].Layers {
		all = append(all, layer.ID)
		for _, s := range layer.Symptoms {
			all = append(all, s.ID)
		}
	}
	for _, f := range e.plan.AnnotatedFiles() {
		all = append(all, f.Path, path.Base(f.Path))
	}
	for _, group := range labs.BuiltinGuide().Groups {
		for _, c := range group.Chapters {
			all = append(all, c.ID)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(name string) bool { return name == "" || strings.ContainsAny(name, "*? ") })
}

// filesOf are the files that a stage reads or writes.
func filesOf(s *labs.Stage) []string {
	var all []string
	for _, f := range slices.Concat(s.Reads, s.Outputs) {
		all = append(all, f.Path)
	}
	for _, c := range s.Copies {
		all = append(all, c.To)
	}
	return all
}

// completeExplain completes one name, and the options, which cobra does not parse
// here.
func completeExplain(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	last := ""
	if len(args) > 0 {
		last = args[len(args)-1]
	}
	switch last {
	case "--lab":
		return cli.Labs(c, args, toComplete)
	case "--release":
		return cli.Releases(c, args, toComplete)
	case "--from-audit":
		return nil, cobra.ShellCompDirectiveDefault
	}
	options := []string{"--lab", "--release", "--from-audit", "--help"}
	if r, err := parseExplain(args); err == nil && r.what != "" {
		return options, cobra.ShellCompDirectiveNoFileComp
	}
	plan, err := explainPlan(cli.Streams{}, &explainRequest{})
	if err != nil {
		return options, cobra.ShellCompDirectiveNoFileComp
	}
	return append((&explainer{plan: plan}).names(), options...), cobra.ShellCompDirectiveNoFileComp
}
