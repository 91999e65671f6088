#!/usr/bin/env bash
# host.sh: what is checked on this host before a stage starts
#
# Sourced by stage.sh. Nothing here changes what a stage does.

# Options of the caller's shell must not change a script: SHELLOPTS and BASHOPTS
# may be exported, and bash -x would print secrets into the log.
set +x +v +f +C +o posix +n
shopt -u nullglob failglob dotglob nocaseglob nocasematch xpg_echo
export -n SHELLOPTS BASHOPTS
unset CDPATH GREP_OPTIONS BASH_ENV ENV
# A closed stdin or stdout would give its number to the next file that is opened.
{ : 3<&0; } 2> /dev/null || exec < /dev/null
{ : 3>&1; } 2> /dev/null || exec > /dev/null
{ : 3>&2; } 2> /dev/null || exec 2> /dev/null

check_host() {
  local name package
  for name in "${COMMANDS[@]}"; do
    ! command -v "${name}" > /dev/null || continue
    case ${name} in
      flock | setsid) package='util-linux' ;;
      dig) package='bind9-dnsutils (Debian) or bind-utils (Fedora)' ;;
      virsh) package='libvirt-clients (Debian) or libvirt-client (Fedora)' ;;
      *) package=${name} ;;
    esac
    die 4 "the command ${name} is missing" "install the package ${package}"
  done
}

# Keys are below work/: only the owner may read it.
enter_directory() {
  local work="${ASSET_DIR%/*}"
  [[ ${ASSET_DIR} != *:* ]] ||
    die 4 "the path ${ASSET_DIR} contains a colon" 'podman cannot mount it: move the lab'
  [[ ! -L ${work} ]] || die 4 "${work} is a symbolic link" \
    'stages restrict this directory to its owner, so it must be a real directory'
  (umask 077 && mkdir -p "${ASSET_DIR}" "${HOST_ROOT}" && chmod go-rwx "${work}") ||
    die 4 "cannot make ${work} private" 'check the owner of the lab and the space on its disk'
  [[ -w ${ASSET_DIR} && -w ${HOST_ROOT} ]] ||
    die 4 "cannot write to ${ASSET_DIR}" 'check its owner and its mode'
  cd -- "${ASSET_DIR}" || exit
}

all_there() { (($# > 0)) && ls -d -- "$@" > /dev/null 2>&1; } # FILE...

left_out_if() { LEFT_OUT=$1; } # FILE: if it exists, bootkube.sh skips this stage

check_inputs() {
  local i
  [[ ! -e ${LEFT_OUT:-} ]] || { log "${LEFT_OUT} exists; skipping ${STAGE}" && exit; }
  for ((i = 0; i < ${#INPUTS[@]}; i += 2)); do
    [[ -e ${INPUTS[i]} ]] || die 4 "${INPUTS[i]} is missing in ${ASSET_DIR}" "${INPUTS[i + 1]}"
  done
}

# The script holds the lock on descriptor 9 until it exits. Programs in a step do not
# inherit it (fi 9>&-): a container that outlives a killed script must not keep it.
take_lock() {
  exec 9> "${LOCK}"
  flock --nonblock 9 || die 1 "another stage script is running in ${ASSET_DIR}" 'wait until it ends'
}

# A killed podman leaves its container running and the name taken.
remove_old_container() {
  local mounts
  [[ -n ${CONTAINER:-} ]] && podman container exists "${CONTAINER}" || return 0
  mounts="$(podman container inspect "${CONTAINER}" \
    --format '{{range .Mounts}}{{.Source}}:{{end}}')" || return 0 # it has just ended
  [[ ":${mounts}" == *":${ASSET_DIR}"[/:]* ]] ||
    die 1 "another program's container is named ${CONTAINER}; its volumes: ${mounts:-none}" \
      "let it end, or: podman rm --force ${CONTAINER}"
  [[ ${FOLLOWED:-no} == no ]] || return 0
  if [[ $(podman container inspect "${CONTAINER}" --format '{{.State.Running}}') == true ]]; then
    log "waiting up to 600 s for container ${CONTAINER} left by an interrupted run"
    timeout --foreground 600 podman wait "${CONTAINER}" > /dev/null 9>&- || true
  fi
  podman rm --force --ignore "${CONTAINER}" > /dev/null 9>&-
}
