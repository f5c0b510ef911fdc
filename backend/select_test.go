package backend

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelectDevice(t *testing.T) {
	devices := []DeviceInfo{
		{ID: "vulkan:llvmpipe:00aa", Index: 0, Backend: "vulkan", Name: "llvmpipe (LLVM 15)", Driver: "llvmpipe", Type: Software, UUID: "00aa11"},
		{ID: "vulkan:old:11bb", Index: 1, Backend: "vulkan", Name: "Old GPU", Driver: "old", Type: Discrete, UUID: "11bb22", Unusable: "no timeline semaphores"},
		{ID: "vulkan:nvidia:22cc", Index: 2, Backend: "vulkan", Name: "NVIDIA H200", Driver: "NVIDIA", Type: Discrete, UUID: "22cc33"},
		{ID: "vulkan:dzn:22cc", Index: 3, Backend: "vulkan", Name: "NVIDIA H200", Driver: "dozen", Type: Discrete, UUID: "22cc33", TwinOf: "vulkan:nvidia:22cc"},
		{ID: "vulkan:anv:33dd", Index: 4, Backend: "vulkan", Name: "Intel Graphics", Driver: "anv", Type: Integrated, UUID: "33dd44"},
		{ID: "host:cpu", Index: 5, Backend: "host", Name: "Some CPU", Driver: "Go", Type: Host},
	}
	pick := func(spec string, from ...DeviceInfo) string {
		d, err := SelectDevice(from, spec)
		if err != nil {
			return err.Error()
		}
		return d.ID
	}
	for spec, want := range map[string]string{
		"": "vulkan:nvidia:22cc", "auto": "vulkan:nvidia:22cc", "2": "vulkan:nvidia:22cc", "h200": "vulkan:nvidia:22cc",
		"lavapipe": "vulkan:llvmpipe:00aa", "00AA11": "vulkan:llvmpipe:00aa", "host": "host:cpu", "intel": "vulkan:anv:33dd",
		"vulkan:dzn": "vulkan:dzn:22cc", "host:cpu": "host:cpu",
	} {
		require.Equal(t, want, pick(spec, devices...), spec)
	}
	require.Equal(t, "vulkan:anv:33dd", pick("auto", devices[0], devices[1], devices[4], devices[5]))
	require.Equal(t, "host:cpu", pick("auto", devices[0], devices[1], devices[5]))
	_, err := SelectDevice(devices[:2], "auto")
	require.ErrorIs(t, err, ErrNoDevice, "a software driver is never taken unasked")
	_, err = SelectDevice(devices, "old")
	require.ErrorIs(t, err, ErrNoDevice)
	require.ErrorContains(t, err, "no timeline semaphores")
	_, err = SelectDevice(devices, "vulkan")
	require.ErrorIs(t, err, ErrInvalidInput)
	for _, index := range []string{"0", "5", "7"} { // a software driver, the host, and a part of some names
		_, err = SelectDevice(devices, index)
		require.ErrorIs(t, err, ErrNoDevice, index)
	}
	_, err = SelectDevice(devices[5:], "5")
	require.EqualError(t, err, "no device: no GPU has index 5; choose one of host:cpu (Some CPU)")
	_, err = SelectDevice(devices, "1")
	require.ErrorContains(t, err, "no timeline semaphores")
	_, err = SelectDevice(devices[:5], "cpu")
	require.ErrorIs(t, err, ErrNoDevice)
	require.ErrorContains(t, err, `no device matches "cpu" (did you mean "host"?)`)
	_, err = SelectDevice(devices, "radeon")
	require.ErrorContains(t, err, `no device matches "radeon"; choose one of vulkan:llvmpipe:00aa (`)
	require.ErrorContains(t, err, "2 (NVIDIA H200")

	withOpenCL := append(slices.Clone(devices),
		DeviceInfo{ID: "opencl:nvidia-cuda:22cc", Index: 6, Backend: "opencl", Name: "NVIDIA H200", Driver: "NVIDIA CUDA", Type: Discrete, UUID: "22cc33", TwinOf: "vulkan:nvidia:22cc"},
		DeviceInfo{ID: "opencl:other:44ee", Index: 7, Backend: "opencl", Name: "Other GPU", Driver: "Other", Type: Discrete, UUID: "44ee55"},
		DeviceInfo{ID: "opencl:pocl:55ff", Index: 8, Backend: "opencl", Name: "cpu-Some CPU", Driver: "PoCL", Type: Software, UUID: "55ff66"})
	for spec, want := range map[string]string{"auto": "vulkan:nvidia:22cc", "h200": "vulkan:nvidia:22cc", "7": "opencl:other:44ee",
		"opencl:0": "opencl:nvidia-cuda:22cc", "opencl:1": "opencl:other:44ee", "vulkan:1": "vulkan:nvidia:22cc",
		"pocl": "opencl:pocl:55ff", "opencl:nvidia": "opencl:nvidia-cuda:22cc"} {
		require.Equal(t, want, pick(spec, withOpenCL...), spec)
	}
	require.Equal(t, "vulkan:anv:33dd", pick("auto", withOpenCL[4:]...), "with Vulkan, though integrated")
	require.Equal(t, "opencl:other:44ee", pick("auto", withOpenCL[5], withOpenCL[7], withOpenCL[8]))
	require.Equal(t, "host:cpu", pick("auto", withOpenCL[5], withOpenCL[8]))
	require.Equal(t, "opencl:nvidia-cuda:22cc", pick("opencl", withOpenCL[2], withOpenCL[6]), "a twin that is named")
	for _, spec := range []string{"opencl:2", "host:0", "vulkan:9"} {
		_, err = SelectDevice(withOpenCL, spec)
		require.ErrorIs(t, err, ErrNoDevice, spec)
	}
	_, err = SelectDevice(withOpenCL, "vulkan:0")
	require.ErrorContains(t, err, "no timeline semaphores")

	devices[2].Unusable = "too old"
	require.Equal(t, "vulkan:dzn:22cc", pick("h200", devices...), "a twin stands in for a driver that cannot be used")
}
