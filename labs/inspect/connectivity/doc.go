// Package connectivity asks from every machine of a lab whether it gets to the
// ports that it needs now. What has to be open at the moment, the machines show
// by what runs on them: a static pod, a unit, a container.
package connectivity
