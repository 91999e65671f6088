package scripts

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
)

// hypervisor is a real libvirtd with libvirt's own test driver, which keeps
// machines in memory. Scripts reach it through a virsh that leads what they say
// of qemu:///system there.
type hypervisor struct {
	uri string
	bin string // holds that virsh
}

// needPrograms skips a test where programs are missing.
func needPrograms(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			podman.Unavailable(t, "no "+program+" on this machine")
		}
	}
}

// background starts a program that ends with the test.
func background(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var said locked
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The signal comes when the thread ends that started the program, so
		// this one stays as long as that.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s said\n%s", cmd.Path, said.String())
		}
	})
}

func newHypervisor(t *testing.T) *hypervisor {
	t.Helper()
	needPrograms(t, "libvirtd", "virsh")
	dir, err := os.MkdirTemp("", "lv") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := fmt.Sprintf("unix_sock_dir = %q\nauth_unix_rw = \"none\"\nauth_unix_ro = \"none\"\n", dir)
	h := &hypervisor{uri: "test+unix:///default?socket=" + dir + "/libvirt-sock", bin: filepath.Join(dir, "bin")}
	virsh, _ := exec.LookPath("virsh")
	wrapper := "#!/bin/bash\n# stand-in: the real virsh, but qemu:///system is libvirt's test driver\n" +
		"[[ $1 == --connect && $2 == " + labs.LibvirtURI + " ]] || { echo \"error: not the lab's libvirt: $*\" >&2; exit 1; }\n" +
		"exec " + virsh + " --connect '" + h.uri + "' \"${@:3}\"\n"
	for file, text := range map[string]string{"libvirtd.conf": config, "drivers/.none": "", "bin/virsh": wrapper} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Without drivers of real hypervisors it needs none of their accounts.
	daemon := exec.Command("libvirtd", "--config", filepath.Join(dir, "libvirtd.conf"), "--pid-file", filepath.Join(dir, "pid"))
	daemon.Env = append(os.Environ(), "LIBVIRT_DRIVER_DIR="+filepath.Join(dir, "drivers"))
	background(t, daemon)
	until(t, "libvirtd listening", func() bool { return exec.Command("virsh", "--connect", h.uri, "version").Run() == nil })
	// The machines live as long as somebody is connected.
	holder := exec.Command("virsh", "--connect", h.uri)
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	background(t, holder)
	io.WriteString(stdin, "list\n")
	return h
}

