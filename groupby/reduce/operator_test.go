package reduce

import (
	"context"
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
	"github.com/spirjoin/spirjoin/relation"
)

// values are all kinds and places of values.
var values = []Value{
	{Word: 0, Kind: Signed, Bits: 64, ValidWord: -1},
	{Word: 0, Kind: Unsigned, Bits: 64, ValidWord: 5, ValidBit: 0},
	{Word: 1, Kind: Signed, Bits: 128, ValidWord: 5, ValidBit: 1},
	{Word: 3, Kind: Signed, Bits: 32, ValidWord: -1},
	{Word: 3, Kind: Float, Bits: 32, ValidWord: 5, ValidBit: 2},
	{Word: 4, Kind: Float, Bits: 64, ValidWord: -1},
	{Word: 5, Kind: Signed, Bits: 8, Shift: 8, ValidWord: 5, ValidBit: 3},
	{Word: 5, Kind: Unsigned, Bits: 16, Shift: 16, ValidWord: -1},
}

// keys are distributions of keys.
var keys = map[string]func(random *rand.Rand, n int) func(i int) uint64{
	"one group":    func(*rand.Rand, int) func(int) uint64 { return func(int) uint64 { return 3 } },
	"all distinct": func(*rand.Rand, int) func(int) uint64 { return func(i int) uint64 { return uint64(i)*7 + 1 } },
	"few":          func(r *rand.Rand, _ int) func(int) uint64 { return func(int) uint64 { return r.Uint64N(100) } },
	"pairs": func(r *rand.Rand, n int) func(int) uint64 {
		return func(int) uint64 { return r.Uint64N(uint64(n)/2 + 1) }
	},
	"zipf": func(r *rand.Rand, n int) func(int) uint64 {
		z := rand.NewZipf(r, 1.2, 1, uint64(n))
		return func(int) uint64 { return z.Uint64() * 0x9e3779b97f4a7c15 }
	},
	"hot": func(r *rand.Rand, n int) func(int) uint64 {
		return func(int) uint64 {
			if r.IntN(10) > 0 {
				return math.MaxUint64
			}
			return r.Uint64N(uint64(n))
		}
	},
}

// draw draws rows. Wild floats are any bits; others are numbers whose sums are finite.
func draw(random *rand.Rand, n, keyBytes int, distribution string, wild bool) *rows {
	r := &rows{keyBytes: keyBytes, payload: make([][]uint64, len(payloadBytes))}
	key := keys[distribution](random, n)
	for i := range n {
		k := key(i)
		if keyBytes == 4 {
			k &= math.MaxUint32
		}
		r.keys = append(r.keys, k)
		extremes := []uint64{1 << 63, math.MaxInt64, math.MaxUint64, 0, random.Uint64()}
		for c := range r.payload {
			word := random.Uint64()
			switch {
			case c < 3 && random.IntN(3) == 0:
				word = extremes[random.IntN(len(extremes))]
			case c == 3 && !wild:
				word = uint64(math.Float32bits(float32(random.NormFloat64())))
			case c == 4 && !wild:
				word = math.Float64bits(1e6 + random.NormFloat64())
			case c == 4 && random.IntN(100) > 0:
				word = math.Float64bits(random.NormFloat64() * 1e300)
			}
			if payloadBytes[c] == 4 {
				word &= math.MaxUint32
			}
			r.payload[c] = append(r.payload[c], word)
		}
	}
	return r
}

// chunk uploads rows. The caller releases the columns.
func (r *rows) chunk(t testing.TB, lane *exec.Lane) (c *relation.Chunk, release func()) {
	scope := lane.Scope(context.Background())
	column := func(data []uint64, width int) relation.Values {
		b := scope.New(uint64(len(data)*width), "column")
		require.NoError(t, scope.Err())
		if len(data) > 0 {
			_, err := lane.Device().Upload(context.Background(), b.All(), bytes(data, width))
			require.NoError(t, err)
		}
		return relation.Values{Data: b.All(), Bytes: width}
	}
	c = &relation.Chunk{Rows: uint64(len(r.keys)), Keys: column(r.keys, r.keyBytes)}
	for i, data := range r.payload {
		c.Payload = append(c.Payload, column(data, payloadBytes[i]))
	}
	return c, scope.ReleaseAll
}

