// Package templates holds the wording of scripts and guide. It has no logic:
// generator takes FS and fills it in.
package templates

import "embed"

// FS holds scripts/*.tmpl and guide/*.tmpl. Names that begin with an
// underscore are parts that others include.
//
//go:embed scripts/*.tmpl guide/*.tmpl
var FS embed.FS
