package sortmerge

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// merge is a join of sides whose payload is sorted with their keys.
//
// Where pairs are wanted, the sorted sides are cut into units, each of which a workgroup joins ([granule.cut]). Where
// only rows of one side are, those with or without a partner, units are not needed: each row is searched for in the
// other side.
type merge struct {
	Algorithm
	decision
	facts operator.Facts
	want  operator.Want
	lane  *exec.Lane // its memory is the operator's
	build *side
}

// side is one side and what becomes of it.
type side struct {
	operator.Input
	number    int           // operator.Build or operator.Probe
	unordered uint64        // bits by which its keys have to be sorted; 0: they are in order
	marks     backend.Range // of its rows in the order of the keys; absent where they do not matter
}

// Close implements [operator.Operator].
func (m *merge) Close() { m.lane.Memory.ReleaseAll() }

// Rewind implements [operator.Operator].
func (m *merge) Rewind(ctx context.Context) error {
	return operator.ClearBitmap(ctx, m.lane, m.build.marks)
}

// Build implements [operator.Operator].
func (m *merge) Build(ctx context.Context, build *relation.Chunk) (err error) {
	if err = build.Check(m.name); err == nil {
		m.build, err = m.begin(ctx, m.lane, build, operator.Build)
	}
	return err
}

// Probe implements [operator.Operator].
func (m *merge) Probe(ctx context.Context, lane *exec.Lane, chunk *relation.Chunk, sink operator.Sink) error {
	if err := chunk.CheckJoin(m.name, m.build.Chunk); err != nil {
		return err
	}
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	probe, err := m.begin(ctx, lane, chunk, operator.Probe)
	if err != nil {
		return err
	}
	if m.want.Pairs {
		err = m.join(ctx, lane, probe, sink)
	} else {
		err = ranges.Mark(ctx, lane, [2]*ranges.Sorted{m.build.sorted(), probe.sorted()},
			[2]backend.Range{m.build.marks, probe.marks})
	}
	if err != nil {
		return err
	}
	return m.rows(ctx, probe, sink)
}

// Finish implements [operator.Operator].
func (m *merge) Finish(ctx context.Context, sink operator.Sink) error {
	return m.rows(ctx, m.build, sink)
}

// begin sorts the keys of a side with its first payload columns.
func (m *merge) begin(ctx context.Context, lane *exec.Lane, c *relation.Chunk, number int) (*side, error) {
	if !m.want.Pairs && !m.want.Marks(number) { // its rows are not in the output
		c = &relation.Chunk{Rows: c.Rows, Keys: c.Keys}
	}
	s := &side{Input: operator.NewInput(lane, c, [2]string{"build", "probe"}[number]), number: number}
	s.Keep = m.keep[number]
	if s.Rows == 0 {
		return s, nil
	}
	varying, err := operator.FindVarying(ctx, lane, "varying bits", c.Keys)
	if err != nil {
		return nil, err
	}
	s.unordered = varying.Unsorted()
	if s.marks, err = m.want.NewBitmap(ctx, lane, number, s.Rows); err != nil {
		return nil, err
	}
	return s, m.sort(ctx, s)
}

// sort sorts the keys of a side with the next payload columns. What is in order stays where it is.
func (m *merge) sort(ctx context.Context, s *side) error {
	move := operator.Move{Stage: "sort", Plan: operator.SortBy(s.Lane.Ops, s.unordered)}
	if s.unordered != 0 {
		move.OneByOne = m.oneByOne || m.mergeSort
		if m.mergeSort {
			move.Plan = byMerging(s.Lane.Ops)
		}
	}
	return s.Transform(ctx, move)
}

// byMerging plans merge sorts.
func byMerging(ops *primitive.Ops) func(primitive.Layout) (operator.Transformation, error) {
	return func(layout primitive.Layout) (t operator.Transformation, err error) {
		p, err := primitive.PlanMergeSort(ops.Tuning(), layout)
		t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
		t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns,
			buffers [2]primitive.Columns) error {
			return ops.MergeSort(list, p, scratch, source, buffers)
		}
		return t, err
	}
}

// sorted are the keys of a side for a range search, whose rows are told by their place in the order.
func (s *side) sorted() *ranges.Sorted {
	return &ranges.Sorted{Rows: s.Rows, KeyBytes: s.Keys.Bytes, Keys: s.Ordered}
}

// rows puts the rows of a side that are wanted with or without a partner.
func (m *merge) rows(ctx context.Context, s *side, sink operator.Sink) error {
	rows := operator.Rows{Input: &s.Input, Side: s.number, Marks: s.marks,
		Move: func(ctx context.Context) error { return m.sort(ctx, s) }}
	return rows.WriteWanted(ctx, sink, &m.want)
}