// allReductions are all functions of all values that have them.
func allReductions() (all []Reduction) {
	for _, v := range values {
		for f := Count; f <= Moments; f++ {
			all = append(all, Reduction{f, v})
		}
	}
	return all
}

// check groups chunks of rows and compares every state of every group with the oracle.
func check(t testing.TB, lane *exec.Lane, chunks []*rows, facts Facts, reductions []Reduction) {
	checkForced(t, lane, chunks, facts, reductions, force{})
}

func checkForced(t testing.TB, lane *exec.Lane, chunks []*rows, facts Facts, reductions []Reduction, force force) {
	ctx := context.Background()
	plan, err := NewPlan(facts, reductions)
	require.NoError(t, err)
	plan.force = force
	o := plan.Open(ctx, lane)
	defer o.Close()
	wanted := make([]map[uint64]*oracle, len(reductions))
	for i := range wanted {
		wanted[i] = make(map[uint64]*oracle)
	}
	firstRow := uint64(1 << 33)
	for _, r := range chunks {
		c, release := r.chunk(t, lane)
		err := o.Add(ctx, lane, c, firstRow)
		release()
		require.NoError(t, err)
		for i := range reductions {
			oracles(wanted[i], r, firstRow, &reductions[i].Value)
		}
		firstRow += uint64(len(r.keys))
	}
	seen := make(map[uint64]bool)
	require.NoError(t, o.Finish(ctx, func(ctx context.Context, g *Groups) error {
		download := func(v relation.Values) []uint64 {
			data := make([]byte, g.Rows*uint64(v.Bytes))
			require.NoError(t, lane.Download(ctx, data, v.Data))
			return numbers(data, v)
		}
		keys := download(g.Keys)
		for _, key := range keys {
			require.False(t, seen[key], "key %d came twice", key)
			seen[key] = true
		}
		require.Len(t, g.States, len(reductions))
		for i := range reductions {
			var states [][]uint64
			for _, column := range g.States[i] {
				states = append(states, download(column))
			}
			for row, key := range keys {
				var state []uint64
				for _, column := range states {
					state = append(state, column[row])
				}
				require.NotNil(t, wanted[i][key], "key %d", key)
				if wanted[i][key].wrong(&reductions[i], state) {
					require.Fail(t, fmt.Sprintf("key %d, %+v: %x", key, reductions[i], state))
				}
			}
		}
		return nil
	}))
	want := 0
	if len(wanted) > 0 {
		want = len(wanted[0])
	}
	require.Len(t, seen, want)
}

func TestGroups(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		var names []string
		for name := range keys {
			names = append(names, name)
		}
		sizes := [][]int{{1}, {0, 33}, {5000}, {700, 0, 2500, 64}}
		for _, c := range devicetest.Product(t, len(names), len(sizes), 2, 2) {
			t.Run(fmt.Sprint(names[c[0]], sizes[c[1]], c[2:]), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
				facts := Facts{KeyBytes: 4 << c[2], Payload: payloadBytes, Tuning: lane.Tuning()}
				var chunks []*rows
				for _, n := range sizes[c[1]] {
					chunks = append(chunks, draw(random, n, facts.KeyBytes, names[c[0]], c[3] == 1))
					facts.Rows = max(facts.Rows, uint64(n))
				}
				checkForced(t, lane, chunks, facts, allReductions(), force{gpu: c[3] == 1})
			})
		}
	})
}

// TestKeyBits groups by key codes of few bits.
func TestKeyBits(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		random := rand.New(rand.NewPCG(1, 2))
		chunks := []*rows{draw(random, 3000, 4, "few", false), draw(random, 3000, 4, "few", false)}
		check(t, lane, chunks, Facts{Rows: 3000, KeyBytes: 4, KeyBits: 7, Payload: payloadBytes, Groups: 100,
			Tuning: lane.Tuning()}, allReductions()[:12])
	})
}

