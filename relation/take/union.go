package take

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// union gathers the type codes, and the values from every child (sparse) or from the child of the type code (dense).
func (t *taker) union(dt arrow.UnionType) (arrow.ArrayData, error) {
	for c, chunk := range t.chunks {
		if err := relation.CheckBuffers(chunk, 8); err != nil {
			return nil, errCorrupt(c, err.Error())
		}
	}
	codes := t.buffer(len(t.ids))
	buffers := []*memory.Buffer{nil, codes}
	children := make([]arrow.ArrayData, dt.NumFields())
	err := gatherFixed[int8](t, codes)
	if err != nil {
		return t.result(err, 0, buffers)
	}
	ids := make([][]uint32, len(children)) // rows to gather from each child of a dense union
	if dt.Mode() == arrow.DenseMode {
		offsets := t.buffer(4 * len(t.ids))
		buffers = append(buffers, offsets)
		if ids, err = t.denseIDs(dt, relation.View[int8](codes.Bytes()), relation.View[int32](offsets.Bytes())); err != nil {
			return t.result(err, 0, buffers)
		}
	}
	for f := range children {
		if dt.Mode() == arrow.SparseMode {
			children[f], err = t.field(f, dt.Fields()[f])
		} else {
			children[f], err = gather(t.ctx, dt.Fields()[f].Type, t.children(f), ids[f], t.alloc)
		}
		if err != nil {
			break
		}
	}
	return t.result(err, 0, buffers, children...)
}

// denseIDs lists, for each child, the rows to gather from it, counted over all chunks, and sets the offset of the value
// of each row of the result.
func (t *taker) denseIDs(dt arrow.UnionType, codes []int8, places []int32) ([][]uint32, error) {
	ids := make([][]uint32, dt.NumFields())
	first := make([][]uint64, dt.NumFields())
	for f := range first {
		total := uint64(0)
		for _, chunk := range t.chunks {
			first[f] = append(first[f], total)
			total += uint64(chunk.Children()[f].Len())
		}
		if total > math.MaxUint32 {
			return nil, fmt.Errorf("%w: %d values in a field of a union, at most %d can be gathered from",
				backend.ErrUnsupported, total, uint32(math.MaxUint32))
		}
	}
	offsets := make([][]int32, len(t.chunks))
	for c, chunk := range t.chunks {
		offsets[c] = relation.View[int32](relation.BufferBytes(chunk, 2))
		if rows := chunk.Offset() + chunk.Len(); len(offsets[c]) < rows {
			return nil, errCorrupt(c, fmt.Sprintf("%d rows need as many offsets, there are %d", rows, len(offsets[c])))
		}
		offsets[c] = offsets[c][chunk.Offset():]
	}
	for i, id := range t.ids {
		if i%relation.BlockRows == 0 && t.ctx.Err() != nil {
			return nil, backend.ContextError(t.ctx)
		}
		chunk, row := t.Find(id)
		child := arrow.InvalidUnionChildID
		if codes[i] >= 0 {
			child = dt.ChildIDs()[codes[i]]
		}
		if child == arrow.InvalidUnionChildID {
			return nil, errCorrupt(chunk, fmt.Sprintf("row %d has type code %d", row, codes[i]))
		}
		offset := offsets[chunk][row]
		if offset < 0 || int(offset) >= t.chunks[chunk].Children()[child].Len() {
			return nil, errCorrupt(chunk, fmt.Sprintf("row %d has offset %d", row, offset))
		}
		places[i] = int32(len(ids[child]))
		ids[child] = append(ids[child], uint32(first[child][chunk])+uint32(offset))
	}
	return ids, nil
}