func (h *hypervisor) virsh(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("virsh", append([]string{"--connect", h.uri}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("virsh %v: %v: %s", args, err, out)
	}
	return string(out)
}

// machine defines and starts a domain that carries a lab's mark, or none, with
// two volumes of its name and one of another, in the pool of its lab.
func (h *hypervisor) machine(t *testing.T, name, lab string) {
	t.Helper()
	mark := ""
	if lab != "" {
		mark = fmt.Sprintf("<metadata><bootlab:%s xmlns:bootlab='%s' name='%s'/></metadata>", labs.OwnerElement, labs.OwnerNamespace, lab)
	}
	disks, pool := "", name[:strings.LastIndex(name, "-")]
	if !slices.Contains(h.list(t, "pool-list", "--all", "--name"), pool) {
		h.virsh(t, "", "pool-create-as", pool, "dir", "--target", "/"+pool)
	}
	for i, file := range []string{name + ".qcow2", name + ".ign", "of-" + name + ".qcow2"} {
		if !slices.Contains(h.list(t, "vol-list", pool), file) {
			h.virsh(t, "", "vol-create-as", pool, file, "1M")
		}
		disks += fmt.Sprintf("<disk type='file' device='disk'><source file='/%s/%s'/><target dev='vd%c'/></disk>", pool, file, 'a'+i)
	}
	h.virsh(t, "<domain type='test'><name>"+name+"</name><memory>1024</memory>"+mark+"<os><type>hvm</type></os><devices>"+disks+"</devices></domain>",
		"define", "/dev/stdin")
	h.virsh(t, "", "start", name)
}

// list is the first column of a table, or the names alone.
func (h *hypervisor) list(t *testing.T, args ...string) []string {
	t.Helper()
	var out []string
	for _, line := range strings.Split(h.virsh(t, "", args...), "\n") {
		if fields := strings.Fields(line); len(fields) > 0 {
			out = append(out, fields[0])
		}
	}
	return out
}

func (h *hypervisor) domains(t *testing.T) []string { return h.list(t, "list", "--all", "--name") }

// balancer is a real HAProxy in the lab's network, as the lab's own: the API, on
// another port since the API server has that one on every address, and the
// Machine Config Server, behind which a listener takes any connection.
type balancer struct{ socket string }

const balancedAPI = "127.0.0.5:16443"

func newBalancer(t *testing.T, w *Lab, level string) *balancer {
	t.Helper()
	needPrograms(t, "haproxy", "socat")
	lab, problems := labs.LoadLab(w.Dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	b := &balancer{socket: filepath.Join(w.Dir, "out", filepath.FromSlash(labs.BalancerSocket))}
	dir := filepath.Dir(b.socket)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	config := "global\n  stats socket unix@haproxy.sock mode 600 level " + level + "\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n"
	for _, service := range labs.BootstrapServices() {
		bind, check := fmt.Sprintf("127.0.0.5:%d", service.Port), "check inter 1s"
		config += "frontend " + service.Name + "\n"
		if service.Port == 6443 {
			bind, check = balancedAPI, "check check-ssl verify none inter 1s fall 3 rise 1"
		}
		config += "  bind " + bind + "\n  default_backend " + service.Name + "\nbackend " + service.Name + "\n  balance roundrobin\n"
		if service.Port == 6443 {
			config += "  option httpchk GET /readyz HTTP/1.0\n"
		}
		for _, m := range append([]labs.Machine{lab.Machines.Bootstrap}, lab.Machines.Masters...) {
			config += fmt.Sprintf("  server %s %s:%d %s\n", m.Name, m.Address, service.Port, check)
		}
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range append([]labs.Machine{lab.Machines.Bootstrap}, lab.Machines.Masters...) {
		accept(t, w, m.Address+":22623")
	}
	cmd := exec.Command("nsenter", "--net="+w.ControlPlane.Network.Path(), "haproxy", "-db", "-f", file)
	cmd.Dir = dir
	background(t, cmd)
	until(t, "HAProxy answering", func() bool {
		conn, err := w.ControlPlane.Dial("127.0.0.5:22623")
		if err == nil {
			conn.Close()
		}
		return err == nil && b.ask(t, "show info") != ""
	})
	return b
}

// accept takes connections at an address and keeps them until the other side ends.
func accept(t *testing.T, w *Lab, address string) {
	t.Helper()
	listener, err := w.ControlPlane.Network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(io.Discard, conn)
				conn.Close()
			}()
		}
	}()
}

func (b *balancer) ask(t *testing.T, command string) string {
	t.Helper()
	conn, err := net.Dial("unix", b.socket)
	if err != nil {
		return ""
	}
	defer conn.Close()
	io.WriteString(conn, command+"\n")
	out, _ := io.ReadAll(conn)
	return string(out)
}

// status of a server, as MAINT or UP.
func (b *balancer) status(t *testing.T, backend, server string) string {
	t.Helper()
	for _, line := range strings.Split(b.ask(t, "show stat"), "\n") {
		if columns := strings.Split(line, ","); len(columns) > 17 && columns[0] == backend && columns[1] == server {
			return columns[17]
		}
	}
	t.Fatalf("HAProxy knows no %s/%s", backend, server)
	return ""
}

// leaving gives a workstation whose lab has finished its bootstrap, with load
// balancer and hypervisor.
func leaving(t *testing.T, level string) (*Lab, *balancer, *hypervisor) {
	t.Helper()
	needPrograms(t, "haproxy", "socat", "libvirtd", "virsh")
	node, c := pivot(t)
	w := node.workstation(t)
	w.Env = podman.New(t, node.Env.Account)
	h := newHypervisor(t)
	w.Env.Bin = h.bin
	b := newBalancer(t, w, level)
	c.SetName(t, "api", "127.0.0.5")
	w.put(t, "install/auth/kubeconfig", strings.ReplaceAll(readFile(t, w.Asset("install/auth/kubeconfig")), ":6443", ":16443"))
	removeMember(t, c)
	c.Kubectl(t, "create", "configmap", "bootstrap", "--namespace=kube-system", "--from-literal=status=complete")
	return w, b, h
}

