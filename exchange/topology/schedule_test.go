package topology

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFairExample is the example of Fair.
func TestFairExample(t *testing.T) {
	of := Topology{Segments: []Segment{{Name: "a", BytesPerSecond: 10}, {Name: "b", BytesPerSecond: 12}}}
	require.Equal(t, []float64{5, 5, 7, math.Inf(1)}, of.Fair([]Path{{0}, {0, 1}, {1}, {}}))
	require.Equal(t, []float64{2, 2, 12. / 7, 1}, of.Together([]Path{{0}, {0, 1}, {1}, {}}))
}

// TestMove: when a flow ends, the others get its bandwidth.
func TestMove(t *testing.T) {
	of := Topology{Segments: []Segment{{Name: "a", BytesPerSecond: 10}, {Name: "b", BytesPerSecond: 12}}}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, time.Second, 0, 0},
		of.Move([]Flow{{Path{0}, 5}, {Path{0}, 15}, {Path{1}, 12}, {nil, 100}, {Path{0}, 0}}))
	require.Empty(t, of.Move(nil))
}

// TestMoveSharesWhatIsLeft: flows of 1 to 1000 bytes through one segment keep it full but for what mostIdle costs.
func TestMoveSharesWhatIsLeft(t *testing.T) {
	of, flows := Topology{Segments: []Segment{{Name: "a", BytesPerSecond: 1000}}}, []Flow(nil)
	for bytes := range uint64(1000) {
		flows = append(flows, Flow{Path{0}, bytes + 1})
	}
	arrived := of.Move(flows)
	took, full := arrived[999], 500500*time.Millisecond
	require.GreaterOrEqual(t, took, full)
	require.Less(t, float64(took), float64(full)*(1+2*mostIdle))
	require.IsIncreasing(t, arrived)
}

// TestMeasured: three links with 90 GB/s of 120 together are 4/3 slower, down not at all, and one is as fast as alone.
func TestMeasured(t *testing.T) {
	of := Measured([]Rates{{40, 20}, {40, 20}, {40, 20}}, Rates{90, 66})
	require.InDeltaSlice(t, []float64{4. / 3, 4. / 3, 4. / 3}, of.Together(of.Up), 1e-9)
	require.Equal(t, []float64{1, 1, 1}, of.Together(of.Down))
	require.Equal(t, []float64{1}, of.Together(of.Up[:1]))
}

// TestLinked: a device sends to several others no faster than over its fastest link, and what goes through the host
// shares the links to it.
func TestLinked(t *testing.T) {
	direct := Link{BytesPerSecond: 300}
	links := [][]Link{{{}, direct, {BytesPerSecond: 100}}, {direct, {}, direct},
		{{BytesPerSecond: 25, ThroughHost: true}, direct, {}}}
	rates := Rates{Up: 50, Down: 40}
	wires := Measured([]Rates{rates, rates, rates}, Rates{Up: 90, Down: 80}).Linked(links)
	require.Equal(t, []float64{200, 100}, wires.Fair([]Path{wires.Peer[0][1], wires.Peer[0][2]}))
	require.Equal(t, []float64{300, 300}, wires.Fair([]Path{wires.Peer[0][1], wires.Peer[1][0]}))
	require.Equal(t, []float64{25, 25}, wires.Fair([]Path{wires.Peer[2][0], wires.Up[0]}))
	wires.Segments[0].BytesPerSecond = 30
	require.Equal(t, []float64{15, 15}, wires.Fair([]Path{wires.Peer[2][0], wires.Up[0]}))
	links[1][2] = Link{}
	require.Empty(t, wires.Linked(links).Peer)
}
