package operator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

var forms = []*looped{
	{unitRows: 7}, {unitRows: 3, countFirst: true}, {unitRows: 5, numbers: true}, {unitRows: 9, stay: true},
	{unitRows: 1, oneByOne: true}, {unitRows: 4, pageRows: 4}, {unitRows: 8, numbers: true, pageRows: 8},
	{unitRows: 6, starves: 1}, {unitRows: 2, starves: 9}, {unitRows: 90, stay: true, numbers: true},
}

// payloads are the widths of up to five columns of each side.
var payloads = [][2][]int{{nil, nil}, {{4}, {8}}, {{8, 4}, {4, 4}}, {{4, 8, 4}, {8, 8, 8}}, {{4, 4, 4, 4}, nil},
	{{8, 4, 8, 4, 4}, {4, 4, 4, 8, 4}}}

// trickling is a sink that gives less room than it is asked for, in a random way.
type trickling struct {
	operator.Sink
	random *rand.Rand
	least  uint64
}

func (s trickling) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	return s.Sink.Window(ctx, min(rows, s.least+s.random.Uint64N(rows)))
}

// TestDevicesOutput compares the output with the oracle's, for every kind of output, transformation and room.
func TestDevicesOutput(t *testing.T) {
	wants, workloads := slices.Sorted(maps.Keys(jointest.Wants)), slices.Sorted(maps.Keys(jointest.Workloads))
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, len(forms), len(wants), len(payloads), len(workloads), 4, 3) {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			want := jointest.Wants[wants[c[1]]]
			want.Keys = random.IntN(2) == 0
			rows := [...][2]int{{40, 90}, {60, 70}, {0, 20}, {20, 0}}[c[4]]
			build, probe := jointest.Workloads[workloads[c[3]]].Relations(random, rows, 4+4*random.IntN(2),
				payloads[c[2]])
			var o jointest.Options
			if random.IntN(2) == 0 {
				o.Granule = 1 + random.Uint64N(90)
			}
			switch c[5] {
			case 1:
				o.Facts = func(f *operator.Facts) { f.Window = 3 }
			case 2: // room for any unit, and for all rows of one side
				o.Sink = func(s operator.Sink) operator.Sink { return trickling{s, random, 90 * 60} }
				if want.Matched == [2]bool{} && want.Rest == [2]bool{} && workloads[c[3]] != "one key" {
					o.Sink = func(s operator.Sink) operator.Sink {
						return trickling{s, random, uint64(forms[c[0]].unitRows) * 40}
					}
				}
			}
			jointest.CheckRun(t, lane, forms[c[0]], build, probe, want, o, fmt.Sprintf(
				"case %d: %s, %s of %s, payload %v, %+v", n, forms[c[0]].Name(),
				wants[c[1]], workloads[c[3]], payloads[c[2]], o))
		}
	})
}

// TestDevicesParts: rows of one side for which there is too little room are output part by part.
func TestDevicesParts(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for n, form := range forms[:4] {
			build, probe := jointest.Workloads["half match"].Relations(rand.New(rand.NewPCG(1, uint64(n))),
				[2]int{100, 9000}, 8, [2][]int{{4}, {8, 4, 4}})
			for _, name := range []string{"mark probe", "anti probe"} {
				want := jointest.Wants[name]
				want.Keys = true
				out := jointest.CheckRun(t, lane, form, build, probe, want, jointest.Options{Window: 2100}, form.Name())
				require.Greater(t, out.Windows, 3)
				_, err := jointest.Run(t, lane, form, build, probe, want, jointest.Options{Window: 2000})
				require.ErrorIs(t, err, backend.ErrDeviceMemory)
				require.ErrorContains(t, err, "raise device_memory")
			}
		}
	})
}

// TestDevicesWindowsOfUnits: a window takes as many units as it has room for. A single unit that exceeds a window is an
// error.
func TestDevicesWindowsOfUnits(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		build := &jointest.Relation{KeyBytes: 4, Keys: slices.Repeat([]uint64{1}, 10), Payload: []int{4}}
		probe := &jointest.Relation{KeyBytes: 4, Payload: []int{4}}
		for i := range 40 { // units of 10 rows, and empty ones at the beginning, in the middle and at the end
			probe.Keys = append(probe.Keys, [...]uint64{0, 1, 1, 1, 0, 0, 1, 1, 1, 0}[i/4])
		}
		for _, form := range []looped{{unitRows: 1, stay: true}, {unitRows: 1, stay: true, countFirst: true}} {
			for window, windows := range map[uint64]int{0: 1, 10: 24, 25: 12, 39: 8, 100: 3, 240: 1} {
				out := jointest.CheckRun(t, lane, &form, build, probe, jointest.Wants["inner"],
					jointest.Options{Window: window}, form.Name())
				require.EqualValues(t, 240, out.Count)
				require.Equal(t, windows, out.Windows, "windows of %d rows", window)
			}
			_, err := jointest.Run(t, lane, &form, build, probe, jointest.Wants["inner"], jointest.Options{Window: 9})
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			require.ErrorContains(t, err, "room for 9 rows, the least part of the output has 10; raise device_memory")
		}
	})
}

