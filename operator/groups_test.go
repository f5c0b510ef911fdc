package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/kernel"
)

// Each group starts with the first remaining column and takes further columns of its width, up to kernel.MaxColumns.
func TestGroupsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		columns := rapid.SliceOfN(rapid.SampledFrom([]int{1, 4, 8}), 0, 5*kernel.MaxColumns).Draw(rt, "columns")
		var want [][]int
		for left := columns; len(left) > 0; {
			var group, rest []int
			for _, bytes := range left {
				if bytes == left[0] && len(group) < kernel.MaxColumns {
					group = append(group, bytes)
				} else {
					rest = append(rest, bytes)
				}
			}
			want, left = append(want, group), rest
		}
		require.Equal(rt, want, groups(columns, false))
		require.Len(rt, groups(columns, true), len(columns))
	})
}
