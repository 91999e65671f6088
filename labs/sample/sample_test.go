package sample

import (
	"slices"
	"testing"
)

var items = []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}

func TestASampleIsTheSameEachTime(t *testing.T) {
	t.Setenv(Variable, "")
	first := Of(t, 4, items)
	if len(first) != 4 || !slices.IsSorted(first) || len(slices.Compact(slices.Clone(first))) != 4 {
		t.Errorf("%v", first)
	}
	if second := Of(t, 4, items); !slices.Equal(first, second) {
		t.Errorf("%v, then %v", first, second)
	}
	others := 0
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(first, Of(t, 4, items)) {
				others++
			}
		})
	}
	if others == 0 {
		t.Error("every test gets the same sample")
	}
}

func TestTheCompleteRunTakesAll(t *testing.T) {
	t.Setenv(Variable, "all")
	if got := Of(t, 1, items); !slices.Equal(got, items) {
		t.Errorf("%v", got)
	}
	OnlyInAll(t, "nothing does")
	t.Setenv(Variable, "")
	if got := Of(t, 20, items); !slices.Equal(got, items) {
		t.Errorf("%v", got)
	}
	skipped := false
	t.Run("skipped", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		OnlyInAll(t, "nothing does")
	})
	if !skipped {
		t.Error("it is not skipped")
	}
}
