#!/bin/bash
# stand-in for oc: what oc shares with kubectl goes to the real kubectl, and
# "oc adm certificate" is "kubectl certificate". Everything else fails, so that a
# script is not taken for right by mistake.
set -u
kubectl=@KUBECTL@

unknown() { # WORD OF
  printf 'error: unknown command "%s" for "%s"\n' "$1" "$2" >&2
  exit 1
}

# Flags may stand before the command; these take their value from the next word.
before=()
while (($# > 0)) && [[ $1 == -* ]]; do
  before+=("$1")
  case "$1" in
    --kubeconfig | --namespace | -n | --server | -s | --request-timeout | --context | --cluster | --user | --token | \
      --certificate-authority | --client-certificate | --client-key | --as | --as-group | --tls-server-name | --cache-dir | -v)
      (($# > 1)) || break
      before+=("$2")
      shift
      ;;
  esac
  shift
done

case "${1:-}" in
  adm)
    [[ ${2:-} == certificate ]] || unknown "${2:-}" 'oc adm'
    [[ ${3:-} == approve || ${3:-} == deny ]] || unknown "${3:-}" 'oc adm certificate'
    shift
    ;;
  # kubectl has these at the top, oc below adm, or not at all.
  certificate | cordon | uncordon | drain | taint | top | alpha) unknown "$1" oc ;;
esac
exec "${kubectl}" "${before[@]}" "$@"
