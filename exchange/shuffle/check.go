package shuffle

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/spirjoin/spirjoin/relation"
)

// data checks an array. The caller releases it.
func (a *arrivingArray) data(p *plainArray, dictionary arrow.ArrayData) (arrow.ArrayData, error) {
	if a.buffers[0] != nil {
		if nulls := a.n - bitutil.CountSetBits(a.buffers[0].Bytes(), 0, a.n); nulls != a.nulls {
			return nil, malformed("%d NULLs, not %d", nulls, a.nulls)
		}
	}
	buffers := a.buffers[:2]
	switch p.shape {
	case shapeNone:
		buffers = a.buffers[:1]
	case shapeOffsets:
		ok := false
		if buffers = a.buffers[:]; p.sizeBytes == 4 {
			ok = rebase(relation.View[int32](buffers[1].Bytes()), buffers[2].Len())
		} else {
			ok = rebase(relation.View[int64](buffers[1].Bytes()), buffers[2].Len())
		}
		if !ok {
			return nil, malformed("offsets that descend, or go beyond the %d bytes of the values", buffers[2].Len())
		}
	case shapeIndex:
		if err := a.checkIndices(p, uint64(dictionary.Len())); err != nil {
			return nil, err
		}
		return array.NewDataWithDictionary(p.dtype, a.n, buffers, a.nulls, 0, dictionary.(*array.Data)), nil
	}
	return array.NewData(p.dtype, a.n, buffers, nil, a.nulls, 0), nil
}

// rebase makes offsets begin at 0, and reports whether they ascend and end with the values.
func rebase[O int32 | int64](offsets []O, sizeBytes int) bool {
	if len(offsets) == 0 {
		return true
	}
	first, before, descends := offsets[0], offsets[0], O(0)
	if first < 0 || int64(offsets[len(offsets)-1])-int64(first) != int64(sizeBytes) {
		return false
	}
	for i, offset := range offsets {
		descends |= (offset - before) | offset
		before, offsets[i] = offset, offset-first
	}
	return descends >= 0
}

// checkIndices checks that each index that is not NULL is less than the number of entries.
func (a *arrivingArray) checkIndices(p *plainArray, entries uint64) error {
	var validity []byte
	if a.buffers[0] != nil {
		validity = a.buffers[0].Bytes()
	}
	if bits := 8 * p.sizeBytes; !arrow.IsUnsignedInteger(p.index.ID()) { // a negative index is a large one
		entries = min(entries, 1<<(bits-1))
	}
	ok, of := false, a.buffers[1].Bytes()
	switch p.sizeBytes {
	case 1:
		ok = below(relation.View[uint8](of), validity, entries)
	case 2:
		ok = below(relation.View[uint16](of), validity, entries)
	case 4:
		ok = below(relation.View[uint32](of), validity, entries)
	default:
		ok = below(relation.View[uint64](of), validity, entries)
	}
	if !ok {
		return malformed("an index beyond the %d entries of a dictionary", entries)
	}
	return nil
}

func below[I uint8 | uint16 | uint32 | uint64](indices []I, validity []byte, entries uint64) bool {
	for i, index := range indices {
		if uint64(index) >= entries && (validity == nil || bitutil.BitIsSet(validity, i)) {
			return false
		}
	}
	return true
}