const bootstrapDomain = "bootlab-mylab-bootstrap"

func TestTheBootstrapNodeIsRemoved(t *testing.T) {
	t.Parallel()
	w, b, h := leaving(t, "admin")
	c := w.ControlPlane
	s := pivotStage(t, release, "remove-bootstrap")
	begin := func(t *testing.T) {
		t.Helper()
		os.Remove(w.Asset(s.ID + ".done"))
		for _, service := range labs.BootstrapServices() {
			b.ask(t, "set server "+service.Name+"/bootstrap state ready")
		}
		if slices.Contains(h.domains(t), bootstrapDomain) {
			h.virsh(t, "", "destroy", bootstrapDomain)
			h.virsh(t, "", "undefine", bootstrapDomain)
		}
		h.machine(t, bootstrapDomain, "mylab")
	}
	untouched := func(t *testing.T) {
		t.Helper()
		if got := b.status(t, "api", "bootstrap"); got == "MAINT" {
			t.Error("the load balancer was told")
		}
		if !slices.Contains(h.domains(t), bootstrapDomain) || w.has(s.ID+".done") {
			t.Error("the machine is gone")
		}
	}

	h.machine(t, "bootlab-other-bootstrap", "other")
	t.Run("too early", func(t *testing.T) {
		begin(t)
		c.Kubectl(t, "delete", "configmap", "bootstrap", "--namespace=kube-system")
		w.RunStage(t, s).Want(t, 1, `configmaps "bootstrap" not found`, "nothing says that the bootstrap is complete", "cause: The cluster does not say yet")
		untouched(t)
		c.Kubectl(t, "create", "configmap", "bootstrap", "--namespace=kube-system", "--from-literal=status=progressing")
		w.RunStage(t, s).Want(t, 1, "has status progressing", "nothing says that the bootstrap is complete")
		untouched(t)
		c.Kubectl(t, "patch", "configmap", "bootstrap", "--namespace=kube-system", `--patch={"data":{"status":"complete"}}`)
		c.SetStatus(t, etcdObject, map[string]any{"conditions": []any{}})
		w.RunStage(t, s).Want(t, 1, "no condition EtcdBootstrapMemberRemoved", "etcd has not removed its member")
		untouched(t)
		removeMember(t, c)
	})
	t.Run("a foreign machine", func(t *testing.T) {
		for _, owner := range []string{"", "other"} {
			begin(t)
			h.virsh(t, "", "destroy", bootstrapDomain)
			h.virsh(t, "", "undefine", bootstrapDomain)
			h.machine(t, bootstrapDomain, owner)
			w.RunStage(t, s).Want(t, 1, bootstrapDomain+" is not this lab's")
			untouched(t)
		}
	})
	t.Run("only from the balancer", func(t *testing.T) {
		begin(t)
		w.RunStage(t, s, "--balancer-only").Want(t, 0, "api bootstrap sessions 0 MAINT", "machine-config-server bootstrap sessions 0 MAINT", "has let go of bootstrap")
		if b.status(t, "api", "bootstrap") != "MAINT" || !slices.Contains(h.domains(t), bootstrapDomain) || w.has(s.ID+".done") {
			t.Error("it did more or less than that")
		}
		if Last(w.Records(t), s.ID) != "success" {
			t.Errorf("recorded %+v", w.Records(t))
		}
	})
	t.Run("waits for the last session", func(t *testing.T) {
		begin(t)
		var held []net.Conn
		for range 8 { // round robin: the bootstrap's servers get two of them
			conn, err := c.Dial("127.0.0.5:22623")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
		}
		defer func() {
			for _, conn := range held {
				conn.Close()
			}
		}()
		until(t, "a session on the bootstrap node", func() bool {
			return strings.Contains(b.ask(t, "show servers conn machine-config-server"), "bootstrap")
		})
		w.RunStage(t, s, "--timeout=2").Want(t, 1, "machine-config-server bootstrap sessions 2 MAINT", "no sign of the last connection to the bootstrap node to end within 2 s")
		if !slices.Contains(h.domains(t), bootstrapDomain) {
			t.Error("the machine went before its sessions did")
		}
		session := w.Start(t, s.ScriptName())
		session.Until(t, "sessions 2 MAINT")
		for _, conn := range held {
			conn.Close()
		}
		session.Wait(t).Want(t, 0, "machine-config-server bootstrap sessions 0 MAINT", s.ID+" is done")
	})
	t.Run("all of it", func(t *testing.T) {
		begin(t)
		h.virsh(t, "", "snapshot-create-as", bootstrapDomain, "one") // libvirt keeps a domain that has some
		w.RunStage(t, s).Want(t, 0, s.ID+" is done; next: wait-for-operators.sh")
		for _, service := range labs.BootstrapServices() {
			if got := b.status(t, service.Name, "bootstrap"); got != "MAINT" {
				t.Errorf("%s/bootstrap is %s", service.Name, got)
			}
		}
		domains, volumes := h.domains(t), append(h.list(t, "vol-list", "bootlab-mylab"), h.list(t, "vol-list", "bootlab-other")...)
		if slices.Contains(domains, bootstrapDomain) || !slices.Contains(domains, "bootlab-other-bootstrap") || !slices.Contains(domains, "test") {
			t.Errorf("domains are %v", domains)
		}
		for _, kept := range []string{"of-" + bootstrapDomain + ".qcow2", "bootlab-other-bootstrap.qcow2", "bootlab-other-bootstrap.ign"} {
			if !slices.Contains(volumes, kept) {
				t.Errorf("%s is gone", kept)
			}
		}
		for _, gone := range []string{bootstrapDomain + ".qcow2", bootstrapDomain + ".ign"} {
			if slices.Contains(volumes, gone) {
				t.Errorf("%s is there", gone)
			}
		}
		for _, master := range []string{"master-0", "master-1", "master-2"} {
			if got := b.status(t, "api", master); got == "MAINT" {
				t.Errorf("%s is %s", master, got)
			}
		}
		allGood(t, w, s)
		w.RunStage(t, s).Want(t, 0, "is done already")
	})
	t.Run("killed between any two steps", func(t *testing.T) {
		for at := range 5 {
			begin(t)
			session := w.Start(t, s.ScriptName(), "--step")
			for range at {
				session.Step(t)
				session.Enter()
			}
			if _, more := session.Step(t); !more {
				t.Fatalf("there is no step %d", at+1)
			}
			session.Kill(t)
			w.unlocked(t)
			w.RunStage(t, s).Want(t, 0, s.ID+" is done")
			allGood(t, w, s)
			if volumes := h.list(t, "vol-list", "bootlab-mylab"); slices.Contains(volumes, bootstrapDomain+".ign") {
				t.Errorf("killed at step %d: a volume is left", at)
			}
		}
	})
	t.Run("broken", func(t *testing.T) {
		for _, check := range s.Checks {
			breaks(t, w, s, check.ID, fixtures(t, s.ID)[check.ID])
			c.SetName(t, "api", "127.0.0.5")
			if check.ID == "machine" {
				w.RunStage(t, s).Want(t, 1, "is not this lab's")
				h.virsh(t, "", "undefine", bootstrapDomain)
			}
			if check.ID == "files" { // no machine says whose it is
				w.RunStage(t, s).Want(t, 3, "not ok 3 - files", bootstrapDomain+".ign\n", "vol-delete --pool")
				h.virsh(t, "", "vol-delete", "--pool", "bootlab-mylab", bootstrapDomain+".ign")
			}
			w.RunStage(t, s).Want(t, 0)
			allGood(t, w, s)
		}
	})
	t.Run("every mode", func(t *testing.T) {
		begin(t)
		eachMode(t, w, s)
		untouched(t)
	})
	t.Run("without a balancer, without libvirt", func(t *testing.T) {
		begin(t)
		bin := w.Env.Bin
		w.Env.Bin = t.TempDir()
		broken := "#!/bin/bash\necho 'error: failed to connect to the hypervisor' >&2\nexit 1\n"
		if err := os.WriteFile(filepath.Join(w.Env.Bin, "virsh"), []byte(broken), 0o755); err != nil {
			t.Fatal(err)
		}
		w.RunStage(t, s).Want(t, 4, "libvirt does not answer at qemu:///system", "cause: libvirt does not run", "--balancer-only")
		w.Env.Bin = bin
		if err := os.Rename(b.socket, b.socket+".away"); err != nil {
			t.Fatal(err)
		}
		w.RunStage(t, s).Want(t, 4, "no load balancer of this lab is here", "take 192.168.126.10 out of ports 6443 and 22623")
		w.RunStage(t, s, "--verify").Want(t, 3)
		if err := os.Rename(b.socket+".away", b.socket); err != nil {
			t.Fatal(err)
		}
		untouched(t)
	})
}

