package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// onHMG runs a test on one to six logical devices of every backend, under the race detector on three, with an allocator
// that must get everything back.
func onHMG(t *testing.T, test func(t *testing.T, h *engine.HMG, devices int)) {
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
				h := hmgOn(ops, allocator)
				defer h.Engine.Close()
				test(t, h, size)
				for _, device := range devices {
					noMemoryInUse(t, device)
				}
			})
		})
	}
}

// hmgOn returns the strategy on the devices of ops, of which one may be there several times.
func hmgOn(ops []*primitive.Ops, allocator memory.Allocator) *engine.HMG {
	var others []query.Member
	for _, o := range ops[1:] {
		others = append(others, query.Member{Ops: o, Allocator: allocator})
	}
	return engine.NewEngine(ops[0], allocator, 0, others...).HMG()
}

// checkHMG compares rows, pairs and the count of a join with the oracle.
func checkHMG(t *testing.T, h *engine.HMG, left, right arrow.Table, spec join.Spec) {
	t.Helper()
	r, err := h.Join(t.Context(), left, right, spec)
	require.NoError(t, err)
	var batches []arrow.RecordBatch
	for batch, err := range r.Batches(t.Context()) {
		require.NoError(t, err)
		require.LessOrEqual(t, batch.NumRows(), int64(cmp.Or(spec.BatchRows, 1<<20)))
		batches = append(batches, batch)
	}
	oracle.Require(t, left, right, r.Layout, batches)
	for _, batch := range batches {
		batch.Release()
	}
	want := oracle.Pairs(left, right, r.Layout.Spec)
	require.EqualValues(t, len(want), r.Rows())
	r.Close()

	spec.Output, spec.Indicator = join.Count, ""
	r, err = h.Join(t.Context(), left, right, spec)
	require.NoError(t, err)
	require.EqualValues(t, len(want), r.Rows())
	r.Close()

	spec.Output = join.Pairs
	r, err = h.Join(t.Context(), left, right, spec)
	require.NoError(t, err)
	got := [][2]uint32{}
	for p, err := range r.Pairs(t.Context()) {
		require.NoError(t, err)
		for i := range p.Left {
			got = append(got, [2]uint32{p.Left[i], p.Right[i]})
		}
	}
	r.Close()
	slices.SortFunc(got, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
	require.Equal(t, want, got)
}

// TestHMG joins tables with all sorts of columns and NULLs in keys, with integers, short texts and several columns as
// keys, in place, in one chunkset and in many, in tasks of a few rows and with large ones.
func TestHMG(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)
	far := rich(t, 3, 40, 3, arrow.PrimitiveTypes.Int32)
	tables := [][2]arrow.Table{{left, right}, {right, left}, {left, empty(t, right)}, {empty(t, left), right},
		{far, left}, {far, far}, {left, left}}
	keys := [][]string{{"k"}, {"s"}, {"k", "n"}, {"k", "d"}}
	onHMG(t, func(t *testing.T, h *engine.HMG, devices int) {
		for _, c := range devicetest.Combinations(t, len(tables), len(keys), 3, 3, 2, 4, 2, 2) {
			h.Cut.Sort, h.Cut.Beyond, h.Cut.Within = hmg.Sorting(c[5]), hmg.Beyond(c[6]), hmg.Within(c[7])
			h.Cut.ChunkRows, h.Cut.TaskRows = []uint64{0, 200, uint64(60/devices + 1)}[c[2]], []uint64{0, 60, 9}[c[3]]
			spec := join.Spec{On: keys[c[1]], BatchRows: 100 * c[4]}
			if c[4] == 1 {
				spec.Indicator, spec.NullsEqual, spec.SeparateKeys = "from", spec.On, true
			}
			checkHMG(t, h, tables[c[0]][0], tables[c[0]][1], spec)
		}
	})
}

// TestHMGVerifies: texts whose hashes collide are compared, for rows, pairs and counts, whether few pairs of equal
// hashes are partners or none.
func TestHMGVerifies(t *testing.T) {
	devicetest.ShortOnHost(t)
	keys := []arrow.DataType{arrow.BinaryTypes.String}
	named := func(n int) func(row, column int) *string {
		return func(row, _ int) *string { text := fmt.Sprintf("%09d", row*n); return &text }
	}
	tables := [3]arrow.Table{spread(t, 150, keys, named(7)), spread(t, 400, keys, named(3)),
		spread(t, 90, keys, func(row, _ int) *string { text := fmt.Sprintf("another %d", row%5); return &text })}
	onHMG(t, func(t *testing.T, h *engine.HMG, _ int) {
		for i, bits := range []int{64, 4, 0} {
			h.Engine.HashBits = new(bits)
			h.Cut.TaskRows, h.Cut.Sort, h.Cut.Beyond = 40, hmg.Sorting(i), hmg.Beyond(i%2)
			for j, right := range tables {
				h.Cut.ChunkRows = []uint64{60, 0}[(i+j)%2]
				checkHMG(t, h, tables[0], right, join.Spec{On: []string{"k0"}, BatchRows: 70})
			}
		}
	})
}

