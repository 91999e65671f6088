package generator

import (
	"fmt"
	"strconv"
	"strings"

	"bootlab/labs"
)

// checkCall is a check as the script's verify calls it.
type checkCall struct {
	labs.Check
	Call   string // function of a library and its arguments
	Unless string // shell test under which the check does not count; empty is never
}

// condition is the shell test for what only a running script can see, and its
// contrary; both empty when there is nothing to ask.
func condition(w labs.Condition) (is, isNot string) {
	switch {
	case w.File != "":
		return "[[ -f " + shpath(w.File) + " ]]", "[[ ! -f " + shpath(w.File) + " ]]"
	case w.Dir != "":
		return "[[ -d " + shpath(w.Dir) + " ]]", "[[ ! -d " + shpath(w.Dir) + " ]]"
	case w.NotEmpty != "":
		listing := `"$(ls -A ` + shpath(w.NotEmpty) + ` 2> /dev/null)" ]]`
		return "[[ -n " + listing, "[[ -z " + listing
	}
	return "", ""
}

// checkCalls makes the shell of every check's declaration.
func checkCalls(checks []labs.Check) ([]checkCall, error) {
	var out []checkCall
	for _, c := range checks {
		words, err := declarationWords(&c)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.ID, err)
		}
		_, unless := condition(c.When)
		out = append(out, checkCall{Check: c, Call: breakWords("    ", words), Unless: unless})
	}
	return out, nil
}

// declarationWords gives function and arguments for a declaration.
func declarationWords(c *labs.Check) ([]string, error) {
	name, decl, err := c.Declaration()
	if err != nil {
		return nil, err
	}
	switch d := decl.(type) {
	case *labs.PresentCheck:
		functions := map[string]string{
			"present": "present", "absent": "absent", "images": "images", "keyPair": "key_pair", "objects": "objects",
		}
		return append([]string{functions[name]}, shpaths(d.Paths)...), nil
	case *labs.PayloadCheck:
		list := d.List
		if list == "" {
			list = "release-info/images"
		}
		return append([]string{"payload", shpath(list)}, shpaths(d.Paths)...), nil
	case *labs.CountCheck:
		return []string{"count", strconv.Itoa(d.AtLeast), shpath(d.Path)}, nil
	case *labs.ModeCheck:
		return append([]string{"mode", d.Mode}, shpaths(d.Paths)...), nil
	case *labs.SameCheck:
		return []string{"same", shpath(d.From), shpath(d.To)}, nil
	case *labs.LineCheck:
		return []string{"line", shexpand(d.Pattern), shpath(d.Path)}, nil
	case *labs.ValueCheck:
		return []string{"value", shexpand(d.At), shexpand(d.Equals), shpath(d.Path)}, nil
	case *labs.ChainCheck:
		return append([]string{"chain", shpath(d.CA)}, shpaths(d.Paths)...), nil
	case *labs.SubjectCheck:
		return []string{"subject", shexpand(d.Equals), shpath(d.Path)}, nil
	case *labs.NamesCheck:
		names := strings.Join(fill(strings.Join(d.Names, " "), textWidth), "\n      ")
		return []string{"names", shexpand(names), shpath(d.Path)}, nil
	case *labs.UsageCheck:
		return append([]string{"usage_is", shexpand(strings.Join(d.Usage, " "))}, shpaths(d.Paths)...), nil
	case *labs.FreshCheck:
		return append([]string{"fresh", strconv.Itoa(d.Minutes)}, shpaths(d.Paths)...), nil
	case *labs.BundleCheck:
		return append([]string{"bundle", shpath(d.Path)}, shpaths(d.Paths)...), nil
	case *labs.CommandCheck:
		return []string{d.Text}, nil
	case *labs.PredicateCheck:
		return []string{d.Function}, nil
	}
	return nil, fmt.Errorf("no shell for a %s declaration", name)
}

func shpaths(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = shpath(p)
	}
	return out
}
