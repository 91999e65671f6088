package diagram

import (
	"strings"
	"unicode"
)

// A face is a way to set text. Its name is the CSS class.
type face struct {
	name string
	size int // of the letters, px
	line int // from one line to the next, px
	bold bool
	mono bool
}

var (
	titleFace = face{name: "pic-title", size: 14, line: 19, bold: true}
	bodyFace  = face{name: "pic-body", size: 13, line: 18}
	codeFace  = face{name: "pic-code", size: 13, line: 18, mono: true}
	panelFace = face{name: "pic-panel-title", size: 15, line: 21, bold: true}
	labelFace = face{name: "pic-label", size: 13, line: 17}
)

// Widths of the letters from space to tilde in thousandths of the size. They
// are those of DejaVu Sans, which is wider than the other fonts that browsers
// take for sans-serif: a text that fits in it fits in those too. Measured in
// Chromium.
var (
	plainWidths = [...]int{318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
		637, 637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531,
		1000, 685, 687, 699, 771, 632, 576, 775, 752, 295, 295, 656, 558, 863, 749, 788,
		604, 788, 695, 635, 611, 732, 685, 989, 686, 611, 686, 391, 337, 391, 838, 500,
		500, 613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
		635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838}
	boldWidths = [...]int{349, 457, 521, 838, 696, 1002, 873, 307, 458, 458, 523, 838, 380, 416, 380, 366,
		696, 696, 696, 696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 581,
		1000, 774, 763, 734, 831, 684, 684, 821, 837, 373, 373, 775, 638, 996, 837, 851,
		733, 851, 771, 721, 683, 813, 774, 1104, 771, 725, 726, 458, 366, 458, 838, 500,
		500, 675, 716, 593, 716, 679, 436, 716, 712, 343, 343, 666, 343, 1042, 712, 688,
		716, 716, 494, 596, 479, 712, 652, 924, 646, 652, 583, 712, 366, 712, 838}
)

const (
	monoWidth = 620 // of every letter in the widest usual monospaced font
	// otherWidth is of a letter that the tables do not know, as a Chinese one.
	otherWidth = 1050
)

// width estimates how many pixels a text needs in a face, rather too many than
// too few.
func (f face) width(text string) int {
	sum := 0
	for _, r := range text {
		switch at := int(r) - ' '; {
		case at < 0 || at >= len(plainWidths):
			sum += otherWidth
		case f.mono:
			sum += monoWidth
		case f.bold:
			sum += boldWidths[at]
		default:
			sum += plainWidths[at]
		}
	}
	return (sum*f.size + 999) / 1000
}

// wrap breaks a text into lines that fit into a width. A word that is too long
// for a line is broken where a reader expects it, else anywhere.
func (f face) wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && f.width(line+" "+word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for f.width(word) > width {
			head := f.head(word, width)
			lines = append(lines, word[:head])
			word = word[head:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// head is how many bytes of a word go on a line: up to the last mark that a
// word may be broken behind, or before the last capital inside, else as many letters as fit, and at least one.
func (f face) head(word string, width int) int {
	fits, marked := 0, 0
	var before rune
	for i, r := range word {
		end := i + len(string(r))
		if fits > 0 && f.width(word[:end]) > width {
			break
		}
		if unicode.IsLower(before) && unicode.IsUpper(r) {
			marked = i
		}
		fits, before = end, r
		if strings.ContainsRune("/.-_=,:", r) {
			marked = end
		}
	}
	if marked > 0 {
		return marked
	}
	return fits
}

// clean makes a text of one line out of anything: what cannot be printed, and
// what would turn the direction of the text around it, is replaced.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	return strings.Join(strings.Fields(text), " ")
}
