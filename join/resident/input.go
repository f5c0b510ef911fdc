package resident

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Input is a relation in a join, and what becomes of its payload (GFTR 4.1): a transformation, which is a sort or a
// partition, moves columns into the order in which matches are found; the output is gathered from moved columns or from
// those of the caller.
type Input struct {
	Relation
	Name    string
	Ordered backend.Range     // the keys in transformed order
	IDs     backend.Range     // the row numbers in that order, for those who gather from the caller's columns
	Moved   []backend.Range   // payload columns in that order; absent where they are not moved, or not any more
	Out     []*backend.Buffer // payload columns of the output
	Numbers *backend.Buffer   // of each row of the output: the row to gather further columns by
	// High says that keys of 8 bytes have the same high word, so that only their low words move ([primitive.Columns]);
	// absent where all of a key does.
	High backend.Range
}

// MovedKeyBytes is the width of keys that are moved.
func (in *Input) MovedKeyBytes() int {
	if in.High.Buffer != nil {
		return 4
	}
	return in.Keys.Bytes
}

// NewInput is an input of which nothing is moved.
func NewInput(r Relation, name string) Input {
	n := len(r.Payload)
	return Input{Relation: r, Name: name, Moved: make([]backend.Range, n), Out: make([]*backend.Buffer, n)}
}

// nextGroup returns payload columns that are neither moved nor in the output, of one width, most of them at most.
func (in *Input) nextGroup(most int) (group []int) {
	for c, column := range in.Payload {
		alike := len(group) == 0 || in.Payload[group[0]].Bytes == column.Bytes
		if in.Moved[c].Buffer == nil && in.Out[c] == nil && alike {
			group = append(group, c)
		}
	}
	return group[:min(len(group), most)]
}

// Transformation is a stable partition or sort, planned for a layout. It ends in the buffer of index Passes%2, and
// without passes where the rows are.
type Transformation struct {
	Passes       int
	ScratchBytes uint64
	Record       Recorder
}

// Recorder records a transformation of source that goes back and forth between two buffers.
type Recorder func(list *backend.List, scratch backend.Range, source primitive.Columns,
	buffers [2]primitive.Columns) error

// Move says what moves with the keys of an input, and how.
type Move struct {
	Stage      string // "sort" or "partition"
	RowNumbers bool   // row numbers instead of payload columns
	OneByOne   bool   // one payload column at a time instead of as many as move together
	Plan       func(primitive.Layout) (Transformation, error)
}

// Transform moves the keys of an input with row numbers or the next payload columns. What is moved lies in the memory
// of the lane; columns that move later come into the same order, and their keys are not kept.
func (in *Input) Transform(ctx context.Context, lane *exec.Lane, move Move) error {
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

// Materialize makes the payload columns that are missing in an output of rows rows, in the memory of the lane. ids
// tells the row of each: of a moved column or, with untransformed, of a column of the caller. transform moves columns
// that are not moved; what it moves is released once it is gathered, as columns in memory are.
func (in *Input) Materialize(ctx context.Context, lane *exec.Lane, ids backend.Range, rows uint64, untransformed bool,
	transform func() error) error {
	for rows > 0 {
		list := lane.List("gather " + in.Name)
		var done []int
		for c, column := range in.Payload {
			from := in.Moved[c]
			if untransformed {
				from = column.Data
			}
			if in.Out[c] != nil || from.Buffer == nil {
				continue
			}
			in.Out[c] = lane.Memory.New(rows*uint64(column.Bytes), "output "+in.Name)
			if err := lane.Memory.Err(); err != nil {
				return err
			}
			if err := lane.Gather(list, column.Bytes, from, ids, in.Out[c].All(), uint32(rows)); err != nil {
				return err
			}
			done = append(done, c)
		}
		if len(done) > 0 {
			if err := lane.Submit(ctx, list); err != nil {
				return err
			}
		}
		in.releaseMoved(lane.Memory)
		if len(in.nextGroup(1)) == 0 {
			return nil
		}
		if err := transform(); err != nil {
			return err
		}
	}
	return nil
}

// releaseMoved releases moved columns that are in the output.
func (in *Input) releaseMoved(memory *exec.Scope) {
	for c := range in.Payload {
		if in.Out[c] != nil && in.Moved[c].Buffer != nil {
			memory.Release(in.Moved[c].Buffer)
			in.Moved[c] = backend.Range{}
		}
	}
}
