package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
)

// newCase draws a case with constants of its own.
func newCase(spec *backend.KernelSpec, config backend.Config, rows int, distribution string,
	seed uint64) *kerneltest.Case {
	return kerneltest.NewCase(spec, config, kerneltest.Options{Rows: rows, Distribution: distribution, Seed: seed})
}

// edgeRows are the numbers of rows at which tiles begin and end.
func edgeRows(config backend.Config) []int {
	tile := int(kernel.TileRows(kernel.Named(config)))
	return []int{0, 1, tile - 1, tile, tile + 1, 3*tile + tile/2}
}

// Configurations as the host backend and devices use them, and odd ones.
var shapes = []backend.Config{
	{"serial": 1, "workgroup": 1, "items": 1 << 14},
	{"serial": 1, "workgroup": 1, "items": 96},
	{"serial": 1, "workgroup": 8, "items": 64},
	{"serial": 1, "workgroup": 3, "items": 32},
	{"serial": 0, "workgroup": 64, "items": 13},
	{"serial": 0, "workgroup": 256, "items": 2},
}

// configOf gives a variant a shape; kernels without a serial shape take any.
func configOf(t require.TestingT, spec *backend.KernelSpec, variant, shape backend.Config) backend.Config {
	config := backend.Config{"workgroup": shape["workgroup"], "items": shape["items"]}
	for axis, value := range variant {
		config[axis] = value
	}
	full, err := spec.Complete(config)
	require.NoError(t, err)
	return full
}

// eachShape calls do for every kernel, variant and shape that suits it.
func eachShape(t require.TestingT, do func(spec *backend.KernelSpec, config backend.Config)) {
	for _, spec := range kernel.Catalogue() {
		for _, variant := range kernel.Variants(spec) {
			if variant["shared"] == 1 {
				continue // the reference of the other wide shape
			}
			for _, shape := range shapes {
				if serial, ok := variant["serial"]; !ok || serial == shape["serial"] {
					do(spec, configOf(t, spec, variant, shape))
				}
			}
		}
	}
}

func TestReferencesAtEdges(t *testing.T) {
	devicetest.HostTest(t)
	eachShape(t, func(spec *backend.KernelSpec, config backend.Config) {
		for i, rows := range edgeRows(config) {
			for _, distribution := range kerneltest.Distributions {
				if (rows > 10_000 || testing.Short()) && distribution != kerneltest.Distributions[i%len(kerneltest.Distributions)] {
					continue
				}
				c := newCase(spec, config, rows, distribution, uint64(rows))
				require.NoError(t, c.Check(c.RunReference()), "rows %d, %s", rows, distribution)
			}
		}
	})
}

func TestReferencesProperty(t *testing.T) {
	devicetest.HostTest(t)
	for _, spec := range kernel.Catalogue() {
		t.Run(spec.Name, rapid.MakeCheck(func(t *rapid.T) {
			variant := rapid.SampledFrom(kernel.Variants(spec)).Draw(t, "variant")
			shape := backend.Config{"workgroup": rapid.Uint32Range(1, 9).Draw(t, "workgroup"),
				"items": 32 * rapid.Uint32Range(1, 9).Draw(t, "items/32")}
			config := configOf(t, spec, variant, shape)
			rows := rapid.IntRange(0, 4*int(kernel.TileRows(kernel.Named(config)))).Draw(t, "rows")
			distribution := rapid.SampledFrom(kerneltest.Distributions).Draw(t, "distribution")
			c := newCase(spec, config, rows, distribution, rapid.Uint64().Draw(t, "seed"))
			require.NoError(t, c.Check(c.RunReference()))
		}))
	}
}

// A tile of more rows than the reference of radix_scatter stages at a time.
func TestReferenceOfLongTiles(t *testing.T) {
	for _, variant := range kernel.Variants(kernel.RadixScatter.KernelSpec) {
		if variant["serial"] == 0 {
			continue
		}
		config := configOf(t, kernel.RadixScatter.KernelSpec, variant, backend.Config{"workgroup": 1, "items": 1 << 17})
		for _, rows := range []int{1 << 16, 1<<16 + 1, 1<<17 + 1<<16 + 1} {
			c := newCase(kernel.RadixScatter.KernelSpec, config, rows, "random", uint64(rows))
			require.NoError(t, c.Check(c.RunReference()), "rows %d", rows)
		}
	}
}

// References allocate nothing but scratch that they keep.
func TestReferencesAllocateNothing(t *testing.T) {
	devicetest.HostTest(t)
	eachShape(t, func(spec *backend.KernelSpec, config backend.Config) {
		c := newCase(spec, config, 1000, "random", 1)
		run := spec.Reference(c.Config)(c.RunReference(), c.Params)
		allocations := testing.AllocsPerRun(20, func() {
			for group := range c.EndGroup {
				run(group)
			}
		})
		most := 0.0
		// when its pool was emptied in between
		if spec == kernel.RadixScatter.KernelSpec || spec == kernel.BlockSort.KernelSpec {
			most = float64(c.EndGroup)
		}
		if spec.Compare == backend.Multiset { // of a join: the functions that tell of matches
			most = float64(8 * c.EndGroup)
		}
		require.LessOrEqual(t, allocations, most, "%s %v", spec.Name, config)
	})
}

// The largest table, and a key with more matches than pairs are written at a time.
func TestPartitionJoinFillsItsTable(t *testing.T) {
	const rows, frequent = 1<<16 - 1, 3000
	left, right := make([]uint32, rows), []uint32{5, rows - 1, frequent - 1, rows, 0}
	for i := range left {
		left[i] = uint32(max(i, frequent-1))
	}
	config, err := kernel.PartitionJoin.Complete(backend.Config{"key_bits": 32, "table": rows, "heads": 1 << 16,
		"placing": kernel.Reserving, "paged": 0, "marked": 0, "shared": 0})
	require.NoError(t, err)
	cursor, out := make([]uint32, 3), [2][]uint32{make([]uint32, frequent+1), make([]uint32, frequent+1)}
	kerneltest.NewDispatch(kernel.PartitionJoin.KernelSpec, config, 1, kernel.PartitionJoinArgsOf[[]byte]{
		Units: backend.AsBytes([]uint32{0, rows, 0, uint32(len(right))}),
		JoinColumns: kernel.JoinColumns[[]byte]{LeftKeys: backend.AsBytes(left), RightKeys: backend.AsBytes(right),
			Places: backend.AsBytes(cursor), LeftOut: backend.AsBytes(out[0]), RightOut: backend.AsBytes(out[1])},
		JoinRows: kernel.JoinRows{OutRows: frequent + 1},
	}).RunReference()
	require.Equal(t, []uint32{frequent + 1, frequent + 1, 0}, cursor)
	want := map[uint32]uint32{rows - 1: 1}
	for row := range uint32(frequent) {
		want[row] = 2
	}
	got := make(map[uint32]uint32)
	for i, row := range out[0] {
		got[row] = out[1][i]
	}
	require.Equal(t, want, got)
}
