package recording

import (
	"fmt"
	"regexp"
	"strings"
)

// Shown is a command of a page, and the part of its output that the page shows.
type Shown struct {
	Command string
	Lines   []string // "..." stands for lines that are left out
}

const cut = "..."

// Console gives the commands of a page's console blocks, in their order.
func Console(page string) []Shown {
	var found []Shown
	inside := false
	for _, line := range strings.Split(page, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && isCommand:
			found = append(found, Shown{Command: command})
		case inside && len(found) > 0:
			last := &found[len(found)-1]
			last.Lines = append(last.Lines, line)
		}
	}
	for i := range found {
		for n := len(found[i].Lines); n > 0 && found[i].Lines[n-1] == ""; n-- { // before the next command
			found[i].Lines = found[i].Lines[:n-1]
		}
	}
	return found
}

var numbers = regexp.MustCompile(`[0-9]+`)

// mask replaces what differs from run to run and from host to host: numbers.
func mask(text string) string { return numbers.ReplaceAllString(text, "N") }

// Compare gives an error unless what is shown is what was printed, numbers aside,
// with lines left out only where the page says so.
func (s Shown) Compare(printed []string) error {
	at := 0          // lines before it are accounted for
	skipped := false // lines may be missing here
	for _, line := range s.Lines {
		if line == cut {
			skipped = true
			continue
		}
		found := -1
		for i := at; i < len(printed) && found < 0; i++ {
			if mask(printed[i]) == mask(line) {
				found = i
			} else if !skipped {
				break
			}
		}
		if found < 0 {
			return fmt.Errorf("%s does not print there: %s", s.Command, line)
		}
		at, skipped = found+1, false
	}
	if at < len(printed) && !skipped {
		return fmt.Errorf("%s prints more: %s", s.Command, printed[at])
	}
	return nil
}
