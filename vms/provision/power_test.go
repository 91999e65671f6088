package provision

import (
	"slices"
	"testing"

	"bootlab/labs/labtest"
	"bootlab/vms"
)

func TestWordsForMachines(t *testing.T) {
	all := vms.Machines(labtest.Shipped(t, "ha"))
	masters, workers := []string{"master-0", "master-1", "master-2"}, []string{"worker-0", "worker-1"}
	every := slices.Concat([]string{"bootstrap"}, masters, workers)
	for _, c := range []struct{ words, want []string }{
		{nil, every},
		{[]string{"all"}, every},
		{[]string{"masters"}, masters},
		{[]string{"workers", "master-1", "masters"}, slices.Concat(workers, []string{"master-1", "master-0", "master-2"})},
		{[]string{"bootstrap", "bootstrap"}, []string{"bootstrap"}},
	} {
		chosen, err := Choose(all, c.words)
		var names []string
		for _, m := range chosen {
			names = append(names, m.Name)
		}
		if err != nil || !slices.Equal(names, c.want) {
			t.Errorf("%v means %v (%v), want %v", c.words, names, err, c.want)
		}
	}
	for _, word := range []string{"", "master", "master-9", "--all"} {
		if chosen, err := Choose(all, []string{word}); word != "master" && err == nil {
			t.Errorf("%q means %v", word, chosen)
		}
	}
}
