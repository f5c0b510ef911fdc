package peers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestAssign: neighbours go to neighbours, and no other assignment of neighbours has less on the fullest rank.
func TestAssign(t *testing.T) {
	devicetest.HostTest(t)
	require.Equal(t, []int{0, 1, 1, 1, 2}, assign([]uint64{5, 1, 1, 1, 4}, weightsOf(3, nil)))
	require.Equal(t, []int{1, 1}, assign([]uint64{5, 7}, []uint32{0, 9}))
	require.Len(t, assign([]uint64{math.MaxUint32 << 10, 0, math.MaxUint32 << 10}, []uint32{1, math.MaxUint32}), 3)
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Uint64Range(0, 20), 1, 7).Draw(t, "rows")
		size := rapid.IntRange(1, 4).Draw(t, "size")
		weights := weightsOf(size, nil)
		if rapid.Bool().Draw(t, "weighted") {
			weights = rapid.SliceOfN(rapid.Uint32Range(1, 5), size, size).Draw(t, "weights")
		}
		owners := assign(rows, weights)
		fullest := func(owners []int) (most float64) {
			has := make([]float64, size)
			for b, rank := range owners {
				has[rank] += float64(rows[b])
			}
			for rank := range has {
				most = max(most, has[rank]/float64(weights[rank]))
			}
			return most
		}
		for b := range owners {
			if b > 0 && owners[b] < owners[b-1] || owners[b] >= size {
				t.Fatalf("owners %v", owners)
			}
		}
		best := math.Inf(1)
		var try func(made []int)
		try = func(made []int) {
			if len(made) == len(rows) {
				best = min(best, fullest(made))
				return
			}
			first := 0
			if len(made) > 0 {
				first = made[len(made)-1]
			}
			for rank := first; rank < size; rank++ {
				try(append(made, rank))
			}
		}
		try(make([]int, 0, len(rows)))
		// Shares are whole rows, so that a level may be off by less than a row on each rank.
		if got := fullest(owners); got > best+1 {
			t.Fatalf("fullest %v with %v, best %v", got, owners, best)
		}
	})
}

// TestTargets: shares add up, and differ from the exact ones by less than a row.
func TestTargets(t *testing.T) {
	devicetest.HostTest(t)
	require.Equal(t, []uint64{0, 3, 6, 10}, targets(10, weightsOf(3, nil)))
	require.Equal(t, []uint64{0, 2, 2, 10}, targets(10, []uint32{1, 0, 4}))
	require.Equal(t, []uint64{0, 1 << 62, 1 << 63}, targets(1<<63, []uint32{math.MaxUint32, math.MaxUint32}))
}
