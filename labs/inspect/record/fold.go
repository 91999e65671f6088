package record

import (
	"slices"
	"time"
)

// foldAt is how many failed attempts in a row, each like the one before, are told as one.
const foldAt = 4

// Fold tells many failed attempts at the same thing, one after the other, as one
// span: from the start of the first to the end of the last, with the words of the
// last. release-image.service tries again without a pause, thousands of times a day.
func Fold(spans []*Span) []*Span {
	var out []*Span
	for i := 0; i < len(spans); {
		n := 1
		for i+n < len(spans) && spans[i].State == Failed && spans[i+n].like(spans[i]) {
			n++
		}
		if n < foldAt {
			out = append(out, spans[i:i+n]...)
		} else {
			all := *spans[i+n-1]
			all.Start, all.Times = spans[i].at(), n
			out = append(out, &all)
		}
		i += n
	}
	return out
}

func (s *Span) like(o *Span) bool {
	return s.State == o.State && s.Service == o.Service && s.Kind == o.Kind && s.Name == o.Name
}

// Jump is a place where the clock of a machine was set.
type Jump struct {
	Service       string
	Before, After time.Time
}

// longestGap is how far apart two entries of a bootstrap can be. Its certificates
// live for a day, and a person who goes on by hand may leave it over a weekend.
const longestGap = 30 * 24 * time.Hour

// Jumps are where times go back, or on further than a bootstrap takes, from one
// entry to the next. A clock that was set forward by less cannot be told from a wait.
func Jumps(services ...*Service) []Jump {
	var all []Jump
	for _, s := range services {
		var before time.Time
		for i := range s.Entries {
			at := s.Entries[i].Time()
			if at.IsZero() {
				continue
			}
			if !before.IsZero() && (at.Before(before) || at.Sub(before) > longestGap) {
				all = append(all, Jump{s.Name, before, at})
			}
			before = at
		}
	}
	slices.SortStableFunc(all, func(a, b Jump) int { return a.After.Compare(b.After) })
	return all
}
