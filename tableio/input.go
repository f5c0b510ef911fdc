package tableio

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// input is the content of a file: seekable, or a pipe that was not read yet.
type input struct {
	path   string
	seek   io.ReadSeeker // nil for a pipe
	at     io.ReaderAt   // nil for a pipe
	size   int64         // of a seekable input
	stream io.Reader     // of a pipe, from its beginning
	file   *os.File      // to close, nil for stdin
	held   *content      // of a pipe that was read into memory; nil: none
}

func openInput(path string, stdin io.Reader) (*input, error) {
	in := &input{path: path, stream: stdin}
	if path == "-" {
		if stdin == nil {
			in.stream = os.Stdin
		}
		return in, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("this is a directory, not a file")
	}
	if in.file, err = os.Open(path); err != nil {
		return nil, err
	}
	in.stream = in.file
	if info.Mode().IsRegular() {
		in.seek, in.at, in.size = in.file, in.file, info.Size()
	}
	return in, nil
}

func (in *input) close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// head returns the first bytes without consuming them.
func (in *input) head(sizeBytes int) ([]byte, error) {
	head := make([]byte, sizeBytes)
	if in.at != nil {
		n, err := in.at.ReadAt(head, 0)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return head[:n], err
	}
	n, err := io.ReadFull(in.stream, head)
	in.stream = io.MultiReader(bytes.NewReader(head[:n]), in.stream)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// buffer makes a pipe seekable by reading it into memory.
func (in *input) buffer(from memory.Allocator) error {
	if in.seek != nil {
		return nil
	}
	mem := newScope(from)
	err := mem.finish(guard(func() (err error) {
		in.held, err = readContent(in.stream, mem)
		return err
	}))
	if err != nil {
		return err
	}
	reader := io.NewSectionReader(in.held, 0, in.held.sizeBytes)
	in.seek, in.at, in.size = reader, reader, in.held.sizeBytes
	return nil
}

// free frees the content of a pipe.
func (in *input) free() {
	if in.held != nil {
		in.held.free()
	}
}

// pipeBytes returns the memory that holds the content of a pipe.
func (in *input) pipeBytes() int64 {
	if in.held == nil {
		return 0
	}
	return in.held.memoryBytes()
}
