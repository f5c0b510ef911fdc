package peers

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// merger merges sorted runs in pairs until one is left. Among equal keys, rows of earlier runs come first. Keys move
// with the only payload column, or with row numbers by which several columns are gathered at the end.
type merger struct {
	lane    *exec.Lane
	memory  *exec.Scope // of the runs
	keys    int         // bytes
	payload int         // bytes of what moves with a key
}

// sortedRun is rows in order. The output of a merge is in buffers of its own.
type sortedRun struct {
	rows uint64
	primitive.KeyedColumns
}

// mergeRuns returns the rows of runs of a chunk in one order, in memory of their own, or in place if there is only one
// run, which then begins at row 0. Runs begin at multiples of [runRows] and are in order.
func mergeRuns(ctx context.Context, lane *exec.Lane, c *relation.Chunk, runs []Run) (*Held, error) {
	if len(runs) < 2 {
		rows := uint64(0)
		if len(runs) == 1 {
			rows = runs[0].Rows
		}
		return &Held{Chunk: part(c, 0, rows)}, nil
	}
	m := &merger{lane: lane, memory: lane.Scope(ctx), keys: c.Keys.Bytes}
	defer m.memory.ReleaseAll()
	var moved relation.Values
	switch len(c.Payload) {
	case 0:
	case 1:
		moved = c.Payload[0]
	default:
		rows := runs[len(runs)-1].First + runs[len(runs)-1].Rows
		moved = relation.Values{Data: m.memory.New(rows*4, "row numbers").All(), Bytes: 4}
		if err := m.memory.Err(); err != nil {
			return nil, err
		}
		err := lane.Run(ctx, "number rows", func(list *backend.List) error {
			return lane.Iota(list, moved.Data, rows, 0)
		})
		if err != nil {
			return nil, err
		}
	}
	m.payload = moved.Bytes
	sides := make([]sortedRun, len(runs))
	for i, run := range runs {
		sides[i] = sortedRun{run.Rows, primitive.KeyedColumns{Keys: partOf(c.Keys, run.First, run.Rows),
			Payload: partOf(moved, run.First, run.Rows)}}
	}
	merged, err := m.all(ctx, sides)
	if err != nil {
		return nil, err
	}
	return m.result(ctx, c, merged)
}

// all merges neighbours, level by level.
func (m *merger) all(ctx context.Context, runs []sortedRun) (sortedRun, error) {
	for len(runs) > 1 {
		var next []sortedRun
		for i := 0; i+1 < len(runs); i += 2 {
			merged, err := m.pair(ctx, runs[i], runs[i+1])
			if err != nil {
				return sortedRun{}, err
			}
			next = append(next, merged)
		}
		if len(runs)%2 == 1 {
			next = append(next, runs[len(runs)-1])
		}
		runs = next
	}
	return runs[0], nil
}

// pair merges two runs and releases the memory of those that were merged before.
func (m *merger) pair(ctx context.Context, left, right sortedRun) (merged sortedRun, err error) {
	p, err := primitive.PlanMerge(m.lane.Tuning(), left.rows, right.rows, m.keys, m.payload*8)
	if err != nil {
		return merged, err
	}
	temporary := m.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	merged.rows = left.rows + right.rows
	merged.Keys = m.memory.New(merged.rows*uint64(m.keys), "merged keys").All()
	if m.payload > 0 {
		merged.Payload = m.memory.New(merged.rows*uint64(m.payload), "merged payload").All()
	}
	scratch := temporary.New(p.ScratchBytes, "merge scratch")
	if err := cmp.Or(m.memory.Err(), temporary.Err()); err != nil {
		return merged, err
	}
	err = m.lane.Run(ctx, "merge", func(list *backend.List) error {
		return m.lane.Merge(list, p, left.KeyedColumns, right.KeyedColumns, merged.KeyedColumns, scratch.All())
	})
	if err != nil {
		return merged, err
	}
	for _, run := range []sortedRun{left, right} {
		m.release(run.Keys)
		m.release(run.Payload)
	}
	return merged, nil
}

// release releases a column of a run that is a buffer of its own; row numbers are shared by the first runs.
func (m *merger) release(column backend.Range) {
	if column.Buffer != nil && column == column.Buffer.All() {
		m.memory.Release(column.Buffer)
	}
}

// result makes a chunk of the last run.
func (m *merger) result(ctx context.Context, c *relation.Chunk, merged sortedRun) (*Held, error) {
	h := &Held{Chunk: relation.Chunk{Rows: merged.rows, Keys: relation.Values{Data: merged.Keys, Bytes: m.keys},
		Narrow: c.Narrow, HighWord: c.HighWord}, memory: m.lane.Scope(ctx)}
	if len(c.Payload) == 1 {
		h.Payload = []relation.Values{{Data: merged.Payload, Bytes: m.payload}}
		m.memory.Move(h.memory, merged.Payload.Buffer)
	}
	if len(c.Payload) > 1 {
		err := m.lane.Run(ctx, "gather payload", func(list *backend.List) error {
			for _, column := range c.Payload {
				to := h.memory.New(merged.rows*uint64(column.Bytes), "merged payload").All()
				h.Payload = append(h.Payload, relation.Values{Data: to, Bytes: column.Bytes})
				if err := h.memory.Err(); err != nil {
					return err
				}
				err := m.lane.Gather(list, column.Bytes, column.Data, merged.Payload, to, uint32(merged.rows))
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			h.Release()
			return nil, err
		}
	}
	m.memory.Move(h.memory, merged.Keys.Buffer)
	return h, nil
}
