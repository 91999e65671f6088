package main

import (
	"os"
	"path/filepath"
	"testing"
)

// podman makes directories for whoever asks it for the first time, which a look
// at a local run must not bring about.
func TestALocalRunDoesNotSetUpPodman(t *testing.T) {
	lab := newLab(t)
	home, bin := t.TempDir(), t.TempDir()
	asked := filepath.Join(home, "asked")
	if err := os.WriteFile(filepath.Join(bin, "podman"), []byte("#!/bin/bash\necho \"$@\" >> "+asked+"\necho '[]'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	storage := filepath.Join(home, ".local/share/containers/storage")
	if os.Geteuid() == 0 {
		storage = "/var/lib/containers/storage"
	}
	_, err := os.Stat(storage)
	there := err == nil
	bootlab("diagnose", lab)
	if _, err := os.Stat(asked); (err == nil) != there {
		t.Errorf("storage there: %v; podman was asked: %v", there, err == nil)
	}
	if there {
		return
	}
	// Who has storage of his own has containers too.
	if err := os.MkdirAll(filepath.Join(home, ".config/containers"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config/containers/storage.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bootlab("diagnose", lab)
	if _, err := os.Stat(asked); err != nil {
		t.Error("podman was not asked")
	}
}
