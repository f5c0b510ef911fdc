package take

import (
	"math/bits"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
)

// fixed gathers values of rowBytes bytes.
func (t *taker) fixed(rowBytes int) (arrow.ArrayData, error) {
	for c, chunk := range t.chunks {
		if err := relation.CheckBuffers(chunk, 8*rowBytes); err != nil {
			return nil, errCorrupt(c, err.Error())
		}
	}
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	values := t.buffer(len(t.ids) * rowBytes)
	switch rowBytes {
	case 1:
		err = gatherFixed[uint8](t, values)
	case 2:
		err = gatherFixed[uint16](t, values)
	case 4:
		err = gatherFixed[uint32](t, values)
	case 8:
		err = gatherFixed[uint64](t, values)
	case 16:
		err = gatherFixed[[2]uint64](t, values)
	case 32:
		err = gatherFixed[[4]uint64](t, values)
	default:
		err = t.anyWidth(values, rowBytes)
	}
	return t.result(err, nulls, []*memory.Buffer{validity, values})
}

func gatherFixed[T any](t *taker, values *memory.Buffer) error {
	out := relation.View[T](values.Bytes())
	sources := make([][]T, len(t.chunks))
	for c, chunk := range t.chunks {
		sources[c] = relation.View[T](relation.BufferBytes(chunk, 1))[chunk.Offset():][:chunk.Len()]
	}
	return relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		gatherValues(t, out[from:to], sources, t.ids[from:to])
		return nil
	})
}

func gatherValues[T any](t *taker, out []T, sources [][]T, ids []uint32) {
	out = out[:len(ids)]
	for i := 0; i < len(ids); {
		n := min(len(ids)-i, runRows)
		if chunk, row := t.Find(ids[i]); isRun(ids[i:i+n]) && row+n <= len(sources[chunk]) {
			copy(out[i:i+n], sources[chunk][row:])
		} else {
			gatherScattered(t, out[i:i+n], sources, ids[i:i+n])
		}
		i += n
	}
}

func gatherScattered[T any](t *taker, out []T, sources [][]T, ids []uint32) {
	out = out[:len(ids)]
	if len(sources) == 1 {
		source := sources[0]
		for i, id := range ids {
			out[i] = source[id]
		}
		return
	}
	var places [runRows]*T
	for i, id := range ids {
		chunk, row := t.Find(id)
		places[i] = &sources[chunk][row]
	}
	relation.Fetch(out, places[:len(ids)])
}

func (t *taker) anyWidth(values *memory.Buffer, rowBytes int) error {
	out := values.Bytes()
	return relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		for i := from; i < to; i++ {
			chunk, row := t.Find(t.ids[i])
			source := relation.BufferBytes(t.chunks[chunk], 1)
			copy(out[i*rowBytes:][:rowBytes], source[(t.chunks[chunk].Offset()+row)*rowBytes:])
		}
		return nil
	})
}

func (t *taker) bools() (arrow.ArrayData, error) {
	for c, chunk := range t.chunks {
		if err := relation.CheckBuffers(chunk, 1); err != nil {
			return nil, errCorrupt(c, err.Error())
		}
	}
	validity, nulls, err := t.validity()
	if err != nil {
		return nil, err
	}
	values, _, err := t.bitmap(1)
	return t.result(err, nulls, []*memory.Buffer{validity, values})
}

// validity gathers the validity bits: nil and 0 if every gathered row is valid.
func (t *taker) validity() (buffer *memory.Buffer, nulls int, err error) {
	some := false
	for c, chunk := range t.chunks {
		if err := relation.CheckValidity(chunk); err != nil {
			return nil, 0, errCorrupt(c, err.Error())
		}
		some = some || relation.MayHaveNulls(chunk)
	}
	if !some {
		return nil, 0, nil
	}
	buffer, ones, err := t.bitmap(0)
	if err == nil && ones == len(t.ids) {
		buffer.Release()
		buffer = nil
	}
	return buffer, len(t.ids) - ones, err
}

// bitmap gathers the bits of buffer index of the chunks and counts the ones. The validity of a chunk without nulls is
// all ones, whatever its buffer holds.
func (t *taker) bitmap(index int) (*memory.Buffer, int, error) {
	sources := make([][]byte, len(t.chunks))
	for c, chunk := range t.chunks {
		if index != 0 || relation.MayHaveNulls(chunk) {
			sources[c] = relation.BufferBytes(chunk, index)
		}
	}
	buffer := t.buffer((len(t.ids) + 63) / 64 * 8)
	words := relation.View[uint64](buffer.Bytes())
	all := byte(1)
	var ones atomic.Int64
	err := relation.ForBlocks(t.ctx, len(t.ids), func(from, to int) error {
		count := 0
		for first := from; first < to; first += 64 {
			ids := t.ids[first:min(first+64, to)]
			var places [64]*byte
			var shifts [64]uint8
			for i, id := range ids {
				chunk, row := t.Find(id)
				if places[i] = &all; sources[chunk] != nil {
					row += t.chunks[chunk].Offset()
					places[i], shifts[i] = &sources[chunk][row>>3], uint8(row&7)
				}
			}
			var bytes [64]byte
			relation.Fetch(bytes[:], places[:len(ids)])
			word := uint64(0)
			for i := range ids {
				word |= uint64(bytes[i]>>shifts[i]&1) << i
			}
			words[first/64] = word
			count += bits.OnesCount64(word)
		}
		ones.Add(int64(count))
		return nil
	})
	if err != nil {
		buffer.Release()
		return nil, 0, err
	}
	return buffer, int(ones.Load()), nil
}
