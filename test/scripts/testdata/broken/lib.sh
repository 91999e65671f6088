# What the fixtures beside this file share; it is read before each of them.

# resign NAME SIGNER DAYS EXTENSIONS: the certificate again, for the same
# subject and key, but signed by SIGNER, for DAYS and with other extensions,
# separated by \n.
resign() {
  openssl x509 -x509toreq -in "tls/$1.crt" -signkey "tls/$1.key" > "tls/$1.csr" 2> /dev/null
  issue "$@"
}

# rename NAME SIGNER SUBJECT EXTENSIONS: the same for another subject, ten years.
rename() {
  openssl req -new -key "tls/$1.key" -subj "$3" > "tls/$1.csr" 2> /dev/null
  issue "$1" "$2" 3650 "$4"
}

issue() {
  openssl x509 -req -in "tls/$1.csr" -CA "tls/$2.crt" -CAkey "tls/$2.key" -days "$3" -set_serial 99 \
    -extfile <(printf 'basicConstraints=critical,CA:FALSE\n%b\n' "$4") -out "tls/$1.new" 2> /dev/null
  cat "tls/$1.new" > "tls/$1.crt"
  rm "tls/$1.new" "tls/$1.csr"
}

# edit EXPRESSION FILE: sed that must change something, and keeps the mode.
edit() {
  local before
  before="$(sha256sum < "$2")"
  sed --in-place --regexp-extended "$1" "$2"
  [[ "$(sha256sum < "$2")" != "${before}" ]] || { echo "nothing to edit in $2" >&2; exit 1; }
}

# ask_etcd ARGUMENT...: etcdctl, of the bootstrap member.
ask_etcd() {
  "${ETCDCTL}" --cacert=tls/etcd-ca-bundle.crt --cert=tls/etcd-client.crt --key=tls/etcd-client.key --endpoints=https://localhost:2379 "$@"
}
