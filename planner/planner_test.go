package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// devices are the classes that have rates, and one that has none.
var devices = map[string]*backend.DeviceInfo{
	"nvidia":   {Backend: "vulkan", Type: backend.Discrete, Subgroups: true, Name: "NVIDIA H200"},
	"host":     {Backend: "host", Type: backend.Host, Subgroups: true},
	"software": {Backend: "vulkan", Type: backend.Software, Subgroups: true},
	"pocl":     {Backend: "opencl", Type: backend.Software, SubgroupSize: 1},
	"unknown":  {Backend: "vulkan", Type: backend.Integrated, Subgroups: true, Name: "other"},
}

// algorithms are all that join equal keys.
var algorithms = []operator.Algorithm{hash.Partitioned{}, hash.Partitioned{OneByOne: true},
	hash.Partitioned{Untransformed: true}, hash.Unpartitioned{}, sortmerge.OM, sortmerge.OMSingle,
	sortmerge.UM}

var pairsOf = operator.Want{Pairs: true, Keys: true}

// choose plans by all algorithms.
func choose(t *testing.T, f operator.Facts, want operator.Want, rates *planner.Rates, limits planner.Limits,
) []*operator.Plan {
	t.Helper()
	all, err := planner.Choose(f, want, algorithms, rates, limits)
	require.NoError(t, err)
	return all
}

func ratesOf(t *testing.T, device string) (*planner.Rates, primitive.Tuning) {
	tuning, err := primitive.TuningFor(devices[device])
	require.NoError(t, err)
	return planner.RatesFor(devices[device]), tuning
}

// TestChoices plans a grid and compares the first and second choices with a file: read the differences before you
// accept them.
func TestChoices(t *testing.T) {
	for device := range devices {
		t.Run(device, func(t *testing.T) {
			rates, tuning := ratesOf(t, device)
			var b strings.Builder
			fmt.Fprintf(&b, "%-12s %-14s %6s %-8s %5s  %-18s %10s %9s  %-18s %10s\n", "rows", "payload", "key", "skew",
				"match", "taken", "predicted", "memory", "second", "predicted")
			for _, size := range [][2]int{{12, 13}, {17, 20}, {20, 21}, {24, 25}, {27, 28}, {27, 27}} {
				for _, payload := range [][2][]int{{{}, {}}, {{4}, {4}}, {{4, 4}, {4, 4}}, {{8, 8}, {8, 8}},
					{{8, 4, 8, 4, 4}, {4}}} {
					for _, match := range []float64{1, 0.1} {
						for _, skew := range []string{"none", "zipf"} {
							f := operator.Facts{Rows: [2]uint64{1 << size[0], 1 << size[1]}, KeyBytes: 4, KeyBits: size[0],
								Payload: payload, MatchRatio: match, Tuning: tuning,
								OutputRows: uint64(match * float64(uint64(1)<<size[1]))}
							if skew == "zipf" {
								f.Repeats, f.Hottest = 0.5, [2]float64{0, 0.05}
							}
							if len(payload[0]) > 0 && payload[0][0] == 8 && len(payload[0]) == 2 {
								f.KeyBytes, f.Narrow = 8, true
							}
							all := choose(t, f, pairsOf, rates, planner.Limits{DeviceMemoryBytes: 140e9})
							fmt.Fprintf(&b, "2^%d x 2^%d  %-14s %6d %-8s %5g  %-18s %10s %9s  %-18s %10s\n", size[0],
								size[1], fmt.Sprint(len(payload[0]), "+", len(payload[1])),
								f.KeyBytes, skew, match, all[0].Algorithm.Name(), text(all[0].Time()),
								fmt.Sprintf("%d MiB", all[0].PeakBytes>>20), all[1].Algorithm.Name(), text(all[1].Time()))
						}
					}
				}
			}
			golden.Require(t, device+".txt", b.String())
		})
	}
}

func text(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g ms", float64(d)/1e6)
}

