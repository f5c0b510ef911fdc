//go:build !(opencl && linux)

package opencl

import "github.com/spirjoin/spirjoin/backend"

// Built tells whether the program can use OpenCL.
const Built = false

// Backend is absent from a program built without the tag "opencl", or for another system than Linux.
type Backend struct{ backend.Backend }

// New returns ErrNoDevice.
func New(Options) (*Backend, error) {
	return nil, &backend.OpError{Op: "open OpenCL", Err: backend.ErrNoDevice,
		Detail: "built without OpenCL; build with `make build`, on Linux"}
}
