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
	file      *os.File      // to close; nil for stdin, and at rest
	handle    *handle       // what Seek and At are of a regular file
	info      os.FileInfo   // of the file
	held      *content      // of a pipe that was read into memory; nil: none
}

// handle is a regular file that may be closed for a while. Its user cares that nothing reads meanwhile.
type handle struct{ *os.File }

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
		in.handle, in.info = &handle{in.file}, info
		in.Seek, in.At, in.SizeBytes = in.handle, in.handle, info.Size()
	}
	return in, nil
}

// Rest closes a regular file until Wake, so that many inputs need few open files. Nothing may be read meanwhile.
func (in *Input) Rest() error {
	file := in.file
	if file == nil {
		return nil
	}
	in.file, in.handle.File = nil, nil
	return file.Close()
}

// Wake opens a file at rest again. Errors: file system errors, and that it is not the file it was.
func (in *Input) Wake() error {
	file, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && (!os.SameFile(info, in.info) || info.Size() != in.info.Size() ||
		!info.ModTime().Equal(in.info.ModTime())) {
		err = errors.New("the file has changed since it was opened")
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	in.file, in.handle.File = file, file
	return nil
}

// Regular tells whether the input is a file that can be opened again.
func (in *Input) Regular() bool { return in.handle != nil }

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
