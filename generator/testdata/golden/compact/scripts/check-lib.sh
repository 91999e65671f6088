#!/usr/bin/env bash
# check-lib.sh: what the checks of a stage look at
#
# Sourced by stage-lib.sh. check runs one observation and prints it as a line of
# TAP 14. The other functions are the observations: each prints what it found,
# and is true when that is what it should be.

check() { # ID TITLE EXPECTED HINT COMMAND...
  local found
  CHECKS=$((CHECKS + 1))
  if found="$("${@:5}" 2>&1)"; then
    printf 'ok %d - %s: %s\n' "${CHECKS}" "$1" "$2"
    return
  fi
  FAILED=$((FAILED + 1))
  printf 'not ok %d - %s: %s\n  ---\n  id: %s\n  expected: |-\n    %s\n  found: |-\n%s\n  hint: |-\n    %s\n  ...\n' \
    "${CHECKS}" "$1" "$2" "$1" "$3" "$(tr -cd '[:print:]\n' <<< "${found:-nothing}" | sed 's/^/    /')" "$4"
}

present() { # FILE...
  local file bad=0
  for file in "$@"; do
    if [[ ! -e ${file} ]]; then echo "${file} is missing"; bad=1
    elif [[ ! -s ${file} ]]; then echo "${file} is empty"; bad=1; fi
  done
  return "${bad}"
}

absent() { # FILE...
  local file bad=0
  for file in "$@"; do
    [[ ! -e ${file} ]] || { echo "${file} is there"; bad=1; }
  done
  return "${bad}"
}

count() { # AT-LEAST FILE...
  local file number=0
  for file in "${@:2}"; do [[ ! -e ${file} ]] || number=$((number + 1)); done
  echo "${number} files"
  ((number >= $1))
}

mode() { # MODE FILE...
  local file found bad=0
  for file in "${@:2}"; do
    found="$(stat --format='%04a' -- "${file}" 2> /dev/null)" || found=missing
    [[ ${found} == "$1" ]] || { echo "${file}: ${found}"; bad=1; }
  done
  return "${bad}"
}

same() { # FROM... TO
  local from file target to="${!#}" bad=0
  for from in "${@:1:$#-1}"; do
    [[ -e ${from} ]] || { echo "${from} is missing"; bad=1; continue; }
    while IFS= read -r -d '' file; do
      target=${to}
      [[ ${to} != */ ]] || target="${to}${from##*/}${file#"${from}"}"
      cmp --silent -- "${file}" "${target}" || { echo "${target} is not ${file}"; bad=1; }
    done < <(find "${from}" -type f -print0)
  done
  return "${bad}"
}

line() { # PATTERN FILE...: in every file
  local file bad=0
  for file in "${@:2}"; do
    present "${file}" || { bad=1; continue; }
    grep --max-count=1 --extended-regexp --regexp="$1" -- "${file}" || { echo "no such line in ${file}"; bad=1; }
  done
  return "${bad}"
}

is_json() { [[ $(tr -d '[:space:]' < "$1" | head --bytes=1) == '{' ]]; } # FILE

# The text at a path such as .spec.containers[0].name of a JSON file, or of a
# YAML file in block style, which is how operators and the installer write.
value_at() { # PATH FILE
  if is_json "$2"; then jq --raw-output "$1 // empty" "$2"; return; fi
  awk -v want="$1" '
    function unquote(s) { sub(/ +#.*$/, "", s); gsub(/^["'\'']|["'\'']$/, "", s); return s }
    /^ *(#|$)/ || /^(---|\.\.\.)/ { next }
    { indent = match($0, /[^ ]/) - 1; text = substr($0, indent + 1) }
    block != "" && indent > block { next }
    { block = "" }
    {
      while (text ~ /^-( |$)/) { # an item of a list stands half a step below its key
        while (depth && at[depth] > 2 * indent + 1) depth--
        if (depth && at[depth] == 2 * indent + 1) item[depth]++
        else { at[++depth] = 2 * indent + 1; item[depth] = 0 }
        name[depth] = "[" item[depth] "]"
        sub(/^- */, "", text); indent += 2
      }
      if (text ~ /^[^ :]+:( |$)/) {
        while (depth && at[depth] >= 2 * indent) depth--
        colon = index(text, ":")
        at[++depth] = 2 * indent; name[depth] = "." unquote(substr(text, 1, colon - 1))
        text = substr(text, colon + 2)
        if (text ~ /^[|>]/) block = indent
      }
      path = ""; for (i = 1; i <= depth; i++) path = path name[i]
      if (path == want && text != "") { print unquote(text); exit }
    }' "$2"
}

value() { # PATH EXPECTED FILE
  local found
  present "$3" || return 1
  found="$(value_at "$1" "$3")"
  echo "$1 is ${found:-not there}"
  [[ ${found} == "$2" ]]
}

# Operators write YAML, or JSON on one line.
images() { # FILE...
  local file found bad=0
  present "$@" || return 1
  for file in "$@"; do
    if is_json "${file}"; then
      found="$(jq --raw-output '.. | .image? | strings | "image: " + .' "${file}")"
    else
      found="$(grep --extended-regexp '^ *(- )?"?image"? *:' "${file}")"
    fi
    [[ -n ${found} ]] || { echo "no image in ${file}"; bad=1; }
    ! grep --extended-regexp --quiet ': *("" *|'"''"' *)?$' <<< "${found}" || { echo "${file}: ${found}"; bad=1; }
  done
  return "${bad}"
}

chain() { # CA CERTIFICATE...
  present "$@" || return 1
  openssl verify -no-CApath -CAfile "$1" "${@:2}"
}

key_pair() { # X.crt or X.pub...
  local file kind bad=0
  for file in "$@"; do
    present "${file}" "${file%.*}.key" || { bad=1; continue; }
    kind=(openssl x509 -in "${file}" -noout -pubkey)
    [[ ${file} != *.pub ]] || kind=(openssl pkey -pubin -in "${file}" -pubout)
    cmp --silent <("${kind[@]}" 2> /dev/null) <(openssl pkey -in "${file%.*}.key" -pubout 2> /dev/null) ||
      { echo "${file} does not belong to ${file%.*}.key"; bad=1; }
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
  bodies() { awk '/BEGIN/ { b = ""; next } /END/ { print b; next } { b = b $0 }' "$@" | sort; }
  cmp --silent <(bodies "$1") <(bodies "${@:2}") || { echo "$1 holds $(grep -c BEGIN "$1") certificates, not those of ${*:2}"; return 1; }
}
