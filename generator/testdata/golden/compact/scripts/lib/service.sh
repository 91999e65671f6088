#!/usr/bin/env bash
# service.sh: the records of bootkube.service and progress.service
#
# Sourced after stage.sh by finish-bootstrap.sh, which does the end of the one and
# the whole of the other. In the installer's format each service has a file of its
# own; openshift-install analyze looks at the last entry.
record_of() { RECORDS="${HOST_ROOT}/var/log/openshift/$1.json"; } # SERVICE

ended_well() {
  jq --exit-status '.[-1] | .phase == "service end" and .result == "success"' "${RECORDS}" \
    > /dev/null 2>&1
}

# A stage that was killed has no end, and must not be taken for one that succeeded.
service_has_no_open_stage() { # SERVICE
  local open
  record_of "$1"
  open="$(jq --raw-output 'last(.[] | select(.stage)) | select(.phase == "stage start").stage' \
    "${RECORDS}" 2> /dev/null)" || open=''
  [[ -z ${open} ]] || die 1 "stage ${open} began and did not end" \
    'run its script again; it ends the record'
}

# From here on a failure is one of this service, and ends its record.
service_begins() { # SERVICE STAGE BY
  [[ $3 == script ]] || return 0
  record_of "$1"
  RECORD=$2
  record 'stage start'
  record 'stage end' success
  PHASE='service start'
}

service_stage() { # STAGE BY
  [[ $2 == script ]] || return 0
  RECORD=$1
  record 'stage start'
}

# A record that an interrupted run left open is ended too.
service_ends() { # SERVICE [STAGE BY]
  record_of "$1"
  # shellcheck disable=SC2034 # record.sh reads both
  PHASE='' RECORD=''
  if ended_well || [[ ${3:-script} == progress.service ]]; then return; fi
  if [[ $# == 3 ]]; then
    [[ $3 == script || -e ${RECORDS} ]] || return 0
    RECORD=$2
    record 'stage end' success
  fi
  RECORD=$1
  record 'service end' success
  # shellcheck disable=SC2034
  PHASE='' RECORD=''
}
