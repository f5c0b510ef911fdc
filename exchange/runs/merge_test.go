package runs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// row is a row of the simplest merge.
type row[K, V Word] struct {
	key K
	row V
}

// simplest merges by a stable sort of all rows.
func simplest[K, V Word](in []Run[K, V]) (all []row[K, V]) {
	for _, r := range in {
		all = append(all, list(r)...)
	}
	slices.SortStableFunc(all, func(a, b row[K, V]) int { return cmp.Compare(a.key, b.key) })
	return all
}

func list[K, V Word](r Run[K, V]) []row[K, V] { return between(r, 0, r.Len()) }

// between is rows first to end-1 of a run.
func between[K, V Word](r Run[K, V], first, end uint64) (rows []row[K, V]) {
	for b := range r.Blocks(first, end) {
		for i, key := range b.Keys {
			rows = append(rows, row[K, V]{key, b.Rows[i]})
		}
	}
	return rows
}

// sortedRun is a run of random keys below distinct, in some blocks; rows count from first on.
func sortedRun[K, V Word](t require.TestingT, random *rand.Rand, rows, blocks int, distinct uint64, first V) Run[K, V] {
	keys, numbers := make([]K, rows), make([]V, rows)
	for i := range keys {
		keys[i] = K(random.Uint64N(distinct))
		numbers[i] = first + V(i)
	}
	slices.Sort(keys)
	var parts []Block[K, V]
	for i := range blocks {
		from, to := i*rows/blocks, (i+1)*rows/blocks
		parts = append(parts, Block[K, V]{keys[from:to], numbers[from:to]})
	}
	r, err := NewRun(parts...)
	require.NoError(t, err)
	return r
}

func merged[K, V Word](t require.TestingT, in []Run[K, V], cores int) []row[K, V] {
	rows := uint64(0)
	for _, r := range in {
		rows += r.Len()
	}
	out := NewBuffer[K, V](&offheap.Shared, rows)
	defer out.Free()
	for i := range out.Keys {
		out.Keys[i], out.Rows[i] = ^K(0), ^V(0)
	}
	require.NoError(t, Merge(context.Background(), out.Block, in, cores))
	r, err := NewRun(out.Block)
	require.NoError(t, err)
	return list(r)
}

func TestMerge(t *testing.T) {
	t.Run("keys=32,rows=32", testMerge[uint32, uint32])
	t.Run("keys=64,rows=32", testMerge[uint64, uint32])
	t.Run("keys=64,rows=64", testMerge[uint64, uint64])
}

// testMerge merges every number of runs, with lengths that differ by five powers of ten, empty runs among them, keys
// from all equal to all different, and blocks of a few rows.
func testMerge[K, V Word](t *testing.T) {
	lengths := []int{20_000, 3, 0, 1, 25_000, 700, 30_000, 64, 9_999}
	counts, keys := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 17}, []uint64{1, 1000, math.MaxUint64}
	for _, c := range devicetest.Product(t, len(counts), len(keys), 2) {
		k, distinct, blocks := counts[c[0]], keys[c[1]], []int{1, 101}[c[2]]
		random := rand.New(rand.NewPCG(uint64(k), distinct))
		in, first := make([]Run[K, V], k), V(0)
		for i := range in {
			rows := lengths[(i+k)%len(lengths)]
			in[i] = sortedRun[K](t, random, rows, blocks, distinct, first)
			first += V(rows)
		}
		want := simplest(in)
		for _, cores := range []int{1, 7} {
			if !slices.Equal(want, merged(t, in, cores)) {
				t.Fatalf("wrong merge of %d runs, %d distinct keys, %d blocks, %d cores", k, distinct, blocks, cores)
			}
		}
	}
}

// TestMergeExtremes: the least and the greatest keys are keys as any others.
func TestMergeExtremes(t *testing.T) {
	for k := 1; k <= 9; k++ {
		var in []Run[uint64, uint32]
		for i := range k {
			keys := []uint64{0, 0, 1, math.MaxUint64 - 1, math.MaxUint64, math.MaxUint64}[i%3:]
			numbers := make([]uint32, len(keys))
			for j := range numbers {
				numbers[j] = uint32(10*i + j)
			}
			r, err := NewRun(Block[uint64, uint32]{keys, numbers})
			require.NoError(t, err)
			in = append(in, r)
		}
		require.Equal(t, simplest(in), merged(t, in, 1), "%d runs", k)
	}
}

func TestMergeOfNothing(t *testing.T) {
	require.Empty(t, merged[uint32, uint32](t, nil, 2))
	require.Empty(t, merged(t, make([]Run[uint32, uint32], 5), 2))
}

func TestMergeErrors(t *testing.T) {
	r, err := NewRun(Block[uint32, uint32]{[]uint32{1, 2}, []uint32{0, 1}})
	require.NoError(t, err)
	out := Block[uint32, uint32]{make([]uint32, 2), make([]uint32, 3)}
	require.ErrorIs(t, Merge(t.Context(), out, []Run[uint32, uint32]{r}, 1), backend.ErrInvalidInput)

	_, err = NewRun(Block[uint32, uint32]{[]uint32{1}, nil})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = NewRun(Block[uint32, uint32]{[]uint32{2}, []uint32{0}}, Block[uint32, uint32]{[]uint32{1}, []uint32{0}})
	require.ErrorIs(t, err, backend.ErrInvalidInput)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out.Rows = out.Rows[:2]
	require.ErrorIs(t, Merge(ctx, out, []Run[uint32, uint32]{r}, 2), backend.ErrCancelled)
}

// TestSelectRank: every rank cuts the merged order exactly, and later ranks take no row back.
func TestSelectRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		distinct := rapid.SampledFrom([]uint64{1, 2, 5, 50, math.MaxUint64}).Draw(t, "distinct")
		in, first := make([]Run[uint64, uint32], rapid.IntRange(1, 9).Draw(t, "runs")), 0
		for i := range in {
			rows := rapid.IntRange(0, 12).Draw(t, "rows")
			in[i] = sortedRun[uint64](t, random, rows, rapid.IntRange(1, 4).Draw(t, "blocks"), distinct, uint32(first))
			first += rows
		}
		order := simplest(in)
		for rank := range len(order) + 1 {
			var before []row[uint64, uint32]
			for i, n := range selectRank(in, uint64(rank)) {
				before = append(before, between(in[i], 0, n)...)
			}
			want := slices.Clone(order[:rank])
			byNumber := func(a, b row[uint64, uint32]) int { return cmp.Compare(a.row, b.row) }
			slices.SortFunc(want, byNumber)
			slices.SortFunc(before, byNumber)
			if !slices.Equal(want, before) {
				t.Fatalf("rank %d of %v selects %v", rank, order, before)
			}
		}
	})
}

// TestBlocks: a range of rows is cut out of the blocks of a run.
func TestBlocks(t *testing.T) {
	r := sortedRun[uint32, uint32](t, rand.New(rand.NewPCG(1, 2)), 50, 7, 20, 0)
	all := list(r)
	for first := range len(all) + 1 {
		for end := first; end <= len(all); end++ {
			require.True(t, slices.Equal(all[first:end], between(r, uint64(first), uint64(end))), fmt.Sprint(first, end))
		}
	}
}
