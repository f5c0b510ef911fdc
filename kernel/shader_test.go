package kernel_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
	"github.com/spirjoin/spirjoin/shaders"
)

// What the base variants may need of a device.
const (
	maxPushBytes   = 128
	maxSharedBytes = 16 << 10
	maxInvocations = 256
)

// Every variant's SPIR-V must have the catalogue's signature and stay within what every device offers.
func TestShadersMatchTheCatalogue(t *testing.T) {
	for _, spec := range kernel.Shaders() {
		for _, variant := range kernel.Variants(spec) {
			config, err := kernel.Defaults(spec, variant)
			require.NoError(t, err)
			name := kernel.SPIRVName(spec, config)
			t.Run(name, func(t *testing.T) {
				code, err := shaders.SPIRV(name)
				require.NoError(t, err)
				m, err := parseSPIRV(code)
				require.NoError(t, err)
				require.NotContains(t, m.capabilities, uint32(capabilityInt64))
				require.NotContains(t, m.capabilities, uint32(capabilityInt64Atomics))
				checkPush(t, m, spec)
				checkConstants(t, m, spec, config)
			})
		}
	}
}

// The shaders of draws have the signatures of the catalogue, too, where they use them.
func TestShadersMatchTheDraws(t *testing.T) {
	for _, spec := range kernel.Draws() {
		for _, variant := range kernel.DrawVariants(spec) {
			config, err := spec.Complete(variant)
			require.NoError(t, err)
			for _, stage := range kernel.DrawStages(spec) {
				name := kernel.DrawSPIRVName(spec, config, stage)
				t.Run(name, func(t *testing.T) {
					code, err := shaders.SPIRV(name)
					require.NoError(t, err)
					m, err := parseSPIRV(code)
					require.NoError(t, err)
					require.NotContains(t, m.capabilities, uint32(capabilityInt64))
					if stage == "vert" || len(m.pointees(storagePush)) > 0 {
						checkPushBlock(t, m, spec.Args, append(slices.Clone(spec.Params), "target_width", "target_height"))
					}
					for id, specID := range m.specIDs {
						require.Less(t, specID, uint32(len(spec.Constants)))
						require.Equal(t, config[spec.Constants[specID].Name], m.byID[id].words[0])
					}
				})
			}
		}
	}
}

// replaced are the kernels that have subgroup operations in all shapes, with those that do the same without.
var replaced = map[*backend.KernelSpec]*backend.KernelSpec{
	kernel.ScanLookback.KernelSpec:  kernel.ScanTiles.KernelSpec,
	kernel.MergeWalk.KernelSpec:     kernel.MergeJoin.KernelSpec,
	kernel.PartitionWalk.KernelSpec: kernel.PartitionJoin.KernelSpec,
}

// Every kernel has a shape without subgroup operations: each variant that has them has a sibling that differs only in
// its shape and has none. The axis shared stands for that where, and only where, the other wide shape has them.
func TestWideShapesWithoutSubgroups(t *testing.T) {
	seen := 0
	for _, spec := range kernel.Shaders() {
		variants := kernel.Variants(spec)
		for _, variant := range variants {
			name, uses := kernel.SPIRVName(spec, variant), kerneltest.UsesSubgroups(spec, variant)
			if other, ok := replaced[spec]; ok {
				require.True(t, uses, "%s needs no replacement", name)
				require.NotContains(t, replaced, other)
				continue
			}
			if shared, ok := variant["shared"]; variant["serial"] == 0 {
				require.Equal(t, ok && shared == 0, uses, "%s", name)
				seen += int(shared)
			}
			require.True(t, !uses || slices.ContainsFunc(variants, func(sibling backend.Config) bool {
				return maps.Equal(shapeless(variant), shapeless(sibling)) && !kerneltest.UsesSubgroups(spec, sibling)
			}), "%s has no sibling without subgroup operations", name)
		}
	}
	require.Positive(t, seen)
}

// shapeless is a variant without the axes of its shape.
func shapeless(variant backend.Config) backend.Config {
	rest := maps.Clone(variant)
	for _, axis := range []string{"serial", "shared", "lookback"} {
		delete(rest, axis)
	}
	return rest
}