// TestStages has every plan of some joins, with its stages.
func TestStages(t *testing.T) {
	two := [2][]int{{4, 4}, {4, 4}}
	narrow := operator.Facts{Rows: [2]uint64{1 << 27, 1 << 28}, KeyBytes: 4, KeyBits: 27, Payload: [2][]int{{4}, {4}},
		OutputRows: 1 << 28, MatchRatio: 1, BuildRatio: 0.9}
	wide, hot, table := narrow, narrow, narrow
	wide.Payload = two
	hot.Payload, hot.Hottest, hot.OutputRows = two, [2]float64{0.0001, 0.0001}, 1<<28+13422*26844
	table.Payload = [2][]int{{4, 4}, {4, 4, 4}}
	table.HeldBytes = 12<<27 + 12<<28 // keys and two columns each; row numbers are made on the way
	granules := wide
	granules.Granule = 1 << 26
	semi, half := wide, wide
	semi.Payload[operator.Build], semi.MatchRatio, half.MatchRatio, half.OutputRows = nil, 0.5, 0.5, 1<<27
	transfer := planner.Transfer{RowNumbers: [2]bool{operator.Probe: true}, ArrowBits: [2]int{64, 64},
		Host: [2]int{operator.Probe: 1}}
	keys, build, probe := true, [2]bool{operator.Build: true}, [2]bool{operator.Probe: true}
	var b strings.Builder
	for _, device := range []string{"nvidia", "host"} {
		rates, tuning := ratesOf(t, device)
		for _, c := range []struct {
			name     string
			f        operator.Facts
			want     operator.Want
			capBytes uint64
			transfer *planner.Transfer
		}{
			{"narrow", narrow, pairsOf, 0, nil}, {"wide", wide, pairsOf, 0, nil}, {"wide, 9 GiB", wide, pairsOf, 9 << 30, nil},
			{"wide, 4 GiB", wide, pairsOf, 4 << 30, nil}, {"wide, 1 GiB", wide, pairsOf, 1 << 30, nil},
			{"wide, granules", granules, pairsOf, 0, nil},
			{"wide, keys that are hot on both sides", hot, pairsOf, 0, nil},
			{"tables, a column of the probe side on the host", table, operator.Want{Pairs: true}, 0, &transfer},
			{"left: pairs and probe rows without a partner", half,
				operator.Want{Pairs: true, Keys: keys, Rest: probe}, 0, nil},
			{"right: pairs and build rows without a partner", half,
				operator.Want{Pairs: true, Keys: keys, Rest: build}, 0, nil},
			{"semi", semi, operator.Want{Keys: keys, Matched: probe}, 0, nil},
			{"anti", semi, operator.Want{Keys: keys, Rest: probe}, 0, nil},
			{"count", narrow, operator.Want{Pairs: true, Count: true}, 0, nil},
		} {
			c.f.Tuning = tuning
			all := choose(t, c.f, c.want, rates, planner.Limits{DeviceMemoryBytes: c.capBytes})
			if c.transfer != nil {
				for _, p := range all {
					c.transfer.Predict(p, rates)
				}
				planner.Sort(all, true)
			}
			fmt.Fprintf(&b, "%s, %s\n", device, c.name)
			for _, p := range all {
				fmt.Fprintf(&b, "  %-18s %10s %6d MiB ", p.Algorithm.Name(), text(p.Time()), p.PeakBytes>>20)
				if p.Facts.Granule > 0 {
					fmt.Fprintf(&b, " granules of %d Ki", p.Facts.Granule>>10)
				}
				if p.Facts.Window > 0 {
					fmt.Fprintf(&b, " windows of %d Ki", p.Facts.Window>>10)
				}
				for _, stage := range p.Stages {
					fmt.Fprintf(&b, "  %s %s", stage.Name, text(stage.Time))
				}
				if p.Reject != nil {
					fmt.Fprintf(&b, "  %v", p.Reject)
				}
				b.WriteByte('\n')
			}
		}
	}
	golden.Require(t, "stages.txt", b.String())
}

