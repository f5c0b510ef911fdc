package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// Verdict is what the planner would have done for a cell.
type Verdict struct {
	Cell   *Cell
	Choice string        // of the algorithms that were measured
	Took   time.Duration // the choice, measured
	Plan   time.Duration // the choice, predicted; 0 without rates
	Best   string
	Least  time.Duration // the fastest, measured
}

// Ratio is the time of the choice divided by the least time.
func (v *Verdict) Ratio() float64 { return float64(v.Took) / float64(v.Least) }

// Near is the ratio up to which a choice counts as right.
const Near = 1.1

// Share returns the share of verdicts whose choice is right.
func Share(verdicts []Verdict) float64 {
	near := 0
	for i := range verdicts {
		if verdicts[i].Ratio() <= Near {
			near++
		}
	}
	return float64(near) / float64(max(1, len(verdicts)))
}

// Check plans each cell and compares the choice with the measurements.
func Check(cells []Cell, rates *planner.Rates, tuning primitive.Tuning) (verdicts []Verdict, err error) {
	var known []operator.Algorithm
	for _, a := range algorithms {
		known = append(known, a.Algorithm)
	}
	for i := range cells {
		cell := &cells[i]
		facts := cell.Facts
		facts.Tuning = tuning
		all, err := planner.Choose(facts, cell.Want, known, rates, planner.Limits{})
		if err != nil {
			return nil, err
		}
		best := slices.MinFunc(cell.Runs, func(a, b Run) int { return cmp.Compare(a.Time, b.Time) })
		v := Verdict{Cell: cell, Best: best.Algorithm.Name(), Least: best.Time}
		for _, a := range all {
			run := slices.IndexFunc(cell.Runs, func(r Run) bool { return r.Algorithm == a.Algorithm })
			if run >= 0 {
				v.Choice, v.Took, v.Plan = a.Algorithm.Name(), cell.Runs[run].Time, a.Time()
				break
			}
		}
		if v.Choice != "" {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, nil
}

// Errors returns how far predictions are off, by algorithm and stage: the median factor over all cells.
func Errors(cells []Cell, rates *planner.Rates, tuning primitive.Tuning) (string, error) {
	factors := make(map[string][]float64)
	for i := range cells {
		facts := cells[i].Facts
		facts.Tuning, facts.CacheBytes = tuning, rates.CacheBytes
		for _, run := range cells[i].Runs {
			p, err := run.Algorithm.Plan(&facts, cells[i].Want)
			if err != nil {
				return "", err
			}
			rates.Predict(p)
			for _, stage := range p.Stages {
				if measured := run.Stages[stage.Name]; measured > 0 {
					key := fmt.Sprintf("%-18s %s", run.Algorithm.Name(), stage.Name)
					off := math.Abs(math.Log(float64(max(1, stage.Time)) / float64(measured)))
					factors[key] = append(factors[key], math.Exp(off))
				}
			}
		}
	}
	var b strings.Builder
	keys := make([]string, 0, len(factors))
	for key := range factors {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		slices.Sort(factors[key])
		fmt.Fprintf(&b, "%-30s %.2f\n", key, factors[key][len(factors[key])/2])
	}
	return b.String(), nil
}
