package labs

import "regexp"

// plainValue is a value that means itself in a shell too.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// ReleaseValues are facts of the release that scripts and checks share: the flags
// that name a setting, and the variables of bootkube.sh.
func (p *Plan) ReleaseValues() []ScriptValue {
	var values []ScriptValue
	add := func(flags []Flag) {
		for _, f := range flags {
			if f.Setting != "" {
				values = append(values, ScriptValue{f.Setting, f.SettingValue()})
			}
		}
	}
	for _, s := range p.Stages {
		if s.Command != nil {
			add(s.Command.Flags)
		}
		if s.Run != nil {
			add(s.Run.Flags)
		}
	}
	for _, v := range p.Bootkube.Variables {
		if plainValue.MatchString(v.Value) {
			values = append(values, ScriptValue{v.Name, v.Value})
		}
	}
	return values
}

// CheckValues are the settings of a lab's scripts that the declarations of checks
// refer to, by the names of their shell variables.
func (p *Plan) CheckValues() map[string]string {
	values := map[string]string{}
	for _, v := range append(p.ScriptValues(), p.ReleaseValues()...) {
		values[v.Name] = v.Value
	}
	return values
}

// ofWorkstation are the scripts that a node has not.
var ofWorkstation = regexp.MustCompile(`\b(make-(pki|kubeconfigs|manifests)|unpack-bootstrap-ignition)\.sh|unpack (a|the) bootstrap\.ign`)

// Advice is a hint of the stage data as it helps in a place: the assets of a node
// are made elsewhere.
func Advice(place Place, hint string) string {
	if place != OnNode || !ofWorkstation.MatchString(hint) {
		return hint
	}
	return "The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node."
}
