package planner

import (
	"math"
	"time"

	"github.com/spirjoin/spirjoin/operator"
)

// Measured is a join that was run: its facts, how it was joined, and the device time of its stages.
type Measured struct {
	Facts     operator.Facts // with the tuning of the device
	Want      operator.Want
	Algorithm operator.Algorithm
	Stages    map[string]time.Duration // by the stages of package operator
}

// Fit returns the rates that best predict measured joins, by least squares of the relative errors of stages. Rates that
// the joins do not determine stay as in base, whose place in the table the result takes.
func Fit(base Rates, joins []Measured) (best Rates, err error) {
	least := math.Inf(1)
	caches := []float64{base.CacheBytes}
	for bits := 20; bits <= 28; bits++ {
		caches = append(caches, math.Exp2(float64(bits)))
	}
	for _, cache := range caches {
		rates := base
		rates.CacheBytes = cache
		rows, err := equations(rates, joins)
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

// equations returns an equation for each measured stage.
func equations(rates Rates, joins []Measured) (rows []equation, err error) {
	for _, join := range joins {
		facts := join.Facts
		facts.CacheBytes = rates.CacheBytes
		p, err := join.Algorithm.Plan(&facts, join.Want)
		if err != nil {
			return nil, err
		}
		total := time.Duration(0)
		for _, t := range join.Stages {
			total += t
		}
		for _, stage := range p.Stages {
			measured := float64(join.Stages[stage.Name])
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
func solve(rates *Rates, rows []equation) (loss float64) {
	was, faith := rates.ns, faith*float64(len(rows))
	for range 2000 {
		for u := range rates.ns {
			slope, curve := 0.0, 0.0
			if was[u] > 0 {
				slope, curve = faith*(rates.ns[u]/was[u]-1)/was[u], faith/(was[u]*was[u])
			}
			for i := range rows {
				row := &rows[i]
				if a := row.work[u]; a != 0 {
					slope += row.weight * a * (rates.time(&row.work) - 1)
					curve += row.weight * a * a
				}
			}
			if curve > 0 {
				rates.ns[u] = max(0, rates.ns[u]-slope/curve)
			}
		}
	}
	for i := range rows {
		e := rates.time(&rows[i].work) - 1
		loss += rows[i].weight * e * e
	}
	return loss
}
