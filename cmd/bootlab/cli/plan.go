package cli

import (
	"fmt"

	"bootlab/labs"
)

// LoadPlan reads a lab and resolves it. Warnings are printed, problems are the
// error.
func LoadPlan(io Streams, path string) (*labs.Plan, error) {
	catalog := labs.Builtin()
	lab, problems := labs.LoadLab(path, catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, problems
	}
	for _, warning := range problems {
		fmt.Fprintln(io.Err, warning)
	}
	return catalog.Resolve(lab)
}
