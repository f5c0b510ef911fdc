package primitive_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// distributions of keys; every one is below 2^bits.
var distributions = map[string]func(random *rand.Rand, i, rows, bits int) uint64{
	"uniform": func(r *rand.Rand, _, _, bits int) uint64 { return low(r.Uint64(), bits) },
	"equal":   func(*rand.Rand, int, int, int) uint64 { return 0 },
	"sentinels": func(r *rand.Rand, _, _, bits int) uint64 {
		return low(uint64(0)-uint64(r.IntN(2)), bits)
	},
	"sorted":  func(_ *rand.Rand, i, rows, bits int) uint64 { return low(uint64(i), bits) },
	"reverse": func(_ *rand.Rand, i, rows, bits int) uint64 { return low(uint64(rows-i), bits) },
}

func low(v uint64, bits int) uint64 {
	if bits == 64 {
		return v
	}
	return v & (1<<bits - 1)
}

// families are the two families of a radix pass: look-back with enough patience, with none (every tile counts those
// before it) and in portions.
var families = []family{
	{"own", nil},
	{"serial", backend.Config{"serial": 1, "workgroup": 8, "items": 16}},
	{"wide", backend.Config{"serial": 0, "workgroup": 64, "items": 5}},
	{"shared", backend.Config{"serial": 0, "shared": 1, "workgroup": 64, "items": 5}},
	{"look-back", backend.Config{"serial": 0, "workgroup": 64, "items": 5, "lookback": 1, "patience": 100,
		"portion": 20000}},
	{"look-back, fallback", backend.Config{"serial": 0, "workgroup": 64, "items": 5, "lookback": 1, "patience": 0}},
}

type family struct {
	name   string
	config backend.Config
}

func forEachFamily(t *testing.T, test func(r rig)) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		families := slices.DeleteFunc(slices.Clone(families), func(f family) bool { // they are the family shared there
			return !device.Info().Subgroups && (f.name == "wide" || f.config["lookback"] == 1)
		})
		for _, f := range devicetest.Shapes(t, device.Info(), families) {
			name, config := f.name, f.config
			// Instrumented shaders take many seconds to compile: the families with the most code. Each of their
			// accesses loops over the buffers, which in lavapipe's long tiles with several columns exceeds its limit of
			// 65,535 loop trips.
			if vulkantest.Validation(t) == vulkan.GPUAssisted && name != "serial" && name != "look-back, fallback" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				var overrides primitive.Tuning
				if config != nil {
					overrides = primitive.Override(config, "radix_sort")
				}
				ops, err := primitive.New(device, overrides)
				require.NoError(t, err)
				test(rig{t, ops, device})
			})
		}
	})
}

// movings are what a sort or partition moves, less the number of rows.
var movings = []primitive.Layout{
	{KeyBytes: 4}, {KeyBytes: 8},
	{KeyBytes: 4, Payload: primitive.RowNumbers}, {KeyBytes: 8, Payload: primitive.RowNumbers},
	{KeyBytes: 4, Payload: primitive.Given}, {KeyBytes: 8, Payload: primitive.Given},
	{KeyBytes: 4, Payload: primitive.Given, PayloadBytes: 8}, {KeyBytes: 8, Payload: primitive.Given, PayloadBytes: 8},
	{KeyBytes: 8, Payload: primitive.Given, Columns: 3},
	{KeyBytes: 4, Payload: primitive.Given, PayloadBytes: 8, Columns: 2},
}

// moved is the test data of a sort or partition: keys and payload columns on both sides of it.
type moved struct {
	rig
	layout   primitive.Layout
	keys     []uint64
	keysIn   [2]backend.Range
	given    [][]uint64
	payload  [][2]backend.Range
	describe string
}

func narrowTo[V uint32 | uint64](column []uint64) []V {
	narrowed := make([]V, len(column))
	for i, v := range column {
		narrowed[i] = V(v)
	}
	return narrowed
}

func (m *moved) column(bytes int, values []uint64) backend.Range {
	if bytes == 8 {
		return column(m.rig, values).All()
	}
	return column(m.rig, narrowTo[uint32](values)).All()
}

