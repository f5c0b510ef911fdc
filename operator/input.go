package operator

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Input is a chunk in a join and the state of its columns (GFTR 4.1). A transformation, a sort or a partition, moves
// columns into the order in which matches are found. The output is gathered from moved columns or from columns of the
// chunk.
type Input struct {
	*relation.Chunk
	Lane    *exec.Lane // moved columns are in its memory
	Name    string
	Ordered backend.Range   // the keys in transformed order; absent until the first Transform
	IDs     backend.Range   // the row numbers in that order, to gather from the columns of the chunk
	Moved   []backend.Range // payload columns in that order; absent if not moved yet, or released
	// High is present if all 8-byte keys have the same high word, so that only their low words move
	// ([primitive.Columns]).
	High backend.Range
	// Keep keeps moved columns for further windows. Otherwise a column is released once it is in the output.
	Keep bool

	gone []bool // columns that were moved and then released
}

// MovedKeyBytes is the width in bytes of moved keys.
func (in *Input) MovedKeyBytes() int {
	if in.High.Buffer != nil {
		return 4
	}
	return in.Keys.Bytes
}

// NewInput returns an input of which nothing has been moved. The chunk must live as long as the input. Name appears in
// labels and stages.
func NewInput(lane *exec.Lane, c *relation.Chunk, name string) Input {
	n := len(c.Payload)
	return Input{Chunk: c, Lane: lane, Name: name, Moved: make([]backend.Range, n), gone: make([]bool, n)}
}

// Stay uses the columns of the chunk as the moved ones, for algorithms that move nothing.
func (in *Input) Stay() {
	in.Ordered = in.Keys.Data
	for c, column := range in.Payload {
		in.Moved[c] = column.Data
	}
}

// Transformed returns the moved columns, in transformed order.
func (in *Input) Transformed() relation.Chunk {
	c := *in.Chunk
	c.Keys, c.Payload = relation.Values{Data: in.Ordered, Bytes: in.MovedKeyBytes()}, nil
	for i, column := range in.Payload {
		c.Payload = append(c.Payload, relation.Values{Data: in.Moved[i], Bytes: column.Bytes})
	}
	return c
}

// nextGroup returns up to most payload columns of the same width that have not been moved yet.
func (in *Input) nextGroup(most int) (group []int) {
	for c, column := range in.Payload {
		alike := len(group) == 0 || in.Payload[group[0]].Bytes == column.Bytes
		if in.Moved[c].Buffer == nil && !in.gone[c] && alike {
			group = append(group, c)
		}
	}
	return group[:min(len(group), most)]
}

// Move says what moves with the keys of an input, and how.
type Move struct {
	Stage      string // "sort" or "partition"
	RowNumbers bool   // row numbers instead of payload columns
	OneByOne   bool   // one payload column at a time instead of as many as possible
	Plan       func(primitive.Layout) (Transformation, error)
}

