package backendtest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var kernelChecks = []check{
	{"catalogue", checkCatalogue},
	{"other shapes", checkShapes},
	{"argument offsets", checkArgumentOffsets},
}

// checkCatalogue compares every variant of every kernel with its reference at the edges of its tiles.
func checkCatalogue(t *testing.T, s *suite) {
	r := s.newRig(t)
	for _, spec := range kernel.Catalogue() {
		maker := caseMakers[spec.Name]
		require.NotNil(t, maker, "the suite has no cases of kernel %s", spec.Name)
		for _, variant := range kernel.Variants(spec) {
			config, err := kernel.Defaults(spec, variant)
			require.NoError(t, err)
			t.Run(spec.Name+" "+variant.String(), func(t *testing.T) {
				tile := int(kernel.TileRows(kernel.Named(config)))
				sizes := []int{1, tile - 1, tile, tile + 1, 3*tile + 5}
				if perGroup := tile * int(kernel.TilesPerGroup(kernel.Named(config))); perGroup > tile {
					sizes = append(sizes, perGroup, 2*perGroup+tile/2)
				}
				if s.effort == Short {
					sizes = []int{1, tile + 1, sizes[len(sizes)-1]}
				}
				compareCases(t, r, spec, config, maker, sizes)
			})
		}
	}
}

// checkShapes compares other workgroups and tiles than the default ones, small enough for any device. Kernels that hold a batch of
// rows have rules of their own for tiles.
func checkShapes(t *testing.T, s *suite) {
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
				t.Run(spec.Name+" "+config.String(), func(t *testing.T) {
					tile := int(kernel.TileRows(kernel.Named(config)))
					compareCases(t, r, spec, config, caseMakers[spec.Name], []int{5*tile + tile/2})
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
			[]backend.Range{words(values, j*rows, rows), words(idBuffer, i*rows, rows), words(out, i*rows, rows)}, rows)))
	}
	r.run(steps...)
	got := r.get(out)
	for i := range 1024 / rows {
		j := (i*7 + 3) % (1024 / rows)
		require.Equal(t, data[j*rows:(j+1)*rows], got[i*rows:(i+1)*rows], "view %d", i)
	}
}

// compareCases runs cases on the device and by the reference and compares every word of every argument.
func compareCases(t *testing.T, r *rig, spec *backend.KernelSpec, config backend.Config,
	maker func(backend.Config, int, *rand.Rand) []kernelCase, sizes []int,
) {
	for i, rows := range sizes {
		if rows < 1 || slices.Contains(sizes[:i], rows) {
			continue
		}
		for _, c := range maker(config, rows, rand.New(rand.NewPCG(1, uint64(rows)))) {
			set := maps.Clone(config)
			maps.Copy(set, c.constants)
			if difference := compareKernel(r, r.kernel(spec, set), c); difference != "" {
				require.Failf(t, difference, "%s rows=%d %s", spec.Name, rows, c.name)
			}
		}
	}
}

// compareKernel returns the first difference between the device and the reference; empty for none.
func compareKernel(r *rig, k *backend.Kernel, c kernelCase) string {
	r.t.Helper()
	spec := k.Spec
	args := make([][]byte, len(c.args))
	ranges := make([]backend.Range, len(c.args))
	buffers := make([]*backend.Buffer, len(c.args))
	for i, arg := range c.args {
		if arg == nil {
			continue
		}
		content := slices.Clone(arg)
		if spec.Args[i].Access == backend.Write {
			fillMarker(content)
		}
		args[i] = content
		buffer, err := r.device.Allocate(background, backend.DeviceLocal, uint64(len(content)), spec.Args[i].Name)
		require.NoError(r.t, err)
		defer buffer.Release()
		r.put(buffer, backend.Words(content))
		buffers[i], ranges[i] = buffer, buffer.All()
	}
	groups := kernel.Groups(kernel.Named(k.Config), uint64(c.rows))
	r.run(step(dispatchCommand(k, 0, groups, ranges, c.params...)))
	run := spec.Reference(k.Config)(args, c.params)
	for group := range groups {
		run(group)
	}
	for i, b := range buffers {
		if b == nil {
			continue
		}
		if difference := firstDifference(backend.Words(args[i]), r.get(b)); difference != "" {
			return fmt.Sprintf("%s: %s", spec.Args[i].Name, difference)
		}
	}
	return ""
}

func fillMarker(b []byte) { copy(b, bytes.Repeat([]byte{0xC3}, len(b))) }
