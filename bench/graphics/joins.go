package graphics

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/join/graphics"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/operator"
)

// The ways to join: as the device opened so runs them. Kernels have no algorithm that draws.
var joinMethods = map[string]struct {
	opened int
	by     operator.Algorithm // nil: the planner's choice
}{
	"graphics":             {drawing, graphics.Algorithm{}},
	"graphics-by-image":    {drawing, graphics.Algorithm{ByImage: true}},
	"graphics-build-stack": {drawing, graphics.Algorithm{Stack: graphics.BuildStack}},
	"graphics-probe-stack": {drawing, graphics.Algorithm{Stack: graphics.ProbeStack}},
	"graphics-unflattened": {drawing, graphics.Algorithm{Unflattened: true}},
	"phj-um":               {computing, hash.Partitioned{Untransformed: true}},
	"auto":                 {computing, nil},
}

// joinCell is a join of relations that are on the device.
type joinCell struct {
	at string // place on the axis, before it is scaled: a verb %s is the rows of R
	joins.Cell
}

func (c joinCell) place() string { return c.at }

func (c joinCell) about() string {
	switch {
	case c.Crossed.Hot > 0:
		return fmt.Sprintf("%s: %d keys of %d rows on each side", c.at, c.Crossed.Hot, c.Crossed.HotRows)
	case c.Query != "":
		return c.Query + ": " + workload.TPCHJoinText(c.Query)
	}
	return ""
}

func (c joinCell) on(s *Sweep) cell {
	if c.Query != "" {
		c.Folder = s.TPCH
	}
	c.Cell = c.Scaled(s.Scale)
	if c.at == "" {
		c.at = "|R|=" + rowsText(c.Spec.RRows)
	}
	return c
}

func (c joinCell) inputRows() uint64 { return uint64(c.Spec.RRows + c.Spec.SRows) }

func (c joinCell) measure(ctx context.Context, r *run, methods []string) (results []Result, err error) {
	if err := c.Validate(); err != nil { // too few rows are left for its hot keys
		return skipped(methods, err), nil
	}
	byName := map[string]Result{}
	for opened, on := range r.on {
		var algorithms []joins.Algorithm
		var names []string
		for _, name := range methods {
			m := joinMethods[name]
			if m.opened != opened {
				continue
			}
			if on.draws != nil && m.by != nil && opened == drawing {
				byName[name] = Result{Method: name, Skipped: on.draws}
				continue
			}
			algorithms, names = append(algorithms, joins.Named(name, m.by)), append(names, name)
		}
		if len(algorithms) == 0 {
			continue
		}
		measured, err := c.join(ctx, r, on, algorithms)
		if measure.DoesNotFit(err) {
			for _, result := range skipped(names, err) {
				byName[result.Method] = result
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range measured {
			byName[names[i]] = resultOf(&measured[i])
		}
	}
	for _, name := range methods {
		result := byName[name]
		if joinMethods[name].by != nil {
			result.Chosen = ""
		}
		results = append(results, result)
	}
	return results, nil
}

func (c joinCell) join(ctx context.Context, r *run, on *opened, algorithms []joins.Algorithm) ([]joins.Result, error) {
	bed, err := joins.NewBed(ctx, on.device, on.user, c.Cell)
	if err != nil {
		return nil, err
	}
	defer bed.Release()
	return bed.Measure(ctx, algorithms, r.Repeat, r.Warm,
		func(what string) { r.out.Enter(fmt.Sprint(what, " ", c.String())) })
}

func resultOf(j *joins.Result) Result {
	r := Result{Method: j.Algorithm, Chosen: j.Chosen, Rows: j.RRows + j.SRows, OutputRows: j.Rows, Sample: j.Sample,
		Skipped: j.Skipped}
	r.phases[0], r.phases[1], r.phases[2] = j.Phases()
	return r
}
