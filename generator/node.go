package generator

import (
	"io/fs"
	"strings"

	"bootlab/generator/overlay"
	"bootlab/labs"
)

// overlayFile is the Ignition config with which the scripts come to the node.
const overlayFile = "ignition/overlay.ign"

// overlay renders it from the node's scripts, which must stand in the output
// with their modes. It is as private as they are.
func (r *renderer) overlay(templates fs.FS) error {
	dir := nodeDir() + "/"
	var scripts []overlay.Script
	for _, f := range r.out.Files {
		if name, ok := strings.CutPrefix(f.Path, dir); ok {
			scripts = append(scripts, overlay.Script{Name: name, Mode: f.Mode, Data: f.Data})
		}
	}
	text, err := overlay.Render(r.plan, templates, scripts, next(r.scripted(labs.OnNode)))
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if r.plan.Lab.Proxy.HasLogin() {
		mode = 0o600
	}
	r.add(overlayFile, mode, string(text))
	return nil
}

// nodeDir is where the node's scripts stand in the output.
func nodeDir() string {
	for _, pl := range places {
		if pl.place == labs.OnNode {
			return pl.dir
		}
	}
	return ""
}

// handover is a stage of bootkube.sh as the script sees it that stops bootkube.sh
// behind one. Marker and Container are a hyphen where the stage has none.
type handover struct {
	ID, Name, Marker, Container string
	Whole                       bool // must not be stopped in the middle
}

// Handovers are the stages of bootkube.sh in their order, without those that only
// look.
func (d *scriptData) Handovers() []handover {
	var out []handover
	for _, s := range d.plan.Stages {
		if s.Bootkube == "" || s.Kind == "check" {
			continue
		}
		h := handover{s.ID, s.Bootkube, "-", "-", s.Uninterruptible}
		if len(s.Markers) > 0 {
			h.Marker = s.Markers[0].File
		}
		if s.Run != nil {
			h.Container = s.Run.Name
		}
		out = append(out, h)
	}
	return out
}