// TestABalancerThatTakesNoOrders: its socket is for questions only.
func TestABalancerThatTakesNoOrders(t *testing.T) {
	t.Parallel()
	w, _, h := leaving(t, "user")
	s := pivotStage(t, release, "remove-bootstrap")
	h.machine(t, bootstrapDomain, "mylab")
	w.RunStage(t, s).Want(t, 1, "HAProxy refuses: Permission denied", "cause: HAProxy's socket allows queries")
	if !slices.Contains(h.domains(t), bootstrapDomain) {
		t.Error("the machine is gone")
	}
}

// forgetfulLibvirt is a virsh whose pool knows its volumes only when it was
// refreshed, and that speaks German where it may.
const forgetfulLibvirt = `shift 2
echo "$*" >> "${DIR}/called"
pool() { [[ ! -e ${DIR}/inactive ]] || { echo 'error: storage pool is not active' >&2; exit 1; }; }
case $1 in
  list) [[ ! -e ${DIR}/domain ]] || echo bootlab-mylab-bootstrap ;;
  pool-list) [[ -e ${DIR}/no-pool ]] || echo bootlab-mylab ;;
  pool-refresh) pool; cp "${DIR}/disk/"* "${DIR}/known/" 2> /dev/null; true ;;
  vol-list) pool; ls "${DIR}/known" ;;
  vol-info) pool; [[ -e ${DIR}/known/${!#} ]] ;;
  vol-delete) pool; [[ -e ${DIR}/known/${!#} && ! -e ${DIR}/stuck ]] && rm --force "${DIR}"/{known,disk}/"${!#}" ;;
  domstate) if [[ ${LC_ALL:-} == C ]]; then echo 'shut off'; else echo ausgeschaltet; fi ;;
  metadata | dumpxml) cat "${DIR}/domain" ;;
  undefine) rm "${DIR}/domain" ;;
  *) echo "unknown: $*" >&2; exit 1 ;;
esac
`