func TestPlanErrors(t *testing.T) {
	facts := Facts{KeyBytes: 8, Payload: payloadBytes}
	_, err := NewPlan(facts, allReductions())
	require.NoError(t, err)
	for _, bad := range []Reduction{
		{Func: Moments + 1, Value: values[0]},
		{Func: Sum, Value: Value{Word: 6, Bits: 64, ValidWord: -1}},
		{Func: Sum, Value: Value{Word: 0, Bits: 32, ValidWord: -1}},
		{Func: Sum, Value: Value{Word: 0, Bits: 24, ValidWord: -1}},
		{Func: Sum, Value: Value{Word: 2, Bits: 128, ValidWord: -1}},
		{Func: Sum, Value: Value{Word: 1, Bits: 128, Kind: Float, ValidWord: -1}},
		{Func: Sum, Value: Value{Word: 5, Bits: 16, Shift: 17, ValidWord: -1}},
		{Func: Count, Value: Value{ValidWord: 0}},
		{Func: Count, Value: Value{ValidWord: 5, ValidBit: 32}},
	} {
		_, err := NewPlan(facts, []Reduction{bad})
		require.ErrorIs(t, err, backend.ErrInvalidInput, "%+v", bad)
	}
	_, err = NewPlan(Facts{KeyBytes: 4, KeyBits: 33}, nil)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = NewPlan(Facts{KeyBytes: 4, Rows: 1 << 32}, nil)
	require.ErrorIs(t, err, backend.ErrLimit)
}

// sums are the reductions that are sums of integers.
func sums() []Reduction {
	return slices.DeleteFunc(allReductions(), func(r Reduction) bool {
		return r.Func != Count && (r.Func != Sum || r.Value.Kind == Float)
	})
}

// TestDirect groups by codes of few bits, with sums of integers alone: in slots that suffice for all, in ranges of
// slots, and in partitions, which are cut into many parts.
func TestDirect(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for n, c := range []struct {
			keyBits int
			slots   uint32
		}{{1, 0}, {4, 0}, {9, 0}, {11, 0}, {14, 0}, {4, 4}, {6, 1}, {9, 16}, {11, 4}} {
			if !devicetest.Turn(n, 2) {
				continue
			}
			t.Run(fmt.Sprint(c), func(t *testing.T) {
				var chunks []*rows
				for i, n := range []int{9000, 1, 700} {
					r := draw(rand.New(rand.NewPCG(uint64(c.keyBits), uint64(i))), n, 4, "pairs", false)
					for i := range r.keys {
						r.keys[i] = r.keys[i] * r.keys[i] / 7 % (1 << c.keyBits)
					}
					chunks = append(chunks, r)
				}
				checkForced(t, lane, chunks, Facts{Rows: 9000, KeyBytes: 4, KeyBits: c.keyBits,
					Payload: payloadBytes, Tuning: lane.Tuning()}, sums(), force{gpu: true, slots: c.slots})
			})
		}
	})
}

// TestHashed adds up sums of integers by keys that are hashed to slots of shared memory: of rows that stay where they
// are or are divided, with partitions in many parts, and with estimates of groups that are too low, so that tables are
// full.
func TestHashed(t *testing.T) {
	devicetest.ShortOnHost(t)
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		var names []string
		for name := range keys {
			names = append(names, name)
		}
		slices.Sort(names)
		slots, groups := []uint32{1024, 128, 16}, []uint64{0, 1, 100}
		for _, c := range devicetest.Product(t, len(names), len(slots), len(groups), 2) {
			t.Run(fmt.Sprint(names[c[0]], slots[c[1]], groups[c[2]], c[3]), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
				facts := Facts{Rows: 3000, KeyBytes: 4 << c[3], Payload: payloadBytes, Tuning: lane.Tuning(),
					Groups: groups[c[2]]}
				chunks := []*rows{draw(random, 3000, facts.KeyBytes, names[c[0]], false),
					draw(random, 500, facts.KeyBytes, names[c[0]], false)}
				checkForced(t, lane, chunks, facts, sums(), force{gpu: true, slots: slots[c[1]]})
			})
		}
	})
}

