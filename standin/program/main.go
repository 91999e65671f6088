// Command program is every program of a stand-in release: one static binary
// that plays the part its image was built for.
//
// The stand-ins are no operators. They are strict where a script could go
// wrong: they take the flags that bootkube.sh of their release gives, with the
// values it gives, and nothing else; what operators refuse they refuse in the
// same words and with the same exit status. What only a stand-in refuses begins
// with "stand-in:". And they write the files that operators write, so that what
// comes after them finds its inputs.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"bootlab/standin/installer"
	"bootlab/standin/role"
)

// programs are the parts that are played, by payload name.
var programs = map[string]program{
	"cloud-credential-operator":                cloudCredentialOperator,
	"cluster-kube-apiserver-operator":          kubeAPIServerOperator,
	"cluster-kube-controller-manager-operator": kubeControllerManagerOperator,
	"cluster-kube-scheduler-operator":          kubeSchedulerOperator,
	"machine-config-operator":                  machineConfigOperator,
	"release":                                  releaseImage,
	"cluster-authentication-operator":          authenticationOperator,
	"cluster-bootstrap":                        clusterBootstrap,
	"cluster-config-api":                       configAPI,
	"cluster-config-operator":                  configOperator,
	"cluster-etcd-operator":                    etcdOperator,
	"cluster-ingress-operator":                 ingressOperator,
	"cluster-node-tuning-operator":             tuningOperator,
}

func main() {
	name := filepath.Base(os.Args[0])
	switch name {
	case "cat":
		os.Exit(cat(os.Args[1:]))
	case "openshift-install":
		installer.Main()
		return
	case "pause": // until it is killed, as the payload's image of that name
		for {
			time.Sleep(time.Hour)
		}
	}
	r, err := role.Load()
	if err != nil {
		refuse("%v", err)
	}
	origin = r.Image
	if origin == "release" {
		origin = "the cluster-version-operator"
	}
	p, played := programs[r.Image]
	if !played {
		refuse("nothing plays %s yet", r.Image)
	}
	for fault := range role.Faults() {
		if !p.has(fault) {
			refuse("%s has no fault %q", r.Image, fault)
		}
	}
	os.Exit(p.run(r, name, os.Args[1:]))
}

// refuse ends the process for a reason of the stand-ins' own.
func refuse(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "stand-in: "+format+"\n", args...)
	os.Exit(1)
}

// cat is the one tool that scripts call in a release image.
func cat(files []string) int {
	status := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "cat: %s: No such file or directory\n", name)
			status = 1
			continue
		}
		_, err = io.Copy(os.Stdout, f)
		f.Close()
		if err != nil {
			fmt.Fprintf(os.Stderr, "cat: %s: %v\n", name, err)
			status = 1
		}
	}
	return status
}
