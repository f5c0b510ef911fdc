package machines

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestValidate names all faults.
func TestValidate(t *testing.T) {
	devicetest.HostTest(t)
	of := topology.Topology{Segments: []topology.Segment{{Name: "a"}}, Up: []topology.Path{{0}, {1}}, Down: []topology.Path{{0}}, Peer: [][]topology.Path{{nil, {2}}}}
	err := Validate(&of)
	for _, fault := range []string{"segment 0 (a) has 0 bytes", "up, device 1: there is no segment 1",
		"down: 1 paths for 2 devices", "paths from 1 of 2 devices", "from device 0, device 1: there is no segment 2"} {
		require.ErrorContains(t, err, fault)
	}
}

// TestMeasuredIsValid: measured links, and those between devices, have no faults.
func TestMeasuredIsValid(t *testing.T) {
	devicetest.HostTest(t)
	rates, link := topology.Rates{Up: 50, Down: 40}, topology.Link{BytesPerSecond: 300, ThroughHost: true}
	of := topology.Measured([]topology.Rates{rates, rates}, topology.Rates{Up: 90, Down: 80})
	require.NoError(t, Validate(&of))
	of = of.Linked([][]topology.Link{{{}, link}, {link, {}}})
	require.NoError(t, Validate(&of))
}
