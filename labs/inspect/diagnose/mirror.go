package diagnose

import (
	"regexp"
	"strings"
)

// mirrorsFailed is how containers/image tells of a pull that tried mirrors: their
// errors stand in brackets, and behind them that of the source itself.
//
// Source: containers/image docker/docker_image_src.go, newImageSource, 4.1 to main.
var mirrorsFailed = regexp.MustCompile(`\(Mirrors also failed: (\[.*\])\)?`)

// ofMirrors is the line without the error of the source. Where mirrors are named, the
// source need not be reachable, so the error of the mirror is the cause.
func ofMirrors(line string) string {
	m := mirrorsFailed.FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	inside := line[m[2]:m[3]]
	if end := strings.Index(inside, "]): "); end >= 0 {
		inside = inside[:end+1]
	}
	return line[:m[2]] + inside
}
