package core

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Input is the content of a file: seekable, or a pipe that was not read yet.
type Input struct {
	Path      string
	Seek      io.ReadSeeker // nil for a pipe
	At        io.ReaderAt   // nil for a pipe
	SizeBytes int64         // of a seekable input
	Stream    io.Reader     // of a pipe, from its beginning
	file      *os.File      // to close, nil for stdin
	held      *content      // of a pipe that was read into memory; nil: none
}

// OpenInput opens a file or pipe; "-" is stdin, or os.Stdin for nil. The caller closes the input. Errors: file system
// errors; a directory is one.
func OpenInput(path string, stdin io.Reader) (*Input, error) {
	in := &Input{Path: path, Stream: stdin}
	if path == "-" {
		if stdin == nil {
			in.Stream = os.Stdin
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
	in.Stream = in.file
	if info.Mode().IsRegular() {
		in.Seek, in.At, in.SizeBytes = in.file, in.file, info.Size()
	}
	return in, nil
}

// Close closes the file, but not stdin.
func (in *Input) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// Head returns the first sizeBytes of the content, or all of a shorter one, without consuming them.
func (in *Input) Head(sizeBytes int) ([]byte, error) {
	head := make([]byte, sizeBytes)
	if in.At != nil {
		n, err := in.At.ReadAt(head, 0)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return head[:n], err
	}
	n, err := io.ReadFull(in.Stream, head)
	in.Stream = io.MultiReader(bytes.NewReader(head[:n]), in.Stream)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// Buffer makes a pipe seekable by reading it into memory, until Free. On an error nothing stays allocated.
func (in *Input) Buffer(from memory.Allocator) error {
	if in.Seek != nil {
		return nil
	}
	mem := NewScope(from)
	err := mem.Finish(Guard(func() (err error) {
		in.held, err = readContent(in.Stream, mem)
		return err
	}))
	if err != nil {
		return err
	}
	reader := io.NewSectionReader(in.held, 0, in.held.sizeBytes)
	in.Seek, in.At, in.SizeBytes = reader, reader, in.held.sizeBytes
	return nil
}

// Free frees the content of a pipe that was buffered. It may be called again.
func (in *Input) Free() {
	if in.held != nil {
		in.held.free()
	}
}

// PipeBytes returns the memory that holds the content of a pipe; 0 if it was not buffered.
func (in *Input) PipeBytes() int64 {
	if in.held == nil {
		return 0
	}
	return in.held.memoryBytes()
}
