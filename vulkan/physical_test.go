package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

const unknownUUID = "00000000-0000-0000-0000-000000000000"

func TestIdentify(t *testing.T) {
	const a, b = "0000000a-0000-0000-0000-000000000000", "0000000b-0000-0000-0000-000000000000"
	device := func(driver, uuid, pci, unusable string) *physical {
		return &physical{info: backend.DeviceInfo{Driver: driver, UUID: uuid, PCI: pci, Unusable: unusable}}
	}
	all := []*physical{
		device("Old Driver", a, "", "too old"),
		device("radv", a, "", ""),
		device("amdvlk", a, "", ""),
		device("nvk", b, "0000:01:00.0", ""),
		device("NVIDIA", "0000000c-0000-0000-0000-000000000000", "0000:01:00.0", ""),
		device("ancient", unknownUUID, "", "too old"),
		device("ancient", unknownUUID, "", "too old"),
	}
	identify(all)
	var ids, twins []string
	for _, p := range all {
		ids, twins = append(ids, p.info.ID), append(twins, p.info.TwinOf)
	}
	require.Equal(t, []string{"vulkan:old-driver:" + a, "vulkan:radv:" + a, "vulkan:amdvlk:" + a, "vulkan:nvk:" + b,
		"vulkan:nvidia:0000000c-0000-0000-0000-000000000000", "vulkan:ancient:" + unknownUUID,
		"vulkan:ancient:" + unknownUUID + "#2"}, ids)
	require.Equal(t, []string{ids[1], "", ids[1], "", ids[3], "", ""}, twins)
}

func TestLacks(t *testing.T) {
	good := physical{features: required, families: []family{{queueCompute, 1, 64}},
		info: backend.DeviceInfo{Limits: backend.Limits{MaxArgumentBytes: 128}}}
	require.Empty(t, good.lacks(apiVersion12))
	for want, spoil := range map[string]func(p *physical){
		"bufferDeviceAddress":                   func(p *physical) { p.features = required &^ 1 },
		"timelineSemaphore":                     func(p *physical) { p.features = 1 },
		"128 bytes of push constants (it has 4": func(p *physical) { p.info.Limits.MaxArgumentBytes = 4 },
		"a compute queue":                       func(p *physical) { p.families = nil },
	} {
		bad := good
		spoil(&bad)
		require.Contains(t, bad.lacks(apiVersion12), want)
	}
	require.Equal(t, "it offers Vulkan 1.1.0, 1.2 is needed", good.lacks(apiVersion11))
}

func TestHasSubgroups(t *testing.T) {
	good := physical{operations: 0b11111, stages: stageCompute,
		info: backend.DeviceInfo{MinSubgroupSize: 4, MaxSubgroupSize: 128}}
	require.True(t, good.hasSubgroups())
	for what, spoil := range map[string]func(p *physical){
		"no vote":         func(p *physical) { p.operations = 0b11101 },
		"no shuffle":      func(p *physical) { p.operations = 0b01111 },
		"fragments only":  func(p *physical) { p.stages = 0x10 },
		"small subgroups": func(p *physical) { p.info.MinSubgroupSize = 1 },
		"large subgroups": func(p *physical) { p.info.MaxSubgroupSize = 256 },
	} {
		bad := good
		spoil(&bad)
		require.False(t, bad.hasSubgroups(), what)
	}
}

func TestResults(t *testing.T) {
	for code, want := range map[result]error{
		success: nil, timedOut: nil, incomplete: nil, notReady: nil,
		outOfHostMemory: backend.ErrHostMemory, outOfMemory: backend.ErrDeviceMemory, deviceLost: backend.ErrDeviceLost,
		tooManyObjects: backend.ErrLimit, incompatible: backend.ErrNoDevice, noSuchExtension: backend.ErrUnsupported,
		-4711: backend.ErrDeviceLost,
	} {
		err := failure(code, "test", "device", "%d bytes", 5)
		require.ErrorIs(t, err, want, code)
		if want != nil {
			require.ErrorContains(t, err, "test on device")
			require.ErrorContains(t, err, code.String()+": 5 bytes")
		}
	}
}

func TestVersion(t *testing.T) {
	require.Equal(t, "1.3.230", version(1<<22|3<<12|230))
	require.Equal(t, "00010203-0405-0607-0809-0a0b0c0d0e0f",
		uuid([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))
	require.Equal(t, "abc", text([]byte("abc\x00def")))
}
