package vulkan

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

const (
	validationLayer   = "VK_LAYER_KHRONOS_validation"
	extMessages       = "VK_EXT_debug_utils"
	extPortability    = "VK_KHR_portability_enumeration"
	extValidation     = "VK_EXT_validation_features"
	enumeratePortable = 1
	apiVersion11      = 1<<22 | 1<<12
	apiVersion12      = 1<<22 | 2<<12
	apiVersion13      = 1<<22 | 3<<12
)

// instance is the VkInstance of the process. There is at most one, because the binding keeps its function pointers in
// process-wide variables; Backends share it, and it goes with the last of them.
type instance struct {
	handle     vk.Instance
	validation Validation
	appName    string
	users      int
}

var process struct {
	mu   sync.Mutex
	live *instance
}

// acquire returns the instance of the process, created with these options unless it lives already.
func acquire(options *Options) (*instance, error) {
	if err := load(); err != nil {
		return nil, err
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if i := process.live; i != nil {
		if i.validation != options.Validation || i.appName != options.AppName {
			return nil, &backend.OpError{Op: "open Vulkan", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
				"a process has one instance, and that in use has validation %v and application name %q, not %v and %q; close its backends first",
				i.validation, i.appName, options.Validation, options.AppName)}
		}
		i.users++
		return i, nil
	}
	i, err := create(options)
	if err != nil {
		return nil, err
	}
	process.live = i
	return i, nil
}

// release destroys the instance with its last user.
func (i *instance) release() {
	process.mu.Lock()
	defer process.mu.Unlock()
	if i.users--; i.users > 0 {
		return
	}
	C.sj_destroy_instance()
	process.live = nil
}

func create(options *Options) (*instance, error) {
	if version := uint32(C.sj_instance_version()); version < apiVersion12 {
		return nil, noDevice("the Vulkan loader is older than 1.2; %s", installHint)
	}
	var extensions []string
	var flags C.uint32_t
	offered := names(func(n *C.char, limit C.uint32_t) C.uint32_t { return C.sj_instance_extensions(n, limit) })
	if offered[extPortability] {
		extensions, flags = append(extensions, extPortability), enumeratePortable
	}
	if options.Validation != Off {
		if !names(func(n *C.char, limit C.uint32_t) C.uint32_t { return C.sj_instance_layers(n, limit) })[validationLayer] || !offered[extMessages] {
			return nil, &backend.OpError{Op: "open Vulkan", Err: backend.ErrUnsupported,
				Detail: "validation needs " + validationLayer + "; install it (Debian, Ubuntu: vulkan-validationlayers) or turn Options.Validation off"}
		}
		extensions = append(extensions, extMessages, extValidation)
	}
	appName := []byte(options.AppName + "\x00")
	var created unsafe.Pointer
	r := result(C.sj_create_instance((*C.char)(unsafe.Pointer(&appName[0])), joined(extensions), C.uint32_t(len(extensions)), flags, C.uint32_t(options.Validation), &created))
	if r == incompatible {
		return nil, noDevice("the Vulkan loader finds no driver that works (VK_DRIVER_FILES=%q, VK_ICD_FILENAMES=%q); %s",
			os.Getenv("VK_DRIVER_FILES"), os.Getenv("VK_ICD_FILENAMES"), installHint)
	}
	if err := failure(r, "open Vulkan", "", "creating an instance"); err != nil {
		return nil, err
	}
	handle := vk.Instance(created)
	if err := vk.InitInstance(handle); err != nil { // without it, every later call of the binding is a call of address 0
		C.sj_destroy_instance()
		return nil, noDevice("%v", err)
	}
	return &instance{handle: handle, validation: options.Validation, appName: options.AppName, users: 1}, nil
}

// joined lays strings one after the other, each ended by a zero byte.
func joined(list []string) *C.char {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData([]byte(strings.Join(list, "\x00") + "\x00"))))
}
