package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestTaper: only large granules at the ends are cut, and all rows stay in one of them.
func TestTaper(t *testing.T) {
	devicetest.HostTest(t)
	const m = 1 << 20
	for _, c := range []struct {
		bounds      []int
		first, last bool
		want        []int
	}{
		{[]int{0, 8 * m, 16 * m, 20*m + 3}, true, true, []int{0, 2 * m, 8 * m, 16 * m, 19 * m, 20*m + 3}},
		{[]int{0, 8 * m, 16 * m}, true, false, []int{0, 2 * m, 8 * m, 16 * m}},
		{[]int{0, 8 * m, 16 * m}, false, true, []int{0, 8 * m, 14 * m, 16 * m}},
		{[]int{0, 8 * m}, true, true, []int{0, m + m/2, 6 * m, 8 * m}},
		{[]int{0, m, 2 * m}, true, true, []int{0, m, 2 * m}},
		{[]int{0, 0}, true, true, []int{0, 0}},
	} {
		require.Equal(t, c.want, taper(c.bounds, c.first, c.last), "%v", c.bounds)
	}
}
