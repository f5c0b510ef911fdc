package scaling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/join"
)

// A count needs keys alone, pairs bring row numbers, and rows bring columns of at most as many rows as are output.
func TestNeeds(t *testing.T) {
	spec := workload.DefaultPKFK(1000, 5000)
	spec.KeyBytes, spec.RPayloads, spec.SPayloads = 8, []int{8, 4}, []int{4}
	const keys = 6000 * 8
	for output, want := range map[join.Output][2]uint64{
		join.Count: {keys, 0},
		join.Pairs: {keys, 8 * 2000},
		join.Rows:  {keys + 1000*12 + 2000*4, 2000 * (8 + 12 + 4)},
	} {
		n := needsOf(spec, output, 2000)
		require.Equal(t, want, [2]uint64{n.upBytes, n.downBytes}, output)
		require.EqualValues(t, 6000, n.inputRows)
		require.EqualValues(t, keys+1000*12+5000*4, n.tableBytes)
	}
}

// The bound is set by the link's fullest direction, or by both together; without a link by host memory.
func TestBound(t *testing.T) {
	n := needs{upBytes: 600, downBytes: 100}
	links := &endtoend.Rates{Host: 1, Device: 1, Up: 100, Down: 100, Both: 200}
	require.Equal(t, 6*time.Second, n.bound(links))
	links.Both = 100
	require.Equal(t, 7*time.Second, n.bound(links))
	links.Down = 10
	require.Equal(t, 10*time.Second, n.bound(links))
	require.Equal(t, 6*time.Second, (&needs{upBytes: 600}).bound(links), "one direction")
	require.Equal(t, 7*time.Second, n.bound(&endtoend.Rates{Host: 100, Device: 50}))
}
