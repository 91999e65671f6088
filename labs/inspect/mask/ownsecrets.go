package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"bootlab/labs"
)

// LabSecrets reads what is secret of a lab on this workstation: logins of the
// pull secret, and what the stages and the installer wrote below out/work. What
// cannot be read is passed over: it is known by its form too.
func LabSecrets(lab *labs.Lab) [][]byte {
	var own [][]byte
	if file, err := lab.PullSecretPath(); err == nil && file != "" {
		if data, err := readSmall(file); err == nil {
			own = append(own, logins(data)...)
		}
	}
	work := filepath.Join(lab.Dir, "out", "work")
	files := 0
	filepath.WalkDir(work, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !mayHoldSecrets(d.Name()) {
			return nil
		}
		if files++; files > mostFiles {
			return fs.SkipAll
		}
		if data, err := readSmall(file); err == nil {
			own = append(own, inFile(d.Name(), data)...)
		}
		return nil
	})
	return own
}

// Limits of what is read for it: files, and bytes of one.
const (
	mostFiles   = 2000
	largestFile = 1 << 20
)

func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestFile {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(file)
}

func mayHoldSecrets(name string) bool {
	return IsSecretName(name) || strings.HasPrefix(name, "id_") || strings.HasSuffix(name, "_ed25519")
}

// logins are those of a pull secret: each auth, and the password in it.
func logins(data []byte) [][]byte {
	var secret struct {
		Auths map[string]struct {
			Auth          string `json:"auth"`
			Password      string `json:"password"`
			IdentityToken string `json:"identitytoken"`
		} `json:"auths"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &secret) != nil {
		return nil
	}
	var own [][]byte
	for _, l := range secret.Auths {
		own = append(own, []byte(l.Auth), []byte(l.Password), []byte(l.IdentityToken))
		if text, err := base64.StdEncoding.DecodeString(l.Auth); err == nil {
			if _, password, found := bytes.Cut(text, []byte(":")); found {
				own = append(own, password)
			}
		}
	}
	return own
}

var inKubeconfig = regexp.MustCompile(`(?m)^\s*(?:token|password|client-key-data): *["']?([^\s"']+)`)

func inFile(name string, data []byte) (own [][]byte) {
	for _, at := range pemBegin.FindAllIndex(data, -1) {
		if end := pemEnd.FindIndex(data[at[1]:]); end != nil {
			own = append(own, keyPart(string(data[at[1]:at[1]+end[0]]))...)
		}
	}
	for _, m := range inKubeconfig.FindAllSubmatch(data, -1) {
		own = append(own, m[1])
	}
	if strings.Contains(name, "password") && len(data) < 200 && !bytes.ContainsAny(bytes.TrimSpace(data), " \n") {
		own = append(own, data)
	}
	return own
}

// keyPart are those lines of a key that stand in no certificate: an RSA key
// begins with its public half, an EC key ends with it.
func keyPart(body string) (own [][]byte) {
	lines := strings.Fields(body)
	if len(lines) >= 10 {
		lines = lines[len(lines)/3:]
	} else if len(lines) > 1 {
		lines = lines[:1]
	}
	for _, line := range lines {
		if len(line) >= 32 {
			own = append(own, []byte(line))
		}
	}
	return own
}
