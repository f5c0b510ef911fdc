package core

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// What formats report beside the place of a fault; test with [errors.Is].
var (
	// ErrColumn says that a column name is unknown or ambiguous.
	ErrColumn = errors.New("column")
	// ErrCompression says that the format does not support that compression.
	ErrCompression = errors.New("compression")
)

// ErrCorrupt is what a panic of the decoders and encoders below means to a user. Its own words, an index or a type of
// Go, would tell nothing.
var ErrCorrupt = errors.New("the content is corrupt")

// Guard runs f and turns a panic of the decoders and encoders below into ErrCorrupt, with the error of the panic unless
// that is the runtime's.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = ErrCorrupt
			switch e, _ := p.(error); {
			case errors.As(e, new(*AllocError)), errors.As(e, new(*backend.OpError)):
				err = e // the allocator's, not the content's
			case e != nil && !isRuntimeError(e):
				err = fmt.Errorf("%w: %w", ErrCorrupt, e)
			}
		}
	}()
	if err = f(); isRuntimeError(err) { // a panic that a library caught
		return ErrCorrupt
	}
	return err
}

// isRuntimeError sees also what a library put into a text.
func isRuntimeError(err error) bool {
	var fault runtime.Error
	return errors.As(err, &fault) || err != nil && strings.Contains(err.Error(), "runtime error: ")
}

// GuardIn is Guard with a place put before the error.
func GuardIn(place string, f func() error) error {
	if err := Guard(f); err != nil {
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

// JoinFaults is errors.Join on one line: nil errors do not count.
func JoinFaults(errs ...error) error {
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
