//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// result is what a function of OpenCL returns: 0, or an error less than 0.
type result int32

const (
	success            result = C.CL_SUCCESS
	outOfResources     result = C.CL_OUT_OF_RESOURCES
	buildFailure       result = C.CL_BUILD_PROGRAM_FAILURE
	awaitedEventFailed result = C.CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
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

// sentinelOf is the error that a failure means. After an error that is not listed, the state of the device is unknown,
// and the device counts as lost.
func sentinelOf(err error) error {
	r, _ := asResult(err).(result)
	switch r {
	case C.CL_DEVICE_NOT_FOUND, C.CL_DEVICE_NOT_AVAILABLE, C.CL_PLATFORM_NOT_FOUND_KHR:
		return backend.ErrNoDevice
	case C.CL_COMPILER_NOT_AVAILABLE, C.CL_BUILD_PROGRAM_FAILURE, C.CL_INVALID_BINARY, C.CL_INVALID_BUILD_OPTIONS,
		C.CL_INVALID_PROGRAM_EXECUTABLE, C.CL_INVALID_KERNEL_NAME, C.CL_INVALID_WORK_GROUP_SIZE:
		return backend.ErrUnsupported
	case C.CL_MEM_OBJECT_ALLOCATION_FAILURE:
		return backend.ErrDeviceMemory
	case C.CL_OUT_OF_HOST_MEMORY:
		return backend.ErrHostMemory
	}
	return backend.ErrDeviceLost
}

// codes are the results behind errors of the binding. Those that are not listed keep the binding's text.
var codes = map[error]result{
	cl.ErrDeviceNotFound:             C.CL_DEVICE_NOT_FOUND,
	cl.ErrDeviceNotAvailable:         C.CL_DEVICE_NOT_AVAILABLE,
	cl.ErrCompilerNotAvailable:       C.CL_COMPILER_NOT_AVAILABLE,
	cl.ErrMemObjectAllocationFailure: C.CL_MEM_OBJECT_ALLOCATION_FAILURE,
	cl.ErrOutOfResources:             C.CL_OUT_OF_RESOURCES,
	cl.ErrOutOfHostMemory:            C.CL_OUT_OF_HOST_MEMORY,
	cl.ErrBuildProgramFailure:        C.CL_BUILD_PROGRAM_FAILURE,
	cl.ErrInvalidBuildOptions:        C.CL_INVALID_BUILD_OPTIONS,
	cl.ErrInvalidProgramExecutable:   C.CL_INVALID_PROGRAM_EXECUTABLE,
	cl.ErrInvalidKernelName:          C.CL_INVALID_KERNEL_NAME,
	cl.ErrInvalidBufferSize:          C.CL_INVALID_BUFFER_SIZE,
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
	return &backend.OpError{Op: op, Device: device, Err: sentinelOf(err),
		Detail: asResult(err).Error() + ": " + fmt.Sprintf(format, a...)}
}
