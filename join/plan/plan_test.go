package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
)

// devices are the classes that have rates, and one that has none.
var devices = map[string]*backend.DeviceInfo{
	"nvidia":   {Backend: "vulkan", Type: backend.Discrete, Name: "NVIDIA H200"},
	"host":     {Backend: "host", Type: backend.Host},
	"software": {Backend: "vulkan", Type: backend.Software},
	"unknown":  {Backend: "vulkan", Type: backend.Integrated, Name: "other"},
}

func ratesOf(t *testing.T, device string) (*plan.Rates, primitive.Tuning) {
	rates, err := plan.RatesFor(devices[device])
	require.NoError(t, err)
	tuning, err := primitive.TuningFor(devices[device])
	require.NoError(t, err)
	return rates, tuning
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
							f := plan.Facts{Rows: [2]uint64{1 << size[0], 1 << size[1]}, KeyBytes: 4, KeyBits: size[0],
								Payload: payload, MatchRatio: match,
								OutputRows: uint64(match * float64(uint64(1)<<size[1]))}
							if skew == "zipf" {
								f.Repeats, f.Hottest = 0.5, [2]float64{0, 0.05}
							}
							if len(payload[0]) > 0 && payload[0][0] == 8 && len(payload[0]) == 2 {
								f.KeyBytes = 8
							}
							all, err := plan.Choose(f, rates, tuning, plan.Limits{DeviceMemoryBytes: 140e9})
							require.NoError(t, err)
							fmt.Fprintf(&b, "2^%d x 2^%d  %-14s %6d %-8s %5g  %-18s %10s %9s  %-18s %10s\n", size[0],
								size[1], fmt.Sprint(len(payload[0]), "+", len(payload[1])),
								f.KeyBytes, skew, match, all[0].Name(), text(all[0].Time),
								fmt.Sprintf("%d MiB", all[0].PeakBytes>>20), all[1].Name(), text(all[1].Time))
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

// TestStages has every alternative of some joins, with its stages.
func TestStages(t *testing.T) {
	pairs := [2][]int{{4, 4}, {4, 4}}
	narrow := plan.Facts{Rows: [2]uint64{1 << 27, 1 << 28}, KeyBytes: 4, KeyBits: 27, Payload: [2][]int{{4}, {4}},
		OutputRows: 1 << 28, MatchRatio: 1}
	wide, hot, tables, count := narrow, narrow, narrow, narrow
	wide.Payload = pairs
	hot.Payload, hot.Hottest, hot.OutputRows = pairs, [2]float64{0.0001, 0.0001}, 1<<28+13422*26844
	tables.Payload, tables.Tables, tables.Host, tables.Numbers = pairs, true, [2]int{0, 1}, [2]bool{false, true}
	count.Payload, count.Count = [2][]int{}, true
	var b strings.Builder
	for _, device := range []string{"nvidia", "host"} {
		rates, tuning := ratesOf(t, device)
		for _, c := range []struct {
			name     string
			f        plan.Facts
			capBytes uint64
		}{{"narrow", narrow, 0}, {"wide", wide, 0}, {"wide, 9 GiB", wide, 9 << 30},
			{"wide, keys that are hot on both sides", hot, 0},
			{"tables, a column of the right side on the host", tables, 0}, {"count", count, 0}} {
			all, err := plan.Choose(c.f, rates, tuning, plan.Limits{DeviceMemoryBytes: c.capBytes})
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s, %s\n", device, c.name)
			for _, a := range all {
				fmt.Fprintf(&b, "  %-18s %10s %6d MiB ", a.Name(), text(a.Time), a.PeakBytes>>20)
				for _, stage := range a.Stages {
					fmt.Fprintf(&b, "  %s %s", stage.Name, text(stage.Time))
				}
				if a.Reject != nil {
					fmt.Fprintf(&b, "  %v", a.Reject)
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
		f    plan.Facts
		want string
	}{
		{plan.Facts{Payload: one, MatchRatio: 1}, "phj-om phj-um smj-om smj-um hj"},
		{plan.Facts{Payload: one, MatchRatio: 0.1}, "phj-um phj-om smj-om smj-um hj"},
		{plan.Facts{Payload: two, MatchRatio: 0.1}, "phj-um phj-om smj-um smj-om hj"},
		{plan.Facts{Payload: two, MatchRatio: 0.1, Hottest: hot}, "phj-om phj-um smj-um smj-om hj"},
		{plan.Facts{Payload: two, MatchRatio: 1}, "phj-om smj-om smj-um phj-um hj"},
		{plan.Facts{Payload: two, MatchRatio: 1, Hottest: hot}, "phj-om smj-um phj-um smj-om hj"},
		{plan.Facts{Payload: eight, MatchRatio: 1}, "phj-om smj-um phj-um smj-om hj"},
	} {
		require.Equal(t, "["+c.want+"]", fmt.Sprint(plan.Tree(c.f)), "%+v", c.f)
	}
}

// TestRejected: what does not fit comes last, and says what would be enough.
func TestRejected(t *testing.T) {
	rates, tuning := ratesOf(t, "nvidia")
	f := plan.Facts{Rows: [2]uint64{1 << 20, 1 << 22}, KeyBytes: 4, Payload: [2][]int{{4, 8}, {4}}, OutputRows: 1 << 22,
		MatchRatio: 1}
	every, err := plan.Choose(f, rates, tuning, plan.Limits{})
	require.NoError(t, err)
	least := uint64(math.MaxUint64)
	for _, a := range every {
		require.NoError(t, a.Reject)
		least = min(least, a.PeakBytes)
	}
	some, err := plan.Choose(f, rates, tuning, plan.Limits{DeviceMemoryBytes: least})
	require.NoError(t, err)
	require.Len(t, some, len(every))
	require.NoError(t, some[0].Reject)
	require.Equal(t, least, some[0].PeakBytes)
	for _, a := range some[1:] {
		if a.PeakBytes > least {
			require.ErrorIs(t, a.Reject, backend.ErrDeviceMemory)
			require.ErrorContains(t, a.Reject, "raise device_memory to at least")
		}
	}
	blocks, err := plan.Choose(f, rates, tuning, plan.Limits{BlockBytes: 1 << 20})
	require.NoError(t, err)
	require.ErrorContains(t, blocks[0].Reject, "in one buffer, the device allows 1048576")

	f.Hottest[0] = 0.01
	all, err := plan.Choose(f, rates, tuning, plan.Limits{})
	require.NoError(t, err)
	last := all[len(all)-1]
	require.Equal(t, plan.HJ, last.Algorithm)
	require.ErrorIs(t, last.Reject, backend.ErrLimit)

	f.Hottest, f.Rows = [2]float64{}, [2]uint64{1 << 30, 1 << 31}
	all, err = plan.Choose(f, rates, tuning, plan.Limits{})
	require.NoError(t, err)
	require.ErrorContains(t, all[len(all)-1].Reject, "hj takes 536870912 build rows at most")

	f.Rows, f.OutputRows = [2]uint64{1 << 20, 1 << 22}, 1<<33
	all, err = plan.Choose(f, rates, tuning, plan.Limits{})
	require.NoError(t, err)
	require.ErrorIs(t, all[0].Reject, backend.ErrLimit, "nothing holds so many rows")
	f.Tables = true
	all, err = plan.Choose(f, rates, tuning, plan.Limits{})
	require.NoError(t, err)
	require.NoError(t, all[0].Reject)
	require.Equal(t, plan.SMJUM, all[0].Algorithm, "which works batch by batch")
}

// TestMoreWork: a prediction grows with rows, columns and widths, whatever the algorithm.
func TestMoreWork(t *testing.T) {
	rates, tuning := ratesOf(t, "nvidia")
	base := plan.Facts{Rows: [2]uint64{1 << 22, 1 << 24}, KeyBytes: 4, Payload: [2][]int{{4, 4}, {4, 4}},
		OutputRows: 1 << 24, MatchRatio: 1}
	rows, columns, widths := base, base, base
	rows.Rows[1], rows.OutputRows = 1<<25, 1<<25
	columns.Payload = [2][]int{{4, 4, 4, 4, 4}, {4, 4}}
	widths.KeyBytes, widths.Payload = 8, [2][]int{{8, 8}, {8, 8}}
	was := make(map[string]plan.Alternative)
	for i, f := range []plan.Facts{base, rows, columns, widths} {
		all, err := plan.Choose(f, rates, tuning, plan.Limits{})
		require.NoError(t, err)
		for _, a := range all {
			if i == 0 {
				was[a.Name()] = a
				continue
			}
			require.Greater(t, a.Time, was[a.Name()].Time, "%s, %d", a.Name(), i)
			require.Greater(t, a.PeakBytes, was[a.Name()].PeakBytes, "%s, %d", a.Name(), i)
		}
	}
}

func TestParseAlgorithm(t *testing.T) {
	for a := plan.Auto; a <= plan.SMJUM; a++ {
		got, err := plan.ParseAlgorithm(strings.ToUpper(a.String()))
		require.NoError(t, err)
		require.Equal(t, a, got)
	}
	_, err := plan.ParseAlgorithm("nlj")
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.ErrorContains(t, err, "phj-om")
}

// TestFit takes the times of joins from rates, and finds these again from others.
func TestFit(t *testing.T) {
	truth, tuning := ratesOf(t, "nvidia")
	wrong, _ := ratesOf(t, "software")
	var joins []plan.Measured
	var facts []plan.Facts
	for _, rows := range []uint64{1 << 16, 1 << 20, 1 << 24} {
		for _, payload := range [][2][]int{{{4}, {4}}, {{4, 4}, {4, 4, 4}}, {{8, 8}, {8}}} {
			for _, match := range []float64{1, 0.2} {
				facts = append(facts, plan.Facts{Rows: [2]uint64{rows, 2 * rows}, KeyBytes: 4, Payload: payload,
					MatchRatio: match, OutputRows: uint64(match * float64(2*rows))})
			}
		}
	}
	for _, f := range facts {
		all, err := plan.Choose(f, truth, tuning, plan.Limits{})
		require.NoError(t, err)
		for _, a := range all {
			m := plan.Measured{Facts: f, Algorithm: a.Algorithm, OneByOne: a.OneByOne,
				Stages: make(map[string]time.Duration)}
			for _, stage := range a.Stages {
				m.Stages[stage.Name] = stage.Time
			}
			joins = append(joins, m)
		}
	}
	fitted, err := plan.Fit(*wrong, tuning, joins)
	require.NoError(t, err)
	for i, f := range facts {
		want, err := plan.Choose(f, truth, tuning, plan.Limits{})
		require.NoError(t, err)
		got, err := plan.Choose(f, &fitted, tuning, plan.Limits{})
		require.NoError(t, err)
		for _, a := range want {
			if a.Name() == got[0].Name() {
				require.InEpsilon(t, a.Time, got[0].Time, 0.15, "join %d", i)
				require.Less(t, float64(a.Time), 1.1*float64(want[0].Time), "join %d: %s instead of %s", i, a.Name(),
					want[0].Name())
			}
		}
	}
	require.Contains(t, fitted.JSON(), `"device": "software"`)
}

// TestSample compares estimates from samples with what is true of the keys.
func TestSample(t *testing.T) {
	unique := func(n int) (keys []uint64) {
		for i := range n {
			keys = append(keys, uint64(i)*0x9e3779b97f4a7c15)
		}
		return keys
	}
	every := func(keys []uint64, step, n int) (some []uint64) {
		for i := range n {
			some = append(some, keys[i*step%len(keys)])
		}
		return some
	}
	left := unique(1 << 16)
	cases := map[string]struct {
		probe   []uint64
		scanned []uint64
		match   float64
		rows    float64
	}{
		"all match": {every(left, 37, plan.SampleRows), left, 1, 1 << 18},
		"a quarter matches": {append(every(left, 37, plan.SampleRows/4),
			unique(4 << 16)[1<<18-3*plan.SampleRows/4:]...), left, 0.25, 1 << 16},
		"a part is scanned": {every(left, 37, plan.SampleRows), left[:1<<14], 1, 1 << 18},
		"none match":        {unique(1 << 17)[1<<17-plan.SampleRows:], left, 0, 0},
		"two of each are left": {every(left[:1<<15], 37, plan.SampleRows), append(left[:1<<15:1<<15], left[:1<<15]...),
			1, 1 << 19},
		"half of four of each": {every(left[:1<<14], 37, plan.SampleRows), append(left[:1<<14:1<<14], left[:1<<14]...),
			1, 1 << 20},
		"four of each are left": {every(left[:1<<14], 37, plan.SampleRows),
			append(append(append(left[:1<<14:1<<14], left[:1<<14]...), left[:1<<14]...), left[:1<<14]...), 1, 1 << 20},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := plan.Facts{Rows: [2]uint64{1 << 16, 1 << 18}}
			f.Sample(c.probe, c.scanned)
			require.InDelta(t, c.match, f.MatchRatio, 0.1)
			require.InDelta(t, c.rows, float64(f.OutputRows), 0.15*c.rows)
			require.Less(t, f.Hottest[1], 0.01)
			require.Equal(t, !strings.Contains(name, "of each"), f.Unique)
			require.GreaterOrEqual(t, float64(f.MostRows), c.rows)
			require.GreaterOrEqual(t, float64(f.Room()), min(c.rows, 1<<18))
		})
	}
	f := plan.Facts{Rows: [2]uint64{1 << 18, 1 << 16}} // the right side is the build side
	probe := every(left, 37, plan.SampleRows)
	for i := range probe {
		if i%10 == 0 {
			probe[i] = left[7]
		}
	}
	f.Sample(probe, left)
	require.InDelta(t, 0.1, f.Hottest[0], 0.01)
	require.InDelta(t, 0.1, f.Repeats, 0.02)
	require.Zero(t, f.Hottest[1])
	f.Sample(nil, left)
	require.Zero(t, f.OutputRows)

	// Few of the build rows are looked at, so that few sampled rows meet one: the estimate is rough, and knows it.
	random, short, under := rand.New(rand.NewPCG(1, 2)), 0, 0
	for range 1000 {
		some := make([]uint64, 1<<9)
		for i := range some {
			some[i] = left[random.IntN(len(left))]
		}
		at := random.IntN(len(left) - 1<<11)
		f := plan.Facts{Rows: [2]uint64{1 << 16, 1 << 18}}
		f.Sample(some, left[at:at+1<<11])
		if float64(f.OutputRows)*1.25 < 1<<18 {
			under++
		}
		if f.MostRows < 1<<18 {
			short++
		}
	}
	require.Greater(t, under, 100)
	require.Less(t, short, 20)
}

func TestStageOf(t *testing.T) {
	for step, want := range map[string]string{"partition left": plan.Transform, "sort right": plan.Transform,
		"varying bits left": plan.Transform, "build": plan.Transform,
		"cut": plan.Match, "match": plan.Match, "peel": plan.Match, "range search": plan.Match, "expand": plan.Match,
		"gather keys": plan.Match, "gather": plan.Gather, "gather left": plan.Gather} {
		require.Equal(t, want, plan.StageOf(step), step)
	}
}
