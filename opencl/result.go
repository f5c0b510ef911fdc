//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// object is one of the binding's.
type object interface {
	cl.Device | cl.Context | cl.CommandQueue | cl.MemObject | cl.Program | cl.Kernel | cl.Event
}

// handle is the object of OpenCL behind one of the binding, which keeps it in its first word; nil for nil. The object must
// stay reachable as long as the handle is used, because its finalizer releases it.
func handle[T object](o *T) unsafe.Pointer {
	if o == nil {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(o))
}

// adopt makes an object of the binding, without a finalizer, of a handle from the shim.
func adopt[T object](handle unsafe.Pointer) *T {
	o := new(T)
	*(*unsafe.Pointer)(unsafe.Pointer(o)) = handle
	return o
}

// result is what a function of OpenCL returns: 0, or an error less than 0.
type result int32

const (
	success            result = 0
	deviceNotFound     result = -1
	allocationFailure  result = -4
	outOfResources     result = -5
	outOfHostMemory    result = -6
	buildFailure       result = -11
	awaitedEventFailed result = -14
	noPlatform         result = -1001
)

var names = map[result]string{
	-1: "CL_DEVICE_NOT_FOUND", -2: "CL_DEVICE_NOT_AVAILABLE", -3: "CL_COMPILER_NOT_AVAILABLE",
	-4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -5: "CL_OUT_OF_RESOURCES", -6: "CL_OUT_OF_HOST_MEMORY",
	-7: "CL_PROFILING_INFO_NOT_AVAILABLE", -11: "CL_BUILD_PROGRAM_FAILURE", -12: "CL_MAP_FAILURE",
	-14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -30: "CL_INVALID_VALUE", -33: "CL_INVALID_DEVICE",
	-34: "CL_INVALID_CONTEXT", -36: "CL_INVALID_COMMAND_QUEUE", -37: "CL_INVALID_HOST_PTR",
	-38: "CL_INVALID_MEM_OBJECT", -42: "CL_INVALID_BINARY", -43: "CL_INVALID_BUILD_OPTIONS",
	-45: "CL_INVALID_PROGRAM_EXECUTABLE", -46: "CL_INVALID_KERNEL_NAME", -48: "CL_INVALID_KERNEL",
	-49: "CL_INVALID_ARG_INDEX", -50: "CL_INVALID_ARG_VALUE", -51: "CL_INVALID_ARG_SIZE",
	-52: "CL_INVALID_KERNEL_ARGS", -54: "CL_INVALID_WORK_GROUP_SIZE", -58: "CL_INVALID_EVENT",
	-59: "CL_INVALID_OPERATION", -61: "CL_INVALID_BUFFER_SIZE", -63: "CL_INVALID_GLOBAL_WORK_SIZE",
	-1001: "CL_PLATFORM_NOT_FOUND_KHR",
}

func (r result) Error() string {
	if name, ok := names[r]; ok {
		return name
	}
	return fmt.Sprintf("OpenCL error %d", int32(r))
}

// sentinel is the error that a failure means; what is not listed leaves a device in a state that nobody knows, and
// counts as its loss.
func (r result) sentinel() error {
	switch r {
	case deviceNotFound, -2, noPlatform:
		return backend.ErrNoDevice
	case -3, buildFailure, -42, -43, -45, -46, -54:
		return backend.ErrUnsupported
	case allocationFailure:
		return backend.ErrDeviceMemory
	case outOfHostMemory:
		return backend.ErrHostMemory
	}
	return backend.ErrDeviceLost
}

// codes are the results behind errors of the binding.
var codes = map[error]result{
	cl.ErrDeviceNotFound: deviceNotFound, cl.ErrDeviceNotAvailable: -2, cl.ErrCompilerNotAvailable: -3,
	cl.ErrMemObjectAllocationFailure: allocationFailure, cl.ErrOutOfResources: outOfResources,
	cl.ErrOutOfHostMemory: outOfHostMemory, cl.ErrBuildProgramFailure: buildFailure, cl.ErrInvalidValue: -30,
	cl.ErrInvalidDevice: -33, cl.ErrInvalidContext: -34, cl.ErrInvalidCommandQueue: -36, cl.ErrInvalidHostPtr: -37,
	cl.ErrInvalidMemObject: -38, cl.ErrInvalidBuildOptions: -43, cl.ErrInvalidProgramExecutable: -45,
	cl.ErrInvalidKernelName: -46, cl.ErrInvalidKernel: -48, cl.ErrInvalidOperation: -59, cl.ErrInvalidBufferSize: -61,
}

// asResult returns the result behind an error of the binding; other errors as they are.
func asResult(err error) error {
	if other, ok := err.(cl.ErrOther); ok {
		return result(other)
	}
	if r, ok := codes[err]; ok {
		return r
	}
	return err
}

// check turns what the shim returns into an error; nil if it did not fail.
func check(code C.cl_int) error {
	if code == C.CL_SUCCESS {
		return nil
	}
	return result(code)
}

// failure wraps a failed call of OpenCL; nil when it did not fail.
func failure(err error, op, device, format string, a ...any) error {
	if err == nil {
		return nil
	}
	err = asResult(err)
	sentinel := backend.ErrDeviceLost
	if r, ok := err.(result); ok {
		sentinel = r.sentinel()
	}
	return &backend.OpError{Op: op, Device: device, Err: sentinel, Detail: err.Error() + ": " + fmt.Sprintf(format, a...)}
}
