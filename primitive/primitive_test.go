package primitive_test

import (
	"context"
	"math"
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

// rig holds the primitives of one device and its memory; everything is released at the end of the test.
type rig struct {
	*testing.T
	ops    *primitive.Ops
	device *backend.Device
}

// tunings are the device's own and small tiles of all shapes, so that few rows make many tiles and levels.
var tunings = []namedTuning{
	{"own", func(*backend.Device) primitive.Tuning { return nil }},
	{"small serial", func(d *backend.Device) primitive.Tuning {
		return primitive.Override(backend.Config{"serial": 1, "workgroup": devicetest.WholeSubgroups(d.Info(), 8),
			"items": 16})
	}},
	{"small wide", func(d *backend.Device) primitive.Tuning {
		return primitive.Override(backend.Config{"serial": 0, "workgroup": 64, "items": 3})
	}},
	{"small shared", func(*backend.Device) primitive.Tuning {
		return primitive.Override(backend.Config{"serial": 0, "shared": 1, "workgroup": 64, "items": 3})
	}},
}

type namedTuning struct {
	name string
	of   func(*backend.Device) primitive.Tuning
}

func forEach(t *testing.T, test func(r rig)) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tunings := slices.DeleteFunc(slices.Clone(tunings), func(tuning namedTuning) bool {
			return tuning.name == "small wide" && !device.Info().Subgroups // it is "small shared" there
		})
		for _, tuning := range devicetest.Shapes(t, device.Info(), tunings) {
			if vulkantest.Validation(t) == vulkan.GPUAssisted && tuning.name == "small shared" {
				continue // instrumented shaders take many seconds to compile, and kernel tests run each variant
			}
			t.Run(tuning.name, func(t *testing.T) {
				ops, err := primitive.New(device, tuning.of(device))
				require.NoError(t, err)
				test(rig{t, ops, device})
			})
		}
	})
}

// column uploads values.
func column[T any](r rig, values []T) *backend.Buffer {
	r.Helper()
	b := r.empty(uint64(len(backend.AsBytes(values))))
	point, err := r.device.Upload(context.Background(), b.All(), backend.AsBytes(values))
	require.NoError(r, err)
	require.NoError(r, point.Wait(context.Background()))
	return b
}

// empty allocates a buffer filled with a marker, so that what a kernel does not write shows.
func (r rig) empty(sizeBytes uint64) *backend.Buffer {
	r.Helper()
	b, err := r.device.Allocate(context.Background(), backend.DeviceLocal, sizeBytes, "test")
	require.NoError(r, err)
	r.Cleanup(b.Release)
	var list backend.List
	list.Fill(b.All(), 0xdeadbeef)
	require.NoError(r, r.device.Run(context.Background(), &list))
	return b
}

func values[T any](r rig, b backend.Range, rows int) []T {
	r.Helper()
	out := make([]T, rows)
	require.NoError(r, r.device.Download(context.Background(), backend.AsBytes(out),
		backend.Range{Buffer: b.Buffer, OffsetBytes: b.OffsetBytes, SizeBytes: uint64(len(backend.AsBytes(out)))}))
	return out
}

func (r rig) run(record func(list *backend.List) error) {
	r.Helper()
	var list backend.List
	require.NoError(r, record(&list))
	require.NoError(r, r.device.Run(context.Background(), &list))
}

// sizesAround are the edge sizes of a primitive: nothing, one row, around one tile, and several tiles.
func (r rig) sizesAround(name string) []int {
	tile := int(kernel.TileRows(kernel.Named(r.ops.Tuning().Config(name, backend.Config{"key_bits": 32}))))
	if tile > 1<<14 { // large tiles of large devices: the several-tile size would take long under the race detector
		return []int{0, 1, 2, 1000, tile - 1, tile, tile + 1}
	}
	return []int{0, 1, 2, tile - 1, tile, tile + 1, 5*tile + 3}
}

// A scan with look-back that never looks sums all tiles before its own from the values.
func TestScan(t *testing.T) {
	forEach(t, testScan)
	for _, patience := range []uint32{0, 1, 256} {
		devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
			skipWithoutSubgroups(t, device)
			ops, err := primitive.New(device, primitive.Override(backend.Config{"lookback": 1, "serial": 0,
				"patience": patience, "workgroup": 64, "items": 5}, "scan"))
			require.NoError(t, err)
			testScan(rig{t, ops, device})
		})
	}
}

