package generator

import "bootlab/labs"

// condition is the shell test for what only a running script can see, and its
// contrary; both empty when there is nothing to ask.
func condition(w labs.Condition) (is, isNot string) {
	switch {
	case w.File != "":
		return "[[ -f " + shpath(w.File) + " ]]", "[[ ! -f " + shpath(w.File) + " ]]"
	case w.Dir != "":
		return "[[ -d " + shpath(w.Dir) + " ]]", "[[ ! -d " + shpath(w.Dir) + " ]]"
	case w.NotEmpty != "":
		listing := `"$(ls -A ` + shpath(w.NotEmpty) + ` 2> /dev/null)" ]]`
		return "[[ -n " + listing, "[[ -z " + listing
	}
	return "", ""
}

func shpaths(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = shpath(p)
	}
	return out
}
