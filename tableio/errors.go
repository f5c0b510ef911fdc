package tableio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// The kinds of error of this package; test with [errors.Is]. Every error of an operation is an [*Error] that names the
// operation and the file, and wraps its cause and one of these. A cancelled context is returned as such, without a
// kind.
var (
	// ErrInput says that an input is missing, corrupt, or holds something unsupported.
	ErrInput = errors.New("input")
	// ErrOutput says that an output cannot be written: no permission, disk full, unsupported type.
	ErrOutput = errors.New("output")
	// ErrColumn says that a column name is unknown or ambiguous. It comes with ErrInput.
	ErrColumn = core.ErrColumn
	// ErrFormat says that the format must be given explicitly. It comes with ErrInput or ErrOutput.
	ErrFormat = errors.New("unknown format")
	// ErrCompression says that the format does not support that compression. It comes with ErrOutput.
	ErrCompression = core.ErrCompression
)

// Error is one failed operation on one file.
type Error struct {
	Kind error  // ErrInput or ErrOutput; nil for a cancelled context or a failed allocator
	Op   string // "open", "read", "create", "write", "commit"
	Path string // as the caller gave it
	Err  error  // the cause
}

func displayName(path string, kind error) string {
	switch {
	case path != "-":
		return path
	case errors.Is(kind, ErrOutput):
		return "standard output"
	default:
		return "standard input"
	}
}

// fail wraps err once. The path that the operating system's errors repeat is dropped.
func fail(kind error, op, path string, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	var alloc *core.AllocError
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &alloc) {
		kind = nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w (free some space or choose another place)", err)
	}
	return &Error{Kind: kind, Op: op, Path: path, Err: err}
}

// Error is one line: operation, file, cause. Control characters that the cause quotes from a file become spaces.
func (e *Error) Error() string {
	cause := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, e.Err.Error())
	return fmt.Sprintf("%s %s: %s", e.Op, displayName(e.Path, e.Kind), cause)
}

// Unwrap returns the cause and the kind.
func (e *Error) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Kind}
}
