#!/usr/bin/env bash
# command-lib.sh: how a stage script runs commands, copies files and handles
# containers
#
# Sourced by stage-lib.sh. Every command that changes something goes through
# run or one of its kin: shown first as it could be typed, not done with
# --dry-run, done after Enter with --step.

log() { printf '==> %s\n' "$*"; }

# shellcheck disable=SC2034 # stage-lib.sh reads both when the script ends
die() { # STATUS MESSAGE HINT
  ERROR=$2 SAID=yes
  printf 'error: %s\n  hint: %s\n' "$2" "$3" >&2
  exit "$1"
}

need() { # COMMAND...
  local name debian fedora
  for name in "$@"; do
    debian=${name} fedora=${name}
    case ${name} in
      flock | setsid) debian=util-linux fedora=util-linux ;;
      dig) debian=bind9-dnsutils fedora=bind-utils ;;
      virsh) debian=libvirt-clients fedora=libvirt-client ;;
    esac
    # Nothing is installed on CoreOS: its /usr is read-only.
    command -v "${name}" > /dev/null || [[ -n ${HOST_ROOT} ]] ||
      die 4 "the command ${name} is missing" "it comes with the node's image; from 4.19 on node-image-overlay.service brings it"
    command -v "${name}" > /dev/null ||
      die 4 "the command ${name} is missing" "install it: apt-get install ${debian}, or dnf install ${fedora}"
  done
}

# A stage asks for what it reads, not for its place in the order: any stage
# runs alone once its inputs are there.
need_input() { # FILE HINT
  [[ -e $1 || ${MODE} == dry-run ]] || die 4 "$1 is missing in ${ASSET_DIR}" "$2"
}

