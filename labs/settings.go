package labs

import (
	"regexp"
	"strings"
)

// Settings are the names, addresses and paths of a lab under the names that the
// evidence lines see as shell variables (in capitals) and jq programs as fields
// of $lab. Nothing in them is secret.
func (l *Lab) Settings() map[string]string {
	m := &l.Machines
	s := map[string]string{
		"name": l.Metadata.Name, "domain": l.Domain(), "api": "api." + l.Domain(), "api_int": "api-int." + l.Domain(),
		"distribution": l.Release.Distribution, "version": l.Release.Version, "image": l.Release.Image,
		"topology": l.Topology, "gateway": m.Gateway, "bootstrap_name": m.Bootstrap.Name, "bootstrap_address": m.Bootstrap.Address,
		"machine_network": "", "master": "master-0", "masters": "", "master_addresses": "", "workers": "",
	}
	if len(m.Masters) > 0 {
		s["master"] = m.Masters[0].Name
	}
	if n := l.Networking.MachineNetwork; len(n) > 0 {
		s["machine_network"] = n[0].CIDR
	}
	for _, master := range m.Masters {
		s["masters"] = spaced(s["masters"], master.Name)
		s["master_addresses"] = spaced(s["master_addresses"], master.Address)
	}
	for _, worker := range m.Workers {
		s["workers"] = spaced(s["workers"], worker.Name)
	}
	return s
}

func spaced(list, item string) string {
	if list == "" {
		return item
	}
	return list + " " + item
}

// settingName is a name of [Lab.Settings] in a text that a person reads.
var settingName = regexp.MustCompile(`\$\{([A-Z][A-Z_]*)\}`)

// inSettings puts the lab's values in the places of their names, as ${API_INT}.
func inSettings(text string, settings map[string]string) string {
	return settingName.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := settings[strings.ToLower(name[2:len(name)-1])]; ok {
			return value
		}
		return name
	})
}
