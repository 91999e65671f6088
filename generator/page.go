package generator

import (
	"fmt"
	"slices"
	"strings"

	"bootlab/labs"
)

// pageData is what a stage's guide page sees: the stage as the script had it,
// the script cut into explanations and code, and the stages around it.
type pageData struct {
	*scriptData
	Segments       []Segment
	Stepped        bool // the script has numbered steps
	Flags          []labs.Flag
	Misconceptions []labs.Misconception
	explained      []*labs.AnnotatedFile
	pages          map[string]bool // ids of the stages that have a page
	following      string          // link to the page that follows
}

// Origin links to where a file that the stage reads comes from.
func (d *pageData) Origin(f labs.File) string {
	writer := d.plan.Stage(f.From)
	if f.From == "" {
		writer = d.plan.Writer(f.Path, d.Stage)
	}
	switch {
	case writer != nil:
		return d.link(writer.ID)
	case f.From == "installer":
		return "openshift-install"
	}
	return f.From
}

// Readers links to the later stages that read a path which the stage writes,
// or something below it.
func (d *pageData) Readers(path string) string {
	var links []string
	written := labs.File{Path: path}
	for _, s := range d.plan.Stages[slices.Index(d.plan.Stages, d.Stage)+1:] {
		for _, f := range s.Reads {
			whole := strings.HasSuffix(f.Path, "/") && f.Covers(path)
			if !whole && (!written.Covers(f.Path) || d.madeBetween(f, s)) {
				continue
			}
			links = append(links, d.link(s.ID))
			break
		}
	}
	return strings.Join(links, ", ")
}

// madeBetween says whether what a later stage reads was written by another
// stage than this one.
func (d *pageData) madeBetween(f labs.File, reader *labs.Stage) bool {
	if f.From != "" {
		return f.From != d.ID
	}
	writer := d.plan.Writer(f.Path, reader)
	return writer != nil && writer != d.Stage
}

// link is a link to a stage's page, or the stage's name where it has none.
func (d *pageData) link(id string) string {
	if !d.pages[id] {
		return "`" + id + "`"
	}
	return "[" + id + "](" + id + ".md)"
}

// Runs is the command of bootkube.sh, with its own variables.
func (d *pageData) Runs() string {
	var lines []string
	switch {
	case d.Run != nil:
		lines = append([]string{"podman run " + d.PodmanBase(), "--name " + d.Run.Name}, d.PodmanLines()...)
		lines = append(lines, `"`+d.OperatorImage()+`"`, d.Run.Command)
		for _, f := range d.Run.Flags {
			lines = append(lines, flagWord(f))
		}
	case d.Command != nil:
		lines = append(lines, d.Command.Line)
		for _, f := range d.Command.Flags {
			lines = append(lines, f.String())
		}
	}
	return strings.Join(lines, " \\\n  ")
}

// Conditional are the flags of the command that are not always given.
func (d *pageData) Conditional() []labs.Flag {
	if d.Run == nil {
		return nil
	}
	return d.ConditionalFlags()
}

// Duration is how long the stage usually takes, in words.
func (d *pageData) Duration() string {
	switch seconds := d.Seconds; {
	case seconds == 0:
		return "as long as what it waits for"
	case seconds < 90 && d.Run != nil:
		return fmt.Sprintf("about %d s once its images are there", seconds)
	case seconds < 90:
		return fmt.Sprintf("about %d s", seconds)
	default:
		return fmt.Sprintf("about %d minutes", (seconds+30)/60)
	}
}

// Earlier links to the stages that make what this one needs.
func (d *pageData) Earlier() string {
	var out []string
	for _, f := range d.Reads {
		if link := d.Origin(f); !f.Optional && strings.HasPrefix(link, "[") && !slices.Contains(out, link) {
			out = append(out, link)
		}
	}
	return strings.Join(out, ", ")
}

// Output is what the script printed when a test recorded it.
func (d *pageData) Output() string {
	return strings.TrimSpace(labs.BuiltinGuide().Output(d.ID))
}

// ShowsCommand says whether the command of bootkube.sh and its flags stand on the
// page beside the script: where the script explains each flag, that is enough.
func (d *pageData) ShowsCommand() bool {
	if !d.Scripted() || d.Run == nil {
		return d.Runs() != ""
	}
	for _, f := range d.Flags {
		if !strings.Contains(d.Body, "# "+f.Flag+": ") {
			return true
		}
	}
	return false
}

// longScript is the number of words from which a script has a page of its own.
const longScript = 900

// ScriptPage is the id of the page of a script that is too long for the stage's;
// empty for others.
func (d *pageData) ScriptPage() string {
	if len(strings.Fields(d.Body)) < longScript {
		return ""
	}
	return d.ID + "-script"
}

// NextPage links to the stage whose script comes next, and says what it does.
func (d *pageData) NextPage() string {
	for _, s := range d.plan.Stages {
		if s.Call() == d.FollowedBy() {
			return d.link(s.ID) + ": " + sentence(s.Title)
		}
	}
	return ""
}

// Onwards is what follows where no script does.
func (d *pageData) Onwards() string { return d.following }
