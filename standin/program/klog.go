package main

import (
	"fmt"
	"os"
	"time"
)

// klogFatal ends the process as klog's Fatal does.
func klogFatal(format string, args ...any) {
	klogLine("F", format, args...)
	os.Exit(255)
}

func klogWarning(format string, args ...any) { klogLine("W", format, args...) }
func klogInfo(format string, args ...any)    { klogLine("I", format, args...) }

func klogLine(level, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s%s %7d stand-in.go:1] %s\n",
		level, time.Now().Format("0102 15:04:05.000000"), os.Getpid(), fmt.Sprintf(format, args...))
}
