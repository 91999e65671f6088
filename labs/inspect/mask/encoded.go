package mask

import (
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Encoded texts are decoded and looked into, again and again: a key in a Secret
// in an Ignition file is in base64 twice. If one holds a secret, all of it goes.

// shortestRun is the least number of characters of an encoded text that is
// looked into: no secret takes less.
const shortestRun = 20

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '-' || c == '_' }

// inBase64Table is isBase64 as a table.
var inBase64Table = func() (t [256]bool) {
	for c := range t {
		t[c] = isBase64(byte(c))
	}
	return t
}()

func (f *finding) encoded() {
	if f.depth >= deepest {
		return
	}
	f.percentEncoded()
	for at := 0; at < len(f.text); {
		if !inBase64Table[f.text[at]] {
			at++
			continue
		}
		to := at + 1
		for to < len(f.text) && inBase64Table[f.text[to]] {
			to++
		}
		if to-at < shortestPart {
			at = to
			continue
		}
		run := f.run(at)
		if len(run.parts) > 1 || run.to-run.from >= shortestRun {
			f.lookInto(run)
		}
		at = run.to
	}
}

// run is a stretch of base64, base32 or hex. Its lines are parts: they are often
// written in lines, and then again lines may be texts of their own.
type run struct {
	from, to int
	parts    [][2]int
}

// longLine: shorter lines are not those of one text, unless all are as long.
const longLine = 40

// shortestPart is the least length of a line of several.
const shortestPart = 16

func (f *finding) run(at int) run {
	r := run{from: at, to: at}
	for {
		from := r.to
		for r.to < len(f.text) && f.inRun(r.to) && (r.to == from || !f.beginsBehindEquals(r.to)) {
			r.to++
		}
		r.parts = append(r.parts, [2]int{from, r.to})
		next := f.nextPart(from, r.to)
		if next == 0 {
			return r
		}
		r.to = next
	}
}

// nextPart is where the next line of a text in lines begins; 0 if there is none.
func (f *finding) nextPart(from, to int) int {
	if gap := f.lineGap(to); to-from >= longLine && gap > 0 && f.isLine(to+gap) {
		return to + gap
	}
	if to-from < shortestPart {
		return 0
	}
	// What may stand behind and before: quotes, a comma or a plus, a comment, what
	// every line of a log begins with.
	end := to
	for end < len(f.text) && end-to < 8 && strings.IndexByte("\"', +\\\r", f.text[end]) >= 0 {
		end++
	}
	if end >= len(f.text) || f.text[end] != '\n' {
		return 0
	}
	next := f.runInLine(from, end+1)
	if next == 0 {
		return 0
	}
	last := next
	for last < len(f.text) && f.inRun(last) {
		last++
	}
	if n := last - next; n == to-from || n < to-from && f.isLine(next) {
		return next
	}
	return 0
}

// runInLine is where the run of a line begins, if what stands before is what stands
// before the run above.
func (f *finding) runInLine(above, line int) int {
	begin := bytes.LastIndexByte(f.text[max(0, above-512):above], '\n') + 1 + max(0, above-512)
	prefix := f.text[begin:above]
	if n := samePrefix(f.text[line:min(len(f.text), line+len(prefix))], prefix); n > 0 && line+n < len(f.text) && f.inRun(line+n) {
		return line + n
	}
	at := line
	for at < len(f.text) && at-line < 64 && strings.IndexByte(" \t\"'#>*", f.text[at]) >= 0 {
		at++
	}
	if at < len(f.text) && f.inRun(at) {
		return at
	}
	return 0
}

// inRun: a data URL may have + and / and = as %2B, %2F and %3D.
func (f *finding) inRun(at int) bool {
	c := f.text[at]
	if isBase64(c) || c == '=' {
		return true
	}
	return c == '%' && at+2 < len(f.text) && isEscape(f.text[at:at+3])
}

