package engine_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
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
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// posingAs is a device of the host for which the planner has the rates of another kind.
type posingAs struct {
	backend.Driver
	kind    backend.DeviceType
	unified bool
}

func (p posingAs) Info() *backend.DeviceInfo {
	info := *p.Driver.Info()
	info.Backend, info.Type, info.Unified, info.Name = "vulkan", p.kind, p.unified, "NVIDIA "+p.kind.String()
	return &info
}

// posingEngine is an engine on devices that pose as such kinds.
func posingEngine(t *testing.T, kinds ...posingAs) *engine.Engine {
	b := host.New(host.Options{Discrete: true})
	var members []query.Member
	for _, as := range kinds {
		var err error
		as.Driver, err = b.Open("host:cpu")
		require.NoError(t, err)
		device := backend.NewDevice(as, backend.DeviceOptions{LinkChunkBytes: backend.LeastChunkBytes})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		members = append(members, query.Member{Ops: jointest.Lane(t, device, nil).Ops, Allocator: memory.DefaultAllocator})
	}
	engine := engine.NewEngine(members[0].Ops, memory.DefaultAllocator, 0, members[1:]...)
	t.Cleanup(engine.Close)
	return engine
}

var (
	gpu        = posingAs{kind: backend.Discrete}
	integrated = posingAs{kind: backend.Integrated, unified: true}
	software   = posingAs{kind: backend.Software}
)

// linkedBy are links of GPUs: host is the bytes per second to the host, peer from one GPU to another; 0: unknown.
func linkedBy(devices int, host, peer float64) *topology.Topology {
	wires := machines.Switch(devices, machines.Wires{Host: 16 * host, Slot: host, Peer: max(peer, 1)}).Topology
	if peer == 0 {
		wires.Peer = nil
	}
	return &wires
}

// joinedOn joins two tables whose keys are their row numbers, of which the left one has more, on the devices that the
// planner takes, and returns the query and the text.
func joinedOn(t *testing.T, engine *engine.Engine, left, right arrow.Table) (q *query.Query, explained string) {
	layout, err := join.NewLayout(left.Schema(), right.Schema(), join.Spec{On: onK, BuildSide: join.BuildLeft,
		Materialize: join.MaterializeDevice, Columns: []string{"k", "a", "b", "c", "b_right"}})
	require.NoError(t, err)
	result, err := engine.StreamLayout(t.Context(), layout, source.FromTable(left), source.FromTable(right))
	require.NoError(t, err)
	defer result.Close()
	rows := int64(0)
	for batch, err := range result.Batches(t.Context()) {
		require.NoError(t, err)
		k, b, other := batch.Column(0).(*array.Int64), batch.Column(2).(*array.Float64), batch.Column(4).(*array.Float64)
		for i, key := range k.Int64Values() {
			if float64(key) != b.Value(i) || float64(key) != other.Value(i) {
				t.Fatalf("row %d pairs %g with %g", key, b.Value(i), other.Value(i))
			}
		}
		rows += batch.NumRows()
		batch.Release()
	}
	require.Equal(t, right.NumRows(), rows)
	return result.Query(), result.Explain()
}

