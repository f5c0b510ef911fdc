package hash

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

var (
	pairs = operator.Want{Pairs: true}
	peels = Partitioned{force: force{bits: bitsOf(5), table: 20}} // what is too much for eight tables of 20 rows
)

// onEach runs a test on each device, unless pipelines take seconds to compile; TestDevicesPartitioned runs the same ones.
func onEach(t *testing.T, test func(t *testing.T, lane *exec.Lane)) {
	if !jointest.Instrumented(t) {
		jointest.ForEach(t, nil, test)
	}
}

// profiled is a lane with a profile of its own, and what tells the stages that it has had.
func profiled(t *testing.T, lane *exec.Lane) (own *exec.Lane, stages func() []string) {
	own = exec.NewLane(context.Background(), lane.Ops, nil)
	return own, func() (names []string) {
		require.NoError(t, lane.Device().Run(context.Background(), new(backend.List)))
		for _, s := range own.Profile.Stages() {
			names = append(names, s.Stage)
		}
		return names
	}
}

// Rows that find no slot are joined all the same, expected by the facts or not, in the memory of the plan. These are
// rows with keys that repeat too often and, where a key has one slot, with keys that collide.
func TestDevicesLost(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		unknown := func(f *operator.Facts) { f.Unique, f.Hottest, f.Distinct = true, [2]float64{}, 1 }
		turn := 0
		for _, name := range slices.Sorted(maps.Keys(jointest.Wants)) {
			want := jointest.Wants[name]
			for n, o := range []jointest.Options{{}, {Granule: 170}, {Window: 2100}, {Granule: 300, Window: 4096}} {
				if turn++; !devicetest.Turn(turn+turn/4, 4) {
					continue
				}
				keyBytes := 4 + 4*(n%2)
				wide := hot(600, 1000)
				wide.KeyBytes, wide.Payload = keyBytes, []int{4, 8, 4}
				other := hot(40, 500)
				other.KeyBytes = keyBytes
				for _, r := range []*jointest.Relation{wide, other} { // all granules are alike
					rand.New(rand.NewPCG(1, 1)).Shuffle(len(r.Keys), func(i, j int) { r.Keys[i], r.Keys[j] = r.Keys[j], r.Keys[i] })
				}
				if n/2 == 0 {
					o.Facts = unknown
				}
				want.Keys = !want.Count && n != 1
				for _, sides := range [][2]*jointest.Relation{{wide, other},
					{sameSlots(500, 2, keyBytes), sameSlots(700, 1, keyBytes)}} {
					describe := fmt.Sprintf("%s, %d build rows, %+v", name, len(sides[0].Keys), o)
					own, stages := profiled(t, lane)
					jointest.CheckRun(t, own, hj, sides[0], sides[1], want, o, describe)
					distinct := !want.Pairs || want.Count
					require.Equal(t, sides[0] != wide || !distinct, slices.Contains(stages(), "peel"), describe)

					facts := jointest.FactsOf(lane, sides[0], sides[1], o)
					p, err := hj.Plan(&facts, want)
					require.NoError(t, err)
					require.NoError(t, p.Reject)
					require.NoError(t, jointest.CheckMemory(t, lane, hj, sides[0], sides[1], want, o, p.PeakBytes), describe)
				}
			}
		}
		for _, want := range devicetest.Short([]string{"full", "count"}, []string{"inner", "full", "semi both", "count"}) {
			checkCaps(t, lane, hj, hot(9000, 0), hot(3, 20_000), jointest.Wants[want])
			checkCaps(t, lane, hj, sameSlots(4000, 2, 4), sameSlots(4000, 4, 4), jointest.Wants[want])
		}
		last := hot(400, 20_000)
		slices.Reverse(last.Keys)
		checkCaps(t, lane, hj, last, hot(30, 5000), pairs) // tiles that no window has room for
		many, hotter, o := hot(40_000, 0), hot(1, 40_000), jointest.Options{Window: 4096}
		for _, want := range []string{"inner", "full"} {
			facts := jointest.FactsOf(lane, many, hotter, o)
			p, err := hj.Plan(&facts, jointest.Wants[want])
			require.NoError(t, err)
			require.NoError(t, jointest.CheckMemory(t, lane, hj, many, hotter, jointest.Wants[want], o, booked(p)+32<<10))
		}
		out, err := jointest.Run(t, lane, hj, hot(70_000, 5), hot(70_000, 0), operator.Want{Pairs: true, Count: true},
			jointest.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 70_000*70_000, out.Count)
		proved := jointest.Options{Facts: func(f *operator.Facts) { f.Proved = true }}
		for _, a := range []operator.Algorithm{hj, om} {
			jointest.CheckRun(t, lane, a, hot(1, 3000), hot(3000, 500), pairs, proved, a.Name())
		}
	})
}

