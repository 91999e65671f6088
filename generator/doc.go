// Package generator turns a plan and templates into files: one script per
// stage, the libraries beside them, and a guide page for each.
//
// [Render] is pure. It reads no disk, no clock, no environment and no network:
// the same lab gives the same bytes. [Output.Write] is the only part that
// touches a disk, and the one writer of all file sets.
package generator
