//go:build opencl && linux

package opencl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/recorded"
)

// The extensions that drivers list, as far as they matter here.
var (
	rocm    = []string{"cl_khr_subgroups", "cl_amd_device_attribute_query"}
	rusticl = []string{"cl_khr_device_uuid", "cl_khr_pci_bus_info", "cl_khr_subgroup_shuffle",
		"cl_khr_subgroup_shuffle_relative"}
	neo = []string{"cl_khr_device_uuid", "cl_khr_pci_bus_info", "cl_khr_subgroups", "cl_khr_subgroup_ballot",
		"cl_khr_subgroup_shuffle", "cl_khr_subgroup_non_uniform_vote", "cl_intel_required_subgroup_size"}
	mali    = []string{"cl_khr_subgroups", "cl_arm_import_memory"}
	valhall = append([]string{"cl_khr_subgroup_ballot", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_non_uniform_vote"},
		mali...)
	adreno = []string{"cl_khr_subgroups", "cl_qcom_subgroup_shuffle", "cl_qcom_reqd_sub_group_size"}
)

// listed are devices as they list themselves: sizes of workgroups, of subgroups that a kernel may require, and
// extensions.
var listed = []struct {
	name, driver, version string
	vendor                uint32
	unified               bool
	invocations           int
	sizes                 uint64 // of a workgroup in one dimension
	subgroups             []uint64
	extensions            []string
}{
	{"gfx1012", "AMD Accelerated Parallel Processing", "OpenCL 2.0", 0x1002, false, 256, 1024, nil, rocm},
	{"gfx1035", "AMD Accelerated Parallel Processing", "OpenCL 2.0 AMD-APP (3592.0)", 0x1002, true, 256, 1024, nil, rocm},
	{"AMD Radeon Graphics", "rusticl", "OpenCL 3.0", 0x1002, true, 1024, 1024, nil, rusticl},
	{"Intel(R) UHD Graphics 770", "Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO", 0x8086, true, 512, 512,
		[]uint64{8, 16, 32}, neo},
	{"Intel(R) Arc(TM) A770 Graphics", "Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO", 0x8086, false, 1024, 1024,
		[]uint64{8, 16, 32}, neo},
	{"Mali-G52", "ARM Platform", "OpenCL 2.0 git.c8adbf9", 0x72120000, true, 384, 384, nil, mali},
	{"Mali-G71", "ARM Platform", "OpenCL 2.0 v1.r9p0", 0x60a00002, true, 384, 256, nil, mali},
	{"Mali-G610", "ARM Platform", "OpenCL 3.0 v1.g6p0", 0xa8670000, true, 1024, 1024, nil, valhall},
	{"QUALCOMM Adreno(TM) 750", "QUALCOMM Snapdragon(TM)", "OpenCL 3.0 Adreno(TM) 750", 0x5143, true, 1024, 1024, nil,
		adreno},
	{"the least", "some platform", "OpenCL 1.2", 1, false, 256, 256, nil, nil},
}

// TestDescribed: how GPUs of AMD, Intel, Arm and Qualcomm would be used. What runs on them is tested with package
// recorded.
func TestDescribed(t *testing.T) {
	described := recorded.OpenCL()
	require.Len(t, described, len(listed))
	for _, d := range listed {
		want := described[d.name]
		told := properties{name: d.name, version: d.version, profile: "FULL_PROFILE", vendor: d.vendor, addressBits: 64,
			gpu: true, unified: d.unified, available: true, compiler: true, littleEndian: true,
			memoryBytes: want.Heaps[0].SizeBytes, allocationBytes: want.Limits.MaxBlockBytes + 5,
			localBytes: uint64(want.Limits.MaxSharedBytes), invocations: d.invocations, sizes: []uint64{d.sizes, 64, 64},
			parameterBytes: 1024, extensions: d.extensions, subgroupSizes: d.subgroups}
		p := told.describe(d.driver, false)
		got := p.info
		require.Empty(t, got.Unusable, d.name)
		require.Equal(t, want.Limits, got.Limits, d.name)
		require.Equal(t, want.Heaps, got.Heaps, d.name)
		require.Equal(t, want.Type, got.Type, d.name)
		require.Equal(t, want.Unified, got.Unified, d.name)
		require.Equal(t, []any{want.Subgroups, want.SubgroupSize, want.MinSubgroupSize, want.MaxSubgroupSize},
			[]any{got.Subgroups, got.SubgroupSize, got.MinSubgroupSize, got.MaxSubgroupSize}, d.name)
		require.Equal(t, want.Subgroups, p.prelude != "", d.name)
		staged := told.describe(d.driver, true).info
		require.Zero(t, staged.Limits.ImportAlignment)
		require.False(t, staged.Unified)
	}
}

// TestRequiredSubgroup: of the sizes that a device offers 16 is taken, else the largest that kernels are written for.
func TestRequiredSubgroup(t *testing.T) {
	for want, sizes := range map[uint32][]uint64{16: {8, 16, 32}, 32: {32}, 64: {32, 64, 256}, 1: {2, 256}} {
		require.Equal(t, want, requiredSubgroup(sizes))
	}
	require.EqualValues(t, 1, requiredSubgroup(nil))
	told := properties{version: "OpenCL 3.0", extensions: neo, subgroupSizes: []uint64{2}}
	require.False(t, told.describe("a driver", false).info.Subgroups)
	told = properties{version: "OpenCL 1.2 CUDA", nvidiaMajor: 6, nvidiaWarp: 32}
	require.False(t, told.describe("NVIDIA CUDA", false).info.Subgroups)
	told.nvidiaMajor = 7
	require.EqualValues(t, 32, told.describe("NVIDIA CUDA", false).info.SubgroupSize)
}

// TestTooLittle lists a device that cannot run the kernels, with what it lacks.
func TestTooLittle(t *testing.T) {
	good := properties{version: "OpenCL 1.2", profile: "FULL_PROFILE", addressBits: 64, gpu: true, available: true,
		compiler: true, littleEndian: true, memoryBytes: 1 << 30, allocationBytes: 1 << 28, localBytes: 16 << 10,
		invocations: 256, parameterBytes: 1024}
	require.Empty(t, good.describe("a driver", false).info.Unusable)
	for lack, change := range map[string]func(p *properties){
		"workgroups of 256 invocations (it has 64)":   func(p *properties) { p.invocations = 64 },
		"workgroups of 256 invocations (it has 128)":  func(p *properties) { p.sizes = []uint64{128} },
		"16384 bytes of local memory (it has 8192)":   func(p *properties) { p.localBytes = 8 << 10 },
		"addresses of 64 bits":                        func(p *properties) { p.addressBits = 32 },
		"buffers of 67108864 bytes (it has 33554432)": func(p *properties) { p.allocationBytes = 32 << 20 },
		"256 bytes of kernel arguments (it has 128)":  func(p *properties) { p.parameterBytes = 256 },
		"OpenCL 1.2 (it offers 1.1)":                  func(p *properties) { p.version = "OpenCL 1.1 old" },
		"the full profile":                            func(p *properties) { p.profile = "EMBEDDED_PROFILE" },
		"its driver says that it is not available":    func(p *properties) { p.available = false },
		"a compiler":                       func(p *properties) { p.compiler = false },
		"little-endian words":              func(p *properties) { p.littleEndian = false },
		"a processor that runs any kernel": func(p *properties) { p.custom = true },
	} {
		p := good
		change(&p)
		require.Contains(t, p.describe("a driver", false).info.Unusable, lack)
	}
}
