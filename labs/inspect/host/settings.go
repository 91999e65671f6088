package host

import (
	"maps"
	"slices"
	"strings"

	"bootlab/labs"
)

// Preamble sets the shell variables that evidence lines may use: ASSET_DIR,
// HOST_ROOT, WORK_DIR (out/work on the workstation), and the lab's settings in
// capitals. Every value is quoted.
func (p *Hosts) Preamble(lab *labs.Lab) string {
	var b strings.Builder
	set := func(name, value string) { b.WriteString(name + "=" + quote(value) + "\n") }
	set("ASSET_DIR", p.AssetDir)
	set("HOST_ROOT", p.Root)
	set("WORK_DIR", p.Work)
	settings := lab.Settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		set(strings.ToUpper(name), settings[name])
	}
	return b.String()
}

// quote makes one word of the shell out of a value.
func quote(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }
