package ranges_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// algorithm opens the operator.
type algorithm struct{}

func (algorithm) Name() string { return "smj-um" }

func (algorithm) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	return &operator.Plan{Facts: *f, Want: want}, nil
}

func (algorithm) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return ranges.Open(ctx, lane, p.Want)
}

// Windows may have room for a single row, and granules a single row too.
func TestDevicesWindows(t *testing.T) {
	names := slices.Sorted(maps.Keys(jointest.Wants))
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, len(names), 5, 3, 2) {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			want := jointest.Wants[names[c[0]]]
			want.Keys = n%2 == 0
			window := [...]uint64{0, 1, 7, 64, 100}[c[1]]
			if (want.Matched != [2]bool{} || want.Rest != [2]bool{}) && window > 0 {
				window += 90 // room for all rows of one side
			}
			o := jointest.Options{Window: window, Granule: [...]uint64{0, 1, 30}[c[2]]}
			build, probe := jointest.Workloads["duplicates"].Relations(random, [2]int{40, 90}, 4+4*c[3],
				[2][]int{{4, 8}, {8}})
			out := jointest.CheckRun(t, lane, algorithm{}, build, probe, want, o,
				fmt.Sprintf("%s, granules of %d, windows of %d", names[c[0]], o.Granule, o.Window))
			if names[c[0]] == "inner" && o.Granule == 0 && window > 0 {
				require.EqualValues(t, (out.Count+window-1)/window, out.Windows, "windows are full but for the last")
			}
		}
	})
}

// hot are n rows of one key.
func hot(n int) *jointest.Relation {
	return &jointest.Relation{KeyBytes: 4, Keys: slices.Repeat([]uint64{3}, n), Payload: []int{4}}
}

// Counts have 64 bits.
func TestDevicesCount(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		if jointest.Instrumented(t) {
			return // instrumented loops over this many rows exceed lavapipe's limit of loop trips
		}
		out, err := jointest.Run(t, lane, algorithm{}, hot(70_000), hot(70_000),
			operator.Want{Pairs: true, Count: true}, jointest.Options{Granule: 40_000})
		require.NoError(t, err)
		require.EqualValues(t, 70_000*70_000, out.Count)
	})
}

// A sink hears of all pairs before it is asked for room, and its error ends the join.
func TestDevicesSinkEnds(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		chunk, release := hot(300).Chunk(t, lane)
		defer release()
		o := ranges.Open(ctx, lane, operator.Want{Pairs: true})
		defer o.Close()
		require.NoError(t, o.Build(ctx, chunk))
		sink := &jointest.Strict{Collector: operator.Collector{Lane: lane, Most: 1000}, Allowed: 300*300 - 1}
		require.ErrorIs(t, o.Probe(ctx, lane, chunk, sink), jointest.ErrEnough)
		require.Zero(t, sink.Asked)

		wide := *chunk
		wide.Rows, wide.Keys.Bytes, wide.Payload = 150, 8, nil
		require.ErrorIs(t, o.Probe(ctx, lane, &wide, sink), backend.ErrInvalidInput, "keys of another width")
		wide.Rows = 151
		require.ErrorIs(t, o.Probe(ctx, lane, &wide, sink), backend.ErrInvalidInput, "not as long as it says")
	})
}

// What a granule took is given back when it is probed.
func TestDevicesGranulesLeaveNothing(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		build, probe := jointest.Workloads["half match"].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{500, 900}, 4,
			[2][]int{{4}, {4}})
		var chunks [2]*relation.Chunk
		for side, r := range []*jointest.Relation{build, probe} {
			chunk, release := r.Chunk(t, lane)
			defer release()
			chunks[side] = chunk
		}
		o := ranges.Open(ctx, lane, operator.Want{Matched: [2]bool{true, false}})
		defer o.Close()
		require.NoError(t, o.Build(ctx, chunks[operator.Build]))
		before := jointest.InUse(t, lane)
		for range 3 {
			require.NoError(t, o.Probe(ctx, lane, chunks[operator.Probe], &operator.Counter{}))
			require.Equal(t, before, jointest.InUse(t, lane))
		}
	})
}

// Sides are in order or not, with given row numbers or without. Any run of pairs can be expanded, and bits stand for
// row numbers.
func TestDevicesSearch(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for n := range 16 {
			random := rand.New(rand.NewPCG(uint64(n), 3))
			rows := [2]int{200, 330}
			if n&8 != 0 {
				rows = [2]int{330, 200}
			}
			checkSearch(t, lane, random, rows, [2]bool{n&1 != 0, n&2 != 0}, n&4 != 0)
		}
	})
}

func checkSearch(t *testing.T, lane *exec.Lane, random *rand.Rand, rows [2]int, inOrder [2]bool, given bool) {
	ctx := context.Background()
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	upload := func(values []uint32) backend.Range {
		b := lane.Memory.New(uint64(len(values))*4, "test")
		require.NoError(t, lane.Memory.Err())
		_, err := lane.Device().Upload(ctx, b.All(), backend.AsBytes(values))
		require.NoError(t, err)
		return b.All()
	}
	var sorted [2]*ranges.Sorted
	var keyOf [2]map[uint32]uint64 // by row number
	for side := range sorted {
		r := &jointest.Relation{KeyBytes: 4}
		var ids []uint32
		for i := range rows[side] {
			r.Keys, ids = append(r.Keys, uint64(random.IntN(100))), append(ids, uint32(i))
			if given {
				ids[i] = 3*uint32(i) + 1
			}
		}
		if inOrder[side] {
			slices.Sort(r.Keys)
		}
		keyOf[side] = make(map[uint32]uint64)
		for i, id := range ids {
			keyOf[side][id] = r.Keys[i]
		}
		chunk, release := r.Chunk(t, lane)
		defer release()
		numbers := ranges.Numbers{}
		if given {
			numbers.Given = upload(ids)
		}
		var err error
		sorted[side], err = ranges.Sort(ctx, lane, chunk, "side", numbers)
		require.NoError(t, err)
		require.Equal(t, inOrder[side], sorted[side].Keys == chunk.Keys.Data, "sides in order stay where they are")
		require.Equal(t, inOrder[side] && !given, sorted[side].IDs.Buffer == nil)
	}
	type pair [2]uint32
	expected := make(map[pair]bool)
	partner := [2]map[uint32]bool{{}, {}}
	for b, key := range keyOf[0] {
		for p, other := range keyOf[1] {
			if key == other {
				expected[pair{b, p}], partner[0][b], partner[1][p] = true, true, true
			}
		}
	}
	alone, err := ranges.Search(ctx, lane, sorted[0], sorted[1], true)
	require.NoError(t, err)
	defer alone.Release()
	m, err := ranges.Search(ctx, lane, sorted[0], sorted[1], false)
	require.NoError(t, err)
	defer m.Release()
	require.EqualValues(t, len(expected), m.Total)
	require.EqualValues(t, len(expected), alone.Total)

	var ids [2][]uint32
	for first := uint64(0); first < m.Total; {
		run := min(m.Total-first, random.Uint64N(300)+1)
		var to [2]backend.Range
		for side := range to {
			to[side] = lane.Memory.New(run*4, "pairs").All()
		}
		require.NoError(t, lane.Memory.Err())
		list := lane.List("expand")
		require.NoError(t, m.RecordPairs(list, first, uint32(run), to[0], to[1]))
		require.NoError(t, lane.Submit(ctx, list))
		for side := range to {
			part := make([]uint32, run)
			require.NoError(t, lane.Download(ctx, backend.AsBytes(part), to[side]))
			ids[side] = append(ids[side], part...)
		}
		first += run
	}
	found := make(map[pair]bool)
	for i := range ids[0] {
		found[pair{ids[0][i], ids[1][i]}] = true
	}
	require.Equal(t, expected, found)

	var marks [2]backend.Range
	bits := [2][]uint32{make([]uint32, 40), make([]uint32, 40)}
	for side := range marks {
		bits[side][39] = 1 << 31 // stays set
		marks[side] = upload(bits[side])
	}
	require.NoError(t, ranges.Mark(ctx, lane, sorted, [2]backend.Range{marks[0], {}}))
	require.NoError(t, ranges.Mark(ctx, lane, sorted, [2]backend.Range{{}, marks[1]}))
	for side := range marks {
		require.NoError(t, lane.Download(ctx, backend.AsBytes(bits[side]), marks[side]))
		for row := range uint32(len(bits[side])*32 - 1) {
			require.Equal(t, partner[side][row], bits[side][row/32]>>(row%32)&1 == 1, "row %d of side %d", row, side)
		}
		require.Equal(t, uint32(1), bits[side][39]>>31, "bits that are set before stay")
	}
}
