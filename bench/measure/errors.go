package measure

import (
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// ErrWrong says that a device gave a wrong answer.
var ErrWrong = errors.New("wrong result")

// Wrongf is ErrWrong with what is wrong.
func Wrongf(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrWrong, fmt.Sprintf(format, a...))
}

// DoesNotFit tells an error for which a case is skipped from one that ends a measurement.
func DoesNotFit(err error) bool {
	return errors.Is(err, backend.ErrDeviceMemory) || errors.Is(err, backend.ErrHostMemory) ||
		errors.Is(err, backend.ErrLimit)
}
