// Package site holds the tests that look at the site in a real browser: every
// kind of page, from a disk and from the server, light and dark, narrow and
// wide, by keyboard and with scripts off.
package site
