package runs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// divided divides two sides and moves them: row i of a side has the number first+i.
func divided[K, V Word](t require.TestingT, sides [2][]K, sorted [2]bool, mostRows uint64, first V, cores int) (
	[]Segment, [2]Block[K, V]) {
	var keys [2]Keys[K]
	for i := range sides {
		keys[i] = Keys[K]{Keys: sides[i], Sorted: sorted[i]}
	}
	d, err := Divide(context.Background(), keys, mostRows, cores)
	require.NoError(t, err)
	var moved [2]Block[K, V]
	for side, keys := range sides {
		in := Block[K, V]{Keys: keys}
		if first > 0 {
			in.Rows = make([]V, len(keys))
			for i := range in.Rows {
				in.Rows[i] = first + V(i)
			}
		}
		moved[side] = Block[K, V]{make([]K, len(keys)), make([]V, len(keys))}
		if sorted[side] {
			copy(moved[side].Keys, keys)
			for i := range keys {
				moved[side].Rows[i] = first + V(i)
			}
			continue
		}
		require.NoError(t, Scatter(context.Background(), d, side, moved[side], in))
		only := make([]K, len(keys))
		require.NoError(t, Scatter(context.Background(), d, side, Block[K, V]{Keys: only}, in))
		if !slices.Equal(moved[side].Keys, only) {
			t.Errorf("keys alone are moved elsewhere than with rows")
			t.FailNow()
		}
	}
	return d.Segments, moved
}

// checkDivided checks that segments cover both sides in the order of the key without a common key, that none is too
// large, and that all rows are there with their keys.
func checkDivided[K, V Word](t require.TestingT, sides [2][]K, sorted [2]bool, mostRows uint64, first V, cores int) {
	segments, moved := divided(t, sides, sorted, mostRows, first, cores)
	var at Pair
	var greatest K
	some := false
	for _, s := range segments {
		require.Equal(t, [2]uint64{at.R.End, at.S.End}, [2]uint64{s.R.First, s.S.First})
		at = s.Pair
		keys := slices.Concat(moved[0].Keys[s.R.First:s.R.End], moved[1].Keys[s.S.First:s.S.End])
		if len(keys) == 0 {
			continue
		}
		least, most := slices.Min(keys), slices.Max(keys)
		require.True(t, !some || greatest < least, "segments share key %d", least)
		require.True(t, s.rows() <= mostRows || s.OneKey, "%d rows", s.rows())
		require.True(t, !s.OneKey || least == most, "keys %d to %d", least, most)
		greatest, some = most, true
	}
	require.Equal(t, [2]uint64{uint64(len(sides[0])), uint64(len(sides[1]))}, [2]uint64{at.R.End, at.S.End})
	for side, keys := range sides {
		want, got := make([]row[K, V], len(keys)), make([]row[K, V], len(keys))
		for i, key := range keys {
			want[i] = row[K, V]{key, first + V(i)}
			if number := moved[side].Rows[i]; int(number-first) < len(keys) {
				got[number-first] = row[K, V]{moved[side].Keys[i], number}
			}
		}
		if !slices.Equal(want, got) {
			t.Errorf("rows of side %d were lost", side)
			t.FailNow()
		}
	}
}

// TestDivide divides sides of all skews, sorted or not, into one to hundreds of segments.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var sides [2][]uint64
		var sorted [2]bool
		for i := range sides {
			sides[i] = make([]uint64, rapid.SampledFrom([]int{0, 1, 50, 3000, 3 * pieceRows}).Draw(t, "rows"))
			theta := rapid.SampledFrom([]float64{0, 1.001, 1.5, 2}).Draw(t, "skew")
			shift := rapid.SampledFrom([]int{0, 40}).Draw(t, "shift")
			next := func() uint64 { return random.Uint64N(1 << 20) }
			if theta > 0 {
				next = rand.NewZipf(random, theta, 1, 1<<20).Uint64
			}
			for j := range sides[i] {
				sides[i][j] = next() << shift
			}
			if sorted[i] = rapid.Bool().Draw(t, "sorted"); sorted[i] {
				slices.Sort(sides[i])
			}
		}
		most := rapid.SampledFrom([]uint64{300, 2000, 50_000, 1 << 30}).Draw(t, "most")
		cores := rapid.IntRange(1, 3).Draw(t, "cores")
		first := rapid.SampledFrom([]uint32{0, 7}).Draw(t, "first")
		checkDivided(t, sides, sorted, most, first, cores)
		var narrow [2][]uint32
		for i := range sides {
			for _, key := range sides[i] {
				narrow[i] = append(narrow[i], uint32(key))
			}
			sorted[i] = slices.IsSorted(narrow[i])
		}
		checkDivided(t, narrow, sorted, most, uint64(first), cores)
	})
}

