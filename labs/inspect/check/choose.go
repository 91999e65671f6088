package check

import (
	"fmt"
	"slices"
	"strings"

	"bootlab/labs"
)

// Choice is a stage to verify.
type Choice struct {
	*labs.Stage
	// Named: it was asked for by its name, so it is verified although nothing
	// says that it is done.
	Named bool
}

// UnknownStage is the error about a word that means no stage.
type UnknownStage struct {
	Word  string
	Known []string
}

func (u *UnknownStage) Error() string { return fmt.Sprintf("%q is no stage of this lab", u.Word) }

// Choose finds the stages that words mean: a stage by its id, by its script or
// by bootkube.sh's name; A..B, A.. and ..B a range in the order of the plan, both
// ends included; all, or no word, all. A range and all hold the stages for which
// here is true. Each stage is chosen once, in the order of the plan.
func Choose(p *labs.Plan, words []string, here func(*labs.Stage) bool) ([]Choice, error) {
	if len(words) == 0 {
		words = []string{"all"}
	}
	chosen, named := map[*labs.Stage]bool{}, map[*labs.Stage]bool{}
	for _, word := range words {
		first, last, isRange, err := bounds(p, word)
		if err != nil {
			return nil, err
		}
		for _, s := range p.Stages[first : last+1] {
			if !isRange {
				named[s] = true
			}
			chosen[s] = chosen[s] || !isRange || here(s) && !Asks(s)
		}
	}
	var out []Choice
	for _, s := range p.Stages {
		if chosen[s] {
			out = append(out, Choice{s, named[s]})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no stage to verify in %s", strings.Join(words, " "))
	}
	return out, nil
}

// Asks says whether a stage's script wants a word that only a person has, as the
// name of a unit: it is verified by its script alone.
func Asks(s *labs.Stage) bool {
	return s.Arguments != "" && s.Arguments == strings.ToUpper(s.Arguments)
}

// bounds are the places of a word's first and last stage in the plan.
func bounds(p *labs.Plan, word string) (first, last int, isRange bool, err error) {
	last = len(p.Stages) - 1
	if word == "all" {
		return 0, last, true, nil
	}
	from, to, isRange := strings.Cut(word, "..")
	if !isRange {
		to = from
	}
	if from == "" && to == "" {
		return 0, 0, isRange, unknown(p, word)
	}
	if from != "" {
		if first, err = place(p, from); err != nil {
			return 0, 0, isRange, err
		}
	}
	if to != "" {
		if last, err = place(p, to); err != nil {
			return 0, 0, isRange, err
		}
	}
	if last < first {
		return 0, 0, isRange, fmt.Errorf("%s comes before %s", to, from)
	}
	return first, last, isRange, nil
}

// place finds a stage; what means it most exactly counts first, for two stages
// may share a script.
func place(p *labs.Plan, word string) (int, error) {
	for _, means := range []func(*labs.Stage) string{
		func(s *labs.Stage) string { return s.ID },
		(*labs.Stage).Call,
		func(s *labs.Stage) string { return s.Bootkube },
		(*labs.Stage).ScriptName,
	} {
		at := slices.IndexFunc(p.Stages, func(s *labs.Stage) bool { return means(s) == word })
		if at >= 0 {
			return at, nil
		}
	}
	return 0, unknown(p, word)
}

func unknown(p *labs.Plan, word string) error {
	u := &UnknownStage{Word: word}
	for _, s := range p.Stages {
		u.Known = append(u.Known, s.ID)
	}
	return u
}
