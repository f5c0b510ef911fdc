package task

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Range is what a task has of two tables, if that is rows whose keys are in one range.
type Range struct {
	Keys  *keys.Plan // of all rows of both tables
	Sides [2]*query.Selection
	// Unique has the plans of keys that must be unique, by side; nil: they need not. Proofs are the keys to check; nil:
	// those of Sides.
	Unique [2]*keys.Plan
	Proofs [2]*query.Selection
}

// rows returns the rows of a side that have a key.
func (r *Range) rows(side relation.Side) int64 { return int64(r.Sides[side].Rows) }

// KeyRanges says how tables are divided by key ranges. Zero values leave the choice to the policy.
type KeyRanges struct {
	Way  RangeWay
	Sort hmg.Sorting // of chunksets, and of tables that fit the devices together
	// ChunkRows is the maximum number of rows of a chunk, the share of a chunkset on one device, TaskRows that of both
	// sides in a task, unless they have one key. 0: as many as the devices have room for.
	ChunkRows, TaskRows uint64
	Lines               int // of tasks on each device; 0: linesPerWorker
}

// RangeWay is a way to divide tables by key ranges.
type RangeWay uint8

const (
	RangesAuto     RangeWay = iota // as RangesSegments, but only tables that do not fit the devices together
	RangesSegments                 // both sides are scattered to segments of equal key ranges (HMG 5)
	// RangesRoundTrip sorts each side in one chunkset and brings it back (HMG 3.1, 3.3). Sides that take several
	// chunksets are divided into segments.
	RangesRoundTrip
	RangesMerge // each side is sorted in chunksets, which the host merges (HMG 3.1.3, 3.2)
)

// String returns the name that tests and benchmarks use.
func (w RangeWay) String() string { return [...]string{"auto", "segments", "round trip", "merge"}[w] }

// keyRanges is the policy of the strategy hmg for tables that do not fit the devices together. Both sides are encoded
// in host memory and divided by the same key ranges; each range is a task for one device. So every kind of join works:
// a row without partner in its range has none at all. The first task has the rows without a key too.
//
//	keys   5 1 9 4 | 4 9 2       ranges 0..4 and 5..9
//	tasks  1 4 | 4 2   and   5 9 | 9
//
// There are two ways to the ranges. Segments: sides that are not in order are scattered by splitters of a sample. Or
// both sides are sorted, by the devices and the host ([hmg.Sort]), or were in order, and the merge path cuts them;
// devices then sort nothing.
type keyRanges struct {
	*Means
	KeyRanges
	devices  []*query.Engine
	part     *Task // of which the policy makes parts
	keys     *keys.Plan
	unique   [2]*keys.Plan
	ordered  *sides // for the merge of outputs; nil if there is no order
	skip     func(leftRows, rightRows int64)
	coded    codedSides
	ranges   []*Range
	at       int
	halves   []*Task      // in place of tasks that failed
	given    int64        // rows of the ranges so far
	how      string       // both sides were divided
	prepared *query.Stats // of the division
}

// Prepare encodes both sides and divides them.
func (p *keyRanges) Prepare(ctx context.Context) error {
	p.part.Progress.StartOf("divide both", p.keys.Rows(relation.Left)+p.keys.Rows(relation.Right))
	p.fit()
	if err := p.coded.acquire(ctx, p); err != nil {
		return err
	}
	var err error
	for side := range relation.Right + 1 {
		switch {
		case err != nil || !p.proves(side):
		case p.unique[side].KeyBytes() == 4:
			err = proofs[uint32](ctx, p, side)
		default:
			err = proofs[uint64](ctx, p, side)
		}
	}
	switch {
	case err != nil:
		return err
	case p.keys.KeyBytes() == 4:
		err = divideRanges[uint32](ctx, p)
	default:
		err = divideRanges[uint64](ctx, p)
	}
	if err != nil {
		return err
	}
	if len(p.ranges) == 0 {
		p.ranges = []*Range{p.none()}
	}
	for _, s := range p.ranges[0].Sides {
		s.Keyless = true
	}
	p.coded.settle()
	return nil
}