// checkPush compares the push-constant block with the arguments and parameters, in their order.
func checkPush(t *testing.T, m *module, spec *backend.KernelSpec) {
	checkPushBlock(t, m, spec.Args, append(slices.Clone(spec.Params), "first_group", "end_group"))
}

func checkPushBlock(t *testing.T, m *module, args []backend.ArgSpec, words []string) {
	blocks := m.pointees(storagePush)
	require.Len(t, blocks, 1)
	var names []string
	var sizes []uint32
	for _, arg := range args {
		names, sizes = append(names, arg.Name), append(sizes, 8)
	}
	for _, word := range words {
		names, sizes = append(names, word), append(sizes, 4)
	}
	members := m.byID[blocks[0]].words
	require.Len(t, members, len(names))
	offset := uint32(0)
	for i, member := range members {
		at := [2]uint32{blocks[0], uint32(i)}
		require.Equal(t, names[i], m.memberNames[at])
		require.Equal(t, offset, m.offsets[at], names[i])
		size, err := m.sizeBytes(member, nil)
		require.NoError(t, err)
		require.Equal(t, sizes[i], size, names[i])
		offset += size
	}
	require.LessOrEqual(t, offset, uint32(maxPushBytes))
}

// checkConstants compares the specialization constants and their defaults with the catalogue and measures their effect.
func checkConstants(t *testing.T, m *module, spec *backend.KernelSpec, config backend.Config) {
	values := make([]uint32, len(spec.Constants))
	for i, constant := range spec.Constants {
		values[i] = config[constant.Name]
	}
	for id, specID := range m.specIDs {
		require.Less(t, specID, uint32(len(values)))
		require.Equal(t, values[specID], m.byID[id].words[0], "the compiled default of %s", spec.Constants[specID].Name)
	}

	// The first constant is the number of invocations: the built-in size is made of it.
	var size []uint32
	for id, builtIn := range m.builtIns {
		if builtIn == builtInWorkgroupSize {
			size = m.byID[id].words
		}
	}
	require.Len(t, size, 3)
	specID, ok := m.specIDs[size[0]]
	require.True(t, ok)
	require.Zero(t, specID)
	for axis, want := range []uint32{config["workgroup"], 1, 1} {
		n, err := m.constant(size[axis], values)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.LessOrEqual(t, config["workgroup"], uint32(maxInvocations))

	shared := sharedBytes(t, m, values)
	require.LessOrEqual(t, shared, uint32(maxSharedBytes))
	t.Logf("%d bytes of shared memory", shared)
	checkShared(t, m, spec, config)
}

func sharedBytes(t *testing.T, m *module, constants []uint32) (sum uint32) {
	for _, id := range m.pointees(storageWorkgroup) {
		n, err := m.sizeBytes(id, constants)
		require.NoError(t, err)
		sum += n
	}
	return sum
}

// checkShared compares the catalogue's sizes of shared memory with the arrays of the shader, in small and large shapes.
func checkShared(t *testing.T, m *module, spec *backend.KernelSpec, config backend.Config) {
	for _, workgroup := range []uint32{1, 33, config["workgroup"], 640, 1024} {
		for _, other := range []uint32{1, 7, 64} {
			shape, values := maps.Clone(config), []uint32{workgroup}
			shape["workgroup"] = workgroup
			for _, constant := range spec.Constants[1:] {
				shape[constant.Name] = other
				values = append(values, other)
			}
			need := sharedBytes(t, m, values)
			if spec.SharedBytes == nil {
				require.LessOrEqual(t, need, uint32(maxSharedBytes), "%v: state SharedBytes in the catalogue", shape)
			} else {
				require.Equal(t, spec.SharedBytes(shape), need, "%v: SharedBytes", shape)
			}
		}
	}
}

func TestParseSPIRVRefusesOtherBytes(t *testing.T) {
	code, err := shaders.SPIRV("iota.spv")
	require.NoError(t, err)
	for _, bad := range [][]byte{nil, code[:18], code[4:], code[:24]} {
		_, err := parseSPIRV(bad)
		require.Error(t, err)
	}
}
