package sortmerge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/operator"
)

// onEach runs a test with small units on each device, unless pipelines take seconds to compile; TestDevicesJoin runs the
// same ones.
func onEach(t *testing.T, test func(t *testing.T, lane *exec.Lane)) {
	if !jointest.Instrumented(t) {
		jointest.ForEach(t, smallUnits, test)
	}
}

// A side that is sorted is not sorted again; one that is not is, be it by one row.
func TestDevicesSortedSides(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, 2, 2, len(algorithms), 2) {
			build, probe := jointest.Workloads["half match"].Relations(rand.New(rand.NewPCG(1, uint64(n))),
				[2]int{3000, 7000}, 4, [2][]int{{4, 4, 8}, {8}})
			for side, r := range []*jointest.Relation{build, probe} {
				slices.Sort(r.Keys)
				if c[side] == 0 {
					r.Keys[len(r.Keys)-1] = 0
				}
			}
			lane := exec.NewLane(context.Background(), lane.Ops, nil)
			var o jointest.Options
			if c[3] == 1 {
				o.Granule = 2400
			}
			describe := fmt.Sprintf("sorted %v, %s, granules of %d", c[:2], algorithms[c[2]].Name(), o.Granule)
			jointest.CheckRun(t, lane, algorithms[c[2]], build, probe, operator.Want{Pairs: true}, o, describe)
			for side, stage := range []string{"sort build", "sort probe"} {
				took := slices.ContainsFunc(lane.Profile.Stages(),
					func(s backend.StageTime) bool { return s.Stage == stage })
				require.Equal(t, c[side] == 0, took, "%s, %s: %v", stage, describe, lane.Profile.Stages())
			}
		}
	})
}

// Pairs of keys that are frequent on both sides are counted before anything is written. More pairs than a window holds
// are written window by window, also where a window has no room for a unit.
func TestDevicesHotKeys(t *testing.T) {
	hot := func(rows int) *jointest.Relation {
		return &jointest.Relation{KeyBytes: 8, Keys: slices.Repeat([]uint64{^uint64(0)}, rows), Payload: []int{4}}
	}
	want := operator.Want{Pairs: true, Keys: true}
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		run := func(o jointest.Options) (*exec.Lane, jointest.Output) {
			lane := exec.NewLane(context.Background(), lane.Ops, nil)
			return lane, jointest.CheckRun(t, lane, sortmerge.OM, hot(400), hot(500), want, o, "hot on both sides")
		}
		profiled, out := run(jointest.Options{})
		require.Contains(t, fmt.Sprint(profiled.Profile.Stages()), "range search")
		require.Equal(t, 1, out.Windows)
		_, out = run(jointest.Options{Window: 3000})
		require.Greater(t, out.Windows, 60)
		_, out = run(jointest.Options{Window: 3000, Granule: 130})
		require.Greater(t, out.Windows, 60)
		_, out = run(jointest.Options{Window: 1000}) // less than a unit makes
		require.Greater(t, out.Windows, 190)

		profiled = exec.NewLane(context.Background(), lane.Ops, nil)
		build, release := hot(66_000).Chunk(t, lane)
		defer release()
		facts := operator.Facts{KeyBytes: 8, Rows: [2]uint64{66_000, 66_000}, Payload: [2][]int{{4}, {4}},
			Tuning: lane.Tuning()}
		p, err := sortmerge.OM.Plan(&facts, want)
		require.NoError(t, err)
		o := sortmerge.OM.Open(context.Background(), profiled, p)
		defer o.Close()
		require.NoError(t, o.Build(context.Background(), build))
		sink := &jointest.Strict{Allowed: 66_000*66_000 - 1}
		require.ErrorIs(t, o.Probe(context.Background(), profiled, build, sink), jointest.ErrEnough)
		require.NotContains(t, fmt.Sprint(profiled.Profile.Stages()), "match")
	})
}

// What makes no sense is an error.
func TestDevicesErrors(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for _, a := range algorithms {
			jointest.CheckErrors(t, lane, a)
		}
	})
}

// Each planted fault is found, and nothing where none is planted.
func TestDevicesPlantedFaults(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for _, a := range []sortmerge.Algorithm{sortmerge.OM, sortmerge.UM} {
			jointest.CheckFaults(t, lane, a)
		}
	})
}

// Sinks, contexts and memory may fail anywhere: nothing stays behind.
func TestDevicesFailures(t *testing.T) {
	devicetest.ShortOnHost(t)
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		random := rand.New(rand.NewPCG(1, 1))
		build, probe := jointest.Workloads["duplicates"].Relations(random, [2]int{300, 2000}, 4,
			[2][]int{{4, 8, 4}, {8, 4, 4}})
		options := []jointest.Options{{}, {Granule: 1200, Window: 2048}}
		for _, c := range devicetest.Product(t, len(algorithms), len(options)) {
			a, o := algorithms[c[0]], options[c[1]]
			jointest.CheckFailures(t, lane, a, build, probe, jointest.Wants["full"], o, fmt.Sprintf("%s, %+v", a.Name(), o))
		}
	})
}
