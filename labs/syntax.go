package labs

import "strings"

// syntaxError is what the YAML library says of a text that is no YAML, in words for
// a person who does not know the library.
type syntaxError struct {
	says  string // what the library's message begins with
	plain string
	hint  string
	// mark is what the column is of: the first of these texts on the line.
	mark []string
}

const quoteIt = "put a value with such characters in quotes, as \"a: b\""

// syntaxErrors are all messages of the library's scanner and parser.
// Source: go.yaml.in/yaml/v3 scannerc.go and parserc.go.
var syntaxErrors = []syntaxError{
	{"found character that cannot start any token", "a value cannot begin with this character", quoteIt, []string{"\t", "@", "`", "%"}},
	{"mapping values are not allowed", "there is a second colon on this line, or the line is indented too far", "a key begins where the keys beside it begin; " + quoteIt, nil},
	{"mapping keys are not allowed", "a key cannot stand here", "begin a key on a line of its own, as name: value", []string{"?"}},
	{"block sequence entries are not allowed", "an item of a list cannot stand here", "begin each item with a hyphen on a line of its own, below its key", []string{"- "}},
	{"could not find expected ':'", "this line has no colon, or a quote above it is not closed", "write a key and its value as name: value", nil},
	{"did not find expected key", "this line does not fit what is above it", "begin it in the column where the keys above begin, and close quotes that are open", nil},
	{"did not find expected '-' indicator", "this line does not fit the list above it", "begin each item with a hyphen, all in one column", nil},
	{"did not find expected node content", "a value is missing here, or begins with a character that has a meaning in YAML", quoteIt, []string{",", "]", "}"}},
	{"did not find expected ',' or ']'", "a list in brackets is not closed", "close it with ], or write each item on a line of its own behind a hyphen", []string{"["}},
	{"did not find expected ',' or '}'", "a mapping in braces is not closed", "close it with }, or write each key on a line of its own", []string{"{"}},
	{"found unexpected end of stream", "a quote is opened here and not closed", "close it with the same quote", []string{"\"", "'"}},
	{"found unexpected document indicator", "a quote is opened above and not closed", "close it with the same quote", []string{"\"", "'"}},
	{"found unknown escape character", "a backslash in double quotes stands before a character that has no meaning there", "use single quotes, in which a backslash is a backslash", []string{"\\"}},
	{"did not find expected hexdecimal number", "\\x, \\u or \\U in double quotes is not followed by enough hexadecimal digits", "use single quotes, in which a backslash is a backslash", []string{"\\"}},
	{"found invalid Unicode character escape code", "the character that is written with \\U does not exist", "use single quotes, in which a backslash is a backslash", []string{"\\"}},
	{"did not find expected comment or line break", "text stands behind | or >, on the same line", "begin the text on the next line, indented", []string{"|", ">"}},
	{"found an indentation indicator equal to 0", "the number behind | or > is 0", "leave the number out", []string{"|", ">"}},
	{"found a tab character", "the line is indented with a tab", "", []string{"\t"}},
	{"did not find expected alphabetic or numeric character", "& and * at the beginning of a value have a meaning in YAML", quoteIt, []string{"&", "*"}},
	{"did not find expected <document start>", "text stands where a new document would begin", "one lab.yaml holds one document: no line with --- or ..., and no line that begins with %", nil},
	{"control characters are not allowed", "the line holds a control character", "delete it: type the line again", nil},
	{"exceeded max depth", "brackets and braces are nested too deeply", "a lab needs no more than five levels", nil},
}

// tagsAndDirectives is for the messages about what a lab never needs.
var tagsAndDirectives = syntaxError{plain: "! at the beginning of a value, and % at the beginning of a line, have a meaning in YAML", hint: quoteIt, mark: []string{"!", "%"}}

// plainSyntax finds the words for a message of the library.
func plainSyntax(message string) syntaxError {
	for _, e := range syntaxErrors {
		if strings.HasPrefix(message, e.says) {
			return e
		}
	}
	return tagsAndDirectives
}

// column is where on the line the error is, from 1: the first of the marks, else the
// first character that is no space.
func (e syntaxError) column(line string) int {
	at := -1
	for _, mark := range e.mark {
		if i := strings.Index(line, mark); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if strings.HasPrefix(e.says, "mapping values") {
		if i := strings.LastIndex(line, ": "); i >= 0 {
			at = i
		}
	}
	if at < 0 {
		at = strings.IndexFunc(line, Hidden)
	}
	if at < 0 {
		at = len(line) - len(strings.TrimLeft(line, " \t"))
	}
	return len([]rune(line[:at])) + 1
}
