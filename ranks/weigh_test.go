package ranks

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWeigh(t *testing.T) {
	const fast = 1e12 // moves rows much longer than it joins them
	for name, c := range map[string]struct {
		speeds []float64
		want   []int // slots of each rank; nil: equal shares
	}{
		"one rank":         {[]float64{5}, nil},
		"equal":            {[]float64{5, 5, 5}, nil},
		"about equal":      {[]float64{5, 7, 6}, nil},
		"unknown":          {[]float64{5, 0, 500}, nil},
		"three times":      {[]float64{3e5, 1e5, 1e5}, []int{115, 39, 38}},
		"moving counts":    {[]float64{fast, movedRowsPerSecond}, []int{85, 43}},
		"moving is all":    {[]float64{fast, 5 * fast}, nil},
		"slowest gets few": {[]float64{1e6, 1e3}, []int{128, 0}},
	} {
		owners := weigh(c.speeds)
		if c.want == nil {
			require.Nil(t, owners, name)
			continue
		}
		require.Len(t, owners, slotsPerRank*len(c.speeds), name)
		require.IsNonDecreasing(t, owners, name)
		got := make([]int, len(c.speeds))
		for _, owner := range owners {
			got[owner]++
		}
		require.Equal(t, c.want, got, name)
	}
}
