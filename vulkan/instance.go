package vulkan

import (
	"fmt"
	"os"
	"runtime"
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
	C.sj_close_instance(unsafe.Pointer(i.handle))
	vk.DestroyInstance(i.handle, nil)
	process.live = nil
}

func create(options *Options) (*instance, error) {
	if version := uint32(C.sj_instance_version()); version < apiVersion12 {
		return nil, noDevice("the Vulkan loader is older than 1.2; %s", installHint)
	}
	var layers, extensions []string
	var flags vk.InstanceCreateFlags
	offered := names(func(n *C.char, limit C.uint32_t) C.uint32_t { return C.sj_instance_extensions(n, limit) })
	if offered[extPortability] {
		extensions, flags = append(extensions, extPortability+"\x00"), enumeratePortable
	}
	if options.Validation != Off {
		if !names(func(n *C.char, limit C.uint32_t) C.uint32_t { return C.sj_instance_layers(n, limit) })[validationLayer] || !offered[extMessages] {
			return nil, &backend.OpError{Op: "open Vulkan", Err: backend.ErrUnsupported,
				Detail: "validation needs " + validationLayer + "; install it (Debian, Ubuntu: vulkan-validationlayers) or turn Options.Validation off"}
		}
		layers = append(layers, validationLayer+"\x00")
		extensions = append(extensions, extMessages+"\x00", extValidation+"\x00")
	}
	appName := options.AppName + "\x00"
	var pin runtime.Pinner // the binding stores the pointer in C memory
	defer pin.Unpin()
	pin.Pin(unsafe.StringData(appName))
	application := vk.ApplicationInfo{
		SType: vk.StructureTypeApplicationInfo, PApplicationName: appName, PEngineName: "spirjoin\x00", ApiVersion: apiVersion13,
	}
	info := vk.InstanceCreateInfo{
		SType: vk.StructureTypeInstanceCreateInfo, PNext: C.sj_instance_chain(C.uint32_t(options.Validation)), Flags: flags, PApplicationInfo: &application,
		EnabledLayerCount: uint32(len(layers)), PpEnabledLayerNames: layers,
		EnabledExtensionCount: uint32(len(extensions)), PpEnabledExtensionNames: extensions,
	}
	var handle vk.Instance
	r := result(vk.CreateInstance(&info, nil, &handle))
	info.Free()
	if r == incompatible {
		return nil, noDevice("the Vulkan loader finds no driver that works (VK_DRIVER_FILES=%q, VK_ICD_FILENAMES=%q); %s",
			os.Getenv("VK_DRIVER_FILES"), os.Getenv("VK_ICD_FILENAMES"), installHint)
	}
	if err := failure(r, "open Vulkan", "", "creating an instance"); err != nil {
		return nil, err
	}
	if err := vk.InitInstance(handle); err != nil { // without it, every later call of the binding is a call of address 0
		return nil, noDevice("%v", err)
	}
	if err := failure(result(C.sj_open_instance(unsafe.Pointer(handle), C.uint32_t(options.Validation))), "open Vulkan", "", "subscribing to messages"); err != nil {
		vk.DestroyInstance(handle, nil)
		return nil, err
	}
	return &instance{handle: handle, validation: options.Validation, appName: options.AppName, users: 1}, nil
}