// TestHMGChunksets: what the memory of devices has no room for is divided into segments, or sorted in chunksets and
// merged by the host.
func TestHMGChunksets(t *testing.T) {
	devicetest.ShortOnHost(t)
	rows := 5000
	left := keyed(t, "k", rows, func(i int) int64 { return int64(i*7919) % 4001 })
	right := keyed(t, "k", rows, func(i int) int64 { return int64(i) / 2 })
	onHMG(t, func(t *testing.T, h *engine.HMG, devices int) {
		h.Cut.ChunkRows, h.Cut.TaskRows = 700, 300
		for _, h.Cut.Beyond = range []hmg.Beyond{hmg.BeyondSegments, hmg.BeyondMerge} {
			r, err := h.Join(t.Context(), left, right, join.Spec{On: onK, Output: join.Count})
			require.NoError(t, err)
			defer r.Close()
			require.EqualValues(t, len(oracle.Pairs(left, right, r.Layout.Spec)), r.Rows())
			require.True(t, r.Prepared[1].Presorted, "in order, and nothing has to be done")
			if h.Cut.Beyond == hmg.BeyondSegments {
				require.GreaterOrEqual(t, r.Prepared[0].Segments, 2*rows/700)
				require.Zero(t, r.Prepared[0].Chunksets)
				require.Contains(t, r.Explain(), "divided by the host into")
			} else {
				require.Equal(t, (rows+700*devices-1)/(700*devices), r.Prepared[0].Chunksets)
				require.GreaterOrEqual(t, r.Prepared[0].Runs, r.Prepared[0].Chunksets)
				require.Greater(t, r.Matched.Tasks, rows/300)
				require.Contains(t, r.Explain(), "merged by the host")
			}
			checkHMG(t, h, left, right, join.Spec{On: onK})
		}
	})
}

// TestHMGInPlace: tables that fit the devices together do not come back sorted, unless both are in order, each device
// would sort alone, or the round trip is asked for.
func TestHMGInPlace(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i*7919) % 2003 })
	right := keyed(t, "k", 4000, func(i int) int64 { return int64(i) / 2 })
	onHMG(t, func(t *testing.T, h *engine.HMG, devices int) {
		for h.Cut.Sort = hmg.SortRadix; h.Cut.Sort <= hmg.SortAlone; h.Cut.Sort++ {
			for _, h.Cut.Within = range []hmg.Within{hmg.WithinPlace, hmg.WithinRoundTrip} {
				r, err := h.Join(t.Context(), left, right, join.Spec{On: onK, Output: join.Count})
				require.NoError(t, err)
				inPlace := h.Cut.Within == hmg.WithinPlace && (devices == 1 || h.Cut.Sort != hmg.SortAlone)
				require.Equal(t, [2]bool{false, true}, [2]bool{r.Prepared[0].Presorted, r.Prepared[1].Presorted})
				require.Equal(t, [2]bool{inPlace, inPlace}, [2]bool{r.Prepared[0].InPlace, r.Prepared[1].InPlace})
				if inPlace {
					require.Equal(t, devices, r.Matched.Tasks)
					require.Contains(t, r.Explain(), "sorted and matched in place")
				} else {
					require.Equal(t, 1, r.Prepared[0].Chunksets)
					require.Contains(t, r.Explain(), "sorted in 1 chunkset")
				}
				r.Close()
				checkHMG(t, h, left, right, join.Spec{On: onK})
				if !testing.Short() {
					checkHMG(t, h, right, left, join.Spec{On: onK})
				}
			}
		}
		r, err := h.Join(t.Context(), right, right, join.Spec{On: onK, Output: join.Count})
		require.NoError(t, err)
		defer r.Close()
		require.False(t, r.Prepared[0].InPlace, "both are in order")
	})
}

// TestHMGRefuses what it does not do, in words that name it.
func TestHMGRefuses(t *testing.T) {
	table := keyed(t, "k", 900, func(int) int64 { return 3 })
	onHMG(t, func(t *testing.T, h *engine.HMG, _ int) {
		for _, spec := range []join.Spec{{How: join.Left}, {How: join.Semi}, {How: join.NotIn}, {Order: join.LeftOrder},
			{Deterministic: true}, {Validate: join.OneToMany}} {
			spec.On = onK
			_, err := h.Join(t.Context(), table, table, spec)
			require.ErrorIs(t, err, backend.ErrUnsupported, "%+v", spec)
			require.ErrorContains(t, err, "hmg")
		}
		_, err := h.Join(t.Context(), table, table, join.Spec{On: []string{"none"}})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		for _, output := range []join.Output{join.Count, join.Rows} {
			r, err := h.Join(t.Context(), table, table, join.Spec{On: onK, Output: output, MaxOutputRows: 900*900 - 1})
			if err == nil { // the first of several tasks has fewer
				for _, err = range r.Batches(t.Context()) {
				}
				r.Close()
			}
			require.ErrorIs(t, err, backend.ErrLimit)
		}
	})
}