// beginsBehindEquals: an equals sign ends a base64. What follows is another, as in
// NAME=VALUE.
func (f *finding) beginsBehindEquals(at int) bool {
	return at > 0 && f.text[at-1] == '=' && isBase64(f.text[at])
}

func isEscape(three []byte) bool {
	switch string(bytes.ToUpper(three)) {
	case "%2B", "%2F", "%3D":
		return true
	}
	return false
}

// isLine says whether a line, or what a string ends with, is all base64.
func (f *finding) isLine(at int) bool {
	to := at
	for to < len(f.text) && f.inRun(to) {
		to++
	}
	return to > at && (to == len(f.text) || strings.IndexByte("\r\n\"'\\", f.text[to]) >= 0)
}

// lineGap is the length of the end of a line with the indent of the next: a real
// one, or \n in a string with any number of backslashes.
func (f *finding) lineGap(at int) int {
	begin := at
	for at < len(f.text) && f.text[at] == '\\' {
		at++
	}
	switch {
	case at > begin && at < len(f.text) && f.text[at] == 'n':
		return at + 1 - begin
	case at > begin:
		return 0
	}
	if at < len(f.text) && f.text[at] == '\r' {
		at++
	}
	if at >= len(f.text) || f.text[at] != '\n' {
		return 0
	}
	for at++; at < len(f.text) && (f.text[at] == ' ' || f.text[at] == '\t'); at++ {
	}
	return at - begin
}

// lookInto decodes a run: its lines together, and each of them. A word above the
// first line of a text may have been taken for its first line.
func (f *finding) lookInto(r run) {
	if f.lookIntoLines(r) {
		return
	}
	if len(r.parts) > 2 {
		below := run{r.parts[1][0], r.to, r.parts[1:]}
		if f.lookIntoLines(below) {
			r.parts = r.parts[:1]
		}
	}
	for _, p := range r.parts {
		if p[1]-p[0] < shortestRun {
			continue
		}
		if kind := f.insideAny(f.text[p[0]:p[1]], p[0] == 0, p[1] == len(f.text) && f.open); kind != "" {
			f.spans = append(f.spans, span{p[0], p[1], kind, isBase64})
		}
	}
}

// lookIntoLines takes the lines of a run together, and says whether they hold a
// secret.
func (f *finding) lookIntoLines(r run) bool {
	if len(r.parts) < 2 {
		return false
	}
	var all []byte
	for _, p := range r.parts {
		all = append(all, f.text[p[0]:p[1]]...)
	}
	kind := f.insideAny(all, r.from == 0 && f.torn, r.to == len(f.text) && f.open)
	if kind != "" {
		f.addRun(r.parts, kind)
	}
	return kind != ""
}

// addRun adds the lines of a run, and leaves what stands before each of them.
func (f *finding) addRun(parts [][2]int, kind string) {
	from := parts[0][0]
	for i, p := range parts {
		next := i + 1
		if next < len(parts) && len(bytes.TrimSpace(f.text[p[1]:parts[next][0]])) == 0 {
			continue
		}
		f.spans = append(f.spans, span{from, p[1], kind, isBase64})
		if next < len(parts) {
			from = parts[next][0]
		}
	}
}

// insideAny is the kind of the first secret in a text of base64, base32 or hex.
func (f *finding) insideAny(text []byte, torn, open bool) string {
	found := ""
	f.m.own.each(text, func(int, int) { found = ownKind })
	if found != "" {
		return found
	}
	if kind := f.inside(text, torn, open); kind != "" {
		return kind
	}
	return f.insideOthers(text, open)
}

// What a text begins with in base64 that is a key or packed. They are looked for
// everywhere in a run: what stands before may be a path.
var beginnings = [][]byte{[]byte("LS0tLS1CRUdJTi"), []byte("H4sIA")}

