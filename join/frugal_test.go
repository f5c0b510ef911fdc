package join

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/join/plan"
)

func TestFrugalFirst(t *testing.T) {
	of := func(milliseconds int, mebibytes uint64) Alternative {
		return Alternative{Alternative: plan.Alternative{Time: time.Duration(milliseconds) * time.Millisecond, PeakBytes: mebibytes << 20}}
	}
	times := func(all []Alternative) (times []int) {
		for _, a := range all {
			times = append(times, int(a.Time.Milliseconds()))
		}
		return times
	}
	for _, c := range []struct {
		byTime []Alternative
		want   []int
	}{
		{nil, nil},
		{[]Alternative{of(100, 9)}, []int{100}},
		{[]Alternative{of(100, 9), of(110, 5), of(125, 3), of(126, 1)}, []int{125, 100, 110, 126}},
		{[]Alternative{of(100, 3), of(110, 3), of(120, 4)}, []int{100, 110, 120}},
	} {
		frugalFirst(c.byTime)
		require.Equal(t, c.want, times(c.byTime))
	}
}