func (m *moved) values(r backend.Range, bytes int) []uint64 {
	if bytes == 8 {
		return values[uint64](m.rig, r, len(m.keys))
	}
	wide := make([]uint64, len(m.keys))
	for i, v := range values[uint32](m.rig, r, len(m.keys)) {
		wide[i] = uint64(v)
	}
	return wide
}

func newMoved(r rig, layout primitive.Layout, keys []uint64, describe string) *moved {
	layout.Rows = uint64(len(keys))
	m := &moved{rig: r, layout: layout, keys: keys, describe: fmt.Sprintf("%s, %+v", describe, layout)}
	m.keysIn = [2]backend.Range{m.column(layout.KeyBytes, keys), r.empty(uint64(len(keys) * layout.KeyBytes)).All()}
	bytes := max(4, layout.PayloadBytes)
	columns := max(1, layout.Columns)
	if layout.Payload == primitive.NoPayload {
		columns = 0
	}
	for c := range columns {
		given := make([]uint64, len(keys))
		for i := range given {
			given[i] = uint64(i)
			if layout.Payload == primitive.Given {
				given[i] = uint64(i)*0x9e3779b97f4a7c15 + uint64(c)
			}
			if bytes == 4 {
				given[i] = uint64(uint32(given[i]))
			}
		}
		pair := [2]backend.Range{r.empty(uint64(len(keys) * bytes)).All(), r.empty(uint64(len(keys) * bytes)).All()}
		if layout.Payload == primitive.Given {
			pair[0] = m.column(bytes, given)
		}
		m.given, m.payload = append(m.given, given), append(m.payload, pair)
	}
	return m
}

// columns are the buffers of index i.
func (m *moved) columns(i int) primitive.Columns {
	c := primitive.Columns{Keys: m.keysIn[i]}
	for _, pair := range m.payload {
		c.Payload = append(c.Payload, pair[i])
	}
	return c
}

// check compares what is in the buffers of index result with the rows in the stable order of by.
func (m *moved) check(result int, by func(key uint64) uint64) {
	order := make([]int, len(m.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by(m.keys[a]), by(m.keys[b])) })
	in := func(column []uint64) []uint64 {
		sorted := make([]uint64, len(column))
		for i, o := range order {
			sorted[i] = column[o]
		}
		return sorted
	}
	require.Equal(m, in(m.keys), m.values(m.keysIn[result], m.layout.KeyBytes), m.describe)
	for c, given := range m.given {
		require.Equal(m, in(given), m.values(m.payload[c][result], max(4, m.layout.PayloadBytes)), "%s, column %d",
			m.describe, c)
	}
}

func drawKeys(name string, rows, bits int) []uint64 {
	random := rand.New(rand.NewPCG(uint64(rows), uint64(bits)))
	keys := make([]uint64, rows)
	for i := range keys {
		keys[i] = distributions[name](random, i, rows, bits)
	}
	return keys
}

// sortSizes are around a tile, and several tiles, of the smaller kind.
func (r rig) sortSizes() []int {
	tile := min(int(kernel.TileRows(kernel.Named(r.ops.Tuning().Config("radix_sort", nil)))), 5000)
	return []int{0, 1, 2, tile - 1, tile, tile + 1, 5*tile + 3}
}

