package generator

import (
	"slices"
	"strings"
	"sync"

	"bootlab/labs"
)

// history compares every known release with the one before it, oldest first.
// It is the same for all labs, and read for many pages.
var history = sync.OnceValues(func() ([]*labs.Comparison, error) {
	catalog := labs.Builtin()
	known := catalog.ReleaseIDs()
	var out []*labs.Comparison
	for i, id := range known[1:] {
		c, err := labs.Compare(catalog, known[i], id)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
})

// releaseData is what the page of a release sees.
type releaseData struct {
	*labs.Release
	Mine       bool             // it is the lab's
	Comparison *labs.Comparison // with the release before; nil for the oldest
	renderer   *renderer
}

func releasePage(id string) string { return "release-" + id }

func (r *renderer) releases() error {
	past, err := history()
	if err != nil {
		return err
	}
	for _, release := range labs.Builtin().Releases {
		d := r.releaseData(release)
		if i := slices.IndexFunc(past, func(c *labs.Comparison) bool { return c.To == release.ID }); i >= 0 {
			d.Comparison = past[i]
		}
		if err := r.page("release.md.tmpl", "guide/"+releasePage(release.ID)+".md", d); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) releaseData(release *labs.Release) *releaseData {
	return &releaseData{Release: release, Mine: release.ID == r.plan.Version(), renderer: r}
}

// entry is the page in guide.json.
func (d *releaseData) entry() guidePage {
	return guidePage{ID: releasePage(d.ID), Title: d.Title(), File: "guide/" + releasePage(d.ID) + ".md", Kind: "chapter",
		Summary: "What bootkube.sh of " + d.ID + " is, and what came with it."}
}

// Title tells the lab's own release from the others.
func (d *releaseData) Title() string {
	if d.Mine {
		return "Release " + d.ID + ", this lab's"
	}
	return "Release " + d.ID
}

// Changes are those since the release before.
func (d *releaseData) Changes() string { return ChangesMarkdown(d.Comparison, d.Link) }

// Stages are those that bootkube.sh of the release records.
func (d *releaseData) Stages() []*labs.Stage {
	return slices.DeleteFunc(labs.Builtin().StagesOf(d.ID), func(s *labs.Stage) bool { return s.Bootkube == "" })
}

// Condition says when a stage runs, if not always.
func (d *releaseData) Condition(s *labs.Stage) string { return s.When.Words(codeSpan) }

// Link is a link to the page of a stage, or its name where this lab has none.
func (d *releaseData) Link(id string) string {
	if d.renderer.plan.Stage(id) == nil {
		return codeSpan(id)
	}
	return "[" + id + "](" + id + ".md)"
}

// ReleaseLink is a link to the page of another release.
func (d *releaseData) ReleaseLink(id string) string { return releaseLink(id) }

func releaseLink(id string) string { return "[" + id + "](" + releasePage(id) + ".md)" }

// Past is what changed in the stage up to the lab's release, newest first.
func (d *pageData) Past() (string, error) {
	past, err := history()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range slices.Backward(past) {
		if !(labs.Span{Until: d.Release.ID}).Holds(c.To) {
			continue
		}
		if change := c.Of(d.Stage); change != nil {
			b.WriteString("- " + releaseLink(c.To) + "\n")
			if change.Kind != labs.Changed {
				b.WriteString("  - The stage is " + became(change, d.link) + ".\n")
			}
			for _, item := range change.Changes {
				b.WriteString("  " + changeLine(item, c.From, ""))
			}
		}
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// ChangesMarkdown is a comparison as lists in markdown; link gives the text for
// the name of a stage. Where more than one release lies between the two, each
// change says which brought it.
func ChangesMarkdown(c *labs.Comparison, link func(id string) string) string {
	tag := func(release string) string {
		if c.Neighbours() || release == "" {
			return ""
		}
		return " (" + release + ")"
	}
	var paragraphs []string
	tell := func(heading string, changes []labs.Change) {
		paragraphs = append(paragraphs, heading)
		var list strings.Builder
		for _, change := range changes {
			list.WriteString(changeLine(change, c.From, tag(change.Release)))
		}
		if len(changes) > 0 {
			paragraphs = append(paragraphs, strings.TrimRight(list.String(), "\n"))
		}
	}
	if len(c.Around) > 0 {
		tell("Around the stages:", c.Around)
	}
	for i := range c.Stages {
		s := &c.Stages[i]
		tell(stageHeading(s, link, tag(s.Release)), s.Changes)
	}
	if len(paragraphs) == 0 {
		return "Nothing that is known here.\n"
	}
	return strings.Join(paragraphs, "\n\n") + "\n"
}

// stageHeading stands above the changes of a stage, or in their place.
func stageHeading(s *labs.StageChange, link func(id string) string, tag string) string {
	heading := link(s.ID)
	if s.Kind != labs.Changed {
		heading += " is " + became(s, link) + tag
	}
	if len(s.Changes) > 0 {
		return heading + ":"
	}
	return strings.TrimSpace(heading + ". " + firstSentence(s.Why))
}

// became says in words what a stage became.
func became(s *labs.StageChange, link func(id string) string) string {
	switch s.Kind {
	case labs.Added:
		return "new"
	case labs.Removed:
		return "gone"
	}
	if s.After == "" {
		return "now the first"
	}
	return "now behind " + link(s.After)
}

// changeLine is one change as an item of a list. What was removed had its reason
// in the release that it was removed from.
func changeLine(c labs.Change, from, tag string) string {
	word := map[labs.ChangeKind]string{labs.Added: "New ", labs.Removed: "Removed ", labs.Changed: "Changed "}[c.Kind]
	line := "- " + word + strings.TrimSuffix(c.Words(codeSpan), ".") + tag
	switch reason := c.Reason(); {
	case reason == "":
		return line + ".\n"
	case c.Kind == labs.Removed:
		return line + ". Its reason in " + from + ": " + strings.TrimSuffix(reason, ".") + ".\n"
	default:
		return line + ". " + sentence(reason) + "\n"
	}
}

func codeSpan(text string) string { return "`" + text + "`" }
