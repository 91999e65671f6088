package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"bootlab/labs"
)

// Workstation tells this machine from others: 12 hexadecimal digits that follow from
// its machine-id, which stays secret as machine-id(5) asks. Empty where it has none.
func Workstation() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(strings.TrimSpace(string(id))) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(strings.TrimSpace(string(id))))
	mac.Write([]byte(labs.OwnerNamespace))
	return hex.EncodeToString(mac.Sum(nil)[:6])
}