// checkCaps joins with less and less memory, until it is too little.
func checkCaps(t *testing.T, lane *exec.Lane, a operator.Algorithm, build, probe *jointest.Relation,
	want operator.Want) {
	oracle := jointest.Oracle(build, probe, want)
	for sizeBytes, runs := uint64(4<<20), 0; ; sizeBytes -= sizeBytes / devicetest.Short[uint64](4, 6) {
		need := exec.Need{Device: map[*backend.Device]uint64{lane.Device(): sizeBytes}}
		budget := exec.NewBudget(exec.Need{Device: need.Device, Host: exec.Unlimited})
		grant, err := budget.Acquire(t.Context(), need)
		require.NoError(t, err)
		got, err := jointest.Run(t, lane, a, build, probe, want, jointest.Options{Grant: grant, Window: 4096})
		grant.Release()
		if err != nil {
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			require.Greater(t, runs, 3)
			return
		}
		require.Empty(t, jointest.Difference(oracle, got), "%s with %d bytes", a.Name(), sizeBytes)
		runs++
	}
}

// booked is what a plan books for buffers.
func booked(p *operator.Plan) (sizeBytes uint64) {
	for sizeBytes+operator.Slack(sizeBytes) < p.PeakBytes {
		sizeBytes += 256
	}
	return sizeBytes
}

// A build side that is probed anew knows nothing of what was met before, also of rows without a slot.
func TestDevicesRewind(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		build, probe := sameSlots(500, 2, 4), sameSlots(500, 1, 4)
		want := operator.Want{Rest: [2]bool{true, false}, Count: true}
		facts := jointest.FactsOf(lane, build, probe, jointest.Options{})
		facts.Stays = true
		p, err := hj.Plan(&facts, want)
		require.NoError(t, err)
		o := hj.Open(ctx, lane, p)
		defer o.Close()
		on, releaseBuild := build.Chunk(t, lane)
		defer releaseBuild()
		all, release := probe.Chunk(t, lane)
		defer release()
		some := *all
		some.Rows, some.Payload = 100, nil
		some.Keys.Data.SizeBytes = 400
		require.NoError(t, o.Build(ctx, on))
		for _, c := range []struct {
			probe *relation.Chunk
			rest  uint64
		}{{all, 0}, {&some, 800}, {all, 0}} {
			sink := new(operator.Counter)
			require.NoError(t, o.Rewind(ctx))
			require.NoError(t, o.Probe(ctx, lane, c.probe, sink))
			require.NoError(t, o.Finish(ctx, sink))
			require.Equal(t, c.rest, sink.Rows)
		}
	})
}

// Sinks, contexts and memory may fail anywhere: nothing stays behind.
func TestDevicesFailures(t *testing.T) {
	devicetest.ShortOnHost(t)
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		small := jointest.Lane(t, lane.Device(), jointest.Small(lane.Device().Info()))
		build, probe := workloads()["hot on both sides"].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{300, 2000}, 8,
			[2][]int{{4, 8, 4}, {8, 4, 4}})
		want := jointest.Wants["full"]
		want.Keys = true
		few := hot(20, 300)
		few.KeyBytes = 8
		wide := peels
		wide.Untransformed = true
		turn := 0
		for name, o := range map[string]jointest.Options{"all at once": {}, "windows": {Granule: 1200, Window: 2048},
			"too little room at first": {Facts: func(f *operator.Facts) { f.Window = 3 }}} {
			for _, a := range []Partitioned{om, um, single, peels, wide, {CountFirst: true}, {PageRows: 4}} {
				if turn++; devicetest.Turn(turn, 3) {
					jointest.CheckFailures(t, small, a, build, probe, want, o, fmt.Sprintf("%+v, %s", a, name))
				}
			}
			jointest.CheckFailures(t, small, hj, few, probe, want, o, "hj, "+name)
		}
	})
}

// More pairs than a window holds are put window by window, whatever moves.
func TestDevicesWindows(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		small := jointest.Lane(t, lane.Device(), jointest.Small(lane.Device().Info()))
		for n, payload := range payloads {
			build, probe := jointest.Workloads["half match"].Relations(rand.New(rand.NewPCG(1, uint64(n))),
				[2]int{3000, 6000}, 4, payload)
			for i, a := range []operator.Algorithm{om, um, single, Partitioned{CountFirst: true},
				Partitioned{PageRows: 3}, Partitioned{Untransformed: true, force: force{bits: bitsOf(0)}}, hj} {
				for j, on := range []*exec.Lane{small, lane} {
					if !devicetest.Turn(n+i+j, 2) {
						continue
					}
					out := jointest.CheckRun(t, on, a, build, probe, pairs, jointest.Options{Window: 1100},
						fmt.Sprintf("%+v, payload %v", a, payload))
					require.Greater(t, out.Windows, 2)
				}
			}
		}
	})
}

