package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limit is how much of a record is read, in bytes. A service that starts again
// every few seconds fills it in days.
const Limit = 8 << 20

// Log is what could be read of one record.
type Log struct {
	Entries []Entry
	// Problem says what is wrong with the file and where; empty if it is whole.
	Problem string
}

// Read reads a record up to [Limit]. Every whole entry before a tear is kept. It
// never fails: what is no record at all has no entries, and says why.
func Read(r io.Reader) *Log {
	data, err := io.ReadAll(io.LimitReader(r, Limit+1))
	if len(data) > Limit {
		log := parse(data[:Limit])
		log.Problem = fmt.Sprintf("it is longer than %d MiB: what is behind entry %d is not read", Limit>>20, len(log.Entries))
		return log
	}
	log := parse(data)
	if err != nil {
		log.Problem = err.Error()
	}
	return log
}

// ReadEnd reads a record of which only the last bytes are there: it begins with
// the first whole entry, as jq puts them into a file.
func ReadEnd(data []byte) *Log {
	const entry = "\n  {\n"
	missing := fmt.Sprintf("it is longer than %d MiB: its beginning is not read", Limit>>20)
	at := bytes.Index(data, []byte(entry))
	if at < 0 {
		return &Log{Problem: missing + ", and the end holds no entry"}
	}
	// What stands before the first entry gives way to the bracket of the array,
	// and keeps its lines and bytes, so that places stay right.
	data = append(bytes.Repeat([]byte(" "), at), data[at:]...)
	data[max(at-1, 0)] = '['
	log := parse(data)
	if log.Problem == "" {
		log.Problem = missing
	}
	return log
}

// parse reads entry by entry, so that those before a tear are kept.
func parse(data []byte) *Log {
	log := &Log{}
	if len(bytes.TrimSpace(data)) == 0 {
		log.Problem = "it is empty"
		return log
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		log.Problem = "it is no record: expected an array of entries"
		return log
	}
	strange := 0
	for decoder.More() {
		var entry Entry
		err := decoder.Decode(&entry)
		var other *json.UnmarshalTypeError
		switch {
		case err != nil && !errors.As(err, &other):
			log.torn(data, err)
			return log
		case err != nil || !entry.known():
			strange++
		default:
			log.Entries = append(log.Entries, entry)
		}
	}
	if _, err := decoder.Token(); err != nil {
		log.torn(data, err)
		return log
	}
	if rest := data[decoder.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		log.Problem = log.place("it goes on behind its end", data, decoder.InputOffset())
		return log
	}
	if strange > 0 {
		log.Problem = fmt.Sprintf("%d of its %d entries are not of the installer's format", strange, strange+len(log.Entries))
	}
	return log
}

// torn says where the file breaks off, or stops to be JSON.
func (l *Log) torn(data []byte, err error) {
	what, at := "it is torn", int64(len(data))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = min(syntax.Offset, at)
	}
	if at < int64(len(data)) {
		what = "it is no JSON further on"
	}
	l.Problem = l.place(what, data, at)
}

func (l *Log) place(what string, data []byte, at int64) string {
	line := 1 + bytes.Count(data[:at], []byte("\n"))
	return fmt.Sprintf("%s, behind entry %d, in line %d (byte %d)", what, len(l.Entries), line, at)
}
