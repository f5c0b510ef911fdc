package workload

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCrossed(t *testing.T) {
	spec := CrossedSpec{Rows: 1000, Hot: 3, HotRows: 20, Seed: 1}
	r, s, err := Crossed(context.Background(), spec)
	require.NoError(t, err)
	defer r.Release()
	defer s.Release()
	rows := [2]map[int64]int64{{}, {}}
	for side, keys := range [][]int64{ints(t, r, "r_key"), ints(t, s, "s_key")} {
		for _, key := range keys {
			rows[side][key]++
		}
	}
	pairs := int64(0)
	for key, n := range rows[0] {
		pairs += n * rows[1][key]
	}
	require.Equal(t, spec.Rows+spec.Hot*(spec.HotRows-1), pairs)
	require.EqualValues(t, []int64{20, 20, 20, 1, 1, 1, 1},
		[]int64{rows[0][0], rows[0][1], rows[0][2], rows[0][3], rows[0][4], rows[0][5], rows[0][6]})
	require.EqualValues(t, []int64{1, 1, 1, 20, 20, 20, 1},
		[]int64{rows[1][0], rows[1][1], rows[1][2], rows[1][3], rows[1][4], rows[1][5], rows[1][6]})
	for _, bad := range []CrossedSpec{{Rows: 10}, {Rows: 10, Hot: 1, HotRows: 10}, {Rows: 10, Hot: 11, HotRows: 1}} {
		_, _, err := Crossed(context.Background(), bad)
		require.ErrorIs(t, err, ErrSpec)
	}
}
