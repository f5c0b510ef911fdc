package workload

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Joined step by step, the facts become the last table.
func TestStar(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		star, err := MakeStar(context.Background(), StarSpec{FactRows: 500, DimensionRows: 60, Dimensions: n, Seed: 3})
		require.NoError(t, err)
		require.Len(t, star.Dimensions, n)
		require.EqualValues(t, []int64{2, int64(n) - 1, 1 + int64(n)}, []int64{star.Facts.NumCols(), star.Foreign.NumCols(), star.Last.NumCols()})
		last := 0
		for row, id := range values(star.Facts.Column(1)) {
			require.EqualValues(t, row, id)
		}
		foreign := values(star.Facts.Column(0))
		for d, dimension := range star.Dimensions {
			require.EqualValues(t, 60, dimension.NumRows())
			payload := map[int64]int64{}
			for i, key := range values(dimension.Column(0)) {
				payload[key] = values(dimension.Column(1))[i]
			}
			require.Len(t, payload, 60, "unique keys")
			if d > 0 {
				foreign = values(star.Foreign.Column(d - 1))
			}
			if d == n-1 {
				require.Equal(t, foreign, values(star.Last.Column(0)))
			}
			for row, key := range foreign {
				require.Contains(t, payload, key)
				if d < n-1 {
					require.Equal(t, payload[key], values(star.Last.Column(2 + d))[row])
					last++
				}
			}
		}
		require.Equal(t, 500*(n-1), last)
		require.Equal(t, values(star.Facts.Column(1)), values(star.Last.Column(1)))
		star.Release()
	}
	_, err := MakeStar(context.Background(), StarSpec{FactRows: 5, DimensionRows: 0, Dimensions: 1})
	require.ErrorIs(t, err, ErrSpec)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = MakeStar(ctx, StarSpec{FactRows: 1 << 20, DimensionRows: 1, Dimensions: 3})
	require.ErrorIs(t, err, context.Canceled)
}
