#!/usr/bin/env bash
# options.sh: options and arguments of a script's own
#
# Sourced after stage.sh by the scripts that have some.

# The variable is empty without the option, even if the environment sets it. The
# value of --NAME=S and --NAME=N is a number.
option() { OPTIONS+=("$@") && printf -v "$2" ''; } # --NAME[=VALUE] VARIABLE MEANING

# Accept positional arguments.
# shellcheck disable=SC2034 # text.sh prints the meaning
takes_words() { WORDS=$1 WORDS_MEAN=${2:-} && printf -v "$1" ''; } # VARIABLE [MEANING]

own_argument() { # ARGUMENT
  local i
  for ((i = 0; i < ${#OPTIONS[@]}; i += 3)); do
    [[ ${OPTIONS[i]} == "$1" || ${OPTIONS[i]} == "${1%%=*}="* && $1 == *=* ]] || continue
    [[ ${OPTIONS[i]} != *=[NS] || ${1#*=} =~ ^[1-9][0-9]{0,5}$ ]] ||
      die 2 "${1@Q} needs a number" "${0##*/} --help lists the options"
    printf -v "${OPTIONS[i + 1]}" %s "${1#*=}"
    return
  done
  [[ $1 != -* && -n ${WORDS} ]] && printf -v "${WORDS}" %s "${!WORDS:+${!WORDS} }$1"
}
