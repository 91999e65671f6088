package labs

import (
	"encoding/hex"
	"regexp"
)

// uidForm is how metadata.uid is written. It stands in marks on the host, and in the
// names of files.
var uidForm = regexp.MustCompile(`^[0-9a-f]{16,32}$`)

// UIDBytes is how many random bytes make an identity.
const UIDBytes = 8

// UID writes random bytes as the identity of a new lab, metadata.uid. Everything that
// is made for the lab on a host carries it.
func UID(random [UIDBytes]byte) string { return hex.EncodeToString(random[:]) }
