package hash

import (
	"context"
	"iter"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// Build rows that found no slot in the table are lost to lookups: their key, or keys with slots nearby, repeat so often
// that the slots behind the key's first slot are full. A bitmap marks them, and the host keeps their numbers. A plan
// expects none, but a sample of keys cannot rule them out. They and the probe side are joined by sorting, piece by
// piece. That works for any keys in the planned memory, so no join fails.

// pieceRows is how many rows of a side are sorted at a time if no more memory is free.
func pieceRows(buildRows uint64) uint64 { return max(1<<12, buildRows/32) }

// findLost finds out which rows found no slot. Unless the build side stays, it is called after something else has
// waited for the table, so that a join waits only once. If marks of the build side are wanted, the marks of these rows
// reuse the memory of the bitmap.
func (t *table) findLost(ctx context.Context) error {
	if t.number == nil {
		return nil
	}
	if err := t.submit(ctx); err != nil {
		return err
	}
	var number [4]byte
	if err := t.number.Get(ctx, number[:]); err != nil {
		return err
	}
	t.number.Release()
	t.number = nil
	if number == [4]byte{} {
		return nil
	}
	words := make([]uint32, t.without.SizeBytes/4)
	if err := t.lane.Download(ctx, backend.AsBytes(words), t.without); err != nil {
		return err
	}
	for i, word := range words {
		for ; word > 0; word &= word - 1 {
			t.lost = append(t.lost, uint32(32*i+bits.TrailingZeros32(word)))
		}
	}
	if !t.plan.Want.Marks(operator.Build) {
		return nil
	}
	t.marks = t.without
	return operator.ClearBitmap(ctx, t.lane, t.marks)
}

// probeLost joins the rows without a slot with a granule. It marks rows with a partner, rows of the granule in marks,
// and makes or counts pairs.
func (t *table) probeLost(ctx context.Context, lane *exec.Lane, in *operator.Input, marks backend.Range,
	sink operator.Sink) error {
	if err := t.findLost(ctx); err != nil {
		return err
	}
	want := &t.plan.Want
	lost := func(most uint64) iter.Seq[[]uint32] { return slices.Chunk(t.lost, int(most)) }
	return t.bySorting(ctx, lane, in, ranges.Span{End: in.Rows}, uint64(len(t.lost)), lost,
		func(lane *exec.Lane, chunks [2]*relation.Chunk) error {
			if want.Marks(operator.Build) || want.Marks(operator.Probe) {
				if err := markSorted(ctx, lane, chunks, [2]backend.Range{t.marks, marks}); err != nil {
					return err
				}
			}
			if !want.Pairs {
				return nil
			}
			places := operator.Places{Lane: lane, Inputs: [2]*operator.Input{&t.build, in}, Keys: want.Keys, Sink: sink}
			return ranges.Join(ctx, lane, chunks, want.Count, &places)
		})
}

// large joins a tile of a granule that makes more output than a window has room for with the rows that have a slot.
func (t *table) large(ctx context.Context, lane *exec.Lane, in *operator.Input, tile ranges.Span,
	sink operator.Sink) error {
	if err := t.findLost(ctx); err != nil {
		return err
	}
	found := t.build.Rows - uint64(len(t.lost))
	return t.bySorting(ctx, lane, in, tile, found, t.found, func(lane *exec.Lane, chunks [2]*relation.Chunk) error {
		places := operator.Places{Lane: lane, Inputs: [2]*operator.Input{&t.build, in}, Keys: t.plan.Want.Keys,
			Counted: true, Sink: sink}
		return ranges.Join(ctx, lane, chunks, false, &places)
	})
}

// found yields the rows that have a slot, at most most at a time.
func (t *table) found(most uint64) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		rows, lost := make([]uint32, 0, min(most, t.build.Rows)), t.lost
		for row := range uint32(t.build.Rows) {
			if len(lost) > 0 && lost[0] == row {
				lost = lost[1:]
				continue
			}
			if rows = append(rows, row); len(rows) == cap(rows) {
				if !yield(rows) {
					return
				}
				rows = rows[:0]
			}
		}
		if len(rows) > 0 {
			yield(rows)
		}
	}
}

// bySorting has join go through all pairs of a piece of some build rows and one of a span of a granule: chunks of keys
// with row numbers as payload.
func (t *table) bySorting(ctx context.Context, lane *exec.Lane, in *operator.Input, span ranges.Span, rows uint64,
	build func(most uint64) iter.Seq[[]uint32], join func(*exec.Lane, [2]*relation.Chunk) error) error {
	if rows == 0 {
		return nil
	}
	planned := pieceRows(t.build.Rows)
	most, err := atOnce(lane, t.plan, t.build.Keys.Bytes, [2]uint64{rows, span.End - span.First},
		[2]uint64{planned, planned})
	if err != nil {
		return err
	}
	joinPieces := func(rows []uint32, probe ranges.Span) (err error) {
		lane := lane.Nested(ctx)
		defer lane.Memory.ReleaseAll()
		var chunks [2]*relation.Chunk
		if chunks[operator.Build], err = t.gather(ctx, lane, rows); err != nil {
			return err
		}
		if chunks[operator.Probe], err = ranges.Extract(ctx, lane, in, []ranges.Span{probe}); err != nil {
			return err
		}
		return join(lane, chunks)
	}
	for rows := range build(most[operator.Build]) {
		for probe := range pieces(span, most[operator.Probe]) {
			if err := joinPieces(rows, probe); err != nil {
				return err
			}
		}
	}
	return nil
}

// gather fetches the keys of some build rows.
func (t *table) gather(ctx context.Context, lane *exec.Lane, rows []uint32) (*relation.Chunk, error) {
	n, keys := uint64(len(rows)), t.build.Keys
	numbers, to := lane.Memory.New(n*4, "row numbers"), lane.Memory.New(n*uint64(keys.Bytes), "keys of rows")
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	if _, err := lane.Device().Upload(ctx, numbers.All(), backend.AsBytes(rows)); err != nil {
		return nil, err
	}
	err := lane.Run(ctx, "gather keys", func(list *backend.List) error {
		return lane.Gather(list, keys.Bytes, keys.Data, numbers.All(), to.All(), uint32(n))
	})
	return &relation.Chunk{Rows: n, Keys: relation.Values{Data: to.All(), Bytes: keys.Bytes},
		Payload: []relation.Values{{Data: numbers.All(), Bytes: 4}}}, err
}
