package main

import (
	"bootlab/labs"
	"fmt"
)

// loadPlan reads a lab and resolves it. Warnings are printed, problems are the
// error.
func loadPlan(io streams, path string) (*labs.Plan, error) {
	catalog := labs.Builtin()
	lab, problems := labs.LoadLab(path, catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, problems
	}
	for _, warning := range problems {
		fmt.Fprintln(io.err, warning)
	}
	return catalog.Resolve(lab)
}
