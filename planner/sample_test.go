package planner_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// sampled is what Sample says of two sides.
func sampled(build, probe []uint64) operator.Facts {
	f := operator.Facts{Rows: [2]uint64{uint64(len(build)), uint64(len(probe))}}
	take := func(keys []uint64, some int) (sample []uint64) {
		for i := range min(some, len(keys)) {
			sample = append(sample, keys[planner.Position(uint64(i), uint64(some), uint64(len(keys)))])
		}
		return sample
	}
	planner.Sample(&f, take(probe, planner.SampleRows), take(build, planner.ScanRows))
	return f
}

// TestSample compares estimates from samples with what is true of the keys.
func TestSample(t *testing.T) {
	const rows = 1 << 19
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 1, rows-1)
	column := func(n int, key func(i int) uint64) []uint64 {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = key(i)
		}
		return keys
	}
	shuffled := column(rows, func(i int) uint64 { return uint64(i) * 0x9e3779b1 % rows }) // each once
	unique := shuffled[:rows/2]
	foreign := column(rows, func(int) uint64 { return unique[random.IntN(len(unique))] })
	half := column(rows, func(int) uint64 { return shuffled[random.IntN(rows)] })
	none := column(rows, func(i int) uint64 { return uint64(i) + 1<<40 })
	periodic := column(rows, func(i int) uint64 { return uint64(i % (rows / 16)) })
	twice := column(rows, func(i int) uint64 { return uint64(i%(rows/2)) * 3 })
	few := column(rows, func(int) uint64 { return random.Uint64N(1 << 10) })
	skewed := column(rows, func(int) uint64 { return zipf.Uint64() })
	ordered := slices.Clone(shuffled)
	slices.Sort(ordered)
	for name, c := range map[string]struct {
		build, probe []uint64
		off          float64 // of OutputRows
	}{
		"primary and foreign":    {unique, foreign, 0.1},
		"half match":             {unique, half, 0.1},
		"none match":             {unique, none, 0},
		"periodic, 16 of each":   {periodic, periodic, 0.1},
		"periodic, none match":   {periodic, none, 0},
		"two of each":            {twice, twice, 0.1},
		"uniform duplicates":     {few, few, 0.1},
		"some of 16 of each":     {periodic, half, 0.15},
		"small sides":            {unique[:1000], foreign[:2000], 0},
		"Zipf":                   {shuffled, skewed, 0.1},
		"Zipf on the build side": {skewed, shuffled, 0.6}, // whether a hot row was sampled decides
		"sorted":                 {ordered, ordered, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			f, truth := sampled(c.build, c.probe), truthOf(c.build, c.probe)
			require.InDelta(t, truth.MatchRatio, f.MatchRatio, 0.1)
			require.InDelta(t, truth.BuildRatio, f.BuildRatio, 0.3)
			require.InDelta(t, truth.OutputRows, f.OutputRows, c.off*float64(truth.OutputRows))
			require.Equal(t, truth.Unique, f.Unique)
			require.Equal(t, truth.Sorted, f.Sorted)
			if !strings.Contains(name, "Zipf on") { // where the number of keys is estimated too low
				require.GreaterOrEqual(t, f.MostRows, truth.OutputRows)
				require.InEpsilon(t, truth.Distinct, f.Distinct, 0.15)
			}
			for side := range 2 { // a lower bound, which tells keys that are hot
				require.LessOrEqual(t, f.Hottest[side], truth.Hottest[side]*1.05)
				if hot := truth.Hottest[side]; hot > 0.02 {
					require.Greater(t, f.Hottest[side], 0.7*hot)
				}
			}
		})
	}
	var f operator.Facts
	planner.Sample(&f, nil, unique)
	require.Zero(t, f.OutputRows)
}

// truthOf is what Sample estimates.
func truthOf(build, probe []uint64) (f operator.Facts) {
	counts := [2]map[uint64]int{{}, {}}
	for side, keys := range [2][]uint64{build, probe} {
		most := 0
		for _, key := range keys {
			counts[side][key]++
			most = max(most, counts[side][key])
		}
		f.Hottest[side] = float64(most) / float64(len(keys))
		f.Sorted[side] = slices.IsSorted(keys)
	}
	f.Unique = len(counts[operator.Build]) == len(build)
	f.Distinct = float64(len(build)) / float64(len(counts[operator.Build]))
	for key, n := range counts[operator.Build] {
		if m := counts[operator.Probe][key]; m > 0 {
			f.OutputRows += uint64(n) * uint64(m)
			f.MatchRatio += float64(m) / float64(len(probe))
			f.BuildRatio += float64(n) / float64(len(build))
		}
	}
	return f
}

// Few of the build rows are looked at, so that few sampled rows meet one: the estimate is rough, and knows it.
func TestRoughSample(t *testing.T) {
	random, short, under := rand.New(rand.NewPCG(1, 2)), 0, 0
	for range 1000 {
		probe, build := make([]uint64, 1<<9), random.Perm(1<<16)
		for i := range probe {
			probe[i] = random.Uint64N(1 << 16)
		}
		some := make([]uint64, 1<<11)
		for i := range some {
			some[i] = uint64(build[i])
		}
		f := operator.Facts{Rows: [2]uint64{1 << 16, 1 << 18}}
		planner.Sample(&f, probe, some)
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

// Positions ascend, are all within the rows, and do not prefer any place among neighbours.
func TestPosition(t *testing.T) {
	const some, rows = 1 << 12, 1<<18 + 77
	last, sum := -1, 0.0
	for i := range uint64(some) {
		at := int(planner.Position(i, some, rows))
		require.Greater(t, at, last)
		require.Less(t, at, rows)
		last = at
		sum += math.Mod(float64(at), 64) / 64
	}
	require.InDelta(t, 0.5, sum/some, 0.02)
	require.EqualValues(t, 7, planner.Position(7, 100, 50))
}