// skipWithoutSubgroups skips a test of look-back where a scan does not look back.
func skipWithoutSubgroups(t *testing.T, device *backend.Device) {
	if !device.Info().Subgroups {
		t.Skip("no look-back without subgroup operations")
	}
}

func testScan(r rig) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, rows := range r.sizesAround("scan") {
		in := make([]uint32, rows)
		in64 := make([]uint64, rows)
		for i := range in {
			in[i], in64[i] = random.Uint32(), random.Uint64()
		}
		scan(r, in, 32, func(v uint32) uint32 { return v })
		scan(r, in, 64, func(v uint32) uint64 { return uint64(v) })
		scan(r, in64, 64, func(v uint64) uint64 { return v })
	}
}

// Many tiles under way at once, in dispatches that are cut as a pacer cuts them.
func TestScanLookbackOfManyTiles(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		skipWithoutSubgroups(t, device)
		const rows = 400_001
		in, want := make([]uint32, rows), make([]uint64, rows+1)
		random := rand.New(rand.NewPCG(3, 4))
		for i := range in {
			in[i] = random.Uint32()
			want[i+1] = want[i] + uint64(in[i])
		}
		// On a busy machine all 782 tiles may be late and have to be counted, which takes 64 loop trips each. lavapipe
		// stops an invocation after 65,535 trips, with a wrong result, so few trips are left for looking.
		patiences := []uint32{1, 16}
		if vulkantest.Validation(t) == vulkan.GPUAssisted {
			// Each access of an instrumented shader loops over the buffers: looking often exceeds lavapipe's limit of
			// 65,535 loop trips.
			patiences = patiences[:1]
		}
		for _, patience := range patiences {
			ops, err := primitive.New(device, primitive.Override(backend.Config{"lookback": 1, "serial": 0,
				"patience": patience, "workgroup": 128, "items": 4}, "scan"))
			require.NoError(t, err)
			r := rig{t, ops, device}
			p, err := primitive.PlanScan(ops.Tuning(), rows, 32, 64, true)
			require.NoError(t, err)
			src, out, scratch := column(r, in), r.empty((rows+1)*8), r.empty(p.ScratchBytes)
			var whole, list backend.List
			require.NoError(t, ops.Scan(&whole, p, src.All(), out.All(), scratch.All()))
			for _, c := range whole.Commands {
				if c.Kind != backend.Dispatch {
					list.Commands = append(list.Commands, c)
					continue
				}
				for end := c.EndGroup; c.FirstGroup < end; c.FirstGroup = c.EndGroup {
					c.EndGroup = min(end, c.FirstGroup+1+random.Uint32N(end))
					list.Commands = append(list.Commands, c)
				}
			}
			for range 3 {
				require.NoError(t, device.Run(context.Background(), &list))
				require.Equal(t, want, values[uint64](r, out.All(), rows+1), "patience %d", patience)
			}
		}
	})
}

func scan[V, S uint32 | uint64](r rig, in []V, sumBits int, widen func(V) S) {
	rows := len(in)
	want := make([]S, rows+1)
	for i, v := range in {
		want[i+1] = want[i] + widen(v)
	}
	inBits := 64
	if _, narrow := any(in).([]uint32); narrow {
		inBits = 32
	}
	src := column(r, in)
	for _, total := range []bool{true, false} {
		p, err := primitive.PlanScan(r.ops.Tuning(), uint64(rows), inBits, sumBits, total)
		require.NoError(r, err)
		out, scratch := r.empty(uint64((rows+1)*sumBits/8)), r.empty(p.ScratchBytes)
		r.run(func(list *backend.List) error { return r.ops.Scan(list, p, src.All(), out.All(), scratch.All()) })
		n := rows
		if total {
			n++
		}
		require.Equal(r, want[:n], values[S](r, out.All(), n), "%d rows, %d to %d bits", rows, inBits, sumBits)
	}
	if inBits == sumBits { // in place
		p, err := primitive.PlanScan(r.ops.Tuning(), uint64(rows), inBits, sumBits, false)
		require.NoError(r, err)
		scratch := r.empty(p.ScratchBytes)
		r.run(func(list *backend.List) error { return r.ops.Scan(list, p, src.All(), src.All(), scratch.All()) })
		require.Equal(r, want[:rows], values[S](r, src.All(), rows), "in place, %d rows of %d bits", rows, inBits)
	}
}

