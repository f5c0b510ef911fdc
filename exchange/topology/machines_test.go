package topology_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/internal/machines"
)

// wires of which no rate is a multiple of another.
var wires = machines.Wires{Host: 110e9, Slot: 50e9, Peer: 300e9, Bridge: 70e9, Network: 45e9, Latency: time.Microsecond,
	NetworkLatency: 10 * time.Microsecond}

// all topologies of n devices, a multiple of 8.
func all(n int) []machines.Topology {
	return []machines.Topology{machines.Switch(n, wires), machines.Tree(n, wires), machines.Ring(n, wires), machines.Network(n/8, 8, wires)}
}

// TestFair: no segment carries more than it can, and each path has a full segment in which no other path has a higher
// rate. Exactly the fair rates have this property.
func TestFair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, of := range append(all(16), all(64)...) {
		var paths []topology.Path
		for from := range of.Peer {
			for to := range of.Peer {
				if from != to && random.IntN(3) == 0 {
					paths = append(paths, of.Peer[from][to])
				}
			}
		}
		rates := of.Fair(paths)
		carried, fastest := make([]float64, len(of.Segments)), make([]float64, len(of.Segments))
		for i, path := range paths {
			for _, s := range path {
				carried[s] += rates[i]
				fastest[s] = max(fastest[s], rates[i])
			}
		}
		for s, rate := range carried {
			require.LessOrEqual(t, rate, of.Segments[s].BytesPerSecond*(1+1e-9), of.Name)
		}
		for i, path := range paths {
			bound := false
			for _, s := range path {
				full := carried[s] >= of.Segments[s].BytesPerSecond*(1-1e-9)
				bound = bound || full && rates[i] >= fastest[s]*(1-1e-9)
			}
			require.True(t, bound, "%s: path %v at %g", of.Name, path, rates[i])
		}
	}
}

// TestMoveIsBounded: no topology is faster than its fullest segment, and if all send as much to all, none that is
// symmetric is slower.
func TestMoveIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, of := range all(16) {
		clear(of.Latency)
		var even, random16 []machines.Flow
		for from := range of.Peer {
			for to, path := range of.Peer[from] {
				even = append(even, machines.Flow{Path: path, Bytes: 1 << 30, Messages: 1})
				random16 = append(random16, machines.Flow{Path: path, Bytes: random.Uint64N(1 << 30), Messages: 1})
				if to == from {
					require.Empty(t, path)
				}
			}
		}
		uneven, same := of.Move(random16), of.Move(even)
		require.GreaterOrEqual(t, uneven.Contention(), 1-1e-6, of.Name)
		require.InDelta(t, 1, same.Contention(), 1e-6, of.Name)
	}
}

// TestMachines: what bounds an even movement of all to all, by the wires.
func TestMachines(t *testing.T) {
	const bytes = 1 << 30 // of each pair
	for n, devices := range map[float64]int{16: 16, 64: 64} {
		for i, want := range []struct {
			segment string
			bytes   float64
		}{
			{"in 0", (n - 1) * bytes},
			{"bridge 1 to 0", n / 2 * n / 2 * bytes},
			{"right of 0", n / 2 * (n/2 + 1) / 2 * bytes},
			{"node in 0", 8 * (n - 8) * bytes},
		} {
			of := all(devices)[i]
			require.NoError(t, machines.Validate(&of.Topology))
			require.Equal(t, devices, of.Devices())
			var flows []machines.Flow
			for from := range of.Peer {
				for to := range of.Peer {
					flows = append(flows, machines.Flow{Path: of.Peer[from][to], Bytes: bytes, Messages: 1})
				}
			}
			s := of.Move(flows)
			require.Equal(t, want.segment, of.Segments[s.Bounds].Name, of.Name)
			require.Equal(t, want.bytes, float64(s.Loads[s.Bounds]), of.Name)
		}
	}
	tree := machines.Tree(16, wires)
	require.Equal(t, 8*50./110, tree.Together(tree.Up)[0], "eight slots share the memory of a socket")
}
