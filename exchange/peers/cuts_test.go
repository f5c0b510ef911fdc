package peers

import (
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// find runs a search to its end and returns the cut and the number of rounds.
func find(sequences [][]uint64, first uint64) (at []uint64, rounds int) {
	rows := make([]uint64, len(sequences))
	for s := range sequences {
		rows[s] = uint64(len(sequences[s]))
	}
	c := newCut(rows, first)
	for ; !c.found() && rounds < 100; rounds++ {
		keys := make([][]uint64, len(sequences))
		for s := range sequences {
			for _, row := range c.places(s) {
				keys[s] = append(keys[s], sequences[s][row])
			}
		}
		c.narrow(keys)
	}
	return c.low, rounds
}

// TestCut compares with a stable sort of all rows.
func TestCut(t *testing.T) {
	devicetest.HostTest(t)
	at, _ := find([][]uint64{{1, 2, 2, 5}, {2, 2, 3}, {1, 9}}, 4)
	require.Equal(t, []uint64{3, 0, 1}, at)
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint64{0, 1, 10, 1000, 1 << 63}).Draw(t, "most")
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 63, 64, 65, 129, 3000}), 1, 6).Draw(t, "lengths")
		seed := rapid.Uint64().Draw(t, "seed")
		type row struct {
			key      uint64
			sequence int
		}
		var all []row
		sequences := make([][]uint64, len(lengths))
		for s, n := range lengths {
			for range n {
				seed = seed*6364136223846793005 + 1442695040888963407
				sequences[s] = append(sequences[s], (seed>>1)%(most+1))
			}
			slices.Sort(sequences[s])
			for _, key := range sequences[s] {
				all = append(all, row{key, s})
			}
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].key < all[j].key })
		first := rapid.IntRange(0, len(all)).Draw(t, "first")
		want := make([]uint64, len(lengths))
		for _, r := range all[:first] {
			want[r.sequence]++
		}
		got, rounds := find(sequences, uint64(first))
		if !slices.Equal(want, got) || rounds > 4 {
			t.Fatalf("%v instead of %v in %d rounds", got, want, rounds)
		}
	})
}

// TestCutRounds: a search among 2^27 rows on each of 8 ranks takes few rounds.
func TestCutRounds(t *testing.T) {
	devicetest.HostTest(t)
	rows := slices.Repeat([]uint64{1 << 27}, 8)
	c, rounds := newCut(rows, 3<<27+12345), 0
	for ; !c.found(); rounds++ {
		keys := make([][]uint64, len(rows))
		for s := range rows {
			for _, row := range c.places(s) {
				keys[s] = append(keys[s], row*8+uint64(s))
			}
		}
		c.narrow(keys)
	}
	require.LessOrEqual(t, rounds, 6)
}