// TestHMGEnds: whoever stops drawing, cancels, or closes the engine while a join is drawn, leaves nothing behind.
func TestHMGEnds(t *testing.T) {
	devicetest.ShortOnHost(t)
	for name, cut := range hmgWays {
		t.Run(name, func(t *testing.T) { testHMGEnds(t, cut) })
	}
}

// hmgWays are the ways of a join of a few hundred rows.
var hmgWays = map[string]hmg.Config{
	"in place":   {TaskRows: 50},
	"round trip": {TaskRows: 50, Within: hmg.WithinRoundTrip},
	"segments":   {TaskRows: 50, ChunkRows: 100},
	"merge":      {TaskRows: 50, ChunkRows: 100, Beyond: hmg.BeyondMerge},
}

func testHMGEnds(t *testing.T, cut hmg.Config) {
	table := keyed(t, "k", 900, func(i int) int64 { return int64(i*5) % 9 * 2 })
	spec := join.Spec{On: onK, BatchRows: 1000}
	onHMG(t, func(t *testing.T, h *engine.HMG, _ int) {
		h.Cut = cut
		for _, end := range []func(r *engine.HMGResult, cancel context.CancelFunc){
			func(*engine.HMGResult, context.CancelFunc) {},
			func(r *engine.HMGResult, _ context.CancelFunc) { r.Close() },
			func(_ *engine.HMGResult, cancel context.CancelFunc) { cancel() },
			func(*engine.HMGResult, context.CancelFunc) { h.Engine.Close() },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			r, err := h.Join(ctx, table, table, spec)
			require.NoError(t, err)
			rows := int64(0)
			for batch, err := range r.Batches(ctx) {
				if err != nil {
					require.ErrorIs(t, err, backend.ErrCancelled)
					break
				}
				rows += batch.NumRows()
				batch.Release()
				end(r, cancel)
				if ctx.Err() == nil && rows > 20_000 {
					break
				}
			}
			require.Less(t, rows, int64(90_000))
			r.Close()
			cancel()
		}
		_, err := h.Join(t.Context(), table, table, spec)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "the engine was closed")
	})
}

// TestHMGFails: whichever of two devices fails, at whatever point, the join ends with its error, and nothing stays.
// Only where memory is short in place, the tables make the round trip instead, and the join says so.
func TestHMGFails(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	layout, err := join.NewLayout(left.Schema(), right.Schema(), onKeys)
	require.NoError(t, err)
	want := uint64(len(oracle.Pairs(left, right, layout.Spec)))
	joinBy := func(faults host.Faults, cut hmg.Config) (noRoom bool, _ error) {
		b := host.New(host.Options{Faults: faults, CloseLimit: 200 * time.Millisecond, Discrete: true})
		var devices []*backend.Device
		var ops []*primitive.Ops
		for range 2 {
			driver, err := b.Open("host:cpu")
			require.NoError(t, err)
			device := backend.NewDevice(driver, deviceLimits(faults))
			devices, ops = append(devices, device), append(ops, jointest.Lane(t, device, small).Ops)
		}
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		h := hmgOn(ops, allocator)
		h.Cut = cut
		r, err := h.Join(t.Context(), left, right, onKeys)
		if err == nil {
			noRoom = r.Prepared[0].NoRoom
			require.Equal(t, noRoom, strings.Contains(r.Explain(), "as a device had no room for its share of both"))
			for batch, drawErr := range r.Batches(t.Context()) {
				if err = drawErr; err == nil {
					batch.Release()
				}
			}
			require.True(t, err != nil || r.Rows() == want)
			r.Close()
		}
		h.Engine.Close()
		allocator.AssertSize(t, 0)
		for _, device := range devices {
			if closeErr := device.Close(); closeErr != nil {
				require.NotEqual(t, host.Faults{}, faults, closeErr)
				require.NotContains(t, closeErr.Error(), "not released")
			}
		}
		return noRoom, err
	}
	for name, fault := range faults {
		for way, cut := range hmgWays {
			t.Run(name+"/"+way, func(t *testing.T) {
				step := stepOf(t, name, 3)
				noRoom, err := joinBy(host.Faults{}, cut)
				require.NoError(t, err)
				require.False(t, noRoom)
				failed := 0
				for n := 1; ; n += step {
					if noRoom, err = joinBy(fault.at(n), cut); err == nil && !noRoom {
						break // there is no n-th call
					}
					if noRoom {
						require.Equal(t, "in place", way)
						require.NoError(t, err, "call %d", n)
					} else {
						require.ErrorIs(t, err, fault.want, "call %d", n)
						require.NotErrorIs(t, err, backend.ErrCancelled, "call %d", n)
					}
					failed++
				}
				require.Positive(t, failed)
			})
		}
	}
}
