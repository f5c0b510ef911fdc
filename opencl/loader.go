package opencl

/*
#cgo CFLAGS: -std=gnu11
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// installHint ends the error about a missing OpenCL.
const installHint = "install the OpenCL loader (Debian, Ubuntu: ocl-icd-libopencl1) and a driver: that of the GPU's " +
	"vendor, or pocl-opencl-icd, a software driver"

// load opens libOpenCL, once per process.
var load = sync.OnceValue(func() error {
	names := []string{"libOpenCL.so.1", "libOpenCL.so"}
	if runtime.GOOS == "darwin" {
		names = []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
	}
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
})

func noDevice(format string, a ...any) error {
	return &backend.OpError{Op: "open OpenCL", Err: backend.ErrNoDevice, Detail: fmt.Sprintf(format, a...)}
}
