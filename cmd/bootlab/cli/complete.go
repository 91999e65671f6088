package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/labs"
	"bootlab/vms"
)

// Words completes an argument or the value of a flag with one of these words.
func Words(words ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completers complete an argument by its word in the line of usage.
var completers = map[string]cobra.CompletionFunc{
	"LAB":        Labs,
	"LAB|BUNDLE": labsAndFiles,
	"MACHINE":    Machines,
	"STAGE":      Stages("all"),
	"DIR":        directories,
	"BUNDLE":     files,
	"FILE":       files,
	"NAME":       Words(),
	"COMMAND":    files, // of a machine, which is not asked
}

// flagCompleters complete the values of options that mean the same in every
// command.
var flagCompleters = map[string]cobra.CompletionFunc{
	"lab":       Labs,
	"release":   Releases,
	"stage":     Stages(),
	"from-node": Machines,
}

// completeArguments completes the next argument of a command.
func completeArguments(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	word := ""
	for _, field := range strings.Fields(c.Use)[1:] {
		if strings.HasPrefix(field, "-") {
			break
		}
		word = field
		if len(args) == 0 || strings.Contains(field, "...") {
			break
		}
		args, word = args[1:], ""
	}
	word = strings.Trim(word, "[].")
	if before, _, several := strings.Cut(word, "|"); several && completers[word] == nil {
		word = before
	}
	if complete := completers[word]; complete != nil {
		return complete(c, c.Flags().Args(), toComplete)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// Releases completes the releases that have stage data.
func Releases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return labs.Builtin().ReleaseIDs(), cobra.ShellCompDirectiveNoFileComp
}

// Stages completes stages, and what else means some.
func Stages(more ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ids := slices.Clone(more)
		for _, s := range labs.Builtin().Stages {
			ids = append(ids, cobra.CompletionWithDesc(s.ID, s.Title))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// Labs completes directories that hold a lab.yaml, or any directory where there is
// none on the way that was typed.
func Labs(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	dir, _ := filepath.Split(toComplete)
	found, _ := filepath.Glob(labs.EscapeGlob(dir) + "*/" + labs.LabFile)
	var all []string
	for _, file := range found {
		if lab := strings.TrimSuffix(file, "/"+labs.LabFile); strings.HasPrefix(lab, toComplete) {
			all = append(all, lab)
		}
	}
	if len(all) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

func labsAndFiles(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	all, _ := Labs(c, args, toComplete)
	return all, cobra.ShellCompDirectiveDefault
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Machines completes the machines of the lab that the first argument names, and the
// words for several.
func Machines(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	lab, problems := labs.LoadLab(args[0], labs.Builtin())
	if problems.Err() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, m := range vms.Machines(lab) {
		names = append(names, cobra.CompletionWithDesc(m.Name, m.Address))
	}
	return append(names, "masters", "workers", "all"), cobra.ShellCompDirectiveNoFileComp
}
