package planner_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/machines"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// groups is devices in groups of four, each of which shares what one slot has.
func groups(devices int) *topology.Topology {
	t := machines.Network(devices/4, 4, machines.Wires{Host: 50e9, Slot: 50e9, Peer: 1, Network: 1}).Topology
	return &t
}

// equals are devices that take a second, 0.3 of it to load and 0.2 to deliver.
func equals(devices int) (all []planner.Member) {
	for i := range devices {
		all = append(all, planner.Member{Number: i, Time: time.Second, Up: 300 * time.Millisecond,
			Down: 200 * time.Millisecond})
	}
	return all
}

// TestMemberOf: transfers are that part of the time of a plan which goes over the links.
func TestMemberOf(t *testing.T) {
	rates, _ := ratesOf(t, "nvidia")
	plan := &operator.Plan{}
	plan.Add(operator.Load, operator.UploadByte, 5e9)
	plan.Add(operator.Load, operator.EncodeRow, 1e6)
	plan.Add(operator.Deliver, operator.DownloadByte, 1e9)
	rates.Predict(plan)
	plan.Facts.Rows = [2]uint64{operator.Build: 1e6}
	loads := &planner.Transfer{ArrowBits: [2]int{operator.Build: 64}}
	m := planner.MemberOf(3, plan, loads, rates)
	require.Equal(t, planner.Member{Number: 3, Time: 120500 * time.Microsecond, Up: 100 * time.Millisecond,
		Down: 20 * time.Millisecond, Build: planner.BuildLoad{Time: 660 * time.Microsecond, Up: 160 * time.Microsecond}}, m)
	require.Zero(t, planner.MemberOf(3, &operator.Plan{Stages: plan.Stages[:0]}, loads, nil).Time)
}

// TestTogether: those that share a link wait for one another; what goes over no link takes as long as ever.
func TestTogether(t *testing.T) {
	for _, n := range []int{16, 64} {
		for _, took := range planner.Together(equals(n), groups(n)) {
			require.Equal(t, 2500*time.Millisecond, took, "1 s, and 3 times 0.3 and 0.2")
		}
		for _, took := range planner.Together(equals(n), nil) {
			require.Equal(t, time.Second, took)
		}
	}
	require.Equal(t, time.Second, planner.Together(equals(2), &topology.Topology{})[0], "not known")
	two := []planner.Member{equals(16)[1], equals(16)[5]}
	require.Equal(t, []time.Duration{time.Second, time.Second}, planner.Together(two, groups(16)), "in two groups")
}

// TestOrder: without wires the fastest come first, but that the first device is in any team; of equal devices behind
// shared links each four are in groups of their own, as long as there are any.
func TestOrder(t *testing.T) {
	devicetest.HostTest(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{16, 64} {
		unequal := equals(n)
		for i := range unequal {
			unequal[i].Time += time.Duration(random.IntN(8)) * 100 * time.Millisecond
		}
		order := planner.Order(unequal, nil)
		require.Zero(t, order[0])
		require.True(t, slices.IsSortedFunc(order[1:], func(a, b int) int {
			return int(unequal[a].Time - unequal[b].Time)
		}), "%v", order)
		slices.Sort(order)
		require.Equal(t, n-1, order[n-1])

		order = planner.Order(equals(n), groups(n))
		for at := 0; at < n; at += n / 4 {
			in := make(map[int]bool)
			for _, i := range order[at : at+n/4] {
				in[i/4] = true
			}
			require.Len(t, in, n/4, "from %d on: %v", at, order)
		}
	}
}

// TestOrderOfUnequal: a slower device with a link of its own comes before a faster one that would share a link with the
// first, unless it is much slower.
func TestOrderOfUnequal(t *testing.T) {
	for slow, want := range map[time.Duration][]int{
		1600 * time.Millisecond: {0, 2, 1}, // alone: 2 x 0.67 of a joint pair against 1 + 0.63
		4 * time.Second:         {0, 1, 2}, // against 1 + 0.25
	} {
		members := equals(5)
		members = []planner.Member{members[0], members[1], members[4]}
		members[2].Time = slow
		require.Equal(t, want, planner.Order(members, groups(8)), slow)
	}
}

// loading are devices that take a second, 0.4 of it to load the build side, of which 0.2 on the way from the host.
func loading(devices int) (all []planner.Member) {
	for _, m := range equals(devices) {
		m.Build = planner.BuildLoad{Time: 400 * time.Millisecond, Up: 200 * time.Millisecond}
		all = append(all, m)
	}
	return all
}

// TestSpread: each device loads a part, and gets the others over the links between the devices, while it loads; the
// slower one of these is what it takes, with the first or the last piece.
func TestSpread(t *testing.T) {
	linked := func(peer float64) *topology.Topology {
		wires := machines.Switch(4, machines.Wires{Host: 400e9, Slot: 50e9, Peer: peer}).Topology
		return &wires
	}
	const sizeBytes = 4e9
	for peer, want := range map[float64]time.Duration{
		300e9: 600 + 100 + 10/8, // three quarters in 10 ms
		3e9:   600 + 1000 + 100/8,
	} {
		for _, took := range planner.Spread(loading(4), sizeBytes, linked(peer)) {
			require.InDelta(t, want*time.Millisecond, took, 1e6, "%g", peer)
		}
	}
	slow := loading(4)
	slow[2].Build.Time *= 2 // all wait for the slowest one
	slow[2].Time += 400 * time.Millisecond
	for _, took := range planner.Spread(slow, sizeBytes, linked(300e9)) {
		require.InDelta(t, 801*time.Millisecond, took, 1e6)
	}
}

// TestScatter: rows move in the shares of devices, and what a device sends and receives goes over its links.
func TestScatter(t *testing.T) {
	wires := machines.Switch(4, machines.Wires{Host: 1, Slot: 1, Peer: 10e9}).Topology
	require.InDelta(t, 300*time.Millisecond, // three quarters of a quarter of 16 GB at 10 GB/s
		planner.Scatter(equals(4), []float64{.25, .25, .25, .25}, 16e9, &wires), 1e3)
	require.InDelta(t, 144*time.Millisecond, // a device gets, and gives, a tenth of nine tenths
		planner.Scatter(equals(2), []float64{.9, .1}, 16e9, &wires), 1e3)
}

// TestLinked: links between devices are known, or not, and lead through the wires of the host, or not.
func TestLinked(t *testing.T) {
	alone := []topology.Rates{{Up: 50e9, Down: 40e9}, {Up: 50e9, Down: 40e9}}
	host := topology.Measured(alone, topology.Rates{Up: 80e9, Down: 70e9})
	direct, through := topology.Link{BytesPerSecond: 300e9}, topology.Link{BytesPerSecond: 30e9, ThroughHost: true}
	for name, test := range map[string]struct {
		wires         topology.Topology
		linked, apart bool
	}{
		"not known":    {host, false, false},
		"direct":       {host.Linked([][]topology.Link{{{}, direct}, {direct, {}}}), true, true},
		"one missing":  {host.Linked([][]topology.Link{{{}, direct}, {{}, {}}}), false, false},
		"through host": {host.Linked([][]topology.Link{{{}, through}, {direct, {}}}), true, false},
	} {
		require.NoError(t, machines.Validate(&test.wires))
		linked, apart := planner.Linked(equals(2), &test.wires)
		require.Equal(t, [2]bool{test.linked, test.apart}, [2]bool{linked, apart}, name)
	}
	linked, _ := planner.Linked(equals(2), nil)
	require.False(t, linked)
}
