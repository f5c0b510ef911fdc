package workload

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeys(t *testing.T) {
	const rows = 1 << 14
	for _, bits := range []int{14, 32, 63, 64} {
		for _, distribution := range Distributions() {
			k, err := NewKeys(distribution, rows, bits, 7)
			require.NoError(t, err)
			keys := make([]uint64, rows)
			frequency := make(map[uint64]int)
			var all, any uint64 = 1<<64 - 1, 0
			for i := range keys {
				keys[i] = k.At(uint64(i))
				require.Equal(t, keys[i], k.At(uint64(i)), "the same each time")
				frequency[keys[i]]++
				all, any = all&keys[i], any|keys[i]
			}
			if bits < 64 {
				require.Less(t, any, uint64(1)<<bits)
			}
			most := 0
			for _, n := range frequency {
				most = max(most, n)
			}
			varying := any &^ all
			switch distribution {
			case Uniform:
				require.Equal(t, uint64(1)<<(bits-1)*2-1, varying, "every bit varies")
				require.Less(t, most, 12)
			case Sorted:
				require.True(t, slices.IsSorted(keys))
				require.Len(t, frequency, rows)
				require.Equal(t, uint64(1), keys[rows-1]>>(bits-1), "up to the highest bit")
			case Reverse:
				slices.Reverse(keys)
				require.True(t, slices.IsSorted(keys))
				require.Len(t, frequency, rows)
			case Equal:
				require.Len(t, frequency, 1)
			case Zipfian:
				require.InDelta(t, rows/10.3, most, rows/100, "1/H(2^14) of the rows have the first key")
				if bits > 32 {
					require.Greater(t, len(frequency), rows/8)
				}
			case Few:
				require.Len(t, frequency, fewValues)
			case High:
				require.Zero(t, varying<<(64-bits/2))
				require.NotZero(t, varying)
			case Low:
				require.Equal(t, uint64(1)<<(bits/2)-1, varying)
			}
		}
	}
	for _, bad := range []struct {
		distribution Distribution
		rows         uint64
		bits         int
	}{{"", 1, 32}, {"unifrom", 1, 32}, {Uniform, 1, 0}, {Uniform, 1, 65}, {Sorted, 1<<8 + 1, 8}, {Reverse, 1<<8 + 1, 8}} {
		_, err := NewKeys(bad.distribution, bad.rows, bad.bits, 1)
		require.ErrorIs(t, err, ErrSpec, "%v", bad)
	}
	for _, distribution := range Distributions() {
		_, err := NewKeys(distribution, 0, 32, 1)
		require.NoError(t, err, "no rows")
	}
	a, err := NewKeys(Uniform, rows, 64, 1)
	require.NoError(t, err)
	b, err := NewKeys(Uniform, rows, 64, 2)
	require.NoError(t, err)
	require.NotEqual(t, a.At(0), b.At(0), "the seed counts")
}
