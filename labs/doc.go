// Package labs holds what bootlab knows and what a learner asks for.
//
// What bootlab knows is data: the stages of bootkube.sh and of the lab around
// it (data/stages), the order in which they run (data/order.yaml), the
// releases they were read from (data/releases) and the fields of lab.yaml
// (data/fields). What a learner asks for is one lab.yaml, a [Lab].
//
// [Resolve] puts a lab, its release and the stages together into one [Plan]:
// plain values with every since/until/when already decided, from which the
// generator writes scripts and guide, and from which every other part reads.
//
// The package reads YAML and nothing else. It runs no command and opens no
// connection; labs/inspect/host and the packages above it do that.
package labs
