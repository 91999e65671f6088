#!/usr/bin/env bash
# text.sh: the script as text, for --dry-run, --step, --explain and --help
#
# Loaded by stage.sh for these options only; not used when a stage runs normally.

# The steps as a separate bash script: the commands only, without lock, log, record
# and checks. It begins with the settings; a step looks like this:
#
#   { # 1 'Pull the image'
#     podman image exists "${IMAGE}" || podman pull "${IMAGE}"
#   }
commands() {
  local i word list=''
  printf "set -Eeuo pipefail\ncd -- %q\nSCRIPTS=%q\nASSET_DIR=\${PWD}\n" \
    "${ASSET_DIR}" "${SCRIPTS}"
  for ((i = 1; i < ${#OPTIONS[@]}; i += 3)); do list+=" ${OPTIONS[i]}"; done
  for word in ${WORDS} ${list}; do printf '%s=%q\n' "${word}" "${!word}"; done
  awk '/^# Settings: every value/ { settings = 1 }
    /^source / { settings = 0 }
    /^finish/ { after = 0 }
    settings && !/^(#|SCRIPTS=|ASSET_DIR=|STAGE=|MARKER=|$)/ { print }
    after && /^(if|  &&) step / { sub(/^(if|  &&) step /, "{ # "); sub(/; then$/, ""); inside = 1 }
    inside && /^fi( 9>&-)?$/ { $0 = "}"; inside = 0 }
    after && /^undo / { $0 = "trap " substr($0, 6) " EXIT" }
    after && / \|\| finish_part / { sub(/finish_part .*/, "exit 0") }
    after && !/^(mark|if part .*|end_part|service_.*|# shellcheck.*)$/ { print }
    /^begin / { after = 1 }' "$0"
}

step_text() { # NUMBER
  awk -v first=" step $1 '" '
    /^(if|  &&) / && index($0, first) { on = 1; next }
    /^fi( 9>&-)?$/ { on = 0 }
    on' "${SCRIPTS}/${0##*/}" # by now $0 may be relative to another directory
}

explain() {
  awk 'NR == 1 || /^ *# shellcheck/ { next }
    /^ *#/ { sub(/^ *# ?/, ""); print; open = 1; next }
    open { print ""; open = 0 }' "$0"
}

usage() {
  printf 'Usage: %s [OPTION]%s\n\n' "${0##*/}" "${WORDS:+ ${WORDS}...}"
  printf '  %-12s %s\n' \
    '' 'check the inputs, run the stage unless it is already done, check the result' \
    --dry-run 'print the commands as a bash script, change nothing' \
    --step 'ask before each step' --verify 'run only the checks (TAP 14)' \
    --force 'run again even if already done' \
    --explain 'what the stage does and why' --help 'this text'
  # An option, its variable, which is not printed, and what it means.
  ((${#OPTIONS[@]} == 0)) || printf '  %-12s %.0s%s\n' "${OPTIONS[@]}"
  printf '%s' "${WORDS_MEAN}"
}
