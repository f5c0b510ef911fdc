package runs

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
)

// TestFeed adds blocks of runs in random order, and merges now and then: what is final is a prefix of the merge of
// everything, whatever comes later.
func TestFeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		k, first := rapid.IntRange(1, 7).Draw(t, "runs"), 0
		in, next := make([]Run[uint32, uint32], k), make([]int, k)
		distinct := rapid.SampledFrom([]uint64{1, 4, 1 << 32}).Draw(t, "distinct")
		for i := range in {
			rows := rapid.IntRange(0, 300).Draw(t, "rows")
			in[i] = sortedRun[uint32](t, random, rows, rapid.IntRange(1, 9).Draw(t, "blocks"), distinct, uint32(first))
			first += rows
		}
		want := simplest(in)
		out := Block[uint32, uint32]{make([]uint32, len(want)), make([]uint32, len(want))}
		feed, done := NewFeed(out, k, 2), uint64(0)
		for open := k; open > 0; {
			i := random.IntN(k)
			switch blocks := in[i].blocks; {
			case next[i] > len(blocks):
				continue
			case next[i] == len(blocks):
				feed.End(i)
				open--
			default:
				require.NoError(t, feed.Add(i, blocks[next[i]]))
			}
			next[i]++
			if random.IntN(3) == 0 || open == 0 {
				rows, err := feed.Merge(context.Background())
				require.NoError(t, err)
				require.GreaterOrEqual(t, rows, done)
				done = rows
				r, err := NewRun(out.slice(0, int(rows)))
				require.NoError(t, err)
				if !slices.Equal(want[:rows], list(r)) {
					t.Fatalf("wrong after %d rows", rows)
				}
			}
		}
		require.EqualValues(t, len(want), done)
	})
}

// TestFeedDoesNotWaitForEnds: with one run still arriving, all up to its last row is merged.
func TestFeedDoesNotWaitForEnds(t *testing.T) {
	out := Block[uint32, uint32]{make([]uint32, 5), make([]uint32, 5)}
	feed := NewFeed(out, 2, 1)
	require.NoError(t, feed.Add(1, Block[uint32, uint32]{[]uint32{1, 3, 5}, []uint32{10, 11, 12}}))
	feed.End(1)
	rows, err := feed.Merge(t.Context())
	require.NoError(t, err)
	require.Zero(t, rows)
	require.NoError(t, feed.Add(0, Block[uint32, uint32]{[]uint32{2, 3}, []uint32{0, 1}}))
	rows, err = feed.Merge(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, rows, "1, 2 and 3, but not the 3 of the other run, before which more may come")
	require.Equal(t, []uint32{1, 2, 3}, out.Keys[:3])
	feed.End(0)
	rows, err = feed.Merge(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 5, rows)
	require.ErrorIs(t, feed.Add(0, Block[uint32, uint32]{}), backend.ErrInvalidInput)
}