// asked is a sink that records how many rows it was asked for, and returns an error.
type asked struct {
	operator.Counter
	rows uint64
}

func (a *asked) Window(_ context.Context, rows uint64) (*operator.Window, error) {
	a.rows = rows
	return nil, jointest.ErrEnough
}

// TestDevicesManyRows: rows are counted in 64 bits, and no window is requested for more rows than a kernel can number.
func TestDevicesManyRows(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for _, room := range []uint64{1, 1 << 31, 1 << 40} {
			u := operator.Units{Lane: lane, Want: new(operator.Want), Number: 5, Room: room, CountFirst: room == 1,
				RecordCount: func(_ *backend.List, counts backend.Range) error {
					return upload(context.Background(), lane, counts,
						backend.AsBytes(slices.Repeat([]uint64{1 << 30}, 5)))
				}}
			var count operator.Counter
			only := u
			only.Want = &operator.Want{Count: true}
			require.NoError(t, only.Write(context.Background(), &count))
			require.EqualValues(t, 5<<30, count.Rows)
			var sink asked
			require.ErrorIs(t, u.Write(context.Background(), &sink), jointest.ErrEnough)
			require.EqualValues(t, 5<<30, sink.Rows)
			require.EqualValues(t, math.MaxInt32, sink.rows)
		}
	})
}

// TestDevicesCursorPasses: if pages beyond 2^32 rows were taken, the output is not complete, although the cursor, which
// has wrapped around, looks as if there were room.
func TestDevicesCursorPasses(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		chunk, release := (&jointest.Relation{KeyBytes: 4, Keys: []uint64{1}}).Chunk(t, lane)
		defer release()
		for _, pageRows := range []uint32{0, 1, 8} {
			u := operator.Units{Lane: lane, Want: new(operator.Want), Number: 1, Room: 10, PageRows: pageRows,
				Invocations: 1}
			for side := range u.Inputs {
				in := operator.NewInput(lane, chunk, "side")
				in.Stay()
				u.Inputs[side] = &in
			}
			u.Record = func(list *backend.List, _, _ uint32, to operator.Target) error {
				list.Fill(to.Columns.Places.Part(0, 4), 5)
				list.Fill(to.Columns.Places.Part(4, 4), 5)
				list.Fill(to.Columns.Places.Part(8, 4), 1)
				return nil
			}
			u.RecordCount = func(list *backend.List, counts backend.Range) error { return jointest.ErrEnough }
			sink := &operator.Collector{Lane: lane}
			require.ErrorIs(t, u.Write(context.Background(), sink), jointest.ErrEnough, "units are counted")
			require.EqualValues(t, 5+1<<32, sink.Rows)
			require.Empty(t, sink.Windows)
		}
	})
}

// TestDevicesFailures: if a sink, a context or an allocation fails at any point, no memory is left behind.
func TestDevicesFailures(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		if jointest.Instrumented(t) {
			return // instrumented pipelines take seconds to compile
		}
		build, probe := jointest.Workloads["duplicates"].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{60, 140}, 4,
			[2][]int{{4, 8, 4}, {8, 4, 4}})
		want := jointest.Wants["full"]
		want.Keys = true
		turn := 0
		for _, form := range forms {
			for name, o := range map[string]jointest.Options{"all at once": {}, "granules": {Granule: 60},
				"too little room": {Facts: func(f *operator.Facts) { f.Window = 3 }}} {
				if turn++; !devicetest.Turn(turn, 4) {
					continue
				}
				jointest.CheckFailures(t, lane, form, build, probe, want, o, form.Name()+", "+name)
			}
			windows := jointest.Options{Window: uint64(max(70, 10*form.unitRows))}
			if form.unitRows < 90 {
				out := jointest.CheckRun(t, lane, form, build, probe, jointest.Wants["inner"], windows, form.Name())
				require.Greater(t, out.Windows, 3)
			}
			jointest.CheckFailures(t, lane, form, build, probe, jointest.Wants["inner"], windows,
				form.Name()+", windows")
		}
	})
}

// TestDevicesPlantedFaults: the checks of package jointest find each planted fault.
func TestDevicesPlantedFaults(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for _, form := range forms[:4] {
			jointest.CheckFaults(t, lane, form)
		}
	})
}

