package take

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// structs gathers each field with the same ids.
func (t *taker) structs(dt *arrow.StructType) (arrow.ArrayData, error) {
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	children := make([]arrow.ArrayData, dt.NumFields())
	for f := range children {
		if children[f], err = t.field(f, dt.Field(f)); err != nil {
			break
		}
	}
	return t.result(err, nulls, []*memory.Buffer{validity}, children...)
}

// field gathers one child of a struct or a sparse union, which has the rows of its parent.
func (t *taker) field(f int, field arrow.Field) (arrow.ArrayData, error) {
	children := t.children(f)
	for c, chunk := range t.chunks {
		rows := chunk.Offset() + chunk.Len()
		if children[c].Len() < rows {
			return nil, errCorrupt(c, fmt.Sprintf("field %q has %d of %d rows", field.Name, children[c].Len(), rows))
		}
		children[c] = array.NewSliceData(children[c], int64(chunk.Offset()), int64(rows))
		defer children[c].Release()
	}
	taken, err := gather(t.ctx, field.Type, children, t.ids, t.alloc)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", field.Name, err)
	}
	return taken, nil
}

// children returns child f of each chunk.
func (t *taker) children(f int) []arrow.ArrayData {
	children := make([]arrow.ArrayData, len(t.chunks))
	for c, chunk := range t.chunks {
		children[c] = chunk.Children()[f]
	}
	return children
}

// elements returns the child arrays of the chunks, and the number of the first element of each, counted over all
// chunks. ok is false if there are too many elements to be numbered.
func (t *taker) elements() (children []arrow.ArrayData, first []uint64, ok bool) {
	children = t.children(0)
	total := uint64(0)
	for _, child := range children {
		first = append(first, total)
		total += uint64(child.Len())
	}
	return children, first, total <= math.MaxUint32
}

// gatherLists gathers lists and maps: first the lengths, then all elements by number.
func gatherLists[O int32 | int64](t *taker, elem arrow.DataType) (arrow.ArrayData, error) {
	children, first, ok := t.elements()
	if !ok {
		return t.runs()
	}
	sources := make([]relation.Spans[O], len(t.chunks))
	sizes := make([]int, len(t.chunks))
	for c, chunk := range t.chunks {
		var err error
		if sources[c], err = relation.SpansOf[O](chunk); err != nil {
			return nil, errCorrupt(c, err.Error())
		}
		sizes[c] = children[c].Len()
	}
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	offsets, starts, total, err := layOut(t, sources, sizes)
	if err != nil {
		return t.result(err, nulls, []*memory.Buffer{validity})
	}
	ids, ends := make([]uint32, total), relation.View[O](offsets.Bytes())[1:]
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		at := relation.View[O](offsets.Bytes())[from]
		for i := from; i < to; i++ {
			chunk, _ := t.Find(t.ids[i])
			for element := uint32(first[chunk]) + uint32(starts[i]); at < ends[i]; at++ {
				ids[at] = element
				element++
			}
		}
		return nil
	})
	var values arrow.ArrayData
	if err == nil {
		values, err = gather(t.ctx, elem, children, ids, t.alloc)
	}
	return t.result(err, nulls, []*memory.Buffer{validity, offsets}, values)
}

// fixedLists gathers lists of one length.
func (t *taker) fixedLists(dt *arrow.FixedSizeListType) (arrow.ArrayData, error) {
	children, first, ok := t.elements()
	if !ok {
		return t.runs()
	}
	n := int(dt.Len())
	for c, chunk := range t.chunks {
		if rows := chunk.Offset() + chunk.Len(); children[c].Len() < rows*n {
			return nil, errCorrupt(c, fmt.Sprintf("%d rows need %d elements, there are %d", rows, rows*n,
				children[c].Len()))
		}
	}
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	ids := make([]uint32, len(t.ids)*n)
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		for i := from; i < to; i++ {
			chunk, row := t.Find(t.ids[i])
			element := uint32(first[chunk]) + uint32((t.chunks[chunk].Offset()+row)*n)
			for j := range n {
				ids[i*n+j] = element + uint32(j)
			}
		}
		return nil
	})
	var values arrow.ArrayData
	if err == nil {
		values, err = gather(t.ctx, dt.Elem(), children, ids, t.alloc)
	}
	return t.result(err, nulls, []*memory.Buffer{validity}, values)
}