// TestTree walks each branch of the decision tree.
func TestTree(t *testing.T) {
	one, two, eight := [2][]int{{4}, {4}}, [2][]int{{4, 4}, {4, 4}}, [2][]int{{8, 8}, {8, 8}}
	hot := [2]float64{0, 0.1}
	for _, c := range []struct {
		f    operator.Facts
		want string
	}{
		{operator.Facts{Payload: one, MatchRatio: 1}, "phj-om phj-um smj-om smj-um hj"},
		{operator.Facts{Payload: one, MatchRatio: 0.1}, "phj-um phj-om smj-om smj-um hj"},
		{operator.Facts{Payload: two, MatchRatio: 0.1}, "phj-um phj-om smj-um smj-om hj"},
		{operator.Facts{Payload: two, MatchRatio: 0.1, Hottest: hot}, "phj-om phj-um smj-um smj-om hj"},
		{operator.Facts{Payload: two, MatchRatio: 1}, "phj-om smj-om smj-um phj-um hj"},
		{operator.Facts{Payload: two, MatchRatio: 1, Hottest: hot}, "phj-om smj-um phj-um smj-om hj"},
		{operator.Facts{Payload: eight, MatchRatio: 1}, "phj-om smj-um phj-um smj-om hj"},
	} {
		require.Equal(t, "["+c.want+"]", fmt.Sprint(planner.Tree(&c.f)), "%+v", c.f)
	}
}

// TestManyToMany: pairs are charged where they are made, and not where they are counted.
func TestManyToMany(t *testing.T) {
	count := operator.Facts{Rows: [2]uint64{1 << 20, 1 << 20}, KeyBytes: 4, KeyBits: 10, OutputRows: 1 << 30,
		MatchRatio: 1, BuildRatio: 1, Repeats: 7. / 8, Hottest: [2]float64{1. / 1024, 1. / 1024}, Distinct: 1024}
	pairs := count
	pairs.Rows, pairs.OutputRows, pairs.Distinct = [2]uint64{1 << 17, 1 << 17}, 1<<24, 128
	pairs.Payload = [2][]int{{4}, {4}}
	var b strings.Builder
	for _, device := range []string{"nvidia", "host", "software", "pocl"} {
		rates, tuning := ratesOf(t, device)
		for _, c := range []struct {
			name string
			f    operator.Facts
			want operator.Want
		}{
			{"count of 2^20 x 2^20 rows over 1,024 keys", count, operator.Want{Pairs: true, Count: true}},
			{"pairs of 2^20 x 2^20 rows over 1,024 keys", count, pairsOf},
			{"pairs of 2^17 x 2^17 rows over 1,024 keys", pairs, pairsOf},
			{"semi join of them", pairs, operator.Want{Matched: [2]bool{operator.Probe: true}, Keys: true}},
		} {
			c.f.Tuning = tuning
			all := choose(t, c.f, c.want, rates, planner.Limits{})
			fmt.Fprintf(&b, "%s, %s\n", device, c.name)
			for _, p := range all {
				fmt.Fprintf(&b, "  %-18s %10s %6d MiB", p.Algorithm.Name(), text(p.Time()), p.PeakBytes>>20)
				if p.Reject != nil {
					fmt.Fprintf(&b, "  %v", p.Reject)
				}
				b.WriteByte('\n')
			}
			if c.want.Count {
				took := 40 * time.Millisecond // the sort of both sides on two cores
				if device == "software" {
					took = 400 * time.Millisecond
				}
				require.Less(t, all[0].Time(), took, "no pairs are made")
			}
			if c.want == pairsOf {
				for _, p := range all { // a GPU writes them at less than 4 TB/s
					require.Greater(t, p.Time(), time.Duration(c.f.OutputRows*4/4000), p.Algorithm.Name())
				}
			}
		}
	}
	golden.Require(t, "many.txt", b.String())
}