// TestDevicesPairs turns pairs of row numbers into output rows, with and without keys that must be unmixed. If record
// fails, the window is released.
func TestDevicesPairs(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		keys := &jointest.Relation{KeyBytes: 4, Keys: []uint64{10, 11, 12, 13}}
		chunk, release := keys.Chunk(t, lane)
		defer release()
		payload, releasePayload := (&jointest.Relation{KeyBytes: 4, Keys: []uint64{5, 6, 7, 8}}).Chunk(t, lane)
		defer releasePayload()
		with := &relation.Chunk{Rows: 4, Keys: chunk.Keys, Payload: []relation.Values{payload.Keys}}
		p := operator.Pairs{Lane: lane, Chunks: [2]*relation.Chunk{with, chunk}, Keys: true, KeyBytes: 8,
			Unmix: func(list *backend.List, keys, to backend.Range, rows uint64) error {
				list.Fill(to, 77)
				return nil
			}}
		ids := [2][]uint32{{3, 0, 0}, {1, 2, 3}}
		record := func(_ *backend.List, build, probe backend.Range) error {
			return errors.Join(upload(ctx, lane, build, backend.AsBytes(ids[0])),
				upload(ctx, lane, probe, backend.AsBytes(ids[1])))
		}
		sink := &operator.Collector{Lane: lane, Most: 3}
		defer sink.Release()
		for _, unmixed := range []bool{true, false} {
			w, err := sink.Window(ctx, 5)
			require.NoError(t, err)
			require.EqualValues(t, 3, w.Rows)
			require.NoError(t, p.Write(ctx, sink, w, 3, record))
			got, err := values(ctx, lane, w.Payload[operator.Build][0].All(), 3, 4)
			require.NoError(t, err)
			require.Equal(t, []uint64{8, 5, 5}, got)
			require.Empty(t, w.Payload[operator.Probe])
			require.Equal(t, [2]bool{true, true}, w.Of)
			require.True(t, w.Matched)
			expected, width := []uint64{77<<32 | 77, 77<<32 | 77, 77<<32 | 77}, 8
			if !unmixed {
				expected, width = []uint64{13, 10, 10}, 4 // keys of the build side, which has no more rows
			}
			got, err = values(ctx, lane, w.Keys.All(), 3, width)
			require.NoError(t, err)
			require.Equal(t, expected, got)
			p.Unmix = nil
		}
		before := jointest.InUse(t, lane)
		w, err := sink.Window(ctx, 3)
		require.NoError(t, err)
		err = p.Write(ctx, sink, w, 3,
			func(*backend.List, backend.Range, backend.Range) error { return jointest.ErrEnough })
		require.ErrorIs(t, err, jointest.ErrEnough)
		require.Equal(t, before, jointest.InUse(t, lane))
		require.Len(t, sink.Windows, 2)
	})
}

// TestDevicesLoad: rows that did not pass through an operator are rows of one side without a partner.
func TestDevicesLoad(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		sink := &operator.Collector{Lane: lane}
		defer sink.Release()
		for _, fails := range []bool{false, true} {
			w, err := sink.Window(ctx, 3)
			require.NoError(t, err)
			before := jointest.InUse(t, lane)
			err = w.Load(ctx, sink, operator.Probe, false, 2, []int{4, 8}, func(columns []backend.Range) error {
				for i, to := range columns {
					if fails && i == 1 {
						return jointest.ErrEnough
					}
					if err := upload(ctx, lane, to, slices.Repeat([]byte{byte(i + 1)}, int(to.SizeBytes))); err != nil {
						return err
					}
				}
				return nil
			})
			if fails {
				require.ErrorIs(t, err, jointest.ErrEnough)
				require.Equal(t, before, jointest.InUse(t, lane))
				continue
			}
			require.NoError(t, err)
			require.EqualValues(t, 2, w.Rows)
			require.Equal(t, [2]bool{operator.Probe: true}, w.Of)
			require.False(t, w.Matched)
			got, err := values(ctx, lane, w.Payload[operator.Probe][1].All(), 2, 8)
			require.NoError(t, err)
			require.Equal(t, []uint64{0x0202020202020202, 0x0202020202020202}, got)
		}
	})
}

// TestCounter: a counter adds rows up, and refuses windows.
func TestCounter(t *testing.T) {
	var c operator.Counter
	require.NoError(t, c.Count(context.Background(), 1<<40))
	require.NoError(t, c.Count(context.Background(), 3))
	require.EqualValues(t, 1<<40+3, c.Rows)
	_, err := c.Window(context.Background(), 1)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.ErrorIs(t, c.Put(context.Background(), nil), backend.ErrInvalidInput)
	var none *operator.Window
	none.Release()
}

// TestWithin: buffers of the size that memory has room for fit with their slack, and hardly larger ones do not.
func TestWithin(t *testing.T) {
	for _, bytes := range []uint64{0, 1, 1 << 16, 1<<16 + 13, 1 << 20, 2_000_000, 2_752_512, 3 << 20, 1 << 30} {
		fits := operator.Within(bytes)
		if fits > 0 {
			require.LessOrEqual(t, fits+operator.Slack(fits), bytes)
		}
		more := fits + 16
		require.Greater(t, more+operator.Slack(more), bytes)
	}
}
