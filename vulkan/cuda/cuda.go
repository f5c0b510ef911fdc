// Package cuda copies between the memories of NVIDIA GPUs by the CUDA driver. libcuda is opened at run time; nothing of
// CUDA is needed to build.
//
// Memory comes from the driver's virtual memory API: it can be exported as a file descriptor, which the Vulkan device
// of the same GPU imports, and is mapped for the GPUs that copy it. Copies between such memories run at the speed of
// the connection of the GPUs. Everything is safe for concurrent use.
package cuda

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#cgo CFLAGS: -std=gnu11
#cgo linux LDFLAGS: -ldl
#include "shim.h"
*/
import "C"

// load opens the library, once per process.
var load = sync.OnceValue(func() error {
	if r := C.sjc_load(); r == C.SJC_MISSING {
		return unsupported("open CUDA", "libcuda.so.1, which comes with NVIDIA's driver, or a part of it is not there")
	} else if r != C.SJC_SUCCESS {
		return unsupported("open CUDA", "cuInit: %s", C.GoString(C.sjc_error(r)))
	}
	return nil
})

func unsupported(op, format string, a ...any) error {
	return &backend.OpError{Op: op, Err: backend.ErrUnsupported, Detail: fmt.Sprintf(format, a...)}
}

// check makes an error of a result.
func check(r C.int32_t, op string) error {
	sentinel := backend.ErrUnsupported
	switch r {
	case C.SJC_SUCCESS:
		return nil
	case C.SJC_OUT_OF_MEMORY:
		sentinel = backend.ErrDeviceMemory
	}
	return &backend.OpError{Op: op, Err: sentinel, Detail: C.GoString(C.sjc_error(r))}
}

// made returns what a call made, or nil with its error.
func made[T any](it *T, r C.int32_t, op string) (*T, error) {
	if err := check(r, op); err != nil {
		return nil, err
	}
	return it, nil
}

// lost is check for a call that fails only if the context of a GPU is lost.
func lost(r C.int32_t, op string) error {
	if r == C.SJC_SUCCESS {
		return nil
	}
	return &backend.OpError{Op: op, Err: backend.ErrDeviceLost, Detail: C.GoString(C.sjc_error(r))}
}

// GPU is a GPU whose primary context is held until Close.
type GPU struct {
	ordinal C.int
	context unsafe.Pointer
}

// Open finds a GPU by its UUID, as hexadecimal digits with or without dashes. ErrUnsupported if there is no CUDA
// driver, or if it does not have that GPU.
func Open(uuid string) (*GPU, error) {
	if err := load(); err != nil {
		return nil, err
	}
	var count C.int
	if err := check(C.sjc_count(&count), "list CUDA devices"); err != nil {
		return nil, err
	}
	for ordinal := range int(count) {
		found, err := uuidOf(ordinal)
		if err != nil {
			return nil, err
		}
		if found == strings.ReplaceAll(strings.ToLower(uuid), "-", "") {
			g := &GPU{ordinal: C.int(ordinal)}
			return made(g, C.sjc_open(g.ordinal, &g.context), "open a CUDA device")
		}
	}
	return nil, unsupported("open a CUDA device", "none of %d has the UUID %s", int(count), uuid)
}

// uuidOf returns the UUID of a GPU as 32 digits.
func uuidOf(ordinal int) (string, error) {
	var found [16]byte
	r := C.sjc_uuid(C.int(ordinal), (*C.uint8_t)(&found[0]))
	return fmt.Sprintf("%x", found), check(r, "list CUDA devices")
}

// Close gives up the context. What was made with the GPU must have been released.
func (g *GPU) Close() { C.sjc_close(g.ordinal) }

// Reaches reports whether the GPU can access the memory of another, or of itself.
func (g *GPU) Reaches(other *GPU) bool {
	var can C.int
	return g.ordinal == other.ordinal || C.sjc_can_access(g.ordinal, other.ordinal, &can) == C.SJC_SUCCESS && can != 0
}

// Is reports whether two are the same GPU.
func (g *GPU) Is(other *GPU) bool { return g.ordinal == other.ordinal }
