package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootlab/labs"
)

// UsageError is a wrong command line.
type UsageError struct{ err error }

// Usage is an error about a wrong command line.
func Usage(err error) error { return &UsageError{err} }

// Error is what is wrong.
func (e *UsageError) Error() string { return e.err.Error() }

// Unwrap is the same, with its hint.
func (e *UsageError) Unwrap() error { return e.err }

// Unknown is the usage error about a name that is none of those that are known.
// The hint is the nearest of them, else what is said otherwise.
func Unknown(err error, name string, known []string, otherwise string) error {
	return Usage(Hint(err, cmp.Or(DidYouMean(name, known), otherwise)))
}

// DidYouMean suggests what was probably meant; empty if nothing is near.
func DidYouMean(word string, known []string) string {
	if name := renamedWord(word); name != "" {
		return "did you mean " + name + "?"
	}
	if near := labs.NearestWord(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// OneHabit makes all commands alike: how they complain about a command line, that
// a group without a command shows its help, and that the help of each says what
// its exit statuses mean.
func OneHabit(root *cobra.Command) {
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newCompletionCommand(), newManCommand(root.OutOrStdout()), newStatusTopic())
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultHelpCmd()
	each(root, func(c *cobra.Command) {
		if c.HasSubCommands() {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		if c.RunE == nil {
			return // a topic of the help
		}
		c.Args = arguments
		completeAll(c)
		c.DisableFlagsInUseLine = true
		if !c.HasSubCommands() {
			c.Long = strings.TrimSpace(cmp.Or(c.Long, c.Short+".")) + "\n\n" + endsText(c)
		}
	})
}

// completeAll completes arguments and options of a command that does not do it
// itself.
func completeAll(c *cobra.Command) {
	if c.ValidArgsFunction == nil && !c.HasSubCommands() {
		c.ValidArgsFunction = completeArguments
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := flagCompleters[f.Name]; complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete)
		}
	})
}

func each(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		each(sub, visit)
	}
}

// arguments holds the arguments of a command against its line of usage: words in
// brackets may be left out, and the last may be repeated where it ends with dots.
func arguments(c *cobra.Command, args []string) error {
	if c.HasSubCommands() {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return nil
	}
	if err := c.ValidateFlagGroups(); err != nil {
		return Usage(Hint(errors.New(strings.Join(exclusive(c), " and ")+" exclude each other"), "give one of them"))
	}
	if c.DisableFlagParsing {
		return nil // it looks at its arguments itself
	}
	required, most := places(c)
	switch {
	case len(args) < len(required):
		return Usage(Hint(errors.New(strings.Join(required[len(args):], " and ")+" is missing"), "usage: "+c.UseLine()))
	case most >= 0 && len(args) > most:
		return Usage(Hint(fmt.Errorf("%q is one argument too many", args[most]), "usage: "+c.UseLine()))
	}
	return nil
}

// places reads the line of usage: which arguments must be there, and how many may
// be; -1 is any number.
func places(c *cobra.Command) (required []string, most int) {
	words := strings.Fields(c.Use)[1:]
	for i, word := range words {
		if strings.HasPrefix(word, "-") || i > 0 && strings.HasPrefix(words[i-1], "-") {
			continue // an option, and its value
		}
		if !strings.HasPrefix(word, "[") {
			required = append(required, strings.TrimSuffix(word, "..."))
		}
		most++
		if strings.Contains(word, "...") {
			return required, -1
		}
	}
	return required, most
}

// exclusive are the options of a command line that cannot be given together.
func exclusive(c *cobra.Command) []string {
	var names []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if len(f.Annotations["cobra_annotation_mutually_exclusive"]) > 0 {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// unknownCommand suggests a command of the same group, or one of that name in
// another.
func unknownCommand(c *cobra.Command, name string) error {
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			known = append(known, sub.Name())
		}
	}
	said := fmt.Errorf("%s has no command %q", c.CommandPath(), name)
	if near := DidYouMean(name, known); near != "" {
		return Usage(Hint(said, near))
	}
	hint := c.CommandPath() + " --help lists the commands"
	each(c.Root(), func(other *cobra.Command) {
		if other.HasParent() && other.Name() == name {
			hint = "did you mean " + other.CommandPath() + "?"
		}
	})
	return Usage(Hint(said, hint))
}

// flagError says in our words what pflag says of the options of a command line.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	hint := c.CommandPath() + " --help lists the options"
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown, hint)
	case errors.As(err, &missing):
		err = fmt.Errorf("--%s wants a value", missing.GetFlag().Name)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s %q %s", f.Name, invalid.GetValue(), whyInvalid(f, invalid))
		if to := c.Flags().Lookup("to"); to != nil && f.Name == "output" {
			hint = "--to says where it is written"
		}
	case errors.As(err, &syntax):
		err = fmt.Errorf("%q is no option", syntax.GetSpecifiedFlag())
	}
	return Usage(Hint(err, hint))
}

// whyInvalid says what is wrong with the value of an option.
func whyInvalid(f *pflag.Flag, err *pflag.InvalidValueError) string {
	switch f.Value.Type() {
	case "int":
		return "is no whole number"
	case "duration":
		return "is no time, as 30s or 5m"
	case "bool", "boolfunc":
		return "is neither true nor false"
	}
	return err.Unwrap().Error()
}

// unknownFlag suggests the new name of an option that has another now, or the
// nearest of the command.
func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError, hint string) error {
	if unknown.GetSpecifiedShortnames() != "" {
		return Usage(Hint(fmt.Errorf("unknown flag -%s", unknown.GetSpecifiedName()), hint))
	}
	name := unknown.GetSpecifiedName()
	said := "unknown flag --" + name
	if meant := renamedFlag(c, name); meant != "" {
		return Usage(Hint(fmt.Errorf("%s; did you mean --%s?", said, meant), hint))
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near := labs.NearestWord(name, known); near != "" {
		said += "; did you mean --" + near + "?"
	}
	return Usage(Hint(errors.New(said), hint))
}

// newHelpCommand is cobra's help command, which ends with an error for what it
// does not know.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Show the help of a command",
		Example: "  bootlab help vms up\n  bootlab help exit-status",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(found, args[len(args)-max(len(rest), 1)])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if found, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range found.Commands() {
					if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
