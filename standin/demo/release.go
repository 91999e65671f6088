package demo

import (
	"bootlab/labs"
	"bootlab/standin"
)

// version is that of the stand-in release: no published one looks like it.
func (d *Demo) version() string {
	if d.Release == "main" {
		return "5.0.0-stand-in"
	}
	return d.Release + ".0-stand-in"
}

func (d *Demo) options() standin.Options {
	return standin.Options{Version: d.version(), Repository: labs.StandIns, Offline: true}
}

// Image is the pull spec of the release image.
func (d *Demo) Image() string { return d.Address + "/" + labs.StandIns + "/release:" + d.version() }
