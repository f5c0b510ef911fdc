package recorded

import (
	"math"

	"github.com/spirjoin/spirjoin/backend"
)

// OpenCL describes GPUs as the OpenCL backend uses them, by their names. None of these was run: package opencl derives
// them, in a test, from what listings by clinfo in public say of such devices.
func OpenCL() map[string]backend.DeviceInfo {
	const gib = 1 << 30
	// Buffers of devices with 32-bit sizes end a page below 4 GiB.
	const below4GiB = 4*gib - 4096
	const rocm, neo = "AMD Accelerated Parallel Processing", "Intel(R) OpenCL Graphics"
	all := make(map[string]backend.DeviceInfo)
	for _, d := range []struct {
		name, driver            string
		kind                    backend.DeviceType
		inPlace                 bool // uses the host's memory
		subgroup                uint32
		invocations, localKiB   uint32
		memoryBytes, blockBytes uint64
	}{
		{"gfx1012", rocm, backend.Discrete, false, 1, 256, 64, 8 * gib, 7 * gib},
		{"gfx1035", rocm, backend.Integrated, false, 1, 256, 32, 16 * gib, 4 * gib},
		{"AMD Radeon Graphics", "rusticl", backend.Integrated, false, 1, 1024, 64, 16 * gib, 2*gib - 4096},
		{"Intel(R) UHD Graphics 770", neo, backend.Integrated, true, 16, 512, 64, 24 * gib, below4GiB},
		{"Intel(R) Arc(TM) A770 Graphics", neo, backend.Discrete, false, 16, 1024, 64, 16 * gib, below4GiB},
		{"Mali-G52", "ARM Platform", backend.Integrated, false, 1, 384, 32, 4 * gib, 4 * gib},
		{"Mali-G71", "ARM Platform", backend.Integrated, false, 1, 256, 32, 3 * gib, gib},
		{"Mali-G610", "ARM Platform", backend.Integrated, false, 1, 1024, 32, 7 * gib, 7 * gib},
		{"QUALCOMM Adreno(TM) 750", "QUALCOMM Snapdragon(TM)", backend.Integrated, false, 1, 1024, 32, 7 * gib, gib},
		{"the least", "some platform", backend.Discrete, false, 1, 256, 16, gib, 64 << 20},
	} {
		info := describe(d.name, d.driver, d.subgroup, d.memoryBytes, backend.Limits{
			MaxAllocationBytes: d.blockBytes, MaxBufferBytes: d.blockBytes, MaxBlockBytes: d.blockBytes,
			MaxInvocations: d.invocations, MaxSharedBytes: d.localKiB << 10, MaxArgumentBytes: 512,
			ArgumentAlignment: 256, MaxGroups: math.MaxUint32,
		})
		info.Backend, info.Type, info.TypeName, info.Subgroups = "opencl", d.kind, d.kind.String(), d.subgroup > 1
		if info.Unified = d.inPlace; d.inPlace {
			info.Limits.ImportAlignment = 4096
		}
		all[d.name] = info
	}
	return all
}