// TestRejected: what does not fit comes last, and says what would be enough.
func TestRejected(t *testing.T) {
	rates, tuning := ratesOf(t, "nvidia")
	f := operator.Facts{Rows: [2]uint64{1 << 20, 1 << 22}, KeyBytes: 4, Payload: [2][]int{{4, 8}, {4}},
		OutputRows: 1 << 22, MatchRatio: 1, Tuning: tuning}
	for _, p := range choose(t, f, pairsOf, rates, planner.Limits{}) {
		require.NoError(t, p.Reject)
		require.Zero(t, p.Facts.Granule+p.Facts.Window)
	}
	const held = 1 << 30
	var least uint64
	for i, p := range choose(t, f, pairsOf, rates, planner.Limits{DeviceMemoryBytes: 1 << 20, HeldBytes: held}) {
		require.ErrorIs(t, p.Reject, backend.ErrDeviceMemory)
		require.ErrorContains(t, p.Reject, fmt.Sprintf("%d bytes of device memory, 1048576 are free", p.PeakBytes))
		require.ErrorContains(t, p.Reject, fmt.Sprintf("raise device_memory to at least %dMiB",
			(held+p.PeakBytes+1<<20-1)>>20))
		if i == 0 || p.PeakBytes < least {
			least = p.PeakBytes
		}
	}
	some := choose(t, f, pairsOf, rates, planner.Limits{DeviceMemoryBytes: least})
	require.NoError(t, some[0].Reject, "the least need is enough")
	require.ErrorIs(t, some[len(some)-1].Reject, backend.ErrDeviceMemory)
	blocks := choose(t, f, pairsOf, rates, planner.Limits{BlockBytes: 1 << 20})
	require.ErrorContains(t, blocks[0].Reject, "in one buffer, the device allows 1048576")

	f.Hottest[operator.Build] = 0.01
	all := choose(t, f, pairsOf, rates, planner.Limits{})
	last := all[len(all)-1]
	require.Equal(t, "hj", last.Algorithm.Name(), "rows without a slot are sorted")
	require.NoError(t, last.Reject)

	f.Hottest, f.Rows = [2]float64{}, [2]uint64{1 << 30, 1 << 31}
	all = choose(t, f, pairsOf, rates, planner.Limits{})
	last = all[len(all)-1]
	require.ErrorIs(t, last.Reject, backend.ErrLimit)
	require.ErrorContains(t, last.Reject, "hj takes at most 536870912 build rows; use phj-om or smj-um")

	f.Rows, f.OutputRows = [2]uint64{1 << 20, 1 << 22}, 1<<33
	for _, p := range choose(t, f, pairsOf, rates, planner.Limits{}) {
		require.NoError(t, p.Reject)
		require.LessOrEqual(t, p.Facts.Room(), uint64(primitive.MaxRows), "as many as a window can have")
	}
}

// TestSmaller: with less memory there are smaller windows or granules, down to a quarter of the build side or, for the
// table, to 2^20 rows. Without rates windows come first.
func TestSmaller(t *testing.T) {
	devicetest.HostTest(t)
	for _, device := range []string{"nvidia", "unknown"} {
		rates, tuning := ratesOf(t, device)
		f := operator.Facts{Rows: [2]uint64{1 << 24, 1 << 26}, KeyBytes: 4, Payload: [2][]int{{4}, {4, 4}},
			OutputRows: 1 << 26, MatchRatio: 1, Tuning: tuning}
		for _, a := range algorithms {
			divided, least, was := 0, f.Rows[operator.Probe], uint64(8<<30)
			for memory := was; ; memory -= memory / 16 {
				all, err := planner.Choose(f, pairsOf, []operator.Algorithm{a}, rates,
					planner.Limits{DeviceMemoryBytes: memory})
				require.NoError(t, err)
				p := all[0]
				if p.Reject != nil {
					require.LessOrEqual(t, p.PeakBytes, was, "what was enough before is")
					break
				}
				require.LessOrEqual(t, p.PeakBytes, memory)
				if was = memory; p.Facts.Granule > 0 || p.Facts.Window > 0 {
					divided++
				}
				if p.Facts.Granule > 0 {
					require.True(t, p.Facts.Granule >= p.LeastGranule || least >= p.Facts.Granule,
						"larger ones come first, of %d rows", least)
					least = min(least, p.Facts.Granule)
				} else if rates == nil {
					require.Equal(t, f.Rows[operator.Probe], least, "windows come first")
				}
			}
			require.Greater(t, divided, 5, a.Name())
			require.Less(t, was, uint64(1<<30), a.Name())
			require.GreaterOrEqual(t, least, uint64(1<<16), a.Name())
			if a != (hash.Unpartitioned{}) {
				require.GreaterOrEqual(t, least, uint64(1<<18), a.Name())
			}
		}
	}
}

