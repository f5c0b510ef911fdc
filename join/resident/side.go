package resident

import (
	"context"
	"errors"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Side is a relation in a join, and what becomes of its payload (GFTR 4.1): a transformation, which is a sort or a partition, moves
// columns into the order in which matches are found; the output is gathered from moved columns or from those of the caller.
type Side struct {
	Relation
	Name    string
	Ordered backend.Range     // the keys in transformed order
	IDs     backend.Range     // the row numbers in that order, for those who gather from the caller's columns
	Moved   []backend.Range   // payload columns in that order; absent where they are not moved, or not any more
	Out     []*backend.Buffer // payload columns of the output
	Numbers *backend.Buffer   // of each row of the output: the row to gather further columns by
	// High says that keys of 8 bytes have the same high word, so that only their low words move ([primitive.Columns]); absent where all of
	// a key does.
	High backend.Range
}

// MovedKeyBytes is the width of keys that are moved.
func (s *Side) MovedKeyBytes() int {
	if s.High.Buffer != nil {
		return 4
	}
	return s.Keys.Bytes
}

// NewSide is a side of which nothing is moved.
func NewSide(r Relation, name string) Side {
	return Side{Relation: r, Name: name, Moved: make([]backend.Range, len(r.Payload)), Out: make([]*backend.Buffer, len(r.Payload))}
}

// nextGroup returns payload columns that are neither moved nor in the output, of one width, most of them at most.
func (s *Side) nextGroup(most int) (group []int) {
	for c, column := range s.Payload {
		if s.Moved[c].Buffer == nil && s.Out[c] == nil && (len(group) == 0 || s.Payload[group[0]].Bytes == column.Bytes) {
			group = append(group, c)
		}
	}
	return group[:min(len(group), most)]
}

// Transformation is a stable partition or sort, planned for a layout. It ends in the buffer of index Passes%2, and without passes where
// the rows are.
type Transformation struct {
	Passes       int
	ScratchBytes uint64
	Record       func(list *backend.List, scratch backend.Range, source primitive.Columns, buffers [2]primitive.Columns) error
}

// Transform moves the keys of a side with row numbers (untransformed) or the next payload columns: one (oneByOne) or as many as
// move together. What is moved lies in memory; columns that move later come into the same order, and their keys are not kept.
func (s *Side) Transform(ctx context.Context, ops *primitive.Ops, memory *Memory, profile *backend.Profile, stage string, untransformed, oneByOne bool,
	plan func(primitive.Layout) (Transformation, error)) error {
	most := kernel.MaxColumns
	if oneByOne {
		most = 1
	}
	group := s.nextGroup(most)
	layout := primitive.Layout{Rows: s.Rows, KeyBytes: s.MovedKeyBytes(), Narrow: s.High.Buffer != nil}
	source := primitive.Columns{Keys: s.Keys.Data, High: s.High}
	if untransformed {
		group, source.Payload = nil, make([]backend.Range, 1)
		layout.Payload, layout.PayloadBytes = primitive.RowNumbers, 4
	}
	for _, c := range group {
		layout.Payload, layout.PayloadBytes, layout.Columns = primitive.Given, s.Payload[c].Bytes, len(group)
		source.Payload = append(source.Payload, s.Payload[c].Data)
	}
	t, err := plan(layout)
	if err != nil {
		return err
	}
	temporary := Memory{Context: ctx, Device: ops.Device()}
	defer temporary.ReleaseAll()
	var buffers [2]primitive.Columns
	for pass := max(1, t.Passes-1); pass <= t.Passes; pass++ { // the last two write to both buffers
		keys, payload := &temporary, &temporary
		if pass == t.Passes {
			payload = memory
			if s.Ordered.Buffer == nil {
				keys = memory
			}
		}
		to := &buffers[pass%2]
		to.Keys = keys.New(s.Rows*uint64(layout.KeyBytes), s.Name+" keys, transformed").All()
		for range source.Payload {
			to.Payload = append(to.Payload, payload.New(s.Rows*uint64(layout.PayloadBytes), s.Name+" payload, transformed").All())
		}
	}
	if t.Passes == 0 && untransformed {
		source.Payload[0] = memory.New(s.Rows*4, s.Name+" row numbers").All()
	}
	scratch := temporary.New(t.ScratchBytes, "scratch").All()
	if err := errors.Join(memory.Err, temporary.Err); err != nil {
		return err
	}
	if t.Passes > 0 || untransformed {
		list := backend.List{Profile: profile}
		list.Stage(stage + " " + s.Name)
		if err := t.Record(&list, scratch, source, buffers); err != nil {
			return err
		}
		if _, err := ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
			return err
		}
	}
	moved := source
	if t.Passes > 0 {
		moved = buffers[t.Passes%2]
	}
	if s.Ordered.Buffer == nil {
		s.Ordered = moved.Keys
	}
	if untransformed {
		s.IDs = moved.Payload[0]
	}
	for i, c := range group {
		s.Moved[c] = moved.Payload[i]
	}
	return nil
}

// Materialize makes the payload columns that are missing in an output of rows rows. ids tells the row of each: of a moved column or,
// with untransformed, of a column of the caller. transform moves columns that are not moved; what it moves is released once
// it is gathered, as columns in memory are.
func (s *Side) Materialize(ctx context.Context, ops *primitive.Ops, memory *Memory, profile *backend.Profile, ids backend.Range, rows uint64,
	untransformed bool, transform func() error) error {
	for rows > 0 {
		list := backend.List{Profile: profile}
		list.Stage("gather " + s.Name)
		var done []int
		for c, column := range s.Payload {
			from := s.Moved[c]
			if untransformed {
				from = column.Data
			}
			if s.Out[c] != nil || from.Buffer == nil {
				continue
			}
			s.Out[c] = memory.New(rows*uint64(column.Bytes), "output "+s.Name)
			if memory.Err != nil {
				return memory.Err
			}
			if err := ops.Gather(&list, column.Bytes, from, ids, s.Out[c].All(), uint32(rows)); err != nil {
				return err
			}
			done = append(done, c)
		}
		if len(done) > 0 {
			if _, err := ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
				return err
			}
		}
		s.releaseMoved(memory)
		if len(s.nextGroup(1)) == 0 {
			return nil
		}
		if err := transform(); err != nil {
			return err
		}
	}
	return nil
}

// releaseMoved releases moved columns that are in the output.
func (s *Side) releaseMoved(memory *Memory) {
	for c := range s.Payload {
		if s.Out[c] != nil && s.Moved[c].Buffer != nil {
			memory.Release(s.Moved[c].Buffer)
			s.Moved[c] = backend.Range{}
		}
	}
}
