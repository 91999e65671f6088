package site

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	status := m.Run()
	stop()
	os.Exit(status)
}
