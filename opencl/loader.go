//go:build opencl && linux

package opencl

/*
#cgo pkg-config: OpenCL
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// installHint ends the error about a missing OpenCL.
const installHint = "install the OpenCL loader (Debian, Ubuntu: ocl-icd-libopencl1) and a driver: that of the GPU's " +
	"vendor, or pocl-opencl-icd, a software driver"

// load opens libOpenCL, once per process.
var load = sync.OnceValue(func() error { return loadFirst("libOpenCL.so.1", "libOpenCL.so") })

// loadFirst opens the first of some libraries that is there.
func loadFirst(names ...string) error {
	var failures []string
	for _, name := range names {
		text := C.CString(name)
		failure := C.sjcl_load(text)
		C.free(unsafe.Pointer(text))
		if failure == nil {
			return nil
		}
		failures = append(failures, C.GoString(failure))
	}
	return noDevice("%s; %s", strings.Join(failures, "; "), installHint)
}

func noDevice(format string, a ...any) error {
	return &backend.OpError{Op: "open OpenCL", Err: backend.ErrNoDevice, Detail: fmt.Sprintf(format, a...)}
}
