package ranges

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Span is rows First to End-1 of a transformed input.
type Span struct{ First, End uint64 }

// Extract copies the keys of spans unchanged, with their positions among all rows as payload.
func Extract(ctx context.Context, lane *exec.Lane, in *operator.Input, spans []Span) (*relation.Chunk, error) {
	rows, width, numbersBytes := uint64(0), uint64(in.MovedKeyBytes()), uint64(0)
	for _, s := range spans {
		rows += s.End - s.First
		numbersBytes += backend.Aligned((s.End - s.First) * 4)
	}
	keys, places := lane.Memory.New(rows*width, "keys of spans"), lane.Memory.New(rows*4, "places of spans")
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	numbers := temporary.New(numbersBytes, "row numbers")
	if err := cmp.Or(lane.Memory.Err(), temporary.Err()); err != nil {
		return nil, err
	}
	list := lane.List("peel")
	at, numbered := uint64(0), uint64(0)
	for _, s := range spans {
		n := s.End - s.First
		own := numbers.Range(numbered, n*4)
		if err := cmp.Or(lane.Iota(list, own, n, uint32(s.First)),
			lane.Copy(list, keys.Range(at*width, n*width), in.Ordered.Part(s.First*width, n*width)),
			lane.Copy(list, places.Range(at*4, n*4), own)); err != nil {
			return nil, err
		}
		at, numbered = at+n, numbered+backend.Aligned(n*4)
	}
	return &relation.Chunk{Rows: rows, Keys: relation.Values{Data: keys.All(), Bytes: int(width)},
		Payload: []relation.Values{{Data: places.All(), Bytes: 4}}}, lane.Submit(ctx, list)
}

// JoinBytes is the device memory that [Join] takes for these numbers of rows, in addition to the chunks and the output.
// Sorting both sides for [Mark] takes no more.
func JoinBytes(t primitive.Tuning, keyBytes int, rows [2]uint64) (most uint64, err error) {
	sorted, rowBytes := uint64(0), uint64(keyBytes+4)
	for _, n := range rows {
		p, err := primitive.PlanSort(t, primitive.Sort{EndBit: 8 * keyBytes,
			Layout: primitive.Layout{Rows: n, KeyBytes: keyBytes, Payload: primitive.RowNumbers, PayloadBytes: 4}})
		if err != nil {
			return 0, err
		}
		sorted += n * rowBytes
		most = max(most, sorted+n*rowBytes+p.MostScratchBytes)
	}
	few, many := min(rows[0], rows[1]), max(rows[0], rows[1])
	search, err := primitive.PlanRangeSearch(t, few, many, keyBytes)
	if err != nil {
		return 0, err
	}
	scan, err := primitive.PlanScan(t, few, 32, 64, true)
	pairs := few*8 + max(search.ScratchBytes, few*8+8+scan.ScratchBytes)
	return max(most, sorted+max(pairs, many*4)), err
}

// UnitBytes is the device memory that [JoinUnit] takes for a unit with these numbers of rows, in addition to the output:
// copies of the rows, and what [Join] takes.
func UnitBytes(t primitive.Tuning, keyBytes int, rows [2]uint64) (uint64, error) {
	joinBytes, err := JoinBytes(t, keyBytes, rows)
	return joinBytes + (rows[0]+rows[1])*uint64(keyBytes+4), err
}

// CountCost accounts for counting the output of units before any is written ([operator.Units.CountFirst]), and for
// [JoinUnit] of a unit whose output exceeds a window, of unitRows rows at most. It returns the size in bytes of what is to
// be freed after the output.
func CountCost(c *operator.Cost, units uint64, unitRows [2]uint64) (sizeBytes uint64, err error) {
	f := &c.Facts
	if sizeBytes, err = c.CountUnits(units); err != nil || f.Window == 0 || f.Unique {
		return sizeBytes, err
	}
	for side := range unitRows {
		unitRows[side] = min(unitRows[side], c.Held(side))
	}
	unitBytes, err := UnitBytes(f.Tuning, f.KeyBytes, unitRows)
	c.TakeSmall(unitBytes)
	return sizeBytes + unitBytes, err
}

// Join joins two chunks by sorting both, into windows of any size; with count, it only counts the pairs.
func Join(ctx context.Context, lane *exec.Lane, chunks [2]*relation.Chunk, count bool, sink *operator.Places) error {
	defer sink.Release()
	o := Open(ctx, lane, operator.Want{Pairs: true, Count: count})
	o.Once = true
	defer o.Close()
	if err := o.Build(ctx, chunks[operator.Build]); err != nil {
		return err
	}
	return o.Probe(ctx, lane, chunks[operator.Probe], sink)
}

// JoinUnit joins the rows of one unit of work, which is four 32-bit numbers on the device: the begin and end of its
// rows on the kernel's left and right sides. left is the index of the input that is the left side.
func JoinUnit(ctx context.Context, lane *exec.Lane, unit backend.Range, left int, sink *operator.Places) error {
	var bounds [4]uint32
	if err := lane.Download(ctx, backend.AsBytes(bounds[:]), unit); err != nil {
		return err
	}
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	var chunks [2]*relation.Chunk
	for i, side := range [2]int{left, 1 - left} {
		span, err := Span{uint64(bounds[2*i]), uint64(bounds[2*i+1])}, error(nil)
		if chunks[side], err = Extract(ctx, lane, sink.Inputs[side], []Span{span}); err != nil {
			return err
		}
	}
	return Join(ctx, lane, chunks, false, sink)
}
