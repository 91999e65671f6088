package diagnose

import "bootlab/labs/inspect/host"

// certificates are the list that jq programs see, with the fields of
// [host.Certificate].
func certificates(text []byte) any { return plain(host.ParseCertificates(text)) }
