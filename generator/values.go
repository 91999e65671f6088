package generator

import "bootlab/labs"

// Values are the settings of a lab's scripts by the names of their shell
// variables, without those that only a running script knows: where it stands,
// and files beside lab.yaml. The declarations of checks refer to them.
func Values(p *labs.Plan) map[string]string {
	values := map[string]string{}
	for _, v := range settingValues(p) {
		values[v.Name] = v.Value
	}
	return values
}

// Advice is a hint of the stage data as the scripts of a place give it.
func Advice(place labs.Place, hint string) string { return advice(place, hint) }
