package controlplane

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
)

//go:embed oc.sh
var standInOC string

// installOC puts the stand-in oc into the directory for a PATH.
func (c *ControlPlane) installOC() error {
	text := strings.ReplaceAll(standInOC, "@KUBECTL@", filepath.Join(c.programs, "kubectl"))
	return os.WriteFile(filepath.Join(c.Bin, "oc"), []byte(text), 0o755)
}
