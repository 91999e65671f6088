//go:build cgo && libvirt_dlopen

package vms

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// beside runs a script on a host of its own: network, /etc/hosts and firewalld's files
// are no one else's, and firewalld and its bus are real.
const beside = `set -euo pipefail
ip link set lo up
cp /etc/hosts "$1/hosts"
mount --bind "$1/hosts" /etc/hosts
for dir in /etc/firewalld /etc/sysctl.d /run/firewalld /run/dbus; do
  mkdir --parents "${dir}"
  mount -t tmpfs none "${dir}"
done
dbus-daemon --system --fork --nopidfile
firewalld --nofork --nopid > "$1/firewalld.log" 2>&1 &
for _ in $(seq 100); do
  ! firewall-cmd --state > /dev/null 2>&1 || break
  sleep 0.2
done
firewall-cmd --state > /dev/null
zone() { firewall-cmd --reload > /dev/null; firewall-cmd --zone=libvirt --list-all; }
cp /etc/hosts "$1/hosts.before"
zone > "$1/zone.before"
bootlab() { "${program}" "$@"; }
program=$2 lab=$3
`

func hostOfItsOwn(t *testing.T, lab, script string) string {
	t.Helper()
	available(t)
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--",
		"bash", "-c", beside+script, "bash", t.TempDir(), file, lab)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// firewalld, real and in its default state, keeps machines from the load balancer.
// prepare opens the ports for the lab's network, also after a reload, and makes the
// names known; undo leaves both as they were, byte for byte.
func TestAHostIsPreparedAndPutBack(t *testing.T) {
	dir := t.TempDir()
	shape{name: "ground", uid: "0123456789abcdef"}.write(t, dir)
	out := hostOfItsOwn(t, dir, `
bootlab host prepare "${lab}" --dry-run
cmp /etc/hosts "$1/hosts.before"
echo no | bootlab host prepare "${lab}" && exit 1
cmp /etc/hosts "$1/hosts.before"
bootlab host prepare "${lab}" --yes
for port in 6443 22623 80 443; do
  zone | grep "rule family=\"ipv4\" source address=\"192.168.126.0/24\" destination address=\"192.168.126.1\" port port=\"${port}\" protocol=\"tcp\" accept"
done
getent hosts api.ground.example.test console-openshift-console.apps.ground.example.test
bootlab host prepare "${lab}" --yes > "$1/again"
grep 'lacks nothing' "$1/again"
bootlab host undo "${lab}"
cmp /etc/hosts "$1/hosts.before"
zone | diff "$1/zone.before" -
bootlab host undo "${lab}"
`)
	for _, want := range []string{
		"# firewalld does not let the lab's machines reach the load balancer on 6443, 22623, 80, 443.",
		"nothing was changed", "192.168.126.1   api.ground.example.test",
		"this host is as it was before", "nothing was changed on this host for this lab",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out/work/vms/host.json")); !os.IsNotExist(err) {
		t.Errorf("the record is still there: %v", err)
	}
}

// Whoever forgets undo has it from down, and a prepare that was killed is undone too.
func TestDownPutsTheHostBack(t *testing.T) {
	dir := t.TempDir()
	shape{name: "ground", uid: "0123456789abcdef"}.write(t, dir)
	out := hostOfItsOwn(t, dir, `
# The fourth command line ends bootlab.
cat > "$1/bash" <<'EOF'
#!/bin/bash
echo x >> "${COUNT}"
[[ $(wc -l < "${COUNT}") -lt 4 ]] || kill -KILL "${PPID}"
exec /bin/bash "$@"
EOF
chmod +x "$1/bash"
COUNT=$1/count PATH=$1:${PATH} "${program}" host prepare "${lab}" --yes && exit 1
[[ $(wc -l < "$1/count") -eq 4 ]]
cmp /etc/hosts "$1/hosts.before" # it did not come so far
zone | grep 'port="6443"'
bootlab vms down "${lab}"
cmp /etc/hosts "$1/hosts.before"
zone | diff "$1/zone.before" -
`)
	if !strings.Contains(out, "taking back what bootlab host prepare changed") {
		t.Errorf("down said\n%s", out)
	}
}
