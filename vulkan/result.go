package vulkan

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// result is a VkResult.
type result int32

const (
	success          result = 0
	notReady         result = 1
	timedOut         result = 2
	incomplete       result = 5
	outOfHostMemory  result = -1
	outOfMemory      result = -2
	deviceLost       result = -4
	tooManyObjects   result = -10
	incompatible     result = -9
	noSuchExtension  result = -7
	undefinedFailure result = -13
)

// known gives the name of each failure and the sentinel that it means. After a failure that is not listed, the state of
// the device is unknown, and the device counts as lost.
var known = map[result]struct {
	name     string
	sentinel error
}{
	outOfHostMemory:  {"VK_ERROR_OUT_OF_HOST_MEMORY", backend.ErrHostMemory},
	outOfMemory:      {"VK_ERROR_OUT_OF_DEVICE_MEMORY", backend.ErrDeviceMemory},
	-3:               {"VK_ERROR_INITIALIZATION_FAILED", backend.ErrNoDevice},
	deviceLost:       {"VK_ERROR_DEVICE_LOST", backend.ErrDeviceLost},
	-5:               {"VK_ERROR_MEMORY_MAP_FAILED", backend.ErrHostMemory},
	-6:               {"VK_ERROR_LAYER_NOT_PRESENT", backend.ErrUnsupported},
	noSuchExtension:  {"VK_ERROR_EXTENSION_NOT_PRESENT", backend.ErrUnsupported},
	-8:               {"VK_ERROR_FEATURE_NOT_PRESENT", backend.ErrUnsupported},
	incompatible:     {"VK_ERROR_INCOMPATIBLE_DRIVER", backend.ErrNoDevice},
	tooManyObjects:   {"VK_ERROR_TOO_MANY_OBJECTS", backend.ErrLimit},
	-12:              {"VK_ERROR_FRAGMENTED_POOL", backend.ErrDeviceMemory},
	undefinedFailure: {"VK_ERROR_UNKNOWN", backend.ErrDeviceLost},
	-1000012000:      {"VK_ERROR_INVALID_SHADER_NV", backend.ErrUnsupported},
	-1000069000:      {"VK_ERROR_OUT_OF_POOL_MEMORY", backend.ErrDeviceMemory},
	-1000072003:      {"VK_ERROR_INVALID_EXTERNAL_HANDLE", backend.ErrUnsupported},
	-1000161000:      {"VK_ERROR_FRAGMENTATION", backend.ErrDeviceMemory},
}

func (r result) String() string {
	if k, ok := known[r]; ok {
		return k.name
	}
	return fmt.Sprintf("VkResult %d", int32(r))
}

// sentinel is the error that a failure means; nil for success and the other codes that are no failure.
func (r result) sentinel() error {
	if r >= 0 {
		return nil
	}
	if k, ok := known[r]; ok {
		return k.sentinel
	}
	return backend.ErrDeviceLost
}

// failure wraps a failed result; nil when it did not fail.
func failure(r result, op, device, format string, a ...any) error {
	sentinel := r.sentinel()
	if sentinel == nil {
		return nil
	}
	detail := r.String()
	if format != "" {
		detail += ": " + fmt.Sprintf(format, a...)
	}
	return &backend.OpError{Op: op, Device: device, Err: sentinel, Detail: detail}
}
