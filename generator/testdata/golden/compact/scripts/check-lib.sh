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
  printf 'not ok %d - %s: %s\n  ---\n  id: %s\n  expected: |-\n    %s\n  found: |2-\n%s\n  hint: |-\n    %s\n  ...\n' \
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
  local from to="${!#}" directory files=() bad=0
  for from in "${@:1:$#-1}"; do
    if [[ ! -e ${from} ]]; then echo "${from} is missing"; bad=1
    elif [[ -d ${from} ]]; then
      while IFS= read -r -d '' directory; do
        mapfile -d '' -t files < <(find "${directory}" -maxdepth 1 -type f -print0)
        ((${#files[@]} == 0)) || same_files "${to}${from##*/}${directory#"${from}"}/" "${files[@]}" || bad=1
        files=()
      done < <(find "${from}" -type d -print0)
    elif [[ ${to} == */ ]]; then files+=("${from}")
    else cmp --silent -- "${from}" "${to}" || { echo "${to} is not ${from}"; bad=1; }; fi
  done
  ((${#files[@]} == 0)) || same_files "${to}" "${files[@]}" || bad=1
  return "${bad}"
}

# By their sums: one look for many files.
same_files() { # DIRECTORY/ FILE...
  local found
  [[ -d $1 ]] || { echo "$1 is missing"; return 1; }
  found="$(sha256sum -- "${@:2}" | sed 's|  .*/|  |' | (cd -- "$1" && sha256sum --check --quiet 2> /dev/null))" && return
  while IFS=: read -r found _; do echo "$1${found} is not $(dirname -- "$2")/${found}"; done <<< "${found}"
  return 1
}

line() { # PATTERN FILE...: in every file
  local file bad=0
  for file in "${@:2}"; do
    present "${file}" || { bad=1; continue; }
    grep --quiet --extended-regexp --regexp="$1" -- "${file}" || { echo "no such line in ${file}"; bad=1; }
  done
  return "${bad}"
}

is_json() { # FILE
  local text
  while read -r text; do [[ -z ${text} ]] || break; done < "$1"
  [[ ${text} == \{* ]]
}

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

# Every image is one of LIST, which is release-info/images or another list of
# the payload, or the release image itself. That there is none, or an empty one,
# is for images to say.
payload() { # LIST FILE...
  local file image known bad=0
  present "$@" release-info/digest || return 1
  known="$(answers "$1")" || return 1
  while IFS=$'\t' read -r file image; do
    [[ -n ${image} ]] || continue
    grep --quiet --line-regexp --fixed-strings --regexp="${image}" <<< "${known}" ||
      { echo "${file}: ${image} is not in the release"; bad=1; }
  done < <(for file in "${@:2}"; do named_images "${file}" | sort --unique | sed "s|^|${file}\t|"; done)
  return "${bad}"
}

answers() { # LIST
  cat release-info/digest
  if is_json "$1"; then jq --raw-output '.spec.tags[].from.name' "$1"; else awk '{ print $2 }' "$1"; fi
}

named_images() { # FILE
  if is_json "$1"; then jq --raw-output '.. | .image? | strings' "$1"; return; fi
  sed -n --regexp-extended 's/^ *(- )?"?image"? *: *["'\'']?([^"'\'' ]*).*$/\2/p' "$1"
}

# Two files that set one object differently: which of them wins depends on the
# order in which somebody creates them. Only the files of objects that are there
# twice are compared.
agree() { # FILE...
  local file twice json=() yaml=()
  present "$@" || return 1
  for file in "$@"; do
    if is_json "${file}"; then json+=("${file}"); else yaml+=("${file}"); fi
  done
  twice="$(objects names)"
  twice="$(cut --fields=1 <<< "${twice}" | sort | uniq --repeated)"
  [[ -n ${twice} ]] || return 0
  objects texts | grep --fixed-strings --file=<(awk '{ print $0 "\t" }' <<< "${twice}") |
    awk -F '\t' '$1 in text && text[$1] != $3 { print file[$1] " and " $2 " both set " $1; bad = 1 }
      { file[$1] = $2; text[$1] = $3 }
      END { exit bad }'
}

# An object a line: kind and name, file, and text if it is wanted.
objects() { # names|texts
  ((${#json[@]} == 0)) || jq --raw-output --arg wanted "$1" '[(.kind + "." + (.apiVersion | split("/") | .[-2] // "") + "/" +
    (.metadata.namespace // "") + "/" + (.metadata.name // "")), input_filename,
    if $wanted == "texts" then tojson else "" end] | join("\t")' "${json[@]}"
  ((${#yaml[@]} == 0)) || awk -v wanted="$1" '
    function value() { sub(/^[^:]*: */, ""); gsub(/["'\'']| +#.*$/, ""); return $0 }
    function flush() {
      if (name != "") printf "%s.%s/%s/%s\t%s\t%s\n", kind, group, space, name, file, text
      kind = group = space = name = text = ""; inside = 0
    }
    FNR == 1 { flush(); file = FILENAME }
    /^ / && wanted == "names" && !inside { next }
    /^---/ { flush() }
    /^(---|\.\.\.| *#| *$)/ { next }
    wanted == "texts" { gsub(/\t/, " "); text = text $0 "\001" }
    /^[^ ]/ { inside = /^"?metadata"?:/; deep = 0 }
    inside && /^ / && !deep { deep = match($0, /[^ ]/) }
    /^"?kind"?:/ { kind = value() }
    /^"?apiVersion"?: *.*\// { group = value(); sub(/\/.*/, "", group) }
    inside && match($0, /[^ ]/) == deep && /^ *"?name"?:/ { name = value() }
    inside && match($0, /[^ ]/) == deep && /^ *"?namespace"?:/ { space = value() }
    END { flush() }' "${yaml[@]}"
}