# As it could be typed: quoted only where the shell needs it.
typed() { # WORD...
  local word
  for word in "$@"; do
    if [[ ${word} =~ ^[A-Za-z0-9_./:=,@%+*-]+$ ]]; then printf ' %s' "${word}"
    elif [[ ${word} != *\'* ]]; then printf " '%s'" "${word}"
    else printf ' %q' "${word}"; fi
  done
}

# False when the command must not run.
show() { # REDIRECTION COMMAND...
  local answer
  # What scripts call cluster is oc, with the cluster's kubeconfig.
  [[ $2 != cluster ]] || set -- "$1" "${OC}" --kubeconfig "${KUBECONFIG_FILE}" "${@:3}"
  printf '  $%s%s\n' "$(typed "${@:2}")" "$1"
  if [[ ${MODE} == step ]]; then
    [[ ! -t 5 ]] || printf '    [Enter: run it, a: run all that follow, Ctrl-C: stop] ' >&5
    read -r -u 3 answer || die 1 'stopped before this command' "${CALL} does the whole stage again"
    [[ ${answer} != a ]] || MODE=run
  fi
  [[ ${MODE} != dry-run ]]
}

# Children get neither the lock (9) nor the terminal: a container that outlives
# a killed script would hold both.
# shellcheck disable=SC2034 # stage-lib.sh says ERROR when the script ends
attempt() { # COMMAND...
  local status=0
  "$@" 3<&- 4>&- 5>&- 9>&- || status=$?
  ((status == 0)) || ERROR="${1/#cluster/oc} ${2:-} ended with status ${status}"
  return "${status}"
}

run() { # COMMAND...
  if show '' "$@"; then attempt "$@"; fi
}

# A file is whole or absent, never half: it is written under another name.
run_to() { # FILE COMMAND...
  if ! show " > $1" "${@:2}"; then return; fi
  mkdir --parents "$(dirname -- "$1")"
  attempt "${@:2}" > "$1.tmp"
  # podman 4.3 now and then loses what a short container printed: ask again.
  [[ -s $1.tmp ]] || attempt "${@:2}" > "$1.tmp"
  mv --force -- "$1.tmp" "$1"
}

# The text comes on standard input, from the script itself.
write_file() { # MODE FILE
  if ! show ' < (text from this script)' install --mode="$1" /dev/stdin "$2"; then return; fi
  mkdir --parents "$(dirname -- "$2")"
  (umask 077 && cat > "$2.tmp")
  chmod "$1" "$2.tmp"
  mv --force -- "$2.tmp" "$2"
}

# cp, but each file arrives under a name that the kubelet does not look at and
# is then renamed: the kubelet starts half a manifest as readily as a whole one.
# Manifests come last, when what they mount is there. FROM is a pattern, matched
# here so that what is shown stays short.
copy_files() { # [--recursive] FROM TO
  local from early=() late=()
  if ! show '' cp "$@"; then return; fi
  local IFS='' # a pattern is no list of words
  # shellcheck disable=SC2048,SC2086
  for from in ${*: -2:1}; do
    if [[ ${from} == */manifests ]]; then late+=("${from}"); else early+=("${from}"); fi
  done
  for from in "${early[@]}" "${late[@]}"; do
    [[ ! -d ${from} || $1 == --recursive ]] || die 1 "${from} is a directory, and cp leaves those out" 'move it elsewhere'
    [[ -f ${from} || -d ${from} ]] ||
      die 1 "there is no file ${from} to copy" 'the step before wrote none: read its output'
  done
  if [[ $1 != --recursive && ${!#} == */ ]]; then
    copy_together "${early[@]}" "${!#}"
    return
  fi
  for from in "${early[@]}" "${late[@]}"; do copy_below "${from}" "${!#}"; done
}

# Many files into one directory, by few commands.
copy_together() { # FILE... DIRECTORY/
  local waiting="${!#}.bootlab"
  mkdir --parents "${!#}"
  rm --recursive --force "${waiting}"
  mkdir "${waiting}"
  cp -- "${@:1:$#-1}" "${waiting}/" || { rm --recursive --force "${waiting}"; return 1; }
  mv --force -- "${waiting}"/* "${!#}"
  rmdir "${waiting}"
}

copy_below() { # FROM TO
  local file directory waiting files
  if [[ -f $1 ]]; then
    file=$2
    [[ $2 != */ ]] || file="$2${1##*/}"
    waiting="${file%"${file##*/}"}.${file##*/}.bootlab"
    [[ ${file} != */* ]] || mkdir --parents "${file%/*}"
    cp -- "$1" "${waiting}"
    mv --force -- "${waiting}" "${file}"
    return
  fi
  while IFS= read -r -d '' directory; do
    mapfile -d '' -t files < <(find "${directory}" -maxdepth 1 -type f -print0)
    ((${#files[@]} == 0)) || copy_together "${files[@]}" "$2${1##*/}${directory#"$1"}/"
  done < <(find "$1" -type d -print0 | sort --zero-terminated)
}

wait_until() { # SECONDS WHAT COMMAND...
  local end=$((SECONDS + $1))
  [[ ${MODE} != dry-run ]] || return 0
  log "waiting for $2, at most $1 s"
  until "${@:3}"; do
    ((SECONDS < end)) || die 1 "no sign of $2 within $1 s" "the last answer is above; ${CALL} waits again"
    sleep 2
  done
}

# What release-info.sh found; a word in its place when --dry-run comes first.
release_info() { # FILE
  if [[ ${MODE} == dry-run && ! -e release-info/$1 ]]; then echo "RELEASE-INFO:$1"; return; fi
  cat "release-info/$1"
}

image_for() { # NAME
  if [[ ${MODE} == dry-run && ! -e release-info/images ]]; then echo "IMAGE-FOR:$1"; return; fi
  awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' release-info/images ||
    die 1 "the release names no image $1" 'compare release.version in lab.yaml with release-info/version'
}

# The stages run podman with --quiet, which shows nothing while a large image
# arrives. So the pull is a step of its own, with its progress on the terminal,
# and bounded.
pull_image() { # IMAGE
  if [[ ${MODE} != dry-run ]] && podman image exists "$1"; then return; fi
  if ! show '' podman pull "$1"; then return; fi
  local progress=2
  [[ ! -t 5 ]] || progress=5
  timeout --foreground 1800 podman pull "$1" > /dev/null 2>&"${progress}" 9>&- && return
  # What podman said to the terminal is not in the log; there it says it again.
  [[ ${progress} == 2 ]] || timeout 60 podman pull --quiet "$1" 9>&- || true
  die 1 "podman could not pull $1" 'podman says why above: the name, the network, the CA of the registry or the pull secret'
}

# A killed podman client leaves its container running and the name taken. True
# when the container of an interrupted run was still running and ended well.
adopt_container() { # NAME
  local state mounts status=1
  [[ ${MODE} != dry-run ]] || return 1
  state="$(podman container inspect --format '{{.State.Status}}' "$1" 2> /dev/null)" || return 1
  mounts="$(podman container inspect --format '{{range .Mounts}}{{.Source}}:{{end}}' "$1")" || return 1
  [[ ":${mounts}" == *":${ASSET_DIR}:"* ]] ||
    die 1 "a container named $1 belongs elsewhere: ${mounts%:}" "let it end, or remove it: podman rm --force $1"
  if [[ ${state} == running ]]; then
    log "container $1 of an interrupted run is still running: waiting for it, at most 600 s"
    status="$(timeout 600 podman wait "$1" 9>&-)" || status=1
  fi
  podman container exists "$1" && podman rm --force "$1" > /dev/null
  [[ ${status} == 0 ]]
}
