package main

import (
	"fmt"
	"os"
)

// authenticationOperator renders one type and reads nothing.
var authenticationOperator = program{
	commands: map[string]command{
		"render": {
			required: []string{"asset-output-dir"},
			missing: func(string) {
				fmt.Fprintln(os.Stderr, "creating asset-output-dir: mkdir : no such file or directory")
				os.Exit(1)
			},
			do: renderAuthentication,
		},
	},
	faults: keys(authenticationFaults),
}

const authenticationFile = "authorization.openshift.io_rolebindingrestrictions.yaml"

var authenticationFaults = map[string]func(tree){
	"no-crd":    func(t tree) { t.remove(authenticationFile) },
	"empty-crd": func(t tree) { t[authenticationFile] = file{"", 0o644} },
	"other-crd": func(t tree) { t.replace(authenticationFile, "rolebindingrestrictions", "oauths") },
}

func renderAuthentication(inv *invocation) {
	t := tree{"./": {}, authenticationFile: {roleBindingRestrictions(), 0o644}}
	t.damage(authenticationFaults)
	t.write(inv.flags["asset-output-dir"], 0o755)
}
