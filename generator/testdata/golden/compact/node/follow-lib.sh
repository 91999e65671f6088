#!/usr/bin/env bash
# follow-lib.sh: how a script follows a container that works for long
#
# Sourced behind stage-lib.sh where the stage has steps. The container outlives a
# lost terminal and a killed script; the next run follows it from its first line.
# The stage script defines explain_line, which is called for each line (in $line),
# each_second, and take_back, which is where Ctrl-C and SIGTERM lead.
LATER=no TEXT='' AT=now ENDS=0 CLIENT='' READER='' ENDED='' INTERRUPTED=no
declare -A TOLD=() REFUSED=()

# A session of its own: neither Ctrl-C nor a lost terminal reaches podman, which
# would hand the signal on into the container.
apart() { # COMMAND...
  exec setsid --wait "$@" < /dev/null 2>&1 3<&- 4>&- 5>&- 9>&-
}

# True when a container of an earlier run is running: a killed podman client
# leaves it so. A dead one only holds the name, and goes.
works_already() { # NAME
  local state mounts
  [[ ${MODE} != dry-run ]] || return 1
  state="$(podman container inspect --format '{{.State.Status}}' "$1" 2> /dev/null)" || return 1
  mounts="$(podman container inspect --format '{{range .Mounts}}{{.Source}}:{{end}}' "$1")" || return 1
  [[ ":${mounts}" == *":${ASSET_DIR}:"* ]] ||
    die 1 "a container named $1 belongs elsewhere: ${mounts%:}" "let it end, or remove it: podman rm --force $1"
  [[ ${state} != running ]] || return 0
  podman rm --force "$1" > /dev/null
  return 1
}

follow_again() { # NAME
  log "$1 of an earlier run is running: its log from the beginning, then what comes"
  LATER=yes
  exec 7< <(apart podman wait "$1")
  exec 6< <(apart podman logs --follow --timestamps "$1")
  READER=$!
}

# What is started is shown as it could be typed; setsid is not, for by hand it
# would only hide the container from Ctrl-C. podman that cannot write removes its
# container. So tee stands between: it reads on when this script is killed, for
# one of its outputs never fails, and none is a disk that could be full.
begin_following() { # COMMAND...
  show '' "$@" || return 0
  trap 'INTERRUPTED=yes' INT TERM
  # shellcheck disable=SC2016 # the inner bash expands it
  exec 6< <(apart bash -c 'exec 2> /dev/null; "$@" 2>&1 | tee --output-error=warn /dev/null; exit "${PIPESTATUS[0]}"' bash "$@")
  CLIENT=$!
}

# Ends podman and its session, whose number is that of its first process. Without
# this a podman that has not made its container yet would make it later.
end_following() {
  local tries
  [[ -z ${READER} ]] || kill "${READER}" 2> /dev/null || true
  READER=''
  [[ -n ${CLIENT} ]] || return 0
  kill -- "${CLIENT}" "-${CLIENT}" 2> /dev/null || true
  for ((tries = 0; tries < 100; tries++)); do
    kill -0 "${CLIENT}" 2> /dev/null || kill -0 -- "-${CLIENT}" 2> /dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "${CLIENT}" "-${CLIENT}" 2> /dev/null || true
}

# What podman wait says. podman logs --follow alone may go on for ever, where the
# container's log is the journal.
container_ended() {
  [[ ${LATER} == yes ]] || return 1
  [[ -n ${ENDED} ]] || ! read -r -t 0 -u 7 || read -r -u 7 ENDED || ENDED=unknown
  [[ ${ENDED} =~ ^[0-9]+$ ]]
}

# To the end of its output, or some silent seconds behind its own; false when the
# time is over before. A trap inside read -t would be cut off in its middle by the
# time-out of read, so it leaves no more than a note.
follow() { # SECONDS
  local end=$((SECONDS + $1)) piece state silent=0
  trap 'INTERRUPTED=yes' INT TERM
  while ((SECONDS < end)); do
    state=0
    IFS= read -r -t 1 -u 6 piece || state=$?
    [[ ${INTERRUPTED} == no ]] || take_back
    TEXT+=${piece}
    if ((state == 0)); then
      line_came
      silent=0
    elif ((state <= 128)) || { container_ended && ((++silent > 3)); }; then
      break
    fi
    each_second
  done
  [[ -z ${TEXT} ]] || line_came
  [[ ${LATER} == no ]] || end_following
  trap take_back INT TERM
  [[ ${INTERRUPTED} == no ]] || take_back
  ((SECONDS < end))
}

# The exit status of the container; unknown when it can no longer be known.
followed_to() {
  local status=0
  if [[ ${LATER} == no ]]; then
    wait "${CLIENT}" || status=$?
    CLIENT=''
  else
    [[ -n ${ENDED} ]] || read -r -u 7 ENDED || true
    status=${ENDED}
  fi
  [[ ${status} =~ ^[0-9]+$ ]] || status=unknown
  STATUS=${status}
}

# A log from before has the time in front of each line. What is said of one file
# that is refused, up to five times a second, is shown once in each pass.
line_came() {
  local line=${TEXT//[^[:print:]$'\t']/} key
  TEXT=''
  if [[ ${LATER} == yes ]]; then AT=${line%% *} line=${line#* }; fi
  case ${line} in
    '[#'* | '"'* | 'Failed to '*)
      key="line ${line#\[#*\]}"
      [[ -z ${REFUSED["${key}"]:-} ]] || return 0
      REFUSED["${key}"]=yes ;;
  esac
  printf '%s\n' "${line}"
  explain_line
}

# Told once. A limit begins when the line was printed, whenever it is read. Ctrl-C
# must not hit the helpers: the script would end with them.
when_said() { # ID MINUTES PART-OF-LINE TEXT
  # shellcheck disable=SC2154 # line_came has it
  [[ ${line} == *"$3"* && -z ${TOLD["$1"]:-} ]] || return 0
  TOLD["$1"]=yes
  (trap '' INT TERM && fold --spaces --width=96 <<< "$4" | sed 's/ *$//; s/^/    | /')
  (($2 > 0)) || return 0
  ENDS=$(($(trap '' INT TERM && date --date="${AT}" +%s) + 60 * $2))
  printf '    | The limit of %s minutes ends at %(%H:%M:%S %Z)T.\n' "$2" "${ENDS}"
}