// Joins take no more memory than their plans say, where the facts are the truth.
func TestDevicesMemory(t *testing.T) {
	devicetest.ShortOnHost(t)
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		workloads := []string{"primary and foreign", "duplicates", "half match"}
		wants := slices.Sorted(maps.Keys(jointest.Wants))
		all := []operator.Algorithm{om, um, single, Partitioned{CountFirst: true}, hj}
		options := []jointest.Options{{}, {Granule: 9000}, {Granule: 9000, Window: 2100}, {Window: 5000}}
		for n, c := range devicetest.Combinations(t, len(wants), len(all), len(options), len(workloads)) {
			want, a, o := jointest.Wants[wants[c[0]]], all[c[1]], options[c[2]]
			build, probe := jointest.Workloads[workloads[c[3]]].Relations(rand.New(rand.NewPCG(1, uint64(n))),
				[2]int{8000, 14_000}, 4+4*(n%2), [2][]int{{4, 8, 4, 8, 8, 8, 8}, {8, 4, 4, 8, 8}})
			facts := jointest.FactsOf(lane, build, probe, o)
			p, err := a.Plan(&facts, want)
			require.NoError(t, err)
			require.NoError(t, jointest.CheckMemory(t, lane, a, build, probe, want, o, p.PeakBytes),
				"%s, %s, %s, granules of %d, windows of %d: %d bytes", a.Name(), workloads[c[3]], wants[c[0]],
				o.Granule, o.Window, p.PeakBytes)
		}
	})
}

// What a granule took is given back when it is probed. An operator may be closed at any time, and need not be probed.
func TestDevicesGranulesLeaveNothing(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		build, probe := workloads()["hot on both sides"].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{500, 900}, 4,
			[2][]int{{4, 4, 8}, {4}})
		for _, a := range []operator.Algorithm{om, um, single, peels, hj} {
			want := operator.Want{Pairs: true, Rest: [2]bool{true, false}}
			facts := jointest.FactsOf(lane, build, probe, jointest.Options{Granule: 300})
			facts.Hottest, facts.Distinct = [2]float64{}, 1
			p, err := a.Plan(&facts, want)
			require.NoError(t, err)
			a.Open(ctx, lane, p).Close()

			before := jointest.InUse(t, lane)
			o := a.Open(ctx, lane, p)
			on, releaseBuild := build.Chunk(t, lane)
			granule, release := probe.Chunk(t, lane)
			empty := &relation.Chunk{Keys: relation.Values{Bytes: 4}, Payload: []relation.Values{{Bytes: 4}}}
			require.NoError(t, o.Build(ctx, on))
			built := jointest.InUse(t, lane)
			sink := new(operator.Collector)
			for n := range 4 {
				sink.Lane = exec.NewLane(ctx, lane.Ops, nil)
				require.NoError(t, o.Probe(ctx, lane, granule, sink))
				require.NoError(t, o.Probe(ctx, lane, empty, sink))
				sink.Release()
				require.Equal(t, built, jointest.InUse(t, lane), "%s, granule %d", a.Name(), n)
			}
			require.NoError(t, o.Finish(ctx, sink))
			sink.Release()
			o.Close()
			o.Close()
			o = a.Open(ctx, lane, p) // is built, and all rows are without a partner
			require.NoError(t, o.Build(ctx, on))
			alone := new(operator.Collector)
			alone.Lane = lane
			require.NoError(t, o.Finish(ctx, alone))
			require.EqualValues(t, 500, alone.Rows)
			alone.Release()
			o.Close()
			releaseBuild()
			release()
			require.Equal(t, before, jointest.InUse(t, lane), a.Name())
		}
	})
}

// What makes no sense is an error.
func TestDevicesErrors(t *testing.T) {
	for _, rows := range []int{-1, 9} {
		_, err := Partitioned{PageRows: rows}.Plan(&operator.Facts{KeyBytes: 4, Rows: [2]uint64{4, 4}}, pairs)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
	large := operator.Facts{KeyBytes: 4, Rows: [2]uint64{mostSlots/2 + 1, 4}, Unique: true}
	p, err := hj.Plan(&large, pairs)
	require.NoError(t, err)
	require.ErrorIs(t, p.Reject, backend.ErrLimit)

	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for _, a := range []operator.Algorithm{om, hj} {
			jointest.CheckErrors(t, lane, a)
		}
	})
}

// Each planted fault is found, and nothing where none is planted.
func TestDevicesPlantedFaults(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for _, a := range []operator.Algorithm{om, um, peels, hj} {
			jointest.CheckFaults(t, lane, a)
		}
	})
}