// dictionary gathers the indices. All chunks must have the same dictionary; otherwise they are unified. An empty
// dictionary, whose chunk has only nulls, is compatible with any.
func (t *taker) dictionary(dt *arrow.DictionaryType) (arrow.ArrayData, error) {
	chunks := make([]arrow.Array, len(t.chunks))
	same, used := true, 0 // the first chunk with entries
	for used < len(t.chunks)-1 && t.chunks[used].Dictionary().Len() == 0 {
		used++
	}
	dictionary := array.MakeFromData(t.chunks[used].Dictionary())
	defer dictionary.Release()
	for c, chunk := range t.chunks {
		plain := array.NewDataWithDictionary(dt, chunk.Len(), chunk.Buffers(), chunk.NullN(), chunk.Offset(),
			chunk.Dictionary().(*array.Data))
		chunks[c] = array.MakeFromData(plain)
		plain.Release()
		defer chunks[c].Release()
		same = same && (chunk.Dictionary().Len() == 0 || chunk.Dictionary() == t.chunks[used].Dictionary() ||
			array.Equal(dictionary, chunks[c].(*array.Dictionary).Dictionary()))
	}
	if !same {
		differing := arrow.NewChunked(dt, chunks)
		defer differing.Release()
		unified, err := array.UnifyChunkedDicts(t.alloc, differing)
		if err != nil { // arrow-go supports few types
			return t.joinedDictionaries(dt)
		}
		defer unified.Release()
		for c, chunk := range unified.Chunks() {
			t.chunks[c] = chunk.Data()
		}
		used = 0
	}
	indices, err := t.fixed(dt.Bytes())
	if err != nil {
		return nil, err
	}
	indices.(*array.Data).SetDictionary(t.chunks[used].Dictionary())
	return indices, nil
}

// joinedDictionaries gathers indices into the concatenation of all dictionaries, in which entries may occur more than
// once.
func (t *taker) joinedDictionaries(dt *arrow.DictionaryType) (arrow.ArrayData, error) {
	var entries []arrow.ArrayData
	starts, all := make([]uint64, len(t.chunks)), uint64(0)
	for c, chunk := range t.chunks {
		starts[c] = all
		if of := chunk.Dictionary(); of.Len() > 0 {
			entries, all = append(entries, of), all+uint64(of.Len())
		}
	}
	index := dt.IndexType.(arrow.FixedWidthDataType)
	bits := index.BitWidth()
	if !arrow.IsUnsignedInteger(index.ID()) {
		bits--
	}
	if all-1 > min(math.MaxUint32, ^uint64(0)>>(64-bits)) {
		return nil, fmt.Errorf("%w: the dictionaries of the chunks have %d entries together, "+
			"too many for an index of type %s",
			backend.ErrUnsupported, all, index)
	}
	ids := make([]uint32, all)
	for i := range ids {
		ids[i] = uint32(i)
	}
	dictionary, err := gather(t.ctx, dt.ValueType, entries, ids, t.alloc)
	if err != nil {
		return nil, err
	}
	defer dictionary.Release()
	indices, err := t.fixed(dt.Bytes())
	if err != nil {
		return nil, err
	}
	switch values := indices.Buffers()[1].Bytes(); dt.Bytes() {
	case 1:
		err = addStarts(t, values, starts)
	case 2:
		err = addStarts(t, relation.View[uint16](values), starts)
	case 4:
		err = addStarts(t, relation.View[uint32](values), starts)
	default:
		err = addStarts(t, relation.View[uint64](values), starts)
	}
	if err != nil {
		indices.Release()
		return nil, err
	}
	indices.(*array.Data).SetDictionary(dictionary)
	return indices, nil
}

// addStarts adds to each index the position of the first entry of its chunk. Indices of nulls may be anything.
func addStarts[I uint8 | uint16 | uint32 | uint64](t *taker, indices []I, starts []uint64) error {
	return relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		for i, id := range t.ids[from:to] {
			chunk, _ := t.Find(id)
			indices[from+i] += I(starts[chunk])
		}
		return nil
	})
}
