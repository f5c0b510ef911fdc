package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Expected has the facts about a table before it is read, as from the metadata of a file.
type Expected struct {
	Schema *arrow.Schema
	Rows   int64 // negative: unknown
	// Streamed says that the table is the probe side of [Engine.StreamLayout].
	Streamed bool
	// Bounds returns bounds of the values of a column of integers, dates, times or timestamps, in its unit, which need
	// not be tight; ok is false if they are unknown.
	Bounds func(column string) (least, most int64, ok bool)
	// Nulls reports whether a column may have NULLs.
	Nulls func(column string) bool
}

// Prepare begins to compile the kernels that a join of two tables is expected to need while these are still being read,
// into ordinary memory: it plans the join of tables with the expected rows and ranges of keys, where every probe row
// has one match, and rehearses that plan ([query.Query.Rehearse]). Where the join turns out differently, some of these
// kernels are not needed. It does nothing if the rows of a table, or the bounds of a key, are unknown, and if the
// engine has no simulator. The caller calls wait at some time, which returns when the rehearsal has ended; no
// compilation is waited for. The end of ctx ends the rehearsal.
func (e *Engine) Prepare(ctx context.Context, layout *join.Layout, expected [2]Expected) (wait func()) {
	e, _, err := e.able()
	if err != nil {
		return func() {}
	}
	flow, begun, err := e.Begin(ctx)
	if err != nil {
		return func() {}
	}
	defer begun()
	if e.Simulate != nil && layout.Spec.How != join.Cross {
		flow.Go("prepare", func(ctx context.Context) error {
			_ = exec.Protect("prepare", func() error { return e.prepare(ctx, layout, expected) }) // only costs time
			return nil
		})
	}
	return func() { _ = flow.Wait() }
}

func (e *Engine) prepare(ctx context.Context, layout *join.Layout, expected [2]Expected) error {
	q, err := e.expect(ctx, layout, expected)
	if q == nil || err != nil {
		return err
	}
	planned, err := planGranules(e.Engine, *q)
	if err != nil {
		return err
	}
	return planned.Rehearse(ctx)
}

// expect lowers a join of tables of which only the facts are known; nil if these are too few.
func (e *Engine) expect(ctx context.Context, layout *join.Layout, expected [2]Expected) (*query.Spec, error) {
	l, rows := lowering{engine: e, spec: &layout.Spec}, [2]uint64{uint64(expected[0].Rows), uint64(expected[1].Rows)}
	for side := range expected {
		table, err := expected[side].table(layout, relation.Side(side))
		if err != nil || table == nil {
			return nil, err
		}
		l.tables[side] = table
	}
	of := wholeOf(layout, l.tables, nil)
	if of.Progress = exec.NewProgress(nil); of.Build == join.BuildAuto {
		smaller := relation.Left
		if rows[relation.Right] < rows[relation.Left] {
			smaller = relation.Right
		}
		of = of.Building(smaller)
	}
	l.Task = of
	if err := l.planKeys(ctx); err != nil {
		return nil, err
	}
	if err := l.planProofs(ctx); err != nil {
		return nil, err
	}
	probe := &expected[l.buildSide()[operator.Probe]]
	l.later = probe.Streamed
	q := l.lower()
	f := &q.Facts
	f.Rows = [2]uint64{rows[l.sides[operator.Build]], rows[l.sides[operator.Probe]]}
	f.OutputRows, f.MostRows, f.MatchRatio, f.BuildRatio = f.Rows[operator.Probe], f.Rows[operator.Probe], 1, 1
	f.Unique = f.Proved || f.KeyBits >= 32 || 1<<f.KeyBits >= f.Rows[operator.Build]
	f.Sorted, f.Distinct, f.Hottest, f.Repeats = [2]bool{}, 1, [2]float64{}, 0
	if probe.Streamed {
		f.Stays, f.Granule = true, max(f.Rows[operator.Build], leastPartRows)
	}
	return &q, nil
}

// table makes a table of three rows with what is expected of a side: the least and the greatest keys, and NULLs. It is
// nil if too little is known.
func (of *Expected) table(l *join.Layout, side relation.Side) (arrow.Table, error) {
	if of.Rows < 0 {
		return nil, nil
	}
	on := l.Spec.Keys()[side]
	schema, err := source.Schema(of.Schema, side, l.Needed[side])
	if err != nil {
		return nil, err
	}
	keys := make(map[string]bool)
	for _, name := range on {
		keys[name] = true
	}
	var columns []arrow.Column
	for _, field := range schema.Fields() {
		numbers := make([]uint64, 2)
		if keys[field.Name] {
			least, most, ok := of.Bounds(field.Name)
			if !ok {
				return nil, nil
			}
			numbers[0], numbers[1] = uint64(least), uint64(most)
		}
		values, err := relation.Column(memory.DefaultAllocator, field.Type, numbers, 0)
		if err != nil {
			return nil, err
		}
		chunks := []arrow.Array{values}
		if of.Nulls(field.Name) {
			chunks = append(chunks, array.MakeArrayOfNull(memory.NewGoAllocator(), field.Type, 1))
		} else {
			chunks = append(chunks, array.NewSlice(values, 0, 1))
		}
		columns = append(columns, *arrow.NewColumn(field, arrow.NewChunked(field.Type, chunks)))
	}
	return array.NewTable(schema, columns, -1), nil
}
