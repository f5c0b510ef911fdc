package planner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// TestFit takes the times of joins from rates, and finds these again from others.
func TestFit(t *testing.T) {
	truth, tuning, err := RatesNamed("nvidia")
	require.NoError(t, err)
	wrong, _, err := RatesNamed("software")
	require.NoError(t, err)
	pairs := operator.Want{Pairs: true, Keys: true}
	choose := func(f operator.Facts, rates *planner.Rates) []*operator.Plan {
		var known []operator.Algorithm
		for _, a := range algorithms {
			known = append(known, a.Algorithm)
		}
		all, err := planner.Choose(f, pairs, known, rates, planner.Limits{})
		require.NoError(t, err)
		return all
	}
	var cells []Cell
	var facts []operator.Facts
	for _, rows := range []uint64{1 << 16, 1 << 20, 1 << 24} {
		for _, payload := range [][2][]int{{{4}, {4}}, {{4, 4}, {4, 4, 4}}, {{8, 8}, {8}}} {
			for _, match := range []float64{1, 0.2} {
				facts = append(facts, operator.Facts{Rows: [2]uint64{rows, 2 * rows}, KeyBytes: 4, Payload: payload,
					MatchRatio: match, OutputRows: uint64(match * float64(2*rows)), Tuning: tuning})
			}
		}
	}
	for _, f := range facts {
		cell := Cell{Facts: f, Want: pairs}
		for _, p := range choose(f, truth) {
			run := Run{Facts: f, Want: p.Want, Algorithm: p.Algorithm, Stages: make(map[string]time.Duration)}
			for _, stage := range p.Stages {
				run.Stages[stage.Name] = stage.Time
			}
			cell.Runs = append(cell.Runs, run)
		}
		cells = append(cells, cell)
	}
	fitted, err := Fit(cells, *wrong, tuning)
	require.NoError(t, err)
	for i, f := range facts {
		want := choose(f, truth)
		got := choose(f, &fitted)
		for _, p := range want {
			if p.Algorithm == got[0].Algorithm {
				require.InEpsilon(t, p.Time(), got[0].Time(), 0.15, "join %d", i)
				require.Less(t, float64(p.Time()), 1.1*float64(want[0].Time()), "join %d: %s instead of %s", i,
					p.Algorithm.Name(), want[0].Algorithm.Name())
			}
		}
	}
	require.Contains(t, row(&fitted), `"device": "software"`)
}
