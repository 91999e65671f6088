// Package access makes the keys and the configuration with which ssh reaches the
// machines of a lab, and the Ignition files that bring the keys there.
package access

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/state"
)

// Files in the lab's directory of state by which ssh reaches its machines.
const (
	keyFile    = "id_ed25519"
	knownHosts = "known_hosts"
	sshConfig  = "ssh_config"
)

// hostKey is the file with a machine's own key, which it gets through Ignition:
// so the first login already knows the machine's key.
func hostKey(machine string) string { return "host_" + machine }

// Make makes the keys that are not there yet, and writes ssh_config and
// known_hosts.
func Make(s *state.Dir, lab *labs.Lab) error {
	if err := makeKey(s, keyFile, "bootlab "+lab.Metadata.Name); err != nil {
		return err
	}
	var known, config strings.Builder
	for _, m := range vms.Machines(lab) {
		if err := makeKey(s, hostKey(m.Name), m.Name); err != nil {
			return err
		}
		public, err := os.ReadFile(s.Path(hostKey(m.Name) + ".pub"))
		if err != nil {
			return err
		}
		words := strings.Fields(string(public))
		if len(words) < 2 {
			return &vms.Problem{Message: s.Path(hostKey(m.Name)+".pub") + " is no public key", Hint: "remove it and the key beside it"}
		}
		fmt.Fprintf(&known, "%s,%s %s %s\n", m.Name, m.Address, words[0], words[1])
		fmt.Fprintf(&config, sshHost, m.Name, m.Address, m.Name, sshPath(s.Path(keyFile)), sshPath(s.Path(knownHosts)))
	}
	return errors.Join(s.Write(knownHosts, []byte(known.String())), s.Write(sshConfig, []byte(config.String())))
}

// SSHConfig is the configuration by which ssh reaches the machines of a lab that
// is up.
func SSHConfig(lab *labs.Lab) (file string, err error) {
	state, err := state.Open(filepath.Join(lab.Dir, "out"), true)
	if err != nil {
		return "", err
	}
	file = state.Path(sshConfig)
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return "", &vms.Problem{Message: "the lab has no machines yet", Err: err, Hint: "bootlab vms up " + lab.Dir}
	} else if err != nil {
		return "", err
	}
	return file, nil
}

// sshHost is one machine in ssh_config. The user is CoreOS's own.
const sshHost = `Host %s
  HostName %s
  HostKeyAlias %s
  User core
  IdentityFile "%s"
  IdentitiesOnly yes
  UserKnownHostsFile "%s"
  StrictHostKeyChecking yes
  ConnectTimeout 10

`

// sshPath is a path as ssh_config takes it: a percent sign begins something that
// ssh puts in itself.
func sshPath(path string) string { return strings.ReplaceAll(path, "%", "%%") }

func makeKey(s *state.Dir, name, comment string) error {
	if _, err := os.Stat(s.Path(name + ".pub")); err == nil {
		return nil
	}
	// What a killed run left is half a pair.
	if err := os.Remove(s.Path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", s.Path(name)).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return &vms.Problem{Message: "ssh-keygen is not installed", Hint: "apt-get install openssh-client, or dnf install openssh-clients"}
	}
	if err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Ignition is the Ignition file that a machine boots: a parent of the one that
// make-ignition.sh made, which is left as it is, with the machine's host key
// and the lab's login key beside it.
func Ignition(s *state.Dir, m vms.Machine, original []byte) ([]byte, error) {
	private, err := os.ReadFile(s.Path(hostKey(m.Name)))
	if err != nil {
		return nil, err
	}
	public, err := os.ReadFile(s.Path(hostKey(m.Name) + ".pub"))
	if err != nil {
		return nil, err
	}
	login, err := os.ReadFile(s.Path(keyFile + ".pub"))
	if err != nil {
		return nil, err
	}
	packed, err := pack(original)
	if err != nil {
		return nil, err
	}
	const keyPath = "/etc/ssh/ssh_host_ed25519_key"
	text, err := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.2.0", "config": map[string]any{"merge": []any{packed}}},
		"passwd":   map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": []string{strings.TrimSpace(string(login))}}}},
		"storage": map[string]any{"files": []any{
			ignitionFile(keyPath, 0o600, private), ignitionFile(keyPath+".pub", 0o644, public)}},
	})
	return append(text, '\n'), err
}

func ignitionFile(path string, mode int, data []byte) map[string]any {
	return map[string]any{"path": path, "mode": mode, "overwrite": true,
		"contents": map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString(data)}}
}

// pack makes a config one that can be merged: compressed, since reading through
// the firmware is slow, and with the hash of what it is uncompressed.
func pack(config []byte) (map[string]any, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(config); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return map[string]any{
		"source":       "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes()),
		"compression":  "gzip",
		"verification": map[string]any{"hash": fmt.Sprintf("sha512-%x", sha512.Sum512(config))},
	}, nil
}
