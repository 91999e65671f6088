//go:build !js

package labs

import "syscall"

// nonBlocking keeps opening a pipe from waiting for who writes into it.
const nonBlocking = syscall.O_NONBLOCK
