package libvirt

import "fmt"

// version writes libvirt's number, as 9000000, as people do: 9.0.0.
func version(n uint32) string {
	return fmt.Sprintf("%d.%d.%d", n/1000000, n/1000%1000, n%1000)
}