func TestSort(t *testing.T) {
	names := slices.Sorted(maps.Keys(distributions))
	// Bits that are sorted, and those that vary.
	ranges := []struct {
		first, end int
		varying    uint64
	}{{0, 0, 0}, {0, 1, 0}, {0, 8, 0}, {3, 20, 0}, {0, 32, 0}, {0, 32, 0x80000401}, {31, 33, 0}, {5, 64, 0},
		{0, 64, 1<<63 | 1<<32 | 1<<31 | 7}}
	forEachFamily(t, func(r rig) {
		sizes := r.sortSizes()
		for _, c := range devicetest.Combinations(r, len(sizes), len(movings), len(ranges), len(names)) {
			rows, moving, bits, name := sizes[c[0]], movings[c[1]], ranges[c[2]], names[c[3]]
			end := min(bits.end, moving.KeyBytes*8)
			if bits.first > end {
				continue
			}
			varying := bits.varying
			if varying == 0 {
				varying = ^uint64(0)
			}
			keys := drawKeys(name, rows, 64)
			for i := range keys {
				// Bits that do not vary are the same everywhere.
				keys[i] = keys[i]&varying | 0x5a5a5a5a5a5a5a5a&^varying
				if moving.KeyBytes == 4 {
					keys[i] = uint64(uint32(keys[i]))
				}
			}
			m := newMoved(r, moving, keys, fmt.Sprintf("%s, bits %d to %d of %x", name, bits.first, end, bits.varying))
			p, err := primitive.PlanSort(r.ops.Tuning(),
				primitive.Sort{Layout: m.layout, FirstBit: bits.first, EndBit: end, Varying: bits.varying})
			require.NoError(r, err)
			scratch := r.empty(p.ScratchBytes)
			r.run(func(list *backend.List) error {
				return r.ops.Sort(list, p, scratch.All(), m.columns(0),
					[2]primitive.Columns{m.columns(0), m.columns(1)})
			})
			m.check(p.Result(), func(key uint64) uint64 { return low(key, end) >> bits.first })
		}
	})
}

// A portion ends in the middle of the rows, also where a dispatch of it is cut.
func TestSortInPortions(t *testing.T) {
	forEachFamily(t, func(r rig) {
		if r.ops.Tuning().Config("radix_sort", nil)["portion"] == 0 || !r.device.Info().Subgroups {
			return // portions are of look-back, which needs subgroup operations
		}
		for _, rows := range []int{20480, 20481, 3*20480 + 77} {
			m := newMoved(r, primitive.Layout{KeyBytes: 4, Payload: primitive.RowNumbers},
				lowHalves(drawKeys("uniform", rows, 20)), "portions")
			p, err := primitive.PlanSort(r.ops.Tuning(), primitive.Sort{Layout: m.layout, EndBit: 20})
			require.NoError(r, err)
			scratch := r.empty(p.ScratchBytes)
			r.run(func(list *backend.List) error {
				err := r.ops.Sort(list, p, scratch.All(), m.columns(0),
					[2]primitive.Columns{m.columns(0), m.columns(1)})
				scatters := 0
				for _, c := range list.Commands {
					if c.Kernel != nil && c.Kernel.Spec == kernel.RadixScatter.KernelSpec {
						scatters++
					}
				}
				require.Equal(r, p.Passes()*((rows-1)/20480+1), scatters)
				return err
			})
			m.check(p.Result(), func(key uint64) uint64 { return key })
		}
	})
}

// The bits that a reduction finds to vary are all that a sort needs.
func TestSortByVaryingBits(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		r := rig{t, ops, device}
		keys := drawKeys("uniform", 10000, 64)
		for i := range keys {
			keys[i] = keys[i]&0x0fe0000000007000 | 0xa0000005a0000123
		}
		m := newMoved(r, primitive.Layout{KeyBytes: 8, Payload: primitive.RowNumbers}, keys, "varying bits")
		find, err := primitive.PlanVaryingBits(ops.Tuning(), m.layout.Rows, 8)
		require.NoError(t, err)
		words := r.empty(find.ScratchBytes)
		r.run(func(list *backend.List) error { return ops.VaryingBits(list, find, m.keysIn[0], words.All()) })
		varying, _ := find.Found(values[byte](r, words.All(), int(find.ScratchBytes)))
		require.EqualValues(t, 0x0fe0000000007000, varying)
		p, err := primitive.PlanSort(ops.Tuning(), primitive.Sort{Layout: m.layout, EndBit: 64, Varying: varying})
		require.NoError(t, err)
		require.Equal(t, 2, p.Passes())
		scratch := r.empty(p.ScratchBytes)
		r.run(func(list *backend.List) error {
			return ops.Sort(list, p, scratch.All(), m.columns(0), [2]primitive.Columns{m.columns(0), m.columns(1)})
		})
		m.check(p.Result(), func(key uint64) uint64 { return key })
	})
}

