package main

import (
	"fmt"
	"os"
)

// ingressOperator renders a type and a namespace.
var ingressOperator = program{
	commands: map[string]command{
		"render": {required: []string{"output-dir"}, missing: missingOfCobra, do: renderIngress},
	},
	faults: keys(ingressFaults),
}

var ingressFaults = map[string]func(tree){
	"no-crd":          func(t tree) { t.remove("custom-resource-definition") },
	"other-crd":       func(t tree) { t.replace("custom-resource-definition", "ingresscontrollers", "dnsrecords") },
	"no-namespace":    func(t tree) { t.remove("namespace") },
	"other-namespace": func(t tree) { t.replace("namespace", "openshift-ingress-operator", "openshift-ingress") },
}

// missingOfCobra ends the process as cobra does for a flag that is required.
func missingOfCobra(flag string) {
	fmt.Fprintf(os.Stderr, "Error: required flag(s) %q not set\n", flag)
	os.Exit(1)
}

// renderIngress writes over what is there: bootkube.sh removes another directory.
func renderIngress(inv *invocation) {
	prefix := inv.flags["prefix"]
	t := tree{
		"./": {},
		prefix + "00-custom-resource-definition.yaml": {crd("ingresscontrollers.operator.openshift.io", "IngressController", "Namespaced", usualProfile), 0o640},
		prefix + "00-namespace.yaml":                  {namespace("openshift-ingress-operator"), 0o640},
	}
	t.damage(ingressFaults)
	t.add(inv.flags["output-dir"], 0o750)
}