// inside is the kind of the first secret in an encoded text. At the torn
// beginning of a text it is not known where a group of four characters begins.
func (f *finding) inside(text []byte, torn, open bool) string {
	if mayDecode(text) {
		if kind := f.decoded(decode(text), open); kind != "" {
			return kind
		}
	}
	for _, b := range beginnings {
		if i := bytes.Index(text, b); i > 0 {
			if kind := f.decoded(decode(text[i:]), open); kind != "" {
				return kind
			}
		}
	}
	for start := 1; start < 4 && start < len(text); start++ {
		if torn || promises(text[start:]) {
			if kind := f.decoded(decode(text[start:]), open); kind != "" {
				return kind
			}
		}
	}
	return f.behindSeparators(text, open)
}

// mostSeparators: a path before a base64 has no more parts.
const mostSeparators = 32

// behindSeparators looks into what stands behind a path, a name or an option:
// their letters are those of base64 too.
func (f *finding) behindSeparators(text []byte, open bool) string {
	for at, left := 0, mostSeparators; left > 0; left-- {
		i := bytes.IndexAny(text[at:], "/-_")
		if i < 0 || len(text)-at-i-1 < shortestRun {
			return ""
		}
		if at += i + 1; promises(text[at:]) {
			if kind := f.decoded(decode(text[at:]), open); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// mayDecode leaves out what decodes to noise: a name, a path, a hash. What is less
// sure than that is decoded.
func mayDecode(text []byte) bool {
	const head = 32
	var plain [head]byte
	end := text[:min(len(text), head)&^3]
	if bytes.ContainsAny(end, "-_%=") {
		return true
	}
	n, err := base64.RawStdEncoding.Decode(plain[:], end)
	if err != nil || n < 12 {
		return true
	}
	return halfText(plain[:n])
}

// halfText says whether a third or more of some bytes can be printed as words are,
// or it begins as a key or what is packed does.
func halfText(plain []byte) bool {
	if len(plain) < 4 {
		return false
	}
	odd := 0
	for _, c := range plain {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			odd++
		}
	}
	return odd*2 <= len(plain)+1 || plain[0] == 0x30 || plain[0] == 0x1f || plain[0] == 0x78 || plain[0] == 5 && plain[2] == 0 || string(plain[:4]) == "open"
}

// promises says whether a base64 begins with what is looked into: text, a key,
// or what is packed. It is fast, as almost nothing does.
func promises(text []byte) bool {
	const head = 32
	var plain [head]byte
	n, err := base64.RawStdEncoding.Decode(plain[:], text[:min(len(text), head)&^3])
	printed := 0
	for i, c := range plain[:n] {
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			printed++
		} else if i >= 8 && i-printed > 4 {
			return plain[0] == 0x30 && plain[1] >= 0x20 || plain[0] == 0x1f && plain[1] == 0x8b
		}
	}
	return n >= 12 && printed*10 >= n*8 || err == nil && plain[0] == 0x1f && plain[1] == 0x8b
}

// decode takes either alphabet, and leaves away what does not make whole bytes.
func decode(text []byte) []byte {
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' && i+2 < len(text) {
			c = map[byte]byte{'B': '+', 'F': '/', 'D': '='}[text[i+2]&^0x20]
			i += 2
		}
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		case '=':
			// What comes behind the end is another text.
			continue
		}
		plain = append(plain, c)
	}
	if len(plain)%4 == 1 {
		plain = plain[:len(plain)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(plain)))
	n, _ := base64.RawStdEncoding.Decode(out, plain)
	return out[:n]
}

// mostUnpacked bounds what is unpacked of one text in all, in bytes.
const mostUnpacked = 16 << 20