// TestLinksBetweenDevices: with slow links, or none, every device loads the build side. With fast ones each loads a
// part and copies it to the others. Where these lead through the host, nothing is gained by that, but rows may meet.
func TestLinksBetweenDevices(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	left := keyed(t, "k", 1<<20, func(i int) int64 { return int64(i) })
	many := keyed(t, "k", 1<<20, func(i int) int64 { return int64(i) })
	few := keyed(t, "k", 1<<15, func(i int) int64 { return int64(i) })
	engine := posingEngine(t, gpu, gpu, gpu, gpu)
	type choice struct{ spread, scattered bool }
	const meet = "instead of rows meet by their keys"
	for _, test := range []struct {
		name      string
		right     arrow.Table
		wires     *topology.Topology
		want      choice
		explained string
	}{
		{"no links", many, linkedBy(4, 50e9, 0), choice{}, meet + ", not considered: the rates of the links"},
		{"slow", many, linkedBy(4, 50e9, 1e8), choice{}, meet + ", not considered: to move them takes"},
		{"less slow", many, linkedBy(4, 50e9, 15e9), choice{}, meet + " on 4 devices, "},
		{"fast", many, linkedBy(4, 50e9, 300e9), choice{spread: true}, "of 4 devices, from one another, "},
		{"through the host", few, throughHost(4, 50e9, 50e9), choice{scattered: true}, "way          rows meet"},
		{"slowly through the host", few, throughHost(4, 50e9, 5e9), choice{}, "way          whole build side"},
	} {
		t.Run(test.name, func(t *testing.T) {
			engine.Wires = test.wires
			q, explained := joinedOn(t, engine, left, test.right)
			require.Equal(t, test.want, choice{q.Spread, q.Scattered}, explained)
			require.Contains(t, explained, test.explained)
			require.GreaterOrEqual(t, len(q.Ways), 3)
		})
	}
}

// throughHost are links of GPUs from one to another through host memory.
func throughHost(devices int, host, peer float64) *topology.Topology {
	var alone []topology.Rates
	links := make([][]topology.Link, devices)
	for i := range links {
		alone = append(alone, topology.Rates{Up: host, Down: host})
		links[i] = slices.Repeat([]topology.Link{{BytesPerSecond: peer, ThroughHost: true}}, devices)
	}
	wires := topology.Measured(alone, topology.Rates{Up: 16 * host, Down: 16 * host}).Linked(links)
	return &wires
}

// TestUnequalDevices: cores that would take longer for their part than a GPU for all are left out. An integrated GPU,
// or cores among which rows meet by their keys, have a share by their speed.
func TestUnequalDevices(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	left := keyed(t, "k", 1<<20, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 1<<20, func(i int) int64 { return int64(i) })
	for name, test := range map[string]struct {
		other   posingAs
		scatter bool
		least   float64 // of the share of the other device; 0: it is left out
		most    float64
	}{
		"integrated":      {integrated, false, 0.25, 0.45},
		"integrated meet": {integrated, true, 0.25, 0.45},
		"cores":           {software, false, 0, 0},
		"cores meet":      {software, true, 0.005, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			engine := posingEngine(t, gpu, test.other)
			engine.Scatter, engine.Wires = test.scatter, linkedBy(2, 50e9, 100e9)
			q, explained := joinedOn(t, engine, left, right)
			if test.least == 0 {
				require.Empty(t, q.Others, explained)
				require.Contains(t, explained, "way          one device")
				return
			}
			require.Len(t, q.Others, 1, explained)
			require.Equal(t, test.scatter, q.Scattered)
			rows := func(q *query.Query) float64 { return float64(q.Alternatives[0].Facts.Rows[operator.Probe]) }
			share := rows(q.Others[0]) / (rows(q) + rows(q.Others[0]))
			require.Greater(t, share, test.least, explained)
			require.Less(t, share, test.most, explained)
		})
	}
}

// TestConnectedLinks: links that were connected have rates, for plans.
func TestConnectedLinks(t *testing.T) {
	devicetest.HostTest(t)
	var devices []*backend.Device
	for range 3 {
		device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
		defer func() { require.NoError(t, done()) }()
		devices = append(devices, device)
	}
	engine := severalEngine(t, devices, memory.DefaultAllocator, 0)
	defer engine.Close()
	require.NoError(t, engine.Connect(t.Context()))
	require.NoError(t, machines.Validate(engine.Wires))
	require.Len(t, engine.Wires.Peer, 3)
	rate, _ := engine.Links().Rate(devices[0], devices[2])
	require.Positive(t, rate)
	require.LessOrEqual(t, engine.Wires.Fair(engine.Wires.Peer[0][2:])[0], rate)
}
