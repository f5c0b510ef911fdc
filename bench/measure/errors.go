package measure

import (
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// ErrWrong says that a device gave a wrong result.
var ErrWrong = errors.New("wrong result")

// Wrongf returns ErrWrong with a description.
func Wrongf(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrWrong, fmt.Sprintf(format, a...))
}

// DoesNotFit reports whether a case is skipped because of an error; other errors end a measurement.
func DoesNotFit(err error) bool {
	return backend.OutOfMemory(err) || errors.Is(err, backend.ErrLimit)
}