// TestDivideExhaustively divides all pairs of sides with up to three rows of the least and greatest keys and some
// between into segments of one to four rows.
func TestDivideExhaustively(t *testing.T) {
	devicetest.SkipRace(t)
	var sides [][]uint32
	var extend func(keys []uint32)
	extend = func(keys []uint32) {
		sides = append(sides, keys)
		if len(keys) < 3 {
			for _, key := range devicetest.Short([]uint32{0, 7, math.MaxUint32}, []uint32{0, 1, 7, math.MaxUint32}) {
				extend(append(slices.Clone(keys), key))
			}
		}
	}
	extend(nil)
	for _, r := range sides {
		for _, s := range sides {
			for most := uint64(1); most <= 4; most++ {
				checkDivided(t, [2][]uint32{r, s}, [2]bool{}, most, uint32(0), 2)
			}
		}
	}
}

// TestDivideIsEven: segments of distinct keys are about equally full, and their number is what that takes.
func TestDivideIsEven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var sides [2][]uint64
	for i := range sides {
		sides[i] = make([]uint64, 100_000<<i)
		for j := range sides[i] {
			sides[i][j] = random.Uint64()
		}
	}
	for most, want := range map[uint64]int{300_000: 1, 200_000: 2, 80_000: 5, 9_000: 39} { // 7/8 full, or less
		got, _ := divided(t, sides, [2]bool{}, most, uint32(0), 2)
		require.Len(t, got, want)
		for _, s := range got {
			require.InEpsilon(t, 300_000/want, s.rows(), 1.0/7)
		}
	}
}

// TestDivideHotKeys: a key that is too frequent is a segment, and its neighbours are not larger for it.
func TestDivideHotKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	hot := []uint64{0, 5000, 5001, 9999, math.MaxUint64}
	var sides [2][]uint64
	for i := range sides {
		for _, key := range hot {
			sides[i] = append(sides[i], slices.Repeat([]uint64{key}, 4000)...)
		}
		for range 10_000 {
			sides[i] = append(sides[i], random.Uint64N(10_000))
		}
		random.Shuffle(len(sides[i]), func(a, b int) { sides[i][a], sides[i][b] = sides[i][b], sides[i][a] })
	}
	segments, moved := divided(t, sides, [2]bool{}, 3000, uint32(0), 2)
	var found []uint64
	for _, s := range segments {
		if s.rows() > 3000 {
			require.True(t, s.OneKey)
			found = append(found, moved[0].Keys[s.R.First])
		}
	}
	require.Equal(t, hot, found)
}

// TestSearch: keys beside each boundary, and the least and greatest ones, are found in their segments.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SliceOfNDistinct(rapid.Uint64Min(1), 0, 70, rapid.ID).Draw(t, "least")
		slices.Sort(least)
		keys := []uint64{0, math.MaxUint64}
		for _, key := range least {
			keys = append(keys, key-1, key, min(key, math.MaxUint64-1)+1)
		}
		found := make([]uint32, len(keys))
		newSearch(least).all(found, keys)
		for i, key := range keys {
			at, exact := slices.BinarySearch(least, key)
			if exact {
				at++
			}
			require.EqualValues(t, at, found[i], "key %d", key)
		}
	})
}

func TestDivideErrors(t *testing.T) {
	keys := [2]Keys[uint64]{{Keys: []uint64{3, 1, 2}}, {Keys: []uint64{1, 2, 3}, Sorted: true}}
	d, err := Divide(t.Context(), keys, 2, 1)
	require.NoError(t, err)
	in := Block[uint64, uint32]{Keys: keys[0].Keys}
	for _, out := range []Block[uint64, uint32]{{Keys: make([]uint64, 2)}, {make([]uint64, 3), make([]uint32, 2)}} {
		require.ErrorIs(t, Scatter(t.Context(), d, 0, out, in), backend.ErrInvalidInput)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Scatter(ctx, d, 0, Block[uint64, uint32]{Keys: make([]uint64, 3)}, in), backend.ErrCancelled)
	_, err = Divide(ctx, keys, 2, 1)
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestCut: a range is always divided further, whatever the sample has.
func TestCut(t *testing.T) {
	require.Equal(t, []uint32{16}, cut(nil, uint32(0), 30, 4)[1:])
	require.Equal(t, []uint32{7, 8}, cut([]uint32{7, 7}, 0, 30, 4))
	require.Equal(t, []uint32{1}, cut([]uint32{0}, 0, 1, 4))
	require.Equal(t, []uint32{1}, cut(nil, uint32(0), 1, 4))
	require.Equal(t, []uint32{^uint32(0)}, cut([]uint32{^uint32(0)}, 5, ^uint32(0), 4))
}
