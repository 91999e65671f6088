package demo

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// The registry runs in a process of its own, in the background: the scripts then
// need no second terminal. A lock in the lab's directory belongs to it. The kernel
// removes the lock when the process ends, however it ends, and says which process
// has it, so that no number in a file can name a stranger.
const (
	lockFile = "lock"
	logFile  = "log"
)

// ready is what the process says when it serves.
const ready = "ready"

// patience is how long a start or an end may take.
const patience = 30 * time.Second

// Process is the id of the process that serves the registry, 0 where none does.
func (d *Demo) Process() (int, error) {
	f, err := os.OpenFile(d.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
		return 0, err
	}
	if lock.Type == syscall.F_UNLCK {
		return 0, nil
	}
	if lock.Pid <= 0 {
		return 0, errors.New("the registry runs in another container or PID namespace")
	}
	return int(lock.Pid), nil
}

// Start runs a command that calls Serve, in the background, and waits until it
// serves. What it says goes to a log in the lab.
func (d *Demo) Start(ctx context.Context, program string, args ...string) error {
	said, err := os.OpenFile(d.path(logFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer said.Close()
	answer, told, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answer.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = "/", said, said, []*os.File{told}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C here is not for it
	err = cmd.Start()
	told.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	if err := answer.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if line, _ := bufio.NewReader(answer).ReadString('\n'); strings.TrimSpace(line) == ready {
		return cmd.Process.Release()
	}
	cmd.Process.Kill()
	cmd.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, err := os.ReadFile(d.path(logFile))
	if err != nil {
		return err
	}
	return fmt.Errorf("the registry did not start: %s", strings.TrimPrefix(strings.TrimSpace(string(text)), "error: "))
}

// Serve serves the registry until the context ends, or the lab is removed. It
// tells Start, through the file descriptor 3, that it does.
func (d *Demo) Serve(ctx context.Context) error {
	lock, err := os.OpenFile(d.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.FcntlFlock(lock.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		return errors.New("another process serves this registry already")
	}
	pair, err := tls.LoadX509KeyPair(d.path(serverFile), d.path(serverFile))
	if err != nil {
		return err
	}
	store, release, err := d.images()
	if err != nil {
		return err
	}
	if release.Image != d.digest {
		return ErrOtherBuild
	}
	debug.FreeOSMemory() // packing the images took many times what they need
	listener, err := net.Listen("tcp", d.Address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: store, ReadHeaderTimeout: patience, ErrorLog: log.New(io.Discard, "", 0)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go d.watch(ctx, cancel, lock)
	context.AfterFunc(ctx, func() { server.Close() })
	if told := os.NewFile(3, "ready"); told != nil {
		// Without anyone who waits there is nothing to tell.
		fmt.Fprintln(told, ready)
		told.Close()
	}
	err = server.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}}))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// watch ends the process when its lab is gone: nobody would find it again.
func (d *Demo) watch(ctx context.Context, end func(), lock *os.File) {
	mine, err := lock.Stat()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		var now os.FileInfo
		if now, err = os.Stat(d.path(lockFile)); err == nil && !os.SameFile(mine, now) {
			err = errors.New("another lab")
		}
	}
	end()
}

// Stop ends the process that serves the registry, if there is one.
func (d *Demo) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked := 0
	for {
		process, err := d.Process()
		if err != nil || process == 0 {
			return err
		}
		if process != asked {
			if err := syscall.Kill(process, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end the registry, process %d: %w", process, err)
			}
			asked = process
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the registry, process %d, does not end", process)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