// forgetful is remove-bootstrap.sh where the bootstrap is complete and the load
// balancer lets go at once.
func forgetful(t *testing.T) *scriptAlone {
	t.Helper()
	s := newScriptAlone(t, labs.Workstation, "remove-bootstrap.sh", map[string]string{
		"virsh": forgetfulLibvirt, "socat": "[[ $(cat) != 'show stat' ]] || echo api,bootstrap,0,0,0,,,,,,,,,,,,,MAINT\n",
	})
	s.Put(t, "assets/tools/oc", `#!/bin/bash
case "$*" in
  *'get configmap bootstrap'*) echo complete ;;
  *'get etcds cluster'*) echo '{"status": {"conditions": [{"type": "EtcdBootstrapMemberRemoved", "status": "True"}]}}' ;;
esac
`)
	s.Put(t, "assets/install/auth/kubeconfig", "")
	dir, err := os.MkdirTemp("", "lb") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, "haproxy.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	for _, file := range []string{s.file, filepath.Join(filepath.Dir(s.file), "checks", "remove-bootstrap.sh")} {
		text := socketLine.ReplaceAllString(string(mustRead(t, file)), "BALANCER_SOCKET='"+listener.Addr().String()+"'")
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Put(t, "domain", "<bootlab:lab name='mylab'/>")
	s.Put(t, "known/of-somebody", "")
	for _, volume := range []string{".qcow2", ".ign"} {
		s.Put(t, "disk/"+bootstrapDomain+volume, "")
	}
	return s
}

