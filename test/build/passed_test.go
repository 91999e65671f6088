package build

import (
	"errors"
	"testing"

	"bootlab/labs/sample"
)

func TestACheckThatPassedIsNotRunAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(sample.Variable, "")
	runs := 0
	check := func(key string, result error, want int) {
		t.Helper()
		err := Passed(key, func() error { runs++; return result })
		if runs != want || runs > 0 && result != nil && !errors.Is(err, result) {
			t.Errorf("%s: %d runs, not %d: %v", key, runs, want, err)
		}
	}
	bad := errors.New("bad")
	check("a", bad, 1)
	check("a", bad, 2) // what failed is not kept
	check("a", nil, 3)
	check("a", nil, 3)
	check("b", nil, 4)
	t.Setenv(sample.Variable, "all")
	check("a", bad, 5)
	t.Setenv(sample.Variable, "")
	check("a", nil, 6) // it failed since
}