// TestMoreWork: a prediction grows with rows, columns, widths and granules, whatever the algorithm, and the memory of
// granules shrinks.
func TestMoreWork(t *testing.T) {
	rates, tuning := ratesOf(t, "nvidia")
	base := operator.Facts{Rows: [2]uint64{1 << 22, 1 << 24}, KeyBytes: 4, Payload: [2][]int{{4, 4}, {4, 4}},
		OutputRows: 1 << 24, MatchRatio: 1, Tuning: tuning}
	rows, columns, widths, granules := base, base, base, base
	rows.Rows[1], rows.OutputRows = 1<<25, 1<<25
	columns.Payload = [2][]int{{4, 4, 4, 4, 4}, {4, 4}}
	widths.KeyBytes, widths.Payload = 8, [2][]int{{8, 8}, {8, 8}}
	granules.Granule = 1 << 22
	was := make(map[string]*operator.Plan)
	for i, f := range []operator.Facts{base, rows, columns, widths, granules} {
		for _, p := range choose(t, f, pairsOf, rates, planner.Limits{}) {
			name := p.Algorithm.Name()
			switch {
			case i == 0:
				was[name] = p
			case f.Granule > 0:
				require.Greater(t, p.Time(), was[name].Time(), name)
				require.Less(t, p.PeakBytes, was[name].PeakBytes, name)
			default:
				require.Greater(t, p.Time(), was[name].Time(), "%s, %d", name, i)
				require.Greater(t, p.PeakBytes, was[name].PeakBytes, "%s, %d", name, i)
			}
		}
	}
}

func TestStageOf(t *testing.T) {
	for step, want := range map[string]string{"partition build": operator.Transform, "sort probe": operator.Transform,
		"varying bits": operator.Transform, "build": operator.Transform,
		"cut": operator.Match, "match": operator.Match, "peel": operator.Match, "range search": operator.Match,
		"expand": operator.Match, "mark": operator.Match, "gather keys": operator.Match, "gather": operator.Gather,
		"gather build": operator.Gather, "compact probe": operator.Gather} {
		require.Equal(t, want, planner.StageOf(step), step)
	}
}

// TestAhead: where transfers overlap with joins, granules are a quarter of the build side, if memory allows for the next
// granule and the last window too. Otherwise the plan is as without.
func TestAhead(t *testing.T) {
	rates, tuning := ratesOf(t, "nvidia")
	f := operator.Facts{Rows: [2]uint64{1 << 25, 1 << 27}, KeyBytes: 4, KeyBits: 25, Payload: [2][]int{{8}, {8}},
		OutputRows: 1 << 27, MatchRatio: 1, Unique: true, Loaded: true, Tuning: tuning}
	plan := func(f operator.Facts, limitBytes uint64) *operator.Plan {
		return choose(t, f, operator.Want{Pairs: true}, rates, planner.Limits{DeviceMemoryBytes: limitBytes})[0]
	}
	alone := plan(f, 140e9)
	require.EqualValues(t, 1, alone.Facts.Granules())
	f.Ahead = true
	count := func(f operator.Facts) *operator.Plan {
		return choose(t, f, operator.Want{Pairs: true, Count: true}, rates, planner.Limits{DeviceMemoryBytes: 140e9})[0]
	}
	require.EqualValues(t, 1, count(f).Facts.Granules())
	inParts := f
	inParts.Granule = 1 << 24
	require.True(t, count(inParts).Facts.Ahead)
	ahead := plan(f, 140e9)
	require.True(t, ahead.Facts.Ahead)
	require.EqualValues(t, 1<<23, ahead.Facts.Granule)
	waits := ahead.Facts
	waits.Ahead = false
	without, err := ahead.Algorithm.Plan(&waits, ahead.Want)
	require.NoError(t, err)
	const granuleBytes, windowBytes = 12 << 23, 16 << 23 // keys and payload; payload of both sides
	require.InDelta(t, granuleBytes+windowBytes, ahead.PeakBytes-without.PeakBytes, 0.2*(granuleBytes+windowBytes))

	want := ahead.Want
	want.Keys = true
	aheadKeys, err := ahead.Algorithm.Plan(&ahead.Facts, want)
	require.NoError(t, err)
	withoutKeys, err := ahead.Algorithm.Plan(&waits, want)
	require.NoError(t, err)
	require.InDelta(t, 4<<23, aheadKeys.PeakBytes-withoutKeys.PeakBytes-(ahead.PeakBytes-without.PeakBytes), 0.2*(4<<23),
		"keys of the window that is delivered")

	few := f
	few.Rows, few.OutputRows = [2]uint64{1 << 20, 1 << 22}, 1<<22
	require.EqualValues(t, 1, plan(few, 140e9).Facts.Granules())
	short := plan(f, without.PeakBytes)
	require.NoError(t, short.Reject)
	require.LessOrEqual(t, short.PeakBytes, without.PeakBytes)
}