// none is a range without rows.
func (p *keyRanges) none() *Range {
	return &Range{Keys: p.keys, Sides: [2]*query.Selection{{Sorted: true}, {Sorted: true}}}
}

// add adds a range, unless it has neither output nor keys to validate.
func (p *keyRanges) add(left, right *query.Selection) {
	r := &Range{Keys: p.keys, Sides: [2]*query.Selection{left, right}}
	validates := false
	for side, plan := range p.unique {
		if plan == p.keys {
			r.Unique[side] = plan
			validates = validates || r.Sides[side].Rows > 1
		}
	}
	if silent(p.part.How, r.rows(relation.Left), r.rows(relation.Right)) && !validates {
		p.skip(r.rows(relation.Left), r.rows(relation.Right))
		p.given += r.rows(relation.Left) + r.rows(relation.Right)
		return
	}
	p.ranges = append(p.ranges, r)
}

// silent reports whether rows of a part of both sides have no output, because one side has none.
func silent(how join.How, leftRows, rightRows int64) bool {
	return leftRows == 0 && !how.Keeps(relation.Right) || rightRows == 0 && !how.Keeps(relation.Left)
}

// Next returns the next range.
func (p *keyRanges) Next(context.Context) (*Task, error) {
	if len(p.halves) > 0 {
		t := p.halves[0]
		p.halves = p.halves[1:]
		return t, nil
	}
	if p.at == len(p.ranges) {
		return nil, nil
	}
	r := p.ranges[p.at]
	p.at++
	t := p.part.part(fmt.Sprintf("range %d of %d", p.at, len(p.ranges)), p.part.Depth+1,
		p.part.Sources[relation.Left], p.part.Sources[relation.Right])
	all := int64(p.keys.Rows(relation.Left) + p.keys.Rows(relation.Right))
	t.Range, t.from = r, share(p.given, all)
	p.given += r.rows(relation.Left) + r.rows(relation.Right)
	t.to = share(p.given, all)
	return t, nil
}

// Failed divides a range for which a device lacks memory, because few keys have its rows: one side is halved, and each
// half is joined with all rows of the other side. As in [blocks], it is the side whose rows with or without a partner
// are in the output. A full join has no such side.
func (p *keyRanges) Failed(t *Task, err error) bool {
	r, side := t.Range, relation.Left
	halves := func(side relation.Side) bool { return t.How.Has(side) && !t.How.Keeps(1-side) && r.Unique[side] == nil }
	if !halves(side) || halves(1-side) && r.rows(1-side) < r.rows(side) {
		side = 1 - side
	}
	rows := r.Sides[side].Rows
	if !backend.OutOfMemory(err) || !halves(side) || rows < 2*leastBlockRows {
		return false
	}
	for i := range uint64(2) {
		half, of := t.Building(side), *r
		half.from, half.to = t.from+float64(i)*(t.to-t.from)/2, t.from+float64(i+1)*(t.to-t.from)/2
		of.Sides[side] = r.Sides[side].Part(rows*i/2, rows*(i+1)/2)
		if half.Range = &of; i > 0 {
			other := *r.Sides[1-side]
			other.Keyless, of.Sides[1-side], half.again[1-side] = false, &other, true
		}
		p.halves = append(p.halves, half)
	}
	return true
}

// Err returns nil.
func (p *keyRanges) Err() error { return nil }

// Close frees the codes and their memory.
func (p *keyRanges) Close() {
	p.coded.close()
	relation.ReleaseAll(p.coded.tables)
	if p.coded.tables = nil; p.ordered != nil {
		p.ordered.Close()
	}
}

// String says how both sides were divided.
func (p *keyRanges) String() string {
	return fmt.Sprintf("divided      into %s, %s", text.Plural(len(p.ranges), "range")+" of keys", p.how)
}
