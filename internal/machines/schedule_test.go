package machines

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/topology"
)

// TestMove: each message adds the latency; the fullest segment bounds the time.
func TestMove(t *testing.T) {
	of := Topology{topology.Topology{Segments: []topology.Segment{{Name: "a", BytesPerSecond: 10},
		{Name: "b", BytesPerSecond: 12}}}, []time.Duration{0, time.Second}}
	flow := func(bytes uint64, messages int, path ...int) Flow { return Flow{path, bytes, messages} }
	s := of.Move([]Flow{flow(5, 1, 0), flow(15, 1, 0), flow(12, 3, 1), flow(100, 1), flow(0, 0, 0)})
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 0, 0}, s.Flows)
	require.Equal(t, 4*time.Second, s.Time)
	require.Equal(t, []uint64{20, 12}, s.Loads)
	require.Equal(t, 2*time.Second, s.Bound)
	require.Zero(t, s.Bounds)
	require.Equal(t, 2.0, s.Contention())
	nothing := of.Move(nil)
	require.Equal(t, 1.0, nothing.Contention())
	require.Equal(t, -1, nothing.Bounds)
}
