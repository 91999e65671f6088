package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootlab/standin/facts"
	"bootlab/standin/role"
)

// program is the part of one image.
type program struct {
	// commands are its subcommands; the name "" is a program without any.
	commands map[string]command
	// faults are ways to go wrong without saying so.
	faults []string
}

// command is one subcommand that bootkube.sh calls. Its flags come from the
// role.
type command struct {
	// required are the flags whose absence the operator notices itself, in the
	// order it asks.
	required []string
	// missing ends the process when one of them is absent; nil is klog's way.
	missing func(flag string)
	// free are flags whose value the operator judges itself, or not at all.
	free []string
	// flagError ends the process for flags that it does not know; nil is
	// cobra's way.
	flagError func(error)
	// plain: bootkube.sh calls it as one of many, so the role has no call of it.
	plain bool
	do    func(*invocation)
}

// invocation is one call, its flags checked.
type invocation struct {
	role  *role.Role
	flags map[string]string
	args  []string
}

func (p program) has(fault string) bool {
	for _, f := range p.faults {
		if f == fault {
			return true
		}
	}
	return false
}

// run parses the arguments in cobra's way, as the operators do, and gives the
// exit status.
func (p program) run(r *role.Role, name string, args []string) int {
	root := &cobra.Command{Use: name, Short: "stand-in for " + name, SilenceErrors: true}
	for sub, c := range p.commands {
		cmd := root
		if sub != "" {
			cmd = &cobra.Command{Use: sub, Short: "stand-in"}
			root.AddCommand(cmd)
		}
		c.attach(cmd, r, callOf(r, sub))
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// attach gives a command the flags of its call.
func (c command) attach(cmd *cobra.Command, r *role.Role, call *facts.Call) {
	if call != nil {
		for _, f := range call.Flags {
			flag := cmd.Flags().VarPF(new(once), f.Name, "", "as bootkube.sh of "+r.Release+" gives it")
			if f.Value == "" { // a switch
				flag.NoOptDefVal = given
			}
		}
	}
	if c.flagError != nil {
		cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { c.flagError(err); return err })
	}
	cmd.Run = func(cmd *cobra.Command, args []string) {
		inv := &invocation{role: r, flags: map[string]string{}, args: args}
		if !c.plain {
			c.check(cmd.Flags(), inv, call)
		}
		c.do(inv)
	}
}

// check is as strict about a call as a stand-in can be.
func (c command) check(flags *pflag.FlagSet, inv *invocation, call *facts.Call) {
	if call == nil {
		refuse("bootkube.sh of %s does not call this", inv.role.Release)
	}
	if len(inv.args) > 0 {
		refuse("bootkube.sh gives no argument but flags, not %q", inv.args)
	}
	flags.VisitAll(func(f *pflag.Flag) { inv.flags[f.Name] = f.Value.String() })
	for _, name := range c.required {
		if inv.flags[name] == "" {
			c.fail(name)
		}
	}
	for _, f := range call.Flags {
		if slices.Contains(c.free, f.Name) {
			continue
		}
		checkValue(inv.role, f, flags.Lookup(f.Name))
	}
}

func (c command) fail(flag string) {
	if c.missing != nil {
		c.missing(flag)
	}
	klogFatal("missing required flag: --%s", flag)
}

// checkValue compares a flag with what bootkube.sh gives.
func checkValue(r *role.Role, want facts.Flag, got *pflag.Flag) {
	_, statErr := os.Stat("/assets/" + want.WhenFile)
	due := want.WhenFile == "" || statErr == nil
	switch {
	case due && !got.Changed:
		refuse("bootkube.sh of %s gives --%s", r.Release, want.Name)
	case !due && got.Changed:
		refuse("bootkube.sh gives --%s only where %s is", want.Name, want.WhenFile)
	case !due:
		return
	}
	value, known := r.Expand(want.Value)
	if want.Value == "" {
		value = given
	}
	if known && value != got.Value.String() {
		refuse("bootkube.sh of %s gives --%s=%s, not %s", r.Release, want.Name, value, got.Value)
	}
}

// callOf finds the call of a subcommand: "render" is the end of
// "/usr/bin/x render" as well as all of "render".
func callOf(r *role.Role, sub string) *facts.Call {
	for i, c := range r.Calls {
		words := strings.Fields(c.Command)
		if len(words) > 0 && strings.HasPrefix(words[0], "/") {
			words = words[1:]
		}
		if strings.Join(words, " ") == sub {
			return &r.Calls[i]
		}
	}
	return nil
}

// given is the value of a switch.
const given = "true"

// once is a string flag that may be given once.
type once struct {
	value string
	given bool
}

func (o *once) String() string { return o.value }
func (o *once) Type() string   { return "string" }
func (o *once) Set(value string) error {
	if o.given {
		return errors.New("stand-in: given twice")
	}
	o.value, o.given = value, true
	return nil
}
