package controlplane

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// Network is a network of its own, with loopback alone. Only root can make one.
type Network struct {
	namespace *os.File
	work      chan func()
	closing   sync.Once

	mu        sync.Mutex
	addresses int
	forwards  []net.Listener
}

// NewNetwork makes a network with its loopback up.
func NewNetwork() (*Network, error) {
	n := &Network{work: make(chan func())}
	made := make(chan error)
	go func() {
		// The thread belongs to the new network and is not given back: it ends
		// with this function, and with it what was started from it.
		runtime.LockOSThread()
		err := n.unshare()
		made <- err
		if err != nil {
			return
		}
		for f := range n.work {
			f()
		}
	}()
	return n, <-made
}

func (n *Network) unshare() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network of its own: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	var err error
	n.namespace, err = os.Open("/proc/thread-self/ns/net")
	return err
}

// Do calls a function inside the network. What it opens or starts belongs there
// for good; it must not wait for other calls of Do.
func (n *Network) Do(f func() error) error {
	done := make(chan error)
	n.work <- func() { done <- f() }
	return <-done
}

// Close ends the network. What was started inside and lives is killed.
func (n *Network) Close() {
	n.closing.Do(func() {
		for _, listener := range n.forwards {
			listener.Close()
		}
		close(n.work)
		n.namespace.Close()
	})
}

// Path is a path of the network's namespace, for nsenter.
func (n *Network) Path() string {
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.namespace.Fd())
}

// Start starts a process inside the network, which dies with this one.
func (n *Network) Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// The signal comes when the thread ends that started the process: that is
	// why it is the network's own and not any of the runtime's.
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return n.Do(cmd.Start)
}

// Listen listens inside the network.
func (n *Network) Listen(address string) (listener net.Listener, err error) {
	err = n.Do(func() error {
		listener, err = net.Listen("tcp", address)
		return err
	})
	return listener, err
}

// ListenPacket listens for datagrams inside the network.
func (n *Network) ListenPacket(address string) (conn net.PacketConn, err error) {
	err = n.Do(func() error {
		conn, err = net.ListenPacket("udp", address)
		return err
	})
	return conn, err
}

// AddAddress gives an IPv4 address to the network, on its loopback.
func (n *Network) AddAddress(address string) error {
	ip := net.ParseIP(address).To4()
	if ip == nil {
		return fmt.Errorf("%q is no IPv4 address", address)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses++
	name := fmt.Sprintf("lo:%d", n.addresses)
	return n.Do(func() error {
		// Without its own mask the whole network around it would be this host.
		if err := ioctl(syscall.SIOCSIFADDR, addressRequest(name, [4]byte(ip))); err != nil {
			return err
		}
		return ioctl(syscall.SIOCSIFNETMASK, addressRequest(name, [4]byte{255, 255, 255, 255}))
	})
}

// addressRequest is the kernel's ifreq with an address in it.
func addressRequest(name string, address [4]byte) unsafe.Pointer {
	request := &struct {
		name    [syscall.IFNAMSIZ]byte
		address syscall.RawSockaddrInet4
		_       [8]byte
	}{address: syscall.RawSockaddrInet4{Family: syscall.AF_INET, Addr: address}}
	copy(request.name[:], name)
	return unsafe.Pointer(request)
}

// Forward lets processes inside the network reach an address of loopback
// outside, as HOST:PORT, under the same address: a registry of the tests.
func (n *Network) Forward(address string) error {
	listener, err := n.Listen(address)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.forwards = append(n.forwards, listener)
	n.mu.Unlock()
	go func() {
		for {
			inside, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(inside, address)
		}
	}()
	return nil
}

// forward passes on what either side says until both are done.
func forward(inside net.Conn, address string) {
	defer inside.Close()
	outside, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer outside.Close()
	done := make(chan struct{})
	go func() {
		io.Copy(outside, inside)
		outside.(*net.TCPConn).CloseWrite()
		close(done)
	}()
	io.Copy(inside, outside)
	inside.(*net.TCPConn).CloseWrite()
	<-done
}

// loopbackUp does what ip link set lo up does.
func loopbackUp() error {
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP}
	copy(request.name[:], "lo")
	return ioctl(syscall.SIOCSIFFLAGS, unsafe.Pointer(&request))
}

// ioctl asks the kernel for something about an interface.
func ioctl(number uintptr, request unsafe.Pointer) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), number, uintptr(request)); errno != 0 {
		return errno
	}
	return nil
}
