package planner_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// groups is devices in groups of four, each of which shares what one slot has.
func groups(devices int) *topology.Topology {
	t := topology.Network(devices/4, 4, topology.Wires{Host: 50e9, Slot: 50e9, Peer: 1, Network: 1})
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
	m := planner.MemberOf(3, plan, rates)
	require.Equal(t, planner.Member{Number: 3, Time: 120500 * time.Microsecond, Up: 100 * time.Millisecond,
		Down: 20 * time.Millisecond}, m)
	require.Zero(t, planner.MemberOf(3, &operator.Plan{Stages: plan.Stages[:0]}, nil).Time)
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
