//go:build opencl && linux

package opencl

import (
	"unsafe"

	"github.com/jgillich/go-opencl/cl"
)

// object is a type of the binding.
type object interface {
	cl.Device | cl.Context | cl.CommandQueue | cl.MemObject | cl.Program | cl.Kernel | cl.Event
}

// handle returns the handle of an object, which is its first word; nil for nil. The object must stay reachable as long
// as the handle is used, because its finalizer releases it: a driver holds all of its objects.
func handle[T object](o *T) unsafe.Pointer {
	if o == nil {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(o))
}

// adopt makes an object of a handle from the shim. It has no finalizer.
func adopt[T object](handle unsafe.Pointer) *T {
	o := new(T)
	*(*unsafe.Pointer)(unsafe.Pointer(o)) = handle
	return o
}
