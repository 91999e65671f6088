package diagnose

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// Match is a symptom that a line speaks of.
type Match struct {
	Layer   *labs.Layer
	Symptom *labs.Symptom
	// Words are those of the line by which the symptom is known.
	Words string
}

// literal is a pattern in a jq program of the symptoms' data.
var literal = regexp.MustCompile(`(?:test|contains|capture)\(("(?:[^"\\]|\\.)*")`)

// fewest is how many characters of a line a pattern has to take: fewer, as in
// "Error: ", are in any line of trouble.
const fewest = 11

// journalHead is what stands before the message of a journal's line.
var journalHead = regexp.MustCompile(`^(\S+ +\d+ \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ \S+\[\d+\]: `)

// MatchLine are the symptoms that know a line, those that know most of it first. One
// line proves nothing: the other proofs of the symptom may not hold.
func MatchLine(d *labs.Diagnosis, line string) []Match {
	whole := ofMirrors(line)
	message := journalHead.ReplaceAllString(whole, "")
	var all []Match
	for _, layer := range d.Layers {
		for i := range layer.Symptoms {
			s := &layer.Symptoms[i]
			best := ""
			for _, p := range slices.Concat(s.Proof, s.Or) {
				for _, text := range []string{message, whole} {
					if words := wordsOf(&p, text); len(words) > len(best) {
						best = words
					}
				}
			}
			if words := quotedIn(s.Seen, message); len(words) > len(best) {
				best = words
			}
			if len(best) >= fewest {
				all = append(all, Match{layer, s, best})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Match) int { return len(y.Words) - len(x.Words) })
	return all
}

// quoted is a message that a symptom is first seen by.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// quotedIn is the longest message that is quoted in a text and stands in a line;
// what varies in it is an ellipsis there.
func quotedIn(text, line string) string {
	best := ""
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		rest, here := line, true
		for part := range strings.SplitSeq(m[1], "…") {
			_, after, found := strings.Cut(rest, strings.TrimSpace(part))
			rest, here = after, here && found
		}
		if here && len(m[1]) > len(best) {
			best = m[1]
		}
	}
	return best
}

// wordsOf is the longest part of a line that a pattern of the proof takes.
func wordsOf(p *labs.Proof, line string) string {
	texts := []string{p.Says, p.Matches, p.Fails}
	for _, m := range literal.FindAllStringSubmatch(p.JQ, -1) {
		var text string
		if json.Unmarshal([]byte(m[1]), &text) == nil {
			texts = append(texts, text)
		}
	}
	best := ""
	for _, text := range texts {
		re, err := pattern(text)
		if text == "" || err != nil {
			continue
		}
		if words := re.FindString(line); len(words) > len(best) {
			best = words
		}
	}
	return best
}
