// Package run finds the way to the machines of a lab.
package watch

import (
	"os"
	"path/filepath"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// Local are the hosts of a lab without machines: everything is below
// out/work of its directory.
func Local(lab *labs.Lab) *host.Hosts {
	work := workDir(lab)
	return &host.Hosts{Here: host.Local{}, Local: true, Work: work,
		AssetDir: filepath.Join(work, "assets"), Root: filepath.Join(work, "host")}
}

// Machines are the hosts of a lab whose machines ssh reaches by that
// ssh_config. What the workstation has of oc and kubeconfig is named if it is
// there.
func Machines(lab *labs.Lab, sshConfig string) *host.Hosts {
	p := &host.Hosts{Here: host.Local{}, Work: workDir(lab), AssetDir: labs.AssetDir, Masters: map[string]host.Host{},
		Bootstrap: host.Node{Machine: lab.Machines.Bootstrap.Name, Config: sshConfig}}
	for _, m := range lab.Machines.Masters {
		p.Masters[m.Name] = host.Node{Machine: m.Name, Config: sshConfig}
	}
	if file := filepath.Join(workDir(lab), "assets", "tools", "oc"); isFile(file) {
		p.OC = file
	}
	if file := filepath.Join(workDir(lab), "assets", "install", "auth", "kubeconfig"); isFile(file) {
		p.Kubeconfig = file
	}
	return p
}

// workDir is absolute: commands do not run where bootlab was started.
func workDir(lab *labs.Lab) string {
	dir := filepath.Join(lab.Dir, "out", "work")
	if absolute, err := filepath.Abs(dir); err == nil {
		return absolute
	}
	return dir
}

func isFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
