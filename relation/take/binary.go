package take

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
)

// layOut gathers the lengths of the rows and turns them into the offsets of the result. It returns the offsets, where
// the elements of each row start in their chunk, and the total number of elements. limit is the number of elements of
// each chunk. Errors: ErrBatchTooLarge, and backend.ErrInvalidInput for corrupt offsets.
func layOut[O int32 | int64](t *taker, sources []relation.Spans[O], limit []int) (
	offsets *memory.Buffer, starts []O, total int, err error) {
	var zero O
	buffer := t.buffer((len(t.ids) + 1) * int(unsafe.Sizeof(zero)))
	defer func() {
		if err != nil {
			buffer.Release()
		}
	}()
	relation.View[O](buffer.Bytes())[0] = 0
	ends := relation.View[O](buffer.Bytes())[1:]
	starts = make([]O, len(t.ids))
	before := make([]int64, (len(t.ids)+relation.BlockRows-1)/relation.BlockRows+1)
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		block, total := from/relation.BlockRows, int64(0)
		var places [relation.FetchRows]*[2]O
		var of [relation.FetchRows]int32 // index of the chunk
		var found [relation.FetchRows][2]O
		for ; from < to; from += relation.FetchRows {
			ids := t.ids[from:min(from+relation.FetchRows, to)]
			if chunk, row := t.Find(ids[0]); isRun(ids) && row+len(ids) <= t.chunks[chunk].Len() {
				n, ok := layOutRun(starts[from:], ends[from:], sources[chunk][row:][:len(ids)+1], limit[chunk])
				if !ok {
					return errCorrupt(chunk, fmt.Sprintf("offsets of the rows %d to %d are not in order", row, row+len(ids)-1))
				}
				total += n
				continue
			}
			for i, id := range ids {
				chunk, row := t.Find(id)
				places[i], of[i] = sources[chunk].Of(row), int32(chunk)
			}
			relation.Fetch(found[:], places[:len(ids)])
			for i, span := range found[:len(ids)] {
				start, end := span[0], span[1]
				if most := limit[of[i]]; start < 0 || end < start || int64(end) > int64(most) {
					return errCorrupt(int(of[i]), fmt.Sprintf("a row spans [%d, %d) of %d", start, end, most))
				}
				starts[from+i] = start
				ends[from+i] = end - start
				total += int64(end - start)
			}
		}
		before[block+1] = total
		return nil
	})
	if err != nil {
		return nil, nil, 0, err
	}
	for b := range before[1:] {
		before[b+1] += before[b]
	}
	total = int(before[len(before)-1])
	if unsafe.Sizeof(zero) == 4 && total > math.MaxInt32 {
		return nil, nil, 0, fmt.Errorf("%w: 32-bit offsets count to %d, %d are needed; gather fewer rows at a time",
			relation.ErrBatchTooLarge, math.MaxInt32, total)
	}
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		end := O(before[from/relation.BlockRows])
		for i := from; i < to; i++ {
			end += ends[i]
			ends[i] = end
		}
		return nil
	})
	return buffer, starts, total, err
}

// layOutRun sets the first element and the length of consecutive rows. It returns the number of elements; false if the
// offsets are not in order or beyond the limit.
func layOutRun[O int32 | int64](starts, lengths []O, offsets relation.Spans[O], limit int) (total int64, ok bool) {
	starts, lengths = starts[:len(offsets)-1], lengths[:len(offsets)-1]
	start, sign := offsets[0], offsets[0]
	for i, end := range offsets[1:] {
		starts[i], lengths[i] = start, end-start
		sign |= end | (end - start) // negative if any of them is
		start = end
	}
	return int64(start - offsets[0]), sign >= 0 && int64(start) <= int64(limit)
}

