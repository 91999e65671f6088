// Package templates holds the wording of scripts and guide. It has no logic:
// generator takes FS and fills it in.
package templates

import "embed"

// FS holds scripts/*.tmpl, guide/*.tmpl and guide/chapters/*.tmpl. Names that begin with an
// underscore are parts that others include.
//
//go:embed scripts/*.tmpl guide/*.tmpl guide/chapters/*.tmpl
var FS embed.FS
