package tableio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unicode"

	"github.com/spirjoin/spirjoin/backend"
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
	ErrColumn = errors.New("column")
	// ErrFormat says that the format must be given explicitly. It comes with ErrInput or ErrOutput.
	ErrFormat = errors.New("unknown format")
	// ErrCompression says that the format does not support that compression. It comes with ErrOutput.
	ErrCompression = errors.New("compression")
)

// Error is one failed operation on one file.
type Error struct {
	Kind error  // ErrInput or ErrOutput; nil for a cancelled context or a failed allocator
	Op   string // "open", "read", "create", "write", "commit"
	Path string // as the caller gave it
	Err  error  // the cause
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
	var alloc *allocError
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &alloc) {
		kind = nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w (free some space or choose another place)", err)
	}
	return &Error{Kind: kind, Op: op, Path: path, Err: err}
}

// errCorrupt is what a panic of the decoders and encoders below means to a user. Its own words, an index or a type of
// Go, would tell nothing.
var errCorrupt = errors.New("the content is corrupt")

// guard runs f and turns a panic of the decoders and encoders below into errCorrupt, with the error of the panic unless
// that is the runtime's.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errCorrupt
			switch e, _ := p.(error); {
			case errors.As(e, new(*allocError)), errors.As(e, new(*backend.OpError)): // the allocator's, not the content's
				err = e
			case e != nil && !isRuntimeError(e):
				err = fmt.Errorf("%w: %w", errCorrupt, e)
			}
		}
	}()
	if err = f(); isRuntimeError(err) { // a panic that a library caught
		return errCorrupt
	}
	return err
}

// isRuntimeError sees also what a library put into a text.
func isRuntimeError(err error) bool {
	var fault runtime.Error
	return errors.As(err, &fault) || err != nil && strings.Contains(err.Error(), "runtime error: ")
}

// guardIn is guard with a place put before the error.
func guardIn(place string, f func() error) error {
	if err := guard(f); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}

// faults are several errors found together, in one line.
type faults []error

func (f faults) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (f faults) Unwrap() []error { return f }

// joinFaults is errors.Join on one line: nil errors do not count.
func joinFaults(errs ...error) error {
	var f faults
	for _, err := range errs {
		if err != nil {
			f = append(f, err)
		}
	}
	switch len(f) {
	case 0:
		return nil
	case 1:
		return f[0]
	}
	return f
}