// gatherBinary gathers strings or byte strings.
func gatherBinary[O int32 | int64](t *taker) (arrow.ArrayData, error) {
	sources := make([]relation.Spans[O], len(t.chunks))
	values := make([][]byte, len(t.chunks))
	sizes := make([]int, len(t.chunks))
	for c, chunk := range t.chunks {
		var err error
		if sources[c], err = relation.SpansOf[O](chunk); err != nil {
			return nil, errCorrupt(c, err.Error())
		}
		values[c] = relation.BufferBytes(chunk, 2)
		sizes[c] = len(values[c])
	}
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	offsets, starts, total, err := layOut(t, sources, sizes)
	if err != nil {
		return t.result(err, nulls, []*memory.Buffer{validity})
	}
	data := t.buffer(total)
	out, ends, none := data.Bytes(), relation.View[O](offsets.Bytes())[1:], byte(0)
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		var found [runRows][]byte
		var places [runRows]*byte
		var firsts [runRows]byte
		end := relation.View[O](offsets.Bytes())[from]
		for at := from; at < to; at += len(found) {
			ids := t.ids[at:min(at+len(found), to)]
			if chunk, row := t.Find(ids[0]); isRun(ids) && row+len(ids) <= t.chunks[chunk].Len() {
				start := end
				end = ends[at+len(ids)-1]
				copy(out[start:end], values[chunk][starts[at]:]) // the bytes of consecutive rows follow one another
				continue
			}
			for i, id := range ids {
				chunk, _ := t.Find(id)
				found[i] = values[chunk][starts[at+i]:]
				if places[i] = &none; len(found[i]) > 0 {
					places[i] = &found[i][0]
				}
			}
			relation.Fetch(firsts[:], places[:len(ids)]) // brings them into the cache for the copies
			for i := range ids {
				start := end
				end = ends[at+i]
				copy(out[start:end], found[i])
			}
		}
		return nil
	})
	return t.result(err, nulls, []*memory.Buffer{validity, offsets, data})
}

// views gathers strings or byte strings in the view layout. Long values are copied, so that the result does not keep
// all data of the column alive.
func (t *taker) views() (arrow.ArrayData, error) {
	sources := make([][]arrow.ViewHeader, len(t.chunks))
	for c, chunk := range t.chunks {
		if err := relation.CheckBuffers(chunk, 8*arrow.ViewHeaderSizeBytes); err != nil {
			return nil, errCorrupt(c, err.Error())
		}
		sources[c] = relation.View[arrow.ViewHeader](relation.BufferBytes(chunk, 1))[chunk.Offset():]
	}
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	headers := t.buffer(len(t.ids) * arrow.ViewHeaderSizeBytes)
	out := relation.View[arrow.ViewHeader](headers.Bytes())
	// Bytes of long values before each block.
	before := make([]int64, (len(t.ids)+relation.BlockRows-1)/relation.BlockRows+1)
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		total := int64(0)
		for i := from; i < to; i++ {
			out[i] = arrow.ViewHeader{}
			if validity != nil && !bitutil.BitIsSet(validity.Bytes(), i) {
				continue
			}
			chunk, row := t.Find(t.ids[i])
			out[i] = sources[chunk][row]
			if out[i].Len() < 0 {
				return errCorrupt(chunk, fmt.Sprintf("row %d has length %d", row, out[i].Len()))
			}
			if !out[i].IsInline() {
				total += int64(out[i].Len())
			}
		}
		before[from/relation.BlockRows+1] = total
		return nil
	})
	for b := range before[1:] {
		before[b+1] += before[b]
	}
	long := before[len(before)-1]
	if err == nil && long > math.MaxInt32 {
		err = fmt.Errorf("%w: views count to %d bytes, %d are needed; gather fewer rows at a time", relation.ErrBatchTooLarge,
			math.MaxInt32, long)
	}
	if err != nil || long == 0 {
		return t.result(err, nulls, []*memory.Buffer{validity, headers})
	}
	data := t.buffer(int(long))
	err = relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		at := before[from/relation.BlockRows]
		for i := from; i < to; i++ {
			header := &out[i]
			if header.IsInline() {
				continue
			}
			chunk, row := t.Find(t.ids[i])
			index, start, n := int(header.BufferIndex()), int(header.BufferOffset()), header.Len()
			buffers := t.chunks[chunk].Buffers()[2:]
			if index < 0 || index >= len(buffers) || start < 0 || start+n > buffers[index].Len() {
				return errCorrupt(chunk, fmt.Sprintf("row %d views %d bytes at %d of buffer %d", row, n, start, index))
			}
			copy(data.Bytes()[at:][:n], buffers[index].Bytes()[start:])
			header.SetIndexOffset(0, int32(at))
			at += int64(n)
		}
		return nil
	})
	return t.result(err, nulls, []*memory.Buffer{validity, headers, data})
}
