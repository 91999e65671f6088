#!/usr/bin/env -S jq -f
# ignition.jq: what unpack-bootstrap-ignition.sh takes from a bootstrap.ign, and
# what it refuses
#
# The file may come from anybody. Every file in it has a path and pieces: its
# contents, then what is appended. A piece is a data URL,
#   data:text/plain;charset=utf-8;base64,YXBp...
# whose head says how the data behind the comma is written.
def taken: .path | startswith("/opt/openshift/");
def name: .path | ltrimstr("/opt/openshift/");
def pieces: [.contents // {}, .append[]?];
def url: .source // "" | if . == "" then "data:;base64," else . end;
def head: url | split(",")[0] | ascii_downcase;
def data: url | split(",")[1:] | join(",");
def base64: head | endswith(";base64");

# Why a config is not unpacked, one line for each reason.
def bad_path: if type != "string" or (startswith("/") | not) then "the path is not absolute"
  elif explode | any(. < 32 or (. > 126 and . < 160) or . == 92) then "there are control characters in the path"
  elif .[1:] | split("/") | any(IN("", ".", "..")) then "the path holds .., . or //" else empty end;
def bad_name($reserved): if split("/")[0] | test("\\A[A-Za-z0-9][A-Za-z0-9._-]*\\z") | not then "the name is none of an installer"
  elif test("/\\.|\\.done\\z") or (split("/")[0] | IN($reserved | splits("[ \\n]+")))
  then "other stages keep their results under that name" else empty end;
def bad_mode: select(. != null and (type != "number" or . != floor or . < 256 or . > 511)) | "the mode is none of 0400 to 0777";
def bad_piece: if head | startswith("data:") | not then "the contents lie elsewhere and are not fetched"
  elif url | test("[^!-~]") or (contains(",") | not) then "the contents are no data URL"
  elif base64 and (data | length % 4 != 0 or (test("^[A-Za-z0-9+/]*={0,2}$") | not)) then "the contents are no base64"
  elif (base64 | not) and (data | test("%([^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)")) then "the contents hold a broken %"
  elif .compression // "" | IN("", "gzip") | not then "the contents are compressed, and not with gzip"
  elif .verification.hash // "" | test("\\A(|sha256-[0-9A-Fa-f]{64}|sha512-[0-9A-Fa-f]{128})\\z") | not
  then "the hash is neither sha512 nor sha256" else empty end;
def bad_place($count): ($count[.path] | select(. > 1) | "the path is there \(.) times"),
  (.path | split("/") | .[:range(3; length)] | join("/") | select($count[.] != null) | "\(.) is a file itself");
def refusals($reserved; $most):
  if length != 1 or (.[0].ignition.version | type) != "string" then "there is no ignition.version in it" else .[0]
  | (.storage.files // []) as $files | (reduce $files[].path as $path ({}; .[$path | tostring] += 1)) as $count
  | if .ignition.version | test("\\A3\\.[0-9]+\\.[0-9]+") | not then "it is of Ignition \(.ignition.version[:9] | tojson), and this reads 3"
    elif [.ignition.config // {} | .merge[]?, .replace | select(.source?)] != [] then
      "it only points at another config, as master.ign and worker.ign do: bootstrap.ign is wanted"
    elif [$files[] | pieces[]] | length > $most then "it holds more than \($most) files"
    elif any($files[].path | bad_path; true) then $files[] | (.path | tojson[:200]) + ": " + (.path | bad_path)
    elif $files | any(taken) | not then "nothing in it lies below /opt/openshift"
    else (.storage | .links[]?, .directories[]? | "\(.path)/" | select(startswith("/opt/openshift/"))
        | "\(tojson[:200]) is a link or a directory of its own, and installers write files only"),
      ($files[] | select(taken) | (.path | tojson[:200]) + ": " +
        ((name | bad_name($reserved)), (.mode | bad_mode), (pieces[] | bad_piece), bad_place($count)))
    end
  end;

# One line for each piece of what is taken: mode of the file, how the
# piece is written and compressed, its hash, and the file. A Secret, and
# what cannot be seen whole here, is for no one else to read, whatever its mode.
def secret: .compression == "gzip" or (if base64 then data | @base64d else data end | test("kind[^a-z]{1,12}Secret"));
def octal: [0, (. / 64 | floor), (. / 8 | floor) % 8, . % 8] | join("");
def table:
  .[0].storage.files[] | select(taken) | name as $name | pieces as $pieces
  | (if ($pieces | length) > 1 or any($pieces[]; secret) then 384 else .mode // 420 end | octal) as $mode
  | $pieces[] | [$mode, if base64 then "base64" else "escaped" end,
    if .compression == "gzip" then "gzip" else "plain" end,
    (.verification.hash // "" | if . == "" then "none" else ascii_downcase end), $name] | join("\t");

# The data of the same pieces, one line each.
def data_of_pieces: .[0].storage.files[] | select(taken) | pieces[] | .source // "" | split(",")[1:] | join(",");

# The files that stay packed.
def left: .[0].storage.files[].path | select(startswith("/opt/openshift/") | not);
