package vulkan

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/cache"
)

/*
#cgo CFLAGS: -std=gnu11
#include "shim.h"
*/
import "C"

// installHint ends every error about a missing Vulkan.
const installHint = "install the Vulkan loader (Debian, Ubuntu: libvulkan1) and a driver: that of the GPU's vendor, or " +
	"mesa-vulkan-drivers, which also holds the software driver lavapipe"

// load opens the Vulkan loader, once per process. No Vulkan library is linked, so programs start where there is none.
var load = sync.OnceValue(func() error {
	tuneLavapipe()
	names := []string{"libvulkan.so.1"}
	if runtime.GOOS == "darwin" {
		names = []string{"libvulkan.1.dylib", "libMoltenVK.dylib"}
	}
	var library uintptr
	var errs []error
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			library = handle
			break
		}
		errs = append(errs, err)
	}
	if library == 0 {
		return noDevice("%v; %s", errors.Join(errs...), installHint)
	}
	entry, err := purego.Dlsym(library, "vkGetInstanceProcAddr")
	if err != nil {
		return noDevice("the Vulkan loader has no entry point: %v", err)
	}
	pointer := *(*unsafe.Pointer)(unsafe.Pointer(&entry))
	C.sj_load(pointer)
	vk.SetGetInstanceProcAddr(pointer)
	if err := vk.Init(); err != nil {
		return noDevice("%v; %s", err, installHint)
	}
	return nil
})

// tuneLavapipe asks lavapipe, before it is loaded, for vectors of 128 bits, unless the environment says otherwise. With wider
// ones Mesa 22.3 spills the addresses of an access in one piece and loads them one by one, so that every access waits for
// the one before it: scatters and gathers take 2.5 to 5 times as long. Mesa's cache of compiled shaders does not tell
// the widths apart and therefore goes elsewhere, into a folder that is made here: Mesa makes only the last part of its
// path, and complains on standard error where the others are missing.
func tuneLavapipe() {
	const width = "LP_NATIVE_VECTOR_WIDTH"
	if _, set := os.LookupEnv(width); set {
		return
	}
	if _, set := os.LookupEnv("MESA_SHADER_CACHE_DIR"); !set {
		if folder, err := cache.Path("mesa-128"); err == nil {
			_ = os.MkdirAll(folder, 0o755)
			_ = os.Setenv("MESA_SHADER_CACHE_DIR", folder)
		}
	}
	_ = os.Setenv(width, "128")
}

func noDevice(format string, a ...any) error {
	return &backend.OpError{Op: "open Vulkan", Err: backend.ErrNoDevice, Detail: fmt.Sprintf(format, a...)}
}

// raw is a handle of the binding as the shim takes it.
func raw[T any](handle T) C.uint64_t { return *(*C.uint64_t)(unsafe.Pointer(&handle)) }

// handleOf is a handle of the shim as the binding takes it.
func handleOf[T any](handle C.uint64_t) T { return *(*T)(unsafe.Pointer(&handle)) }

// names collects the names that a function of the shim writes in 256 bytes each.
func names(get func(names *C.char, limit C.uint32_t) C.uint32_t) map[string]bool {
	const limit = 512
	buffer := make([]byte, 256*limit)
	count := get((*C.char)(unsafe.Pointer(&buffer[0])), limit)
	set := make(map[string]bool, count)
	for i := range int(count) {
		set[text(buffer[256*i:256*(i+1)])] = true
	}
	return set
}

// text is a C string in a fixed array.
func text[C ~int8 | ~uint8](array []C) string {
	var b []byte
	for _, c := range array {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}