// Transform moves the keys of an input together with row numbers or the next payload columns. Later calls move further
// columns into the same order and do not keep the keys again. The moved columns belong to the memory of the lane.
// Errors: errors of the plan; allocation and device errors.
func (in *Input) Transform(ctx context.Context, move Move) error {
	most := kernel.MaxColumns
	if move.OneByOne {
		most = 1
	}
	group := in.nextGroup(most)
	layout := primitive.Layout{Rows: in.Rows, KeyBytes: in.MovedKeyBytes(), Narrow: in.High.Buffer != nil}
	source := primitive.Columns{Keys: in.Keys.Data, High: in.High}
	if move.RowNumbers {
		group, source.Payload = nil, make([]backend.Range, 1)
		layout.Payload, layout.PayloadBytes = primitive.RowNumbers, 4
	}
	for _, c := range group {
		layout.Payload, layout.PayloadBytes, layout.Columns = primitive.Given, in.Payload[c].Bytes, len(group)
		source.Payload = append(source.Payload, in.Payload[c].Data)
	}
	t, err := move.Plan(layout)
	if err != nil {
		return err
	}
	lane := in.Lane
	memory, temporary := lane.Memory, lane.Scope(ctx)
	defer temporary.ReleaseAll()
	var buffers [2]primitive.Columns
	for pass := max(1, t.Passes-1); pass <= t.Passes; pass++ { // the last two write to both buffers
		keys, payload := temporary, temporary
		if pass == t.Passes {
			payload = memory
			if in.Ordered.Buffer == nil {
				keys = memory
			}
		}
		to := &buffers[pass%2]
		to.Keys = keys.New(in.Rows*uint64(layout.KeyBytes), in.Name+" keys, transformed").All()
		for range source.Payload {
			column := payload.New(in.Rows*uint64(layout.PayloadBytes), in.Name+" payload, transformed")
			to.Payload = append(to.Payload, column.All())
		}
	}
	if t.Passes == 0 && move.RowNumbers {
		source.Payload[0] = memory.New(in.Rows*4, in.Name+" row numbers").All()
	}
	scratch := temporary.New(t.ScratchBytes, "scratch").All()
	if err := cmp.Or(memory.Err(), temporary.Err()); err != nil {
		return err
	}
	if t.Passes > 0 || move.RowNumbers {
		list := lane.List(move.Stage + " " + in.Name)
		if err := t.Record(list, scratch, source, buffers); err != nil {
			return err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return err
		}
	}
	moved := source
	if t.Passes > 0 {
		moved = buffers[t.Passes%2]
	}
	if in.Ordered.Buffer == nil {
		in.Ordered = moved.Keys
	}
	if move.RowNumbers {
		in.IDs = moved.Payload[0]
	}
	for i, c := range group {
		in.Moved[c] = moved.Payload[i]
	}
	return nil
}

// TransformAll is [Input.Transform] until all payload columns are moved, and keeps them ([Input.Keep]).
func (in *Input) TransformAll(ctx context.Context, move Move) error {
	if err := in.Transform(ctx, move); err != nil {
		return err
	}
	return in.MoveAll(func() error { return in.Transform(ctx, move) })
}

// MoveAll calls move until all columns are moved, and keeps them ([Input.Keep]). It does nothing if there are no rows.
func (in *Input) MoveAll(move func() error) error {
	in.Keep = true
	for in.Rows > 0 && len(in.nextGroup(1)) > 0 {
		if err := move(); err != nil {
			return err
		}
	}
	return nil
}

// written returns the payload columns that the match kernel writes itself: all columns if there are at most two and all
// are moved, otherwise the first moved one.
func (in *Input) written() (columns []int) {
	for c := range in.Moved {
		if in.Moved[c].Buffer != nil {
			columns = append(columns, c)
		}
	}
	if len(columns) == len(in.Payload) && len(columns) <= 2 {
		return columns
	}
	return columns[:min(1, len(columns))]
}

// gather fills the payload columns that a window still lacks. ids gives the row of each output row, in the moved
// columns or, if untransformed is set, in the columns of the chunk. move moves further columns.
func (in *Input) gather(ctx context.Context, w *Window, side int, ids backend.Range, rows uint64, untransformed bool,
	move func() error) error {
	out, lane := w.Payload[side], in.Lane
	for {
		list := lane.List("gather " + in.Name)
		var done []int
		for c, column := range in.Payload {
			from := in.Moved[c]
			if untransformed {
				from = column.Data
			}
			if out[c] != nil || from.Buffer == nil {
				continue
			}
			out[c] = w.column(rows, column.Bytes, "output "+in.Name)
			if err := w.memory.Err(); err != nil {
				return err
			}
			if err := lane.Gather(list, column.Bytes, from, ids, out[c].All(), uint32(rows)); err != nil {
				return err
			}
			done = append(done, c)
		}
		if len(done) > 0 {
			if err := lane.Submit(ctx, list); err != nil {
				return err
			}
		}
		in.releaseMoved(out)
		if untransformed || len(in.nextGroup(1)) == 0 {
			return nil
		}
		if err := move(); err != nil {
			return err
		}
	}
}

// releaseMoved releases the moved columns that have been written to the output, unless they are kept for further
// windows.
func (in *Input) releaseMoved(out []*backend.Buffer) {
	for c := range in.Payload {
		if !in.Keep && out[c] != nil && in.Moved[c].Buffer != nil {
			in.Lane.Memory.Release(in.Moved[c].Buffer)
			in.Moved[c], in.gone[c] = backend.Range{}, true
		}
	}
}
