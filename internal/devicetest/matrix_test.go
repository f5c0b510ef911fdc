package devicetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryPair(t *testing.T) {
	sizes := []int{4, 3, 7, 2, 6}
	chosen := everyPair(sizes)
	require.Less(t, len(chosen), 4*3*7*2*6/10)
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			for v := range sizes[i] {
				for w := range sizes[j] {
					found := false
					for _, c := range chosen {
						found = found || c[i] == v && c[j] == w
					}
					require.True(t, found, "axes %d=%d, %d=%d", i, v, j, w)
				}
			}
		}
	}
}

func TestEveryValue(t *testing.T) {
	sizes := []int{4, 3, 7, 2, 2}
	chosen := everyValue(sizes)
	require.Len(t, chosen, 7)
	pairs := make(map[[2]int]bool)
	for i, size := range sizes {
		values := make(map[int]bool)
		for _, c := range chosen {
			values[c[i]] = true
			pairs[[2]int{c[3], c[4]}] = true
		}
		require.Len(t, values, size)
	}
	require.Len(t, pairs, 4, "axes of equal size in step")
}

func TestCombinationsFull(t *testing.T) {
	t.Setenv("SPIRJOIN_MATRIX", "full")
	require.Len(t, Combinations(t, 3, 4), 12)
}