// TestSortScratch: whichever of its bits vary, no sort takes more than the plan for all of them says.
func TestSortScratch(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 8))
	forEachFamily(t, func(r rig) {
		for range 2000 {
			layout := primitive.Layout{Rows: random.Uint64N(1 << (2 + random.IntN(24))), KeyBytes: 4 << random.IntN(2),
				Payload: primitive.RowNumbers, PayloadBytes: 4}
			end := random.IntN(8*layout.KeyBytes) + 1
			all, err := primitive.PlanSort(r.ops.Tuning(), primitive.Sort{Layout: layout, EndBit: end})
			require.NoError(r, err)
			varying := (random.Uint64() >> random.IntN(64)) & (random.Uint64() | -uint64(random.IntN(2)))
			part, err := primitive.PlanSort(r.ops.Tuning(),
				primitive.Sort{Layout: layout, EndBit: end, Varying: max(1, varying)})
			require.NoError(r, err)
			require.LessOrEqual(r, part.ScratchBytes, all.MostScratchBytes, "%+v, bits below %d, %x vary", layout, end, varying)
		}
	})
}

func lowHalves(keys []uint64) []uint64 {
	for i := range keys {
		keys[i] = uint64(uint32(keys[i]))
	}
	return keys
}

func TestPartition(t *testing.T) {
	names := slices.Sorted(maps.Keys(distributions))
	digits := []primitive.Partition{{Bits: 8}, {Shift: 5, Bits: 3}, {Shift: 24, Bits: 8},
		{Bits: 8, Mixed: true, Seed: 1}, {Shift: 9, Bits: 6, Mixed: true, Seed: 77}, {Shift: 40, Bits: 1},
		{Bits: 16}, {Shift: 3, Bits: 9}, {Shift: 7, Bits: 13, Mixed: true, Seed: 5}}
	forEachFamily(t, func(r rig) {
		sizes := r.sortSizes()
		for _, c := range devicetest.Combinations(r, len(sizes), len(movings), len(digits), len(names)) {
			rows, moving, s, name := sizes[c[0]], movings[c[1]], digits[c[2]], names[c[3]]
			if s.Shift+s.Bits > moving.KeyBytes*8 {
				continue
			}
			keys := drawKeys(name, rows, moving.KeyBytes*8)
			m := newMoved(r, moving, keys, fmt.Sprintf("%s, %+v", name, s))
			s.Layout = m.layout
			p, err := primitive.PlanPartition(r.ops.Tuning(), s)
			require.NoError(r, err)
			scratch, starts := r.empty(p.ScratchBytes), r.empty(4<<s.Bits+4)
			source, kept := m.columns(0), c[1]%2 == 1
			if kept {
				m.keysIn[0] = r.empty(uint64(rows * moving.KeyBytes)).All()
				for i, pair := range m.payload {
					m.payload[i][0] = r.empty(pair[0].SizeBytes).All()
				}
			}
			r.run(func(list *backend.List) error {
				return r.ops.Partition(list, p, starts.All(), scratch.All(), source,
					[2]primitive.Columns{m.columns(0), m.columns(1)})
			})
			if kept {
				require.Equal(r, keys, m.values(source.Keys, moving.KeyBytes), m.describe)
			}
			for i, key := range keys { // what comes out
				switch {
				case s.Mixed && moving.KeyBytes == 8:
					keys[i] = kernel.Mix(key, s.Seed)
				case s.Mixed:
					keys[i] = uint64(kernel.Mix(uint32(key), s.Seed))
				}
			}
			digit := func(key uint64) uint64 { return key >> s.Shift & (1<<s.Bits - 1) }
			m.check(p.Result(), digit)
			want := make([]uint32, 1<<s.Bits+1)
			for _, key := range keys {
				want[digit(key)+1]++
			}
			for d := 1; d < len(want); d++ {
				want[d] += want[d-1]
			}
			require.Equal(r, want, values[uint32](r, starts.All(), len(want)), m.describe)
		}
	})
}

