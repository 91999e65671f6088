package audit

import (
	"bufio"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// HelpQuestion is a command whose help says which flags it takes.
type HelpQuestion struct {
	Stage   string   // id
	Image   string   // name in the payload, or release
	Command []string // behind the image
}

// HelpQuestions are the commands that the stages of a release run in
// containers, and that answer --help. A command that podman's --entrypoint
// chooses has a help of its own kind.
func HelpQuestions(c *labs.Catalog, release string) []HelpQuestion {
	var out []HelpQuestion
	for _, s := range c.Stages {
		if !s.Holds(release) || s.Run == nil || s.Kind == "wait" && !strings.Contains(s.Run.Command, "/") {
			continue
		}
		out = append(out, HelpQuestion{s.ID, s.Run.Image, strings.Fields(s.Run.Command)})
	}
	return out
}

// A line of a flag in the help of cobra (-s, --long type   text) or of Go's
// flag package (-long type).
var helpFlag = regexp.MustCompile(`^\s+(?:-\w, )?--?([A-Za-z0-9][-\w.]*)(?:[ =\[].*)?$`)

// ParseHelp gives the flags that a help text lists, sorted. A text without any
// is a [Refusal]: an error message is no help.
func ParseHelp(text string) ([]string, error) {
	var flags []string
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := helpFlag.FindStringSubmatch(strings.ReplaceAll(lines.Text(), "\t", "    ")); m != nil {
			flags = append(flags, "--"+m[1])
		}
	}
	slices.Sort(flags)
	flags = slices.Compact(flags)
	if len(flags) == 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return nil, &Refusal{Message: "lists no flags: " + first, Hint: "look at what the command prints with --help"}
	}
	return flags, nil
}

// CompareHelp says which flags of stage data the commands of a release no
// longer take. help holds the flags by the stage's id, and silent why a stage's
// command did not list any: then nothing is known of its flags.
func CompareHelp(c *labs.Catalog, release string, help map[string][]string, silent map[string]string) *Report {
	r := &Report{Release: release}
	for _, s := range c.Stages {
		if why := silent[s.ID]; why != "" && s.Run != nil {
			r.Findings = append(r.Findings, Finding{Kind: Unknown, Stage: s.Bootkube, What: "help of the command",
				Expected: strings.TrimSpace(s.Run.Image + ": " + s.Run.Command + " --help lists flags"), Found: why,
				Meaning: "the flags of " + s.ScriptName() + " were not compared", unasked: true})
		}
		flags, asked := help[s.ID]
		if !asked || !s.Holds(release) || s.Run == nil {
			continue
		}
		for _, f := range s.Run.Flags {
			switch {
			case !f.Holds(release):
			case slices.Contains(flags, f.Flag):
				r.Identical++
			default:
				r.Findings = append(r.Findings, Finding{Kind: Unknown, Stage: s.Bootkube, What: "flag " + f.Flag,
					Expected: f.String(), Found: "no such flag in the command's help",
					Meaning: s.ScriptName() + " would stop with: unknown flag: " + f.Flag})
			}
		}
	}
	r.finish()
	return r
}