// TestTables forces tables: rows that stay where they are or are divided, dense codes, and tables that are too small.
func TestTables(t *testing.T) {
	devicetest.HostTest(t)
	forced := map[string]tabled{
		"one unit":       {units: 1, slots: 1 << 13},
		"units":          {units: 7, slots: 1 << 10},
		"small":          {units: 3, slots: 16},
		"divided":        {bits: 3, units: 8, slots: 1 << 10},
		"divided, small": {bits: 2, units: 4, slots: 32},
	}
	var names, distributions []string
	for name := range forced {
		names = append(names, name)
	}
	for name := range keys {
		distributions = append(distributions, name)
	}
	slices.Sort(names)
	slices.Sort(distributions)
	reductions := slices.DeleteFunc(allReductions(), func(r Reduction) bool { return r.Func == First })
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		if !onHost(lane) {
			t.Skip("only the host backend has tables; other devices sort, or reduce directly")
		}
		for _, c := range devicetest.Product(t, len(names), len(distributions), 2) {
			t.Run(fmt.Sprint(names[c[0]], " ", distributions[c[1]], c[2]), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
				facts := Facts{Rows: 500, KeyBytes: 4 << c[2], Payload: payloadBytes, Tuning: lane.Tuning()}
				chunks := []*rows{draw(random, 500, facts.KeyBytes, distributions[c[1]], false),
					draw(random, 100, facts.KeyBytes, distributions[c[1]], false)}
				checkForced(t, lane, chunks, facts, reductions, force{tables: true, table: forced[names[c[0]]]})
			})
		}
		t.Run("dense", func(t *testing.T) {
			chunk := draw(rand.New(rand.NewPCG(3, 4)), 500, 4, "few", false)
			checkForced(t, lane, []*rows{chunk}, Facts{Rows: 500, KeyBytes: 4, KeyBits: 7, Payload: payloadBytes,
				Tuning: lane.Tuning()}, allReductions(), force{tables: true, table: tabled{units: 3, slots: 128,
				dense: true}})
		})
	})
}

// TestChosen groups enough rows on the host that each choice of tables occurs.
func TestChosen(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	drawn := map[string]func(i int, r *rand.Rand) uint64{
		"few":          func(_ int, r *rand.Rand) uint64 { return r.Uint64N(3000) * 0x9e3779b97f4a7c15 },
		"many":         func(_ int, r *rand.Rand) uint64 { return r.Uint64N(1<<18) * 0x9e3779b97f4a7c15 },
		"late":         func(i int, _ *rand.Rand) uint64 { return max(1<<16, uint64(i)) * 0x9e3779b97f4a7c15 },
		"sorted":       func(i int, _ *rand.Rand) uint64 { return uint64(i) / 3 },
		"first sorted": func(i int, _ *rand.Rand) uint64 { return uint64(i) ^ uint64(i)>>16<<4 },
	}
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		if !onHost(lane) {
			t.Skip("only the host backend has tables; other devices sort, or reduce directly")
		}
		for name, key := range drawn {
			t.Run(name, func(t *testing.T) { checkSums(t, lane, 300_000, key) })
		}
	})
}

// checkSums compares counts and sums of n rows with a map's.
func checkSums(t *testing.T, lane *exec.Lane, n int, key func(i int, r *rand.Rand) uint64) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(5, 6))
	r, want := &rows{keyBytes: 8, payload: make([][]uint64, 1)}, make(map[uint64][2]uint64)
	for i := range n {
		k, value := key(i, random), random.Uint64N(1<<40)
		r.keys, r.payload[0] = append(r.keys, k), append(r.payload[0], value)
		want[k] = [2]uint64{want[k][0] + 1, want[k][1] + value}
	}
	plan, err := NewPlan(Facts{Rows: uint64(n), KeyBytes: 8, Payload: []int{8}, Tuning: lane.Tuning()},
		[]Reduction{{Count, values[0]}, {Sum, values[0]}})
	require.NoError(t, err)
	c, release := r.chunk(t, lane)
	defer release()
	o := plan.Open(ctx, lane)
	defer o.Close()
	require.NoError(t, o.Add(ctx, lane, c, 0))
	got := make(map[uint64][2]uint64)
	require.NoError(t, o.Finish(ctx, func(ctx context.Context, g *Groups) error {
		var columns [3][]uint64
		for i, v := range []relation.Values{g.Keys, g.States[0][0], g.States[1][0]} {
			data := make([]byte, g.Rows*8)
			require.NoError(t, lane.Download(ctx, data, v.Data))
			columns[i] = numbers(data, v)
		}
		for i, k := range columns[0] {
			if _, twice := got[k]; twice {
				require.Fail(t, "a key came twice")
			}
			got[k] = [2]uint64{columns[1][i], columns[2][i]}
		}
		return nil
	}))
	require.True(t, maps.Equal(want, got), "%d groups, should be %d", len(got), len(want))
}
