package labs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// validate says what is missing or does not fit: empty texts, ids that stand
// twice, pages, releases and machines that exist nowhere. It joins all it finds.
func (g *Guide) validate(c *Catalog) error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("the guide: "+format, args...)) }
	g.validateChapters(c, complain)
	g.validateMisconceptions(c, complain)
	for _, p := range g.Ports {
		texts(complain, "port "+p.Number, p.Component, p.Why, p.From, p.Source)
		p.validate(complain, "port "+p.Number)
		for _, machine := range p.On {
			if !slices.Contains(PortMachines, machine) {
				complain("port %s is open on %q, which is none of %s", p.Number, machine, strings.Join(PortMachines, ", "))
			}
		}
		if p.Number == "" || len(p.On) == 0 {
			complain("port %q needs a number, and a machine in on", p.Number)
		}
		p.validateReached(complain)
	}
	return errors.Join(errs...)
}

func (p *Port) validateReached(complain func(string, ...any)) {
	for machine, reach := range p.Reached {
		if !slices.Contains(p.On, machine) {
			complain("port %s is reached on %q, where it is not open", p.Number, machine)
		}
		sign, name, _ := strings.Cut(reach.While, " ")
		if reach.While != "always" && (name == "" || !slices.Contains([]string{"pod", "unit", "container"}, sign)) {
			complain("port %s on %s is open while %q, which is no sign", p.Number, machine, reach.While)
		}
		for _, by := range reach.By {
			if by != AskerWorkstation && by != AskerItself && !slices.Contains(PortMachines, by) {
				complain("port %s is reached by %q, which is no machine", p.Number, by)
			}
		}
		if len(reach.By) == 0 {
			complain("port %s on %s is reached by nothing", p.Number, machine)
		}
	}
}

func (g *Guide) validateChapters(c *Catalog, complain func(string, ...any)) {
	groups, chapters := onlyOnce("group", complain), onlyOnce("chapter", complain)
	for _, group := range g.Groups {
		groups(group.ID)
		texts(complain, "group "+group.ID, group.Title)
		for _, chapter := range group.Chapters {
			chapters(chapter.ID)
			texts(complain, "chapter "+chapter.ID, chapter.Title, chapter.Summary, chapter.Source)
			if c.Stage(chapter.ID) != nil {
				complain("chapter %s has the name of a stage, and both would be one page", chapter.ID)
			}
		}
	}
}

func (g *Guide) validateMisconceptions(c *Catalog, complain func(string, ...any)) {
	once := onlyOnce("misconception", complain)
	for _, b := range g.Misconceptions {
		once(b.ID)
		texts(complain, "misconception "+b.ID, b.Claim, b.Fact, b.Source)
		b.validate(complain, "misconception "+b.ID)
		for _, page := range b.Pages {
			if g.Chapter(page) == nil && c.Stage(page) == nil {
				complain("misconception %s stands on %q, which is no page", b.ID, page)
			}
		}
		if len(b.Pages) == 0 {
			complain("misconception %s stands on no page", b.ID)
		}
	}
}

// onlyOnce returns a function that complains of an id that is empty or taken.
func onlyOnce(kind string, complain func(string, ...any)) func(id string) {
	seen := map[string]bool{}
	return func(id string) {
		if id == "" || seen[id] {
			complain("%s %q has no id, or one that is taken", kind, id)
		}
		seen[id] = true
	}
}

func texts(complain func(string, ...any), what string, values ...string) {
	for _, text := range values {
		if strings.TrimSpace(text) == "" {
			complain("%s has an empty text", what)
		}
	}
}

// validate complains of the ends of a span that are no known releases.
func (s Span) validate(complain func(string, ...any), what string) {
	for _, release := range []string{s.Since, s.Until} {
		if release != "" && age(release) < 0 {
			complain("%s: release %q is not known", what, release)
		}
	}
}
