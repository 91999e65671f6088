//go:build cgo && libvirt_dlopen

package vms

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bootlab/test/checkout"
)

// Descriptors that the process in the namespaces inherits: it asks on the first
// for the guest's image and gets the answer from the second. It cannot build one
// itself, for there is no network where it is.
const (
	askFD    = 3
	answerFD = 4
)

// What an answer begins with.
const (
	answerImage   = "image "
	answerLacking = "lacking "
	answerFailed  = "failed "
)

// serveGuest answers who asks for the image, until the other end is closed.
func serveGuest(asked *os.File, answers *os.File) {
	for lines := bufio.NewScanner(asked); lines.Scan(); {
		image, err := guestImage()
		var lacking errLacking
		switch {
		case err == nil:
			fmt.Fprintln(answers, answerImage+image)
		case errors.As(err, &lacking):
			fmt.Fprintln(answers, answerLacking+err.Error())
		default:
			fmt.Fprintln(answers, answerFailed+strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
}

// errLacking is why this machine cannot build a guest.
type errLacking string

func (e errLacking) Error() string { return string(e) }

// guestImage is the disk image of a Debian that reads Ignition. It is built only
// where the cache has none of that recipe and those versions of packages.
func guestImage() (string, error) {
	for _, program := range []string{"apt-get", "mmdebstrap", "mke2fs", "sfdisk", "qemu-img"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", errLacking("the guest's image is made of Debian's packages, and there is no " + program + " here")
		}
	}
	recipe := filepath.Join(checkout.Root(), "test", "vms", "guest")
	key, err := guestKey(recipe)
	if err != nil {
		return "", err
	}
	cache, err := guestCache()
	if err != nil {
		return "", err
	}
	image := filepath.Join(cache, "guest-"+key+".qcow2")
	if _, err := os.Stat(image); err == nil {
		return image, nil
	}
	unfinished := filepath.Join(cache, fmt.Sprintf("unfinished-%d.qcow2", os.Getpid()))
	defer os.Remove(unfinished)
	if out, err := exec.Command(filepath.Join(recipe, "build"), unfinished).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the guest: %w: %s", err, lastLines(string(out), 20))
	}
	older, _ := filepath.Glob(filepath.Join(cache, "guest-*.qcow2"))
	if err := os.Rename(unfinished, image); err != nil {
		return "", err
	}
	for _, file := range older {
		os.Remove(file)
	}
	return image, nil
}

// guestKey is a hash of the recipe and of the versions of the packages.
func guestKey(recipe string) (string, error) {
	hash := sha256.New()
	for _, name := range []string{"build", "customize"} {
		text, err := os.ReadFile(filepath.Join(recipe, name))
		if err != nil {
			return "", err
		}
		hash.Write(text)
	}
	versions, err := exec.Command(filepath.Join(recipe, "build")).Output()
	if err != nil {
		return "", fmt.Errorf("ask apt for versions: %w", err)
	}
	if !strings.Contains(string(versions), "ignition:") || strings.Contains(string(versions), "(none)") {
		return "", errLacking("apt knows not every package of the guest; apt-get update, on Debian, helps")
	}
	hash.Write(versions)
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), nil
}

// guestCache is below the user's cache, or below the checkout where a user has
// none.
func guestCache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(checkout.Root(), ".cache")
	}
	dir := filepath.Join(base, "bootlab", "test")
	return dir, os.MkdirAll(dir, 0o755)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// askedGuest asks for the image once, for all tests.
var askedGuest = sync.OnceValue(func() string {
	if _, err := fmt.Fprintln(os.NewFile(askFD, "ask"), "guest"); err != nil {
		return answerFailed + err.Error()
	}
	answer, err := bufio.NewReader(os.NewFile(answerFD, "answer")).ReadString('\n')
	if err != nil {
		return answerFailed + err.Error()
	}
	return strings.TrimSpace(answer)
})

// guest gives the file of the image; without one the test is skipped, and fails
// under CI.
func guest(t *testing.T) string {
	t.Helper()
	available(t)
	answer := askedGuest()
	if image, ok := strings.CutPrefix(answer, answerImage); ok {
		return image
	}
	why, ok := strings.CutPrefix(answer, answerLacking)
	if ok && os.Getenv("CI") != "true" {
		t.Skip(why)
	}
	t.Fatal(why)
	return ""
}
