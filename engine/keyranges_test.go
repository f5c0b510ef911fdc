package engine_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/task"
)

// onRanges runs a test on one to six logical devices of every backend, under the race detector on three, with an
// allocator that must get everything back. Tables are divided by ranges of keys.
func onRanges(t *testing.T, test func(t *testing.T, joins *engine.Engine, devices int)) {
	sizes := devicetest.Short([]int{1, 3}, []int{1, 2, 3, 6})
	if devicetest.RaceDetector {
		sizes = []int{3}
	}
	for _, size := range sizes {
		t.Run(fmt.Sprintf("devices=%d", size), func(t *testing.T) {
			devicetest.ForEachGroup(t, size, func(t *testing.T, devices []*backend.Device) {
				allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer allocator.AssertSize(t, 0)
				var ops []*primitive.Ops
				for _, device := range devices {
					ops = append(ops, jointest.Lane(t, device, small).Ops)
				}
				joins := rangesOn(ops, allocator)
				defer joins.Close()
				test(t, joins, size)
				for _, device := range devices {
					noMemoryInUse(t, device)
				}
			})
		})
	}
}

// rangesOn returns an engine on the devices of ops, of which one may be there several times.
func rangesOn(ops []*primitive.Ops, allocator memory.Allocator) *engine.Engine {
	var others []query.Member
	for _, o := range ops[1:] {
		others = append(others, query.Member{Ops: o, Allocator: allocator})
	}
	joins := engine.NewEngine(ops[0], allocator, 0, others...)
	joins.ByRange.Way = task.RangesSegments
	return joins
}

// ranWith plans and runs a join by the strategy hmg.
func ranWith(t *testing.T, joins *engine.Engine, left, right arrow.Table, spec join.Spec) (
	*engine.Result, *join.Layout) {
	t.Helper()
	spec.Strategy = join.StrategyHMG
	plan, err := joins.Plan(t.Context(), left, right, spec)
	require.NoError(t, err)
	result, err := plan.Run(t.Context())
	require.NoError(t, err, "%+v, %+v", spec, joins.ByRange)
	return result, plan.Layout
}

// checkKeyRanges compares rows, the count and, of kinds with pairs, row numbers of a join with the oracle.
func checkKeyRanges(t *testing.T, joins *engine.Engine, left, right arrow.Table, spec join.Spec) {
	t.Helper()
	r, layout := ranWith(t, joins, left, right, spec)
	var batches []arrow.RecordBatch
	for batch, err := range r.Batches(t.Context()) {
		require.NoError(t, err)
		require.LessOrEqual(t, batch.NumRows(), int64(cmp.Or(spec.BatchRows, 1<<20)))
		batches = append(batches, batch)
	}
	oracle.Require(t, left, right, layout, batches)
	for _, batch := range batches {
		batch.Release()
	}
	want := len(oracle.Join(left, right, layout.Spec))
	require.EqualValues(t, want, r.Rows())
	require.True(t, r.Counted())
	stats := r.Stats()
	require.Equal(t, [2]string{"hmg", "smj-um"}, [2]string{stats.Strategy, stats.Algorithm})
	require.EqualValues(t, [2]int64{left.NumRows(), right.NumRows()}, [2]int64{int64(stats.LeftRows),
		int64(stats.RightRows)})
	r.Close()

	count := spec
	count.Output, count.Indicator, count.Order = join.Count, "", join.Unordered
	r, _ = ranWith(t, joins, left, right, count)
	require.EqualValues(t, want, r.Rows())
	r.Close()
	if spec.How == join.Inner {
		checkKeyRangePairs(t, joins, left, right, spec)
	}
}

func checkKeyRangePairs(t *testing.T, joins *engine.Engine, left, right arrow.Table, spec join.Spec) {
	spec.Output = join.Pairs
	r, layout := ranWith(t, joins, left, right, spec)
	defer r.Close()
	got := [][2]uint32{}
	for p, err := range r.Pairs(t.Context()) {
		require.NoError(t, err)
		for i := range p.Left {
			got = append(got, [2]uint32{p.Left[i], p.Right[i]})
		}
	}
	byRight := func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) }
	require.True(t, spec.Order != join.RightOrder || slices.IsSortedFunc(got, byRight))
	if spec.Order != join.LeftOrder {
		slices.SortFunc(got, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
	}
	require.Equal(t, oracle.Pairs(left, right, layout.Spec), got)
}