var socketLine = regexp.MustCompile(`(?m)^BALANCER_SOCKET=.*$`)

// TestNoFileOfTheBootstrapStaysUnseen: its files hold every key of the cluster,
// and once the domain is gone nothing says whose they are.
func TestNoFileOfTheBootstrapStaysUnseen(t *testing.T) {
	t.Parallel()
	files := func(s *scriptAlone) []string {
		found, _ := filepath.Glob(filepath.Join(s.Dir, "disk", "*"))
		return found
	}
	check := func(t *testing.T, s *scriptAlone) Result {
		t.Helper()
		return s.run(t, filepath.Join(filepath.Dir(s.file), "checks", "remove-bootstrap.sh"), "--only", "files")
	}
	t.Run("the pool does not know them yet", func(t *testing.T) {
		t.Parallel()
		s := forgetful(t)
		r := s.Run(t)
		r.Want(t, 0, "remove-bootstrap is done")
		if left := files(s); len(left) != 0 || s.Read("domain") != "" {
			t.Errorf("left are %v and %q:\n%s", left, s.Read("domain"), r.All)
		}
		if strings.Contains(s.Read("called"), "destroy") {
			t.Error("a machine that is off was destroyed: libvirt was not asked in English")
		}
		check(t, s).Want(t, 0)
		s.Run(t, "--force").Says(t, "there is no "+bootstrapDomain)
	})
	t.Run("the pool is off", func(t *testing.T) {
		t.Parallel()
		s := forgetful(t)
		s.Put(t, "inactive", "")
		s.Run(t).Want(t, 1, "error: the pool bootlab-mylab cannot be read", "pool-start bootlab-mylab")
		if len(files(s)) != 2 || s.Read("domain") == "" {
			t.Error("something is gone")
		}
		check(t, s).Want(t, 3, "is not active")
	})
	t.Run("one cannot be deleted", func(t *testing.T) {
		t.Parallel()
		s := forgetful(t)
		s.Put(t, "stuck", "")
		if r := s.Run(t); r.Status != 1 || s.Read("domain") == "" {
			t.Errorf("status %d, the domain is gone:\n%s", r.Status, r.All)
		}
		check(t, s).Want(t, 3, "not ok 1 - files", bootstrapDomain+".qcow2\n", bootstrapDomain+".ign\n")
	})
	t.Run("the machine is gone and a file is not", func(t *testing.T) {
		t.Parallel()
		s := forgetful(t)
		for _, volume := range files(s) {
			s.Put(t, "known/"+filepath.Base(volume), "")
		}
		if err := os.Remove(filepath.Join(s.Dir, "domain")); err != nil {
			t.Fatal(err)
		}
		s.Run(t).Want(t, 3, "not ok 3 - files", bootstrapDomain+".ign\n")
	})
	t.Run("it has no pool", func(t *testing.T) {
		t.Parallel()
		s := forgetful(t)
		s.Put(t, "no-pool", "")
		check(t, s).Want(t, 0)
	})
	t.Run("only shown", func(t *testing.T) {
		t.Parallel()
		s := forgetful(t)
		s.Run(t, "--dry-run").Want(t, 0, "OWNER_NAMESPACE='"+labs.OwnerNamespace+"'", `destroy "${BOOTSTRAP_DOMAIN}"`, `pool-refresh "${LAB_POOL}"`,
			`vol-delete --pool "${LAB_POOL}" "${volume}"`, `undefine "${BOOTSTRAP_DOMAIN}"`, "--nvram")
		if s.Read("called") != "" {
			t.Errorf("libvirt was asked\n%s", s.Read("called"))
		}
	})
}
