package engine_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/machines"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// posing is a device of the host for which the planner has the rates of a GPU.
type posing struct{ backend.Driver }

func (p posing) Info() *backend.DeviceInfo {
	info := *p.Driver.Info()
	info.Backend, info.Type, info.Name = "vulkan", backend.Discrete, "NVIDIA H100"
	return &info
}

// TestSharedLinks: of 16 equal devices with links of their own to the host all take part, and fewer if they share
// links: behind four links, one of each.
func TestSharedLinks(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	left := keyed(t, "k", 300_000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 600_000, func(i int) int64 { return int64(i % 300_000) })
	var members []query.Member
	b := host.New(host.Options{Discrete: true})
	for range 16 {
		driver, err := b.Open("host:cpu")
		require.NoError(t, err)
		device := backend.NewDevice(posing{driver}, backend.DeviceOptions{LinkChunkBytes: backend.LeastChunkBytes})
		defer func() { require.NoError(t, device.Close()) }()
		members = append(members, query.Member{Ops: jointest.Lane(t, device, nil).Ops,
			Allocator: memory.DefaultAllocator})
	}
	engine := engine.NewEngine(members[0].Ops, memory.DefaultAllocator, 0, members[1:]...)
	defer engine.Close()
	team := func(wires *topology.Topology) (numbers []int) {
		engine.Wires = wires
		result, err := engine.Stream(t.Context(), source.FromTable(left), source.FromTable(right),
			join.Spec{On: onK, BuildSide: join.BuildLeft, Materialize: join.MaterializeDevice})
		require.NoError(t, err)
		rows := int64(0)
		for batch, err := range result.Batches(t.Context()) {
			require.NoError(t, err)
			rows += batch.NumRows()
			batch.Release()
		}
		require.Equal(t, right.NumRows(), rows)
		for _, q := range append([]*query.Query{result.Query()}, result.Query().Others...) {
			numbers = append(numbers, slices.Index(engine.Engines(), q.Engine))
		}
		result.Close()
		return numbers
	}
	behind := func(links int) *topology.Topology {
		t := machines.Network(links, 16/links, machines.Wires{Host: 50e9, Slot: 50e9, Peer: 1, Network: 1}).Topology
		return &t
	}
	require.Len(t, team(nil), 16)
	require.Len(t, team(behind(16)), 16)
	require.Equal(t, []int{0, 4, 8, 12}, team(behind(4)))
	require.Equal(t, []int{0, 1}, team(behind(1)))
	engine.Together = true
	require.Len(t, team(behind(1)), 16)
}

// TestMeasureWires: with several devices that have their own memory, links are measured. For devices in host memory, or
// one device alone, they are not. Nothing stays allocated.
func TestMeasureWires(t *testing.T) {
	devicetest.HostTest(t)
	for name, test := range map[string]struct {
		devices  int
		discrete bool
		known    bool
	}{
		"discrete": {3, true, true}, "in host memory": {2, false, false}, "alone": {1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var devices []*backend.Device
			for range test.devices {
				device, done := hostDevice(t, host.Options{Discrete: test.discrete}, backend.DeviceOptions{})
				defer func() { require.NoError(t, done()) }()
				devices = append(devices, device)
			}
			engine := severalEngine(t, devices, memory.DefaultAllocator, 0)
			defer engine.Close()
			require.NoError(t, engine.MeasureWires(t.Context()))
			require.Equal(t, test.known, engine.Wires != nil)
			if test.known {
				require.NoError(t, machines.Validate(engine.Wires))
				require.Equal(t, test.devices, engine.Wires.Devices())
			}
			for _, device := range devices {
				noMemoryInUse(t, device)
			}
		})
	}
}