// decoded is the kind of the first secret in a text that was decoded.
func (f *finding) decoded(text []byte, open bool) string {
	switch {
	case len(text) == 0:
		return ""
	case isPrivateKey(text), isKeytab(text):
		return privateKey
	case bytes.HasPrefix(text, []byte{0x1f, 0x8b, 8}):
		unpacked, err := unpack(text, mostUnpacked-*f.budget())
		*f.budget() += len(unpacked)
		if kind := f.decoded(unpacked, false); kind != "" {
			return kind
		}
		// What cannot be read whole may hold anything.
		if err != nil && len(text) > 32 && (open || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errTooMuch)) {
			return packedKind
		}
		return ""
	case isWide(text):
		text = narrow(text)
	case !isText(text):
		found := ""
		f.m.own.each(text, func(int, int) { found = ownKind })
		return found
	}
	deeper := &finding{m: f.m, text: text, torn: f.torn, depth: f.depth + 1, unpacked: f.budget(), walked: f.walked}
	spans := deeper.all()
	f.walked = deeper.walked
	if len(spans) > 0 {
		return spans[0].kind
	}
	return ""
}

// isKeytab knows the keys of Kerberos by their version.
func isKeytab(text []byte) bool {
	return len(text) > 32 && text[0] == 5 && (text[1] == 1 || text[1] == 2) && text[2] == 0
}

var errTooMuch = errors.New("too much is packed")

// budget is what was unpacked so far of all that is in one text.
func (f *finding) budget() *int {
	if f.unpacked == nil {
		f.unpacked = new(int)
	}
	return f.unpacked
}

// unpack unpacks no more than most bytes.
func unpack(text []byte, most int) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(zip, int64(max(most, 0))+1))
	if len(out) > most {
		return out, errTooMuch
	}
	return out, err
}

// isPrivateKey knows keys that are not in PEM.
func isPrivateKey(text []byte) bool {
	if bytes.HasPrefix(text, []byte("openssh-key-v1\x00")) {
		return true
	}
	if len(text) < 32 || text[0] != 0x30 {
		return false
	}
	if _, err := x509.ParsePKCS8PrivateKey(text); err == nil {
		return true
	}
	if _, err := x509.ParsePKCS1PrivateKey(text); err == nil {
		return true
	}
	_, err := x509.ParseECPrivateKey(text)
	return err == nil
}

// isText says whether most of the beginning can be printed. Other bytes hold no
// secret that could be known.
func isText(text []byte) bool {
	head := text[:min(len(text), 4096)]
	printed := 0
	for _, c := range head {
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			printed++
		}
	}
	return len(head) > 0 && printed*10 >= len(head)*8
}

// percentEncoded looks into words with %20 and the like, as the data URLs of
// Ignition are.
func (f *finding) percentEncoded() {
	if bytes.IndexByte(f.text, '%') < 0 {
		return
	}
	known := f.sorted()
	for at := 0; at < len(f.text); {
		i := bytes.IndexByte(f.text[at:], '%')
		if i < 0 {
			return
		}
		from, to := at+i, at+i
		for from > at && !endsWord(f.text[from-1]) {
			from--
		}
		for to < len(f.text) && !endsWord(f.text[to]) {
			to++
		}
		for len(known) > 0 && known[0].to <= from {
			known = known[1:]
		}
		f.percentWord(from, to, known)
		at = to
	}
}

func endsWord(c byte) bool { return c <= ' ' || c == '"' || c == '\'' || c == '\\' || c == ',' }

// percentWord looks into one. What is known of it without decoding, as the
// password in a URL, leaves the rest of it; none of that ends before the word.
func (f *finding) percentWord(from, to int, before []span) {
	deeper := &finding{m: f.m, text: unescape(f.text[from:to]), torn: f.torn, depth: f.depth + 1, unpacked: f.budget()}
	spans := deeper.all()
	known := 0
	for known < len(before) && before[known].from < to {
		known++
	}
	if len(spans) > known {
		f.spans = append(f.spans, span{from, to, spans[0].kind, func(c byte) bool { return !endsWord(c) }})
	}
}

// unescape decodes what is %XX, and leaves what is not.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := strconv.ParseUint(string(text[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(c))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}
