// Package sample lets CI run a part of tests that are many and alike. The
// complete run, make test-all, runs every one.
package sample

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Variable is the environment variable that asks for the complete run, when it
// is "all".
const Variable = "BOOTLAB_TEST"

// All says whether this is the complete run.
func All() bool { return os.Getenv(Variable) == "all" }

// Of gives n of the items, in their order, and in the complete run every one.
// Which ones depends on the test's name alone: each run of CI takes the same.
func Of[T any](t testing.TB, n int, items []T) []T {
	t.Helper()
	if All() || n >= len(items) {
		return items
	}
	if n < 1 {
		t.Fatalf("a sample of %d is no sample", n)
	}
	seed := fnv.New64a()
	seed.Write([]byte(t.Name()))
	chosen := rand.New(rand.NewPCG(seed.Sum64(), uint64(len(items)))).Perm(len(items))[:n]
	slices.Sort(chosen)
	out := make([]T, n)
	for i, at := range chosen {
		out[i] = items[at]
	}
	t.Logf("a sample: %d of %d; make test-all runs all", n, len(items))
	return out
}

// OnlyInAll skips a test that is for the complete run. Each call says in why
// what proves the same in CI.
func OnlyInAll(t testing.TB, why string) {
	t.Helper()
	if !All() {
		t.Skipf("for make test-all; in CI %s", why)
	}
}
