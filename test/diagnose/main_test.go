package diagnose

import (
	"os"
	"testing"

	"bootlab/test/podman"
)

func TestMain(m *testing.M) {
	os.Exit(podman.Main(m))
}
