package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// File is a temporary file that has no name: the system frees its space when it is closed, also if the process is
// killed. Its size counts as disk space of a grant. Safe for concurrent use.
type File struct {
	dir   string
	file  *os.File
	grant *exec.Grant

	mu        sync.Mutex // guards what follows
	sizeBytes int64
	unused    []span // in order
}

// span is a range of bytes of a file.
type span struct{ from, sizeBytes int64 }

func (s span) end() int64 { return s.from + s.sizeBytes }

// NewFile makes a temporary file in dir. The grant, which stays the caller's, grows with it. The caller closes the
// file. Errors: file system errors.
func NewFile(dir string, grant *exec.Grant) (*File, error) {
	file, err := os.CreateTemp(dir, ".spirjoin-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file in temp_dir: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &File{dir: dir, file: file, grant: grant}, nil
}

// Close frees the space.
func (f *File) Close() error { return f.file.Close() }

// SizeBytes is how large the file became.
func (f *File) SizeBytes() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return uint64(f.sizeBytes)
}

// extentBytes is the size of small writes, and of what they take at a time.
const extentBytes = 1 << 18

// writer writes one block to a file: to wherever there is room, piece by piece. Large slices are written as they are,
// others are gathered to extents.
type writer struct {
	file  *File
	spans []span // what was written; neighbours are one
	few   []byte // to be written
}

var extents = sync.Pool{New: func() any { return new([extentBytes]byte) }}

// Write implements io.Writer.
func (w *writer) Write(content []byte) (int, error) {
	if len(w.few)+len(content) <= cap(w.few) {
		w.few = append(w.few, content...)
		return len(content), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	if len(content) > extentBytes/2 {
		return len(content), w.put(content)
	}
	w.few = append(w.few, content...)
	return len(content), nil
}

func (w *writer) flush() error {
	few := w.few
	w.few = w.few[:0]
	return w.put(few)
}

func (w *writer) put(content []byte) error {
	if len(content) == 0 {
		return nil
	}
	at, err := w.file.take(int64(len(content)))
	if err != nil {
		return err
	}
	if n := len(w.spans); n > 0 && w.spans[n-1].end() == at.from {
		w.spans[n-1].sizeBytes += at.sizeBytes
	} else {
		w.spans = append(w.spans, at)
	}
	if _, err := w.file.file.WriteAt(content, at.from); err != nil {
		return w.file.failed("write", err)
	}
	return nil
}

// write has encode write a block, and returns where it is.
func (f *File) write(encode func(io.Writer) error) ([]span, error) {
	extent := extents.Get().(*[extentBytes]byte)
	defer extents.Put(extent)
	w := &writer{file: f, few: extent[:0]}
	err := encode(w)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		f.free(w.spans)
		return nil, err
	}
	return w.spans, nil
}

// reader reads a block.
func (f *File) reader(spans []span) io.Reader {
	if len(spans) == 1 {
		return io.NewSectionReader(f.file, spans[0].from, spans[0].sizeBytes)
	}
	var all []io.Reader
	for _, s := range spans {
		all = append(all, io.NewSectionReader(f.file, s.from, s.sizeBytes))
	}
	return io.MultiReader(all...)
}

// take takes unused space, or grows the file.
func (f *File) take(sizeBytes int64) (at span, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.unused {
		if u := &f.unused[i]; u.sizeBytes >= sizeBytes {
			at = span{u.from, sizeBytes}
			if u.from, u.sizeBytes = u.from+sizeBytes, u.sizeBytes-sizeBytes; u.sizeBytes == 0 {
				f.unused = slices.Delete(f.unused, i, i+1)
			}
			return at, nil
		}
	}
	if err := f.grant.Grow(exec.Need{Disk: uint64(sizeBytes)}); err != nil {
		return at, err
	}
	at = span{f.sizeBytes, sizeBytes}
	f.sizeBytes += sizeBytes
	return at, nil
}

// free makes space unused. Neighbours become one.
func (f *File) free(spans []span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range spans {
		i, _ := slices.BinarySearchFunc(f.unused, s, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		f.unused = slices.Insert(f.unused, i, s)
		if i+1 < len(f.unused) && s.end() == f.unused[i+1].from {
			f.unused[i].sizeBytes += f.unused[i+1].sizeBytes
			f.unused = slices.Delete(f.unused, i+1, i+2)
		}
		if i > 0 && f.unused[i-1].end() == s.from {
			f.unused[i-1].sizeBytes += f.unused[i].sizeBytes
			f.unused = slices.Delete(f.unused, i, i+1)
		}
	}
}

// failed is the error of an operation on the file.
func (f *File) failed(op string, err error) error {
	kind := err
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		kind = backend.ErrDiskSpace
	}
	return &backend.OpError{Op: op + " a temporary file", Err: kind,
		Detail: fmt.Sprintf("in %s: %v; choose another temp_dir", f.dir, err)}
}