// TestKeyRanges joins tables with all sorts of columns and NULLs in keys, with integers, short texts and several
// columns as keys, by every kind of join, in segments, in one chunkset and in many, in tasks of a few rows and with
// large ones.
func TestKeyRanges(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)
	far := rich(t, 3, 40, 3, arrow.PrimitiveTypes.Int32)
	tables := [][2]arrow.Table{{left, right}, {right, left}, {left, empty(t, right)}, {empty(t, left), right},
		{far, left}, {far, far}, {left, left}}
	keys := [][]string{{"k"}, {"s"}, {"k", "n"}, {"k", "d"}}
	kinds := []join.How{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.RightSemi, join.RightAnti,
		join.Mark, join.NotIn}
	orders := []join.Order{join.Unordered, join.LeftOrder, join.Unordered, join.RightOrder}
	onRanges(t, func(t *testing.T, joins *engine.Engine, devices int) {
		for _, c := range devicetest.Combinations(t, len(tables), len(keys), 3, 3, 2, 4, 3, len(kinds), len(orders)) {
			joins.ByRange = task.KeyRanges{Way: task.RangesSegments + task.RangeWay(c[6]), Sort: hmg.Sorting(c[5]),
				ChunkRows: []uint64{0, 200, uint64(60/devices + 1)}[c[2]], TaskRows: []uint64{0, 60, 9}[c[3]]}
			spec := join.Spec{How: kinds[c[7]], On: keys[c[1]], BatchRows: 100 * c[4], Order: orders[c[8]]}
			if spec.Order != join.Unordered && !spec.How.Has(relation.Side(spec.Order-join.LeftOrder)) {
				spec.Order = join.Unordered
			}
			if spec.How == join.NotIn {
				spec.On = spec.On[:1]
			} else if c[4] == 1 {
				spec.NullsEqual = spec.On
				if spec.How.Pairs() {
					spec.Indicator, spec.SeparateKeys = "from", true
				}
			}
			checkKeyRanges(t, joins, tables[c[0]][0], tables[c[0]][1], spec)
		}
	})
}

// TestKeyRangesVerify: texts whose hashes collide are compared, whether few pairs of equal hashes are partners or none.
func TestKeyRangesVerify(t *testing.T) {
	devicetest.ShortOnHost(t)
	keys := []arrow.DataType{arrow.BinaryTypes.String}
	named := func(n int) func(row, column int) *string {
		return func(row, _ int) *string { text := fmt.Sprintf("%09d", row*n); return &text }
	}
	tables := [3]arrow.Table{spread(t, 150, keys, named(7)), spread(t, 400, keys, named(3)),
		spread(t, 90, keys, func(row, _ int) *string { text := fmt.Sprintf("another %d", row%5); return &text })}
	kinds := []join.How{join.Inner, join.Full, join.Anti, join.Mark, join.RightSemi}
	onRanges(t, func(t *testing.T, joins *engine.Engine, _ int) {
		for i, bits := range []int{64, 4, 0} {
			for _, e := range joins.Engines() {
				e.HashBits = new(bits)
			}
			for j, right := range tables {
				joins.ByRange = task.KeyRanges{Way: task.RangesSegments + task.RangeWay(2*(i%2)), Sort: hmg.Sorting(i),
					TaskRows: 40, ChunkRows: []uint64{60, 0}[(i+j)%2]}
				for k, how := range kinds {
					if k == 0 || devicetest.Turn(i+j+k, 2) {
						checkKeyRanges(t, joins, tables[0], right, join.Spec{How: how, On: []string{"k0"}, BatchRows: 70})
					}
				}
			}
		}
	})
}

// TestKeyRangesDivide: what the memory of devices has no room for is divided into segments, or sorted in chunksets and
// merged by the host. A side in order stays as it is.
func TestKeyRangesDivide(t *testing.T) {
	devicetest.ShortOnHost(t)
	rows := 5000
	left := keyed(t, "k", rows, func(i int) int64 { return int64(i*7919) % 4001 })
	right := keyed(t, "k", rows, func(i int) int64 { return int64(i) / 2 })
	onRanges(t, func(t *testing.T, joins *engine.Engine, devices int) {
		sets := (rows + 700*devices - 1) / (700 * devices)
		for way, text := range map[task.RangeWay]string{
			task.RangesSegments:  "segments of both sides, divided by the host",
			task.RangesRoundTrip: "segments of both sides, divided by the host",
			task.RangesMerge:     fmt.Sprintf("sorted on the devices in %d chunksets, merged by the host", sets),
		} {
			joins.ByRange = task.KeyRanges{Way: way, ChunkRows: 700, TaskRows: 300}
			r, _ := ranWith(t, joins, left, right, join.Spec{On: onK, Output: join.Count})
			require.Contains(t, r.Explain(), text)
			require.Greater(t, r.Stats().Granules, uint64(rows/300))
			if devices > 1 {
				require.Len(t, r.Stats().Devices, devices)
			}
			r.Close()
			checkKeyRanges(t, joins, left, right, join.Spec{On: onK})
		}
		joins.ByRange = task.KeyRanges{Way: task.RangesRoundTrip}
		r, _ := ranWith(t, joins, left, right, join.Spec{On: onK, Output: join.Count})
		require.Contains(t, r.Explain(), "sorted on the devices in 1 chunkset;")
		r.Close()
		r, _ = ranWith(t, joins, right, right, join.Spec{On: onK, Output: join.Count})
		require.Contains(t, r.Explain(), "as both sides are in order")
		r.Close()
	})
}