func TestRangeSearchAndExpand(t *testing.T) {
	forEach(t, func(r rig) {
		tile := int(kernel.TileRows(kernel.Named(r.ops.Tuning().Config("range_search", nil))))
		tile = min(tile, 5000)
		for _, c := range []struct {
			name                  string
			left, right, distinct int
		}{
			{"one row each", 1, 1, 1},
			{"one against many", 1, 3*tile + 5, 1},
			{"many against one", tile + 1, 1, 1},
			{"unique keys", tile + 1, 3*tile - 1, 1 << 30},
			{"no match", tile, tile, 0},
			{"duplicates on both sides", 2*tile + 1, 2*tile - 1, tile / 4},
			{"25 distinct keys", 999, 1001, 25},
		} {
			r.Run(c.name, func(t *testing.T) {
				r := rig{t, r.ops, r.device}
				random := rand.New(rand.NewPCG(3, 4))
				draw := func(rows, parity int) []uint64 {
					keys := make([]uint64, rows)
					for i := range keys {
						if c.distinct == 0 { // the two sides never meet, and hold the extreme keys
							keys[i] = []uint64{0, math.MaxUint32 - 1}[random.IntN(2)] + uint64(parity)
						} else {
							keys[i] = uint64(random.IntN(c.distinct))
						}
					}
					slices.Sort(keys)
					return keys
				}
				left, right := draw(c.left, 0), draw(c.right, 1)
				searchAndExpand(r, left, right, 8)
				narrow := func(keys []uint64) []uint32 {
					out := make([]uint32, len(keys))
					for i, k := range keys {
						out[i] = uint32(k)
					}
					return out
				}
				searchAndExpand(r, narrow(left), narrow(right), 4)
			})
		}
	})
}

func searchAndExpand[K uint32 | uint64](r rig, left, right []K, keyBytes int) {
	p, err := primitive.PlanRangeSearch(r.ops.Tuning(), uint64(len(left)), uint64(len(right)), keyBytes)
	require.NoError(r, err)
	begins, counts := r.empty(uint64(len(left)*4)), r.empty(uint64(len(left)*4))
	scratch := r.empty(p.ScratchBytes)
	leftKeys, rightKeys := column(r, left), column(r, right)
	var pairs [][2]uint32
	wantBegins, wantCounts := make([]uint32, len(left)), make([]uint32, len(left))
	for i, k := range left {
		lower, _ := slices.BinarySearch(right, k)
		upper := lower
		for upper < len(right) && right[upper] == k {
			pairs = append(pairs, [2]uint32{uint32(i) + 100, uint32(upper) * 3})
			upper++
		}
		wantBegins[i], wantCounts[i] = uint32(lower), uint32(upper-lower)
	}
	for _, countOnly := range []bool{true, false} {
		b, c := begins.All(), counts.All()
		if countOnly {
			b, c = backend.Range{}, backend.Range{}
		}
		r.run(func(list *backend.List) error {
			return r.ops.RangeSearch(list, p, leftKeys.All(), rightKeys.All(), b, c, scratch.All())
		})
		require.Equal(r, []uint64{uint64(len(pairs))}, values[uint64](r, scratch.Range(p.TotalOffset, 8), 1),
			"total, count only %t", countOnly)
	}
	require.Equal(r, wantBegins, values[uint32](r, begins.All(), len(left)))
	require.Equal(r, wantCounts, values[uint32](r, counts.All(), len(left)))
	alone := r.empty(uint64(len(left) * 4))
	r.run(func(list *backend.List) error {
		return r.ops.RangeSearch(list, p, leftKeys.All(), rightKeys.All(), backend.Range{}, alone.All(), backend.Range{})
	})
	require.Equal(r, wantCounts, values[uint32](r, alone.All(), len(left)))

	sp, err := primitive.PlanScan(r.ops.Tuning(), uint64(len(left)), 32, 64, true)
	require.NoError(r, err)
	offsets, scanScratch := r.empty(uint64(len(left)+1)*8), r.empty(sp.ScratchBytes)
	r.run(func(list *backend.List) error {
		return r.ops.Scan(list, sp, counts.All(), offsets.All(), scanScratch.All())
	})
	leftIDs, rightIDs := make([]uint32, len(left)), make([]uint32, len(right))
	for i := range leftIDs {
		leftIDs[i] = uint32(i) + 100
	}
	for i := range rightIDs {
		rightIDs[i] = uint32(i) * 3
	}
	ranges := primitive.Ranges{
		LeftRows: uint64(len(left)), Offsets: offsets.All(), Begins: begins.All(),
		LeftIDs: column(r, leftIDs).All(), RightIDs: column(r, rightIDs).All(),
	}
	// The whole output, then a piece from its middle.
	for _, piece := range [][2]int{{0, len(pairs)}, {len(pairs) / 3, len(pairs) - len(pairs)/2}} {
		rows := piece[1]
		l, g := r.empty(uint64(rows*4)), r.empty(uint64(rows*4))
		r.run(func(list *backend.List) error {
			return r.ops.Expand(list, ranges, uint64(piece[0]), uint32(rows), l.All(), g.All())
		})
		gotLeft, gotRight := values[uint32](r, l.All(), rows), values[uint32](r, g.All(), rows)
		for i := range rows {
			require.Equal(r, pairs[piece[0]+i], [2]uint32{gotLeft[i], gotRight[i]}, "pair %d", piece[0]+i)
		}
	}
}

