package planner

import (
	"fmt"
	"math"
	"time"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// Fit returns the rates that best predict the runs of all cells, by least squares of the relative errors of stages.
// Rates that the runs do not determine stay as in base, whose place in the table the result takes. Measured counts the
// runs.
func Fit(cells []Cell, base planner.Rates, tuning primitive.Tuning) (best planner.Rates, err error) {
	var runs []Run
	for _, cell := range cells {
		runs = append(runs, cell.Runs...)
	}
	base.Measured = fmt.Sprintf("fitted to %d joins of %d cells (spirjoin bench planner --fit)", len(runs), len(cells))
	least := math.Inf(1)
	caches := []float64{base.CacheBytes}
	for bits := 20; bits <= 28; bits++ {
		caches = append(caches, math.Exp2(float64(bits)))
	}
	for _, cache := range caches {
		rates := base
		rates.CacheBytes = cache
		rows, err := equations(&rates, runs, tuning)
		if err != nil {
			return base, err
		}
		if loss := solve(&rates, rows); loss < 0.98*least { // another cache must be better, not only as good
			least, best = loss, rates
		}
	}
	return best, nil
}

// equation says that work takes time 1. Work is divided by the measured time; weight is the stage's share of its join.
type equation struct {
	work   operator.Work
	weight float64
}

// predicted is the time that rates predict instead of 1.
func (e *equation) predicted(rates *planner.Rates) (time float64) {
	for u, amount := range e.work {
		time += amount * rates.Ns[u]
	}
	return time
}

// equations returns an equation for each measured stage.
func equations(rates *planner.Rates, runs []Run, tuning primitive.Tuning) (rows []equation, err error) {
	for _, run := range runs {
		facts := run.Facts
		facts.Tuning, facts.CacheBytes = tuning, rates.CacheBytes
		p, err := run.Algorithm.Plan(&facts, run.Want)
		if err != nil {
			return nil, err
		}
		total := time.Duration(0)
		for _, t := range run.Stages {
			total += t
		}
		for _, stage := range p.Stages {
			measured := float64(run.Stages[stage.Name])
			if measured == 0 {
				continue
			}
			// A stage that takes little of a join matters little.
			row := equation{work: stage.Work, weight: measured / float64(total)}
			for u := range row.work {
				row.work[u] /= measured
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// faith is the weight of a rate as it was, in equations for each that there is: it decides where these say nothing, or
// little.
const faith = 2e-4

// solve moves the rates, none of them below 0, to where the squares of all errors are least, one rate at a time, and
// returns their sum.
func solve(rates *planner.Rates, rows []equation) (loss float64) {
	was, faith := rates.Ns, faith*float64(len(rows))
	for range 2000 {
		for u := range rates.Ns {
			slope, curve := 0.0, 0.0
			if was[u] > 0 {
				slope, curve = faith*(rates.Ns[u]/was[u]-1)/was[u], faith/(was[u]*was[u])
			}
			for i := range rows {
				row := &rows[i]
				if a := row.work[u]; a != 0 {
					slope += row.weight * a * (row.predicted(rates) - 1)
					curve += row.weight * a * a
				}
			}
			if curve > 0 {
				rates.Ns[u] = max(0, rates.Ns[u]-slope/curve)
			}
		}
	}
	for i := range rows {
		e := rows[i].predicted(rates) - 1
		loss += rows[i].weight * e * e
	}
	return loss
}
