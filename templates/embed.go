// Package templates holds the wording of scripts and guide. It has no logic:
// generator takes FS and fills it in.
package templates

import "embed"

// FS holds scripts/*.tmpl, scripts/lib/*.tmpl, guide/*.tmpl, guide/chapters/*.tmpl, ignition/*.tmpl
// (files of the bootstrap node) and, for labs that were made from an audited
// script, audited/*.tmpl, for those of bootlab demo, demo/*.tmpl. Names that begin with an underscore are parts that
// others include.
//
//go:embed scripts/*.tmpl scripts/lib/*.tmpl guide/*.tmpl guide/chapters/*.tmpl audited/*.tmpl demo/*.tmpl ignition/*.tmpl
var FS embed.FS
