#!/usr/bin/env bash
# certificate-lib.sh: what the checks of a stage look at in certificates and keys
#
# Sourced by stage-lib.sh beside check-lib.sh, and of the same kind: each
# function prints what it found, and is true when that is what it should be.

chain() { # CA CERTIFICATE...
  present "$@" || return 1
  openssl verify -no-CApath -CAfile "$1" "${@:2}"
}

key_pair() { # X.crt or X.pub...
  local file kind public key bad=0
  for file in "$@"; do
    present "${file}" "${file%.*}.key" || { bad=1; continue; }
    kind=(openssl x509 -in "${file}" -noout -pubkey)
    [[ ${file} != *.pub ]] || kind=(openssl pkey -pubin -in "${file}" -pubout)
    if ! public="$("${kind[@]}" 2> /dev/null)"; then echo "${file} cannot be read"; bad=1
    elif ! key="$(openssl pkey -in "${file%.*}.key" -pubout 2> /dev/null)"; then echo "${file%.*}.key cannot be read"; bad=1
    elif [[ ${public} != "${key}" ]]; then echo "${file} does not belong to ${file%.*}.key"; bad=1; fi
  done
  return "${bad}"
}

subject() { # EXPECTED CERTIFICATE
  local found
  present "$2" || return 1
  found="$(openssl x509 -in "$2" -noout -subject -nameopt RFC2253)" || return 1
  echo "${found#subject=}"
  [[ ${found#subject=} == "$1" ]]
}

# The values of one extension, one a line.
extension() { # NAME CERTIFICATE
  openssl x509 -in "$2" -noout -ext "$1" | sed '1d; s/^ *//; s/, /\n/g' |
    sed 's/^IP Address:/IP:/; s/0:0:0:0:0:0:0:1/::1/
      s/^TLS Web Server Authentication$/serverAuth/; s/^TLS Web Client Authentication$/clientAuth/' | sort
}

extension_is() { # NAME EXPECTED CERTIFICATE...; EXPECTED is separated by spaces
  local file found bad=0
  for file in "${@:3}"; do
    present "${file}" || { bad=1; continue; }
    found="$(extension "$1" "${file}" 2>&1 | xargs)"
    [[ ${found} == "$(tr ' ' '\n' <<< "$2" | sort | xargs)" ]] || { echo "${file}: ${found:-none}"; bad=1; }
  done
  return "${bad}"
}
names() { extension_is subjectAltName "$@"; }
usage_is() { extension_is extendedKeyUsage "$@"; }

fresh() { # MINUTES CERTIFICATE...
  local file start bad=0
  for file in "${@:2}"; do
    present "${file}" || { bad=1; continue; }
    start="$(openssl x509 -in "${file}" -noout -startdate)" || { bad=1; continue; }
    openssl x509 -in "${file}" -noout -checkend "$(($1 * 60))" > /dev/null || start=expired
    if [[ ${start} == expired ]] || (($(date --date="${start#*=}" +%s) > $(date +%s))); then
      echo "${file}: $(openssl x509 -in "${file}" -noout -dates | xargs)"
      bad=1
    fi
  done
  return "${bad}"
}

bundle() { # BUNDLE CERTIFICATE...
  present "$@" || return 1
  grep --quiet BEGIN "$1" || { echo "$1 holds no certificate"; return 1; }
  bodies() { awk '/BEGIN/ { b = ""; next } /END/ { print b; next } { b = b $0 }' "$@" | sort; }
  cmp --silent <(bodies "$1") <(bodies "${@:2}") || { echo "$1 holds $(grep -c BEGIN "$1") certificates, not those of ${*:2}"; return 1; }
}
