package exchange

import (
	"errors"
	"fmt"
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

// NewFile makes a temporary file in dir. The grant, which stays the caller's, grows with it. The caller closes the file.
// Errors are those of the system.
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

// append writes to where there is room.
func (f *File) append(content []byte) (at span, err error) {
	if at, err = f.take(int64(len(content))); err != nil {
		return at, err
	}
	if _, err := f.file.WriteAt(content, at.from); err != nil {
		f.free([]span{at})
		return at, f.failed("write", err)
	}
	return at, nil
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
	all := append(f.unused, spans...)
	slices.SortFunc(all, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	f.unused = nil
	for _, s := range all {
		if n := len(f.unused); n > 0 && f.unused[n-1].from+f.unused[n-1].sizeBytes == s.from {
			f.unused[n-1].sizeBytes += s.sizeBytes
		} else {
			f.unused = append(f.unused, s)
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
