package resident

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Side is a relation in a join, and what becomes of its payload (GFTR 4.1): a transformation, which is a sort or a partition, moves
// columns into the order in which matches are found; the output is gathered from moved columns or from those of the caller.
type Side struct {
	Relation
	Name  string
	Moved []backend.Range   // payload columns in transformed order; absent where they are not moved, or not any more
	Out   []*backend.Buffer // payload columns of the output
}

// NewSide is a side of which nothing is moved.
func NewSide(r Relation, name string) Side {
	return Side{r, name, make([]backend.Range, len(r.Payload)), make([]*backend.Buffer, len(r.Payload))}
}

// NextGroup returns payload columns that are neither moved nor in the output, of one width, as many as one transformation moves:
// one where most is 1.
func (s *Side) NextGroup(most int) (group []int) {
	for c, column := range s.Payload {
		if s.Moved[c].Buffer == nil && s.Out[c] == nil && (len(group) == 0 || s.Payload[group[0]].Bytes == column.Bytes) {
			group = append(group, c)
		}
	}
	return group[:min(len(group), most, kernel.MaxColumns)]
}

// Columns are the keys of a side and a group of its payload, as a transformation reads them, and their layout.
func (s *Side) Columns(group []int) (primitive.Layout, primitive.Columns) {
	layout := primitive.Layout{Rows: s.Rows, KeyBytes: s.Keys.Bytes}
	columns := primitive.Columns{Keys: s.Keys.Data}
	for _, c := range group {
		layout.Payload, layout.PayloadBytes, layout.Columns = primitive.Given, s.Payload[c].Bytes, len(group)
		columns.Payload = append(columns.Payload, s.Payload[c].Data)
	}
	return layout, columns
}

// First is the first payload column that is moved; -1 for none.
func (s *Side) First() int {
	for c := range s.Moved {
		if s.Moved[c].Buffer != nil {
			return c
		}
	}
	return -1
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
		for c := range s.Payload { // of those that somebody else has gathered too
			if s.Out[c] != nil && s.Moved[c].Buffer != nil {
				memory.Release(s.Moved[c].Buffer)
				s.Moved[c] = backend.Range{}
			}
		}
		if len(s.NextGroup(1)) == 0 {
			return nil
		}
		if err := transform(); err != nil {
			return err
		}
	}
	return nil
}
