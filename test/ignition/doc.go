// Package ignition reads configs as Ignition itself does on a machine: it
// follows merges, unpacks, and holds what it gets against its hashes.
package ignition
