// Package site turns the files that the generator writes (guide.json, the pages
// of the guide, its pictures and the scripts) into a web site that needs no
// network: every page works from file:// as well as served.
//
// [Build] reads a file system and checks it: a link or an anchor that leads
// nowhere, a picture with a script in it or a heading out of order is an error
// that names the page. [Site.Files] is pure, the same guide gives the same
// bytes. [Site.Handler] serves them, loads pages again when the guide changes,
// and shows how far a running lab is.
package site
