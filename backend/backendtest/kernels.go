package backendtest

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
)

var kernelChecks = []check{
	{"catalogue", checkCatalogue},
	{"other shapes", checkShapes},
	{"argument offsets", checkArgumentOffsets},
}

// checkCatalogue runs every variant of every kernel that the device runs at the edges of its tiles.
func checkCatalogue(t *testing.T, s *suite) {
	if s.noCatalogue {
		t.Skip("package kernel tests the catalogue")
	}
	r := s.newRig(t)
	require.Empty(t, kerneltest.Missing())
	for _, spec := range kernel.Catalogue() {
		ran := !kerneltest.RunsEverywhere(spec)
		for _, variant := range kernel.Variants(spec) {
			config, ok := kerneltest.DefaultOn(r.device.Info(), spec, variant)
			if !ok {
				continue
			}
			ran = true
			t.Run(spec.Name+" "+variant.String(), func(t *testing.T) {
				tile := int(kernel.TileRows(kernel.Named(config)))
				sizes := []int{1, tile - 1, tile, tile + 1, 3*tile + 5}
				if perGroup := tile * int(kernel.TilesPerGroup(kernel.Named(config))); perGroup > tile {
					sizes = append(sizes, perGroup, 2*perGroup+tile/2)
				}
				if s.effort == Short {
					sizes = []int{1, tile + 1, sizes[len(sizes)-1]}
				}
				runCases(t, r, spec, config, kerneltest.ByShape, sizes...)
				runCases(t, r, spec, config, kerneltest.Configured, sizes[len(sizes)-1])
			})
		}
		require.True(t, ran, "the device runs no variant of %s", spec.Name)
	}
}

// checkShapes runs other workgroups and tiles than the default ones, small enough for any device. Kernels that hold a
// batch of rows have rules of their own for tiles.
func checkShapes(t *testing.T, s *suite) {
	if s.noCatalogue {
		t.Skip("package kernel tests the catalogue")
	}
	r := s.newRig(t)
	for _, spec := range kernel.Catalogue() {
		if slices.ContainsFunc(spec.Constants, func(c backend.Constant) bool { return c.Name == "batch" }) {
			continue
		}
		for i, variant := range kernel.Variants(spec) {
			for j, shape := range [][2]uint32{{64, 1}, {128, 3}, {32, 9}} {
				if s.effort == Short && (i%4 != 0 || i/4%3 != j) {
					continue
				}
				set := maps.Clone(variant)
				set["workgroup"], set["items"] = max(shape[0], r.device.Info().SubgroupSize), shape[1]
				if variant["serial"] == 1 { // where each invocation may have shared memory of its own
					set["workgroup"] = 8
				}
				config, err := kernel.Defaults(spec, set)
				require.NoError(t, err)
				if !kerneltest.Runs(r.device.Info(), spec, config) {
					continue
				}
				t.Run(spec.Name+" "+config.String(), func(t *testing.T) {
					tile := int(kernel.TileRows(kernel.Named(config)))
					runCases(t, r, spec, config, kerneltest.Configured, 5*tile+tile/2)
				})
			}
		}
	}
}

// checkArgumentOffsets runs a kernel on views that begin at each multiple of the argument alignment.
func checkArgumentOffsets(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	const rows = 64
	data := randomWords(1, 1024)
	values, out := r.local(data), r.local(make([]uint32, 1024))
	ids := make([]uint32, 1024)
	for i := range ids {
		ids[i] = uint32(i % rows)
	}
	idBuffer := r.local(ids)
	var steps []backend.Step
	for i := range 1024 / rows {
		j := (i*7 + 3) % (1024 / rows)
		steps = append(steps, step(dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), rows),
			[]backend.Range{words(values, j*rows, rows), words(idBuffer, i*rows, rows), words(out, i*rows, rows)},
			rows)))
	}
	r.run(steps...)
	got := r.get(out)
	for i := range 1024 / rows {
		j := (i*7 + 3) % (1024 / rows)
		require.Equal(t, data[j*rows:(j+1)*rows], got[i*rows:(i+1)*rows], "view %d", i)
	}
}

// runCases runs a case of each distribution at each size, under -short of one of them in turn.
func runCases(
	t *testing.T, r *rig, spec *backend.KernelSpec, config backend.Config, constants kerneltest.Constants, sizes ...int,
) {
	for i, rows := range sizes {
		if rows < 1 || slices.Contains(sizes[:i], rows) {
			continue
		}
		for j, distribution := range kerneltest.Distributions {
			if testing.Short() && (i+j)%len(kerneltest.Distributions) != 0 {
				continue
			}
			options := kerneltest.Options{Rows: rows, Distribution: distribution, Constants: constants}
			c := kerneltest.NewCase(spec, config, options)
			after, err := c.RunOn(background, r.device)
			require.NoError(t, err)
			require.NoError(t, c.Check(after), "%+v", options)
		}
	}
}
