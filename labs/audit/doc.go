// Package audit reads a real bootkube.sh, or the installer's template of it, as
// shell, and compares what it does with the stage data of a release. Nothing of
// the script is ever executed: commands are followed on paper, with variables,
// arrays, functions, loops and conditions.
//
// [Parse] gives a [Script], which is a list of what the script does. [Compare]
// brings script and stage data into the same facts and says what differs;
// [Detect] looks for the release that fits best. [Draft] writes the facts as
// stage data for a person to review, and [Apply] changes a plan to them, as far as
// values of plain form and the templates go. [ParseHelp] and [CompareHelp] look at an
// operator's own help text instead.
package audit