// Mixing loses nothing, and keys that differ little differ in every bit of their digits.
func TestMix(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		key, seed := random.Uint64(), random.Uint32()
		require.Equal(t, key, kernel.Unmix(kernel.Mix(key, seed), seed))
		require.Equal(t, uint32(key), kernel.Unmix(kernel.Mix(uint32(key), seed), seed))
	}
	const rows = 1 << 16
	for _, seed := range []uint32{0, 1, 99} {
		for shift := range 56 {
			var wide, narrow [256]int
			for key := range uint64(rows) {
				wide[kernel.Mix(key, seed)>>shift&255]++
				narrow[kernel.Mix(uint32(key), seed)>>min(shift, 24)&255]++
			}
			// A count is 256 on average; six standard deviations are 96.
			require.Less(t, slices.Max(wide[:]), 256+130, "seed %d, bits from %d", seed, shift)
			require.Less(t, slices.Max(narrow[:]), 256+130, "seed %d, bits from %d", seed, shift)
		}
	}
}

func TestRadixPlans(t *testing.T) {
	tuning := primitive.Tuning{
		"radix_sort": {{Config: backend.Config{"serial": 0, "workgroup": 64, "items": 4, "lookback": 1}}},
		"scan":       {{Config: backend.Config{"workgroup": 64, "items": 4}}}}
	for _, bad := range []primitive.Sort{
		{Layout: primitive.Layout{Rows: 1, KeyBytes: 3}, EndBit: 8},
		{Layout: primitive.Layout{Rows: 1, KeyBytes: 4}, EndBit: 33},
		{Layout: primitive.Layout{Rows: 1, KeyBytes: 4}, FirstBit: 9, EndBit: 8},
		{Layout: primitive.Layout{Rows: 1, KeyBytes: 4, Payload: primitive.RowNumbers, PayloadBytes: 8}, EndBit: 8},
		{Layout: primitive.Layout{Rows: 1, KeyBytes: 4, Payload: primitive.Given, Columns: 4}, EndBit: 8},
	} {
		_, err := primitive.PlanSort(tuning, bad)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "%+v", bad)
	}
	_, err := primitive.PlanSort(tuning,
		primitive.Sort{Layout: primitive.Layout{Rows: primitive.MaxRows + 1, KeyBytes: 4}, EndBit: 8})
	require.ErrorIs(t, err, backend.ErrLimit)
	for _, bad := range []primitive.Partition{{Bits: 17}, {Bits: 0}, {Shift: 28, Bits: 8},
		{Shift: 30, Bits: 4, Layout: primitive.Layout{KeyBytes: 8}}} {
		bad.KeyBytes = max(4, bad.KeyBytes)
		_, err := primitive.PlanPartition(tuning, bad)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "%+v", bad)
	}
	// As few passes as the varying bits allow; no digit in two words.
	for _, c := range []struct {
		first, end int
		varying    uint64
		passes     int
	}{{0, 64, 0, 8}, {0, 32, 0, 4}, {0, 33, 0, 5}, {0, 64, 0xff000000000000ff, 2}, {0, 64, 1, 1}, {4, 12, 0, 1},
		{0, 64, 0x0000000180000000, 2}, {0, 0, 0, 0}} {
		p, err := primitive.PlanSort(tuning, primitive.Sort{Layout: primitive.Layout{Rows: 100, KeyBytes: 8},
			FirstBit: c.first, EndBit: c.end, Varying: c.varying})
		require.NoError(t, err)
		require.Equal(t, c.passes, p.Passes(), "%+v", c)
	}
	p, err := primitive.PlanSort(tuning,
		primitive.Sort{Layout: primitive.Layout{Rows: 1 << 31, KeyBytes: 8}, EndBit: 64})
	require.NoError(t, err)
	require.Less(t, p.ScratchBytes, uint64(3<<30)) // the chain of one portion, not of all
}
