#!/usr/bin/env bash
# checks.sh: how checks/STAGE.sh runs its checks and prints them as TAP 14
#
# Each check is a command that runs in the asset directory, in a subshell with
# set -euo pipefail and the settings of the file. It passes when the command
# succeeds. Another directory may be named as argument, and one check as --only ID
# before it.
set +e # a check that fails does not end the file
CHECKS=0 FAILED=0 ONLY=''
[[ ${1:-} != --only ]] || { ONLY=$2 && shift 2; }
echo 'TAP version 14'
cd -- "${1:-${ASSET_DIR}}" 2> /dev/null || { echo "Bail out! cannot enter ${ASSET_DIR}" && exit 3; }
[[ ! -s release-info/stand-in ]] || echo "# $(< release-info/stand-in)" # a comment in TAP

check() { # ID TITLE, the command on standard input
  local command='' found result='not ok'
  [[ -z ${ONLY} || $1 == "${ONLY}" ]] || return 0
  IFS= read -r -d '' command
  found="$(set -euo pipefail; eval "${command}" 2>&1 < /dev/null)"
  (($? > 0)) || result=ok # in a condition bash would ignore set -e in the subshell
  printf '%s %d - %s: %s\n' "${result}" "$((++CHECKS))" "$1" "$2"
  [[ ${result} == ok ]] || explain_check "$1" "${command%$'\n'}" "${found:-nothing}"
}

explain_check() { # ID COMMAND FOUND
  FAILED=$((FAILED + 1))
  jq --raw-output --arg id "$1" --arg command "$2" --arg found "$3" '
    def block: gsub("[^[:print:]\n]"; "") | gsub("\n"; "\n    ");
    def clock: "Compare the clock of this machine with another. If it is behind, "
      + "set it: the certificates are fine.";
    .checks[$id] | .hint |= if $found | contains("is not yet valid") then clock else . end
    | "  ---\n  id: \($id)\n  command: |-\n    \($command | block)",
      "  expected: |-\n    \(.expect | block)", "  found: |2-\n    \($found | block)",
      "  hint: |-\n    \(.hint | block)\n  ..."' "${0%.sh}.json"
}

end_of_checks() { echo "1..${CHECKS}" && ((FAILED == 0)) || exit 3; }
