package mask

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// spool keeps what is written until its length is known: of a masked file so many
// bytes as [inMemory] says in memory; more goes to a temporary file, for its owner
// alone and without a name.
type spool struct {
	size   int64
	memory bytes.Buffer
	file   *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file == nil && s.memory.Len()+len(p) <= inMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "bootlab-mask-")
		if err != nil {
			return 0, err
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return 0, err
		}
		if _, err := f.Write(s.memory.Bytes()); err != nil {
			return 0, err
		}
		s.memory = bytes.Buffer{}
	}
	return s.file.Write(p)
}

func (s *spool) copyTo(w io.Writer) error {
	if s.file == nil {
		_, err := w.Write(s.memory.Bytes())
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(w, s.file)
	if err == nil && n != s.size {
		err = errors.New("a temporary file became shorter")
	}
	return err
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}
