package backend

import (
	"errors"
	"fmt"
	"strings"
)

// Every error of a backend, a device or an algorithm wraps one of these sentinels. Test for them with errors.Is.
var (
	ErrInvalidInput = errors.New("invalid input")
	ErrUnsupported  = errors.New("unsupported")
	ErrNoDevice     = errors.New("no device")
	ErrDeviceMemory = errors.New("out of device memory")
	ErrHostMemory   = errors.New("out of host memory")
	ErrDiskSpace    = errors.New("out of disk space")
	ErrLimit        = errors.New("limit exceeded")
	ErrDeviceLost   = errors.New("device lost")
	ErrTimedOut     = errors.New("timed out")
	ErrCancelled    = errors.New("cancelled")
)

// OutOfMemory tells whether an error is a lack of device or host memory, which smaller pieces may do without.
func OutOfMemory(err error) bool {
	return errors.Is(err, ErrDeviceMemory) || errors.Is(err, ErrHostMemory)
}

// OpError describes a failed operation: what was done, where, and with which sizes.
type OpError struct {
	Op     string // operation, e.g. "allocate", "submit"
	Device string // name of the device; may be empty
	Kernel string // kernel name; may be empty
	Detail string // sizes, the limit that was hit and the option that changes it
	Err    error  // wraps one of the sentinels
}

func (e *OpError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Kernel != "" {
		fmt.Fprintf(&b, " kernel %s", e.Kernel)
	}
	if e.Device != "" {
		fmt.Fprintf(&b, " on %s", e.Device)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Detail != "" {
		fmt.Fprintf(&b, " (%s)", e.Detail)
	}
	return b.String()
}

func (e *OpError) Unwrap() error { return e.Err }
