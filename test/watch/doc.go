// Package watch runs bootlab watch on a terminal, as a person does.
package watch
