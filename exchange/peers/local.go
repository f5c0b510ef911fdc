package peers

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Held is rows on one device, and the memory that they are in. The owner releases it.
type Held struct {
	relation.Chunk
	memory *exec.Scope // nil if the columns are the caller's
}

// Release releases the columns. Safe on nil; a second Release does nothing.
func (h *Held) Release() {
	if h != nil && h.memory != nil {
		h.memory.ReleaseAll()
	}
}

// sortLocally sorts the rows of one device by the bits in which their keys differ. Sorted rows stay where they are.
func sortLocally(ctx context.Context, lane *exec.Lane, c *relation.Chunk) (*Held, error) {
	varying, err := operator.FindVarying(ctx, lane, "varying bits", c.Keys)
	if err != nil || varying.Sorted {
		return &Held{Chunk: *c}, err
	}
	return sortBits(ctx, lane, c, varying.Bits)
}

// sortBits sorts rows, of which there is at least one, by those bits of the keys that vary.
func sortBits(ctx context.Context, lane *exec.Lane, c *relation.Chunk, varying uint64) (*Held, error) {
	work := lane.Nested(ctx)
	in := operator.NewInput(work, c, "rows")
	err := in.TransformAll(ctx, operator.Move{Stage: "sort", Plan: operator.SortBy(lane.Ops, varying)})
	if err != nil {
		work.Memory.ReleaseAll()
		return nil, err
	}
	return &Held{Chunk: in.Transformed(), memory: work.Memory}, nil
}

// part returns rows of a chunk, which begin at a multiple of [runRows].
func part(c *relation.Chunk, first, rows uint64) relation.Chunk {
	p := *c
	p.Rows, p.Payload = rows, nil
	p.Keys.Data = partOf(c.Keys, first, rows)
	for _, column := range c.Payload {
		p.Payload = append(p.Payload, relation.Values{Data: partOf(column, first, rows), Bytes: column.Bytes})
	}
	return p
}

func partOf(column relation.Values, first, rows uint64) backend.Range {
	if rows == 0 || column.Bytes == 0 {
		return backend.Range{}
	}
	return column.Data.Part(first*uint64(column.Bytes), rows*uint64(column.Bytes))
}

// allocate makes columns of the widths that a chunk has, with room for this number of rows.
func (h *Held) allocate(like *relation.Chunk, rows uint64, label string) {
	columns := like.Columns()
	for i := range columns {
		columns[i].Data = h.memory.New(rows*uint64(columns[i].Bytes), label).All()
	}
	h.Keys, h.Payload = columns[0], columns[1:]
}

// copy makes the rows a copy of a chunk.
func (h *Held) copy(ctx context.Context, lane *exec.Lane, c *relation.Chunk) error {
	h.Chunk = *c
	h.allocate(c, c.Rows, "sorted rows")
	if err := h.memory.Err(); err != nil || c.Rows == 0 {
		return err
	}
	return copyRows(ctx, lane, "copy rows", &h.Chunk, c)
}

// copyRows copies the rows of a chunk to columns of as many rows.
func copyRows(ctx context.Context, lane *exec.Lane, stage string, to, from *relation.Chunk) error {
	return lane.Run(ctx, stage, func(list *backend.List) error {
		columns := to.Columns()
		for i, column := range from.Columns() {
			if err := lane.Copy(list, columns[i].Data, column.Data); err != nil {
				return err
			}
		}
		return nil
	})
}
