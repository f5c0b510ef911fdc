package devicetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCombinationsCoverEveryPair(t *testing.T) {
	t.Setenv("SPIRJOIN_MATRIX", "pruned")
	sizes := []int{4, 3, 7, 2, 6}
	chosen := Combinations(t, sizes...)
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

func TestCombinationsFull(t *testing.T) {
	t.Setenv("SPIRJOIN_MATRIX", "full")
	require.Len(t, Combinations(t, 3, 4), 12)
}
