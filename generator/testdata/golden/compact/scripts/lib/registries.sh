#!/usr/bin/env bash
# registries.sh: how podman reaches the registries of this lab
#
# Login, mirrors, additional CA and proxy of lab.yaml, for the programs of the
# script that sources this file.