// TestExpandFarOut draws a piece that lies beyond 2^32 pairs.
func TestExpandFarOut(t *testing.T) {
	forEach(t, func(r rig) {
		const each = 3 << 30 // pairs of each of three rows
		ranges := primitive.Ranges{
			LeftRows: 3,
			Offsets:  column(r, []uint64{0, each, 2 * each, 3 * each}).All(),
			Begins:   column(r, []uint32{0, 5, 10}).All(),
		}
		out := [2]*backend.Buffer{r.empty(40), r.empty(40)}
		r.run(func(list *backend.List) error {
			return r.ops.Expand(list, ranges, 2*each-4, 10, out[0].All(), out[1].All())
		})
		require.Equal(r, []uint32{1, 1, 1, 1, 2, 2, 2, 2, 2, 2}, values[uint32](r, out[0].All(), 10))
		require.Equal(r, []uint32{each + 1, each + 2, each + 3, each + 4, 10, 11, 12, 13, 14, 15},
			values[uint32](r, out[1].All(), 10))
	})
}

func TestGather(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, rows := range r.sizesAround("gather") {
			source32, source64, ids := make([]uint32, rows+7), make([]uint64, rows+7), make([]uint32, rows)
			for i := range source32 {
				source32[i], source64[i] = random.Uint32(), random.Uint64()
			}
			want32, want64 := make([]uint32, rows), make([]uint64, rows)
			for i := range ids {
				ids[i] = uint32(random.IntN(rows + 7))
				want32[i], want64[i] = source32[ids[i]], source64[ids[i]]
			}
			idColumn := column(r, ids)
			out32, out64 := r.empty(uint64(rows*4)), r.empty(uint64(rows*8))
			c32, c64 := column(r, source32), column(r, source64)
			r.run(func(list *backend.List) error {
				for _, err := range []error{
					r.ops.Gather(list, 4, c32.All(), idColumn.All(), out32.All(), uint32(rows)),
					r.ops.Gather(list, 8, c64.All(), idColumn.All(), out64.All(), uint32(rows)),
				} {
					if err != nil {
						return err
					}
				}
				return nil
			})
			require.Equal(r, want32, values[uint32](r, out32.All(), rows))
			require.Equal(r, want64, values[uint64](r, out64.All(), rows))
		}
	})
}

func TestMarkCounts(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(17, 18))
		for _, rows := range r.sizesAround("gather") {
			counts, ids, before := make([]uint32, rows), make([]uint32, rows), make([]uint32, (rows+31)/32)
			for i := range before {
				before[i] = random.Uint32() & random.Uint32()
			}
			want, wantByID := slices.Clone(before), slices.Clone(before)
			for i, id := range random.Perm(rows) {
				ids[i] = uint32(id)
				if random.IntN(3) == 0 {
					counts[i] = 1 << random.IntN(32)
					want[i/32] |= 1 << (i % 32)
					wantByID[id/32] |= 1 << (id % 32)
				}
			}
			from, to, marks, marksByID := column(r, counts), column(r, ids), column(r, before), column(r, before)
			r.run(func(list *backend.List) error {
				if err := r.ops.MarkCounts(list, from.All(), backend.Range{}, marks.All(), uint32(rows)); err != nil {
					return err
				}
				return r.ops.MarkCounts(list, from.All(), to.All(), marksByID.All(), uint32(rows))
			})
			require.Equal(r, want, values[uint32](r, marks.All(), len(want)), "%d rows", rows)
			require.Equal(r, wantByID, values[uint32](r, marksByID.All(), len(want)), "%d rows, by id", rows)
		}
	})
}
