// Package diagram draws the pictures of the guide from a plan: what happens
// when, which component connects to which, which stage writes what the next one reads. Each
// picture is drawn twice from one description, as SVG for the site and as
// mermaid text for readers of the markdown.
//
// A picture is described (timeline.go, network.go and the like), then laid out
// ([grid] for boxes and arrows, [lanes] for messages between lanes) into a
// [scene] of rectangles, lines and texts, and printed (svg.go). All measures
// are whole pixels, so that the same plan gives the same bytes everywhere.
//
// Facts come from the plan, and where it does not carry them from the sources
// that stand beside them.
package diagram
