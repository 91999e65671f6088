package labs

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
)

func TestValidateSSHKey(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"a private key is refused and not shown",
			minimal + `sshKey: |
  -----BEGIN OPENSSH PRIVATE KEY-----
  b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
  -----END OPENSSH PRIVATE KEY-----
`,
			`lab.yaml:5: a private key stands here
  allowed: the public key, the one line of a file ending in .pub
  hint: take the private key out of this file`,
		},
		{
			"a private key that is not indented is refused and not shown",
			minimal + `sshKey: -----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
-----END OPENSSH PRIVATE KEY-----
`,
			`lab.yaml:4: a private key stands here
  allowed: the public key, the one line of a file ending in .pub
  hint: take the private key out of this file`,
		},
		{
			"the body of a private key is refused and not shown",
			minimal + `sshKey: b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
`,
			`lab.yaml:4:9: sshKey: is neither a public key nor the path of a file ending in .pub
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a private key behind a public type is refused and not shown",
			minimal + `sshKey: ssh-ed25519 b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
`,
			`lab.yaml:4:9: sshKey: what follows ssh-ed25519 is not base64; the key may be cut off
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"the path of a private key is refused",
			minimal + `sshKey: ~/.ssh/id_ed25519
`,
			`lab.yaml:4:9: sshKey: is neither a public key nor the path of a file ending in .pub
     4 | sshKey: ~/.ssh/id_ed25519
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a public key that is cut off is refused",
			minimal + `sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ me@here
`,
			`lab.yaml:4:9: sshKey: the key is cut off
     4 | sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ me@here
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a public key that says another type inside is refused",
			minimal + `sshKey: ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@here
`,
			`lab.yaml:4:9: sshKey: the key says inside that it is "ssh-ed25519", not ssh-rsa
     4 | sshKey: ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@here
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a public key that is not base64 is refused",
			minimal + `sshKey: ssh-ed25519 AAAA$(reboot) me@here
`,
			`lab.yaml:4:9: sshKey: what follows ssh-ed25519 is not base64; the key may be cut off
     4 | sshKey: ssh-ed25519 AAAA$(reboot) me@here
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"two public keys are refused",
			minimal + `sshKey: |
  ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f one
  ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f two
`,
			`lab.yaml:4:9: sshKey: holds several lines; a lab takes one key
     4 | sshKey: |
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a public key with options is refused",
			minimal + `sshKey: 'command="reboot" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f'
`,
			`lab.yaml:4:9: sshKey: is neither a public key nor the path of a file ending in .pub
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a public key of an old type is refused",
			minimal + `sshKey: ssh-dss AAAAB3NzaC1kc3M= me@here
`,
			`lab.yaml:4:9: sshKey: ssh-dss keys are not accepted by sshd any more
     4 | sshKey: ssh-dss AAAAB3NzaC1kc3M= me@here
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a public key with a control character is refused",
			minimal + `sshKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\e[31m"
`,
			`lab.yaml:4:9: sshKey: holds the control character U+001B
     4 | sshKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\e[31m"
       |         ^
  allowed: characters that can be seen
  hint: delete it: type the value again`,
		},
		{
			"an empty public key is refused",
			minimal + `sshKey: ""
`,
			`lab.yaml:4:9: sshKey: is empty
     4 | sshKey: ""
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
		{
			"a key file that is not there is refused",
			minimal + `sshKey: nowhere.pub
`,
			`lab.yaml:4:9: sshKey: "nowhere.pub": file does not exist
     4 | sshKey: nowhere.pub
       |         ^
  hint: ssh-keygen -t ed25519 makes a key pair; the .pub file is the one to name here`,
		},
		{
			"a key file with a private key is refused",
			minimal + `sshKey: private.pub
`,
			`lab.yaml:4:9: sshKey: "private.pub" holds a private key
     4 | sshKey: private.pub
       |         ^
  allowed: the file with the public key`,
		},
		{
			"a key file with something else is refused",
			minimal + `sshKey: other.pub
`,
			`lab.yaml:4:9: sshKey: "other.pub" holds no public key
     4 | sshKey: other.pub
       |         ^
  allowed: one line as ssh-ed25519 AAAA… COMMENT`,
		},
		{
			"a key file with two keys is refused",
			minimal + `sshKey: two.pub
`,
			`lab.yaml:4:9: sshKey: "two.pub": holds several lines; a lab takes one key
     4 | sshKey: two.pub
       |         ^`,
		},
		{
			"a private key that is written with escapes is refused and not shown",
			minimal + `sshKey: "-----BEGIN OPENSSH PRIVATE\x20KEY-----"` + "\n",
			`lab.yaml:4:9: sshKey: a private key stands here
  allowed: one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub`,
		},
	})
}

func TestValidateSSHKeyTakesEveryTypeThatSSHDoes(t *testing.T) {
	for kind, fields := range sshKeyFields {
		var blob []byte
		for i := range fields {
			field := kind
			if i > 0 {
				field = strings.Repeat("k", 32)
			}
			blob = append(binary.BigEndian.AppendUint32(blob, uint32(len(field))), field...)
		}
		line := kind + " " + base64.StdEncoding.EncodeToString(blob) + " me@here"
		if got := keyProblem(line); got != "" {
			t.Errorf("%s: %s", kind, got)
		}
		blob = append(blob, 0, 0, 0, 0)
		line = kind + " " + base64.StdEncoding.EncodeToString(blob)
		if got := keyProblem(line); got != "the key is not a whole "+kind+" key" {
			t.Errorf("%s with a field too many: %q", kind, got)
		}
	}
	if got := keyProblem("ssh-rsa AAAA " + strings.Repeat("x", longestKey)); got != "the key is longer than sshd reads" {
		t.Error(got)
	}
}
