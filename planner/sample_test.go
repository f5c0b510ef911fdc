package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/relation"
)

// sampled is what Sample says of two sides.
func sampled(build, probe []uint64) operator.Facts {
	f := operator.Facts{Rows: [2]uint64{uint64(len(build)), uint64(len(probe))}}
	take := func(keys []uint64, some, block uint64) (sample [][]uint64) {
		for from, to := range relation.Blocks(uint64(len(keys)), some, block) {
			sample = append(sample, keys[from:to])
		}
		return sample
	}
	planner.Sample(&f, take(probe, planner.SampleRows, 1), take(build, planner.ScanRows(uint64(len(build))), planner.BlockRows))
	return f
}

// TestSample compares estimates from samples with what is true of the keys.
func TestSample(t *testing.T) {
	devicetest.HostTest(t)
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
		"Zipf":                   {shuffled, skewed, 0.2},
		"Zipf on the build side": {skewed, shuffled, 0.7},
		"sorted":                 {ordered, ordered, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			f, truth := sampled(c.build, c.probe), truthOf(c.build, c.probe)
			far := 1.0
			if strings.Contains(name, "Zipf") { // whether the rows of hot keys were sampled decides
				far = 2
			}
			require.InDelta(t, truth.MatchRatio, f.MatchRatio, 0.1*far)
			require.InDelta(t, truth.BuildRatio, f.BuildRatio, 0.3*far)
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
	planner.Sample(&f, nil, [][]uint64{unique})
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
	devicetest.HostTest(t)
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
		planner.Sample(&f, [][]uint64{probe}, [][]uint64{some})
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

// TestSampleOrders: rows of a key side by side, far from each other, or anywhere tell the same.
func TestSampleOrders(t *testing.T) {
	devicetest.HostTest(t)
	for rows, multiples := range map[int][]int{1 << 19: {1, 2, 1000}, 1 << 21: {4, 64, 1 << 14}} {
		if testing.Short() && rows > 1<<19 {
			continue
		}
		for _, of := range multiples {
			random := rand.New(rand.NewPCG(1, 2))
			build, probe := make([]uint64, rows), make([]uint64, rows/2)
			for i := range build {
				build[i] = uint64(i / of)
			}
			for i := range probe {
				probe[i] = random.Uint64N(uint64(rows / of * 2)) // half of them match
			}
			ascending, anywhere, turns := slices.Clone(probe), slices.Clone(build), make([]uint64, rows)
			slices.Sort(ascending)
			random.Shuffle(rows, func(i, j int) { anywhere[i], anywhere[j] = anywhere[j], anywhere[i] })
			for i := range turns {
				turns[i] = uint64(i % (rows / of))
			}
			truth := truthOf(build, probe)
			for order, keys := range map[string][]uint64{"side by side": build, "anywhere": anywhere, "in turns": turns} {
				for _, probe := range [][]uint64{probe, ascending} {
					f, what := sampled(keys, probe), fmt.Sprintf("%d rows, %d of a key, %s, probe side %v", rows, of, order, probe[:2])
					require.Equal(t, truth.Unique, f.Unique, what)
					require.InEpsilon(t, truth.Distinct, f.Distinct, 0.3, what)
					require.InDelta(t, truth.MatchRatio, f.MatchRatio, 0.2, what)
					require.InDelta(t, truth.BuildRatio, f.BuildRatio, 0.4, what)
					require.InEpsilon(t, truth.OutputRows, f.OutputRows, 0.35, what)
					require.GreaterOrEqual(t, f.MostRows, truth.OutputRows, what)
					require.LessOrEqual(t, f.Hottest[operator.Build], 1.1*truth.Hottest[operator.Build], what)
				}
			}
		}
	}
}
