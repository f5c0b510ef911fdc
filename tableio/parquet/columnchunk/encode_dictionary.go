package columnchunk

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	maxEntries         = 1 << 16 // indices have 16 bits
	maxDictionaryBytes = 2 << 20 // of texts
	sampleBlocks       = 512
	sampleBlock        = 8 // values side by side, so that runs of equal values are seen
)

// table numbers distinct keys of 64 bits, whose high bits must be well mixed, by open addressing.
type table struct {
	slots, old []slot
	shift      int // from a key to the slot at which its search begins
	mask       int // slots in use, less 1
	used       int

	seed     uint64
	textSeed maphash.Seed
}

type slot struct {
	key  uint64
	code uint32 // number of the key plus 1; 0: free
}

const leastSlotBits, mostSlotBits = 10, 17 // the latter leave half of the slots free

func (t *table) reset() {
	if t.slots == nil {
		t.slots = make([]slot, 1<<mostSlotBits)
		t.textSeed = maphash.MakeSeed()
		t.seed = maphash.Comparable(t.textSeed, 0)
	}
	t.used = 0
	t.clear(leastSlotBits)
}

func (t *table) clear(slotBits int) {
	t.shift, t.mask = 64-slotBits, 1<<slotBits-1
	clear(t.slots[:t.mask+1])
}

// insert gives a key the next number, at a free slot where its search ended.
func (t *table) insert(at int, key uint64) {
	t.used++
	t.slots[at] = slot{key, uint32(t.used)}
	if t.used*2 <= t.mask || t.shift == 64-mostSlotBits {
		return
	}
	t.old = append(t.old[:0], t.slots[:t.mask+1]...)
	t.clear(min(64-t.shift+3, mostSlotBits))
	for _, s := range t.old {
		if s.code != 0 {
			at := int(s.key >> t.shift)
			for t.slots[at].code != 0 {
				at = (at + 1) & t.mask
			}
			t.slots[at] = s
		}
	}
}

// number returns the number of an integer or of the bits of a float, a new one if it has none.
func (t *table) number(v uint64) uint32 {
	key := (v ^ t.seed) * 0x9E37_79B9_7F4A_7C15 // no two values have the same
	at := int(key >> t.shift)
	for t.slots[at].code != 0 {
		if t.slots[at].key == key {
			return t.slots[at].code - 1
		}
		at = (at + 1) & t.mask
	}
	t.insert(at, key)
	return uint32(t.used - 1)
}

// repeats tells by a sample whether at least a tenth of the values repeat others. number numbers a value in the table.
//
// The sample has blocks, each anywhere in its share of the values: regular steps could miss repetitions that are
// regular, too. A quarter of the sample suffices if it is clear.
func repeats[T any](t *table, values []T, number func(T)) bool {
	t.reset()
	defer t.reset()
	seen, share := 0, len(values)/sampleBlocks
	for i := range sampleBlocks {
		if i == sampleBlocks/4 && (t.used*100 > seen*99 || t.used*2 < seen) {
			break
		}
		block := i * 197 % sampleBlocks // all blocks, the blocks of each quarter spread
		begin := block * sampleBlock
		if share > sampleBlock {
			jitter, _ := bits.Mul64(uint64(i*i)*0x9E37_79B9_7F4A_7C15, uint64(share-sampleBlock+1))
			begin = block*share + int(jitter)
		}
		for k := begin; k < min(begin+sampleBlock, len(values)); k++ {
			number(values[k])
			seen++
		}
	}
	return t.used*10 <= seen*9
}

// paysOff compares the bytes of a dictionary and its indices with the bytes of the values alone.
func paysOff(values, plainBytes, entries, dictionaryBytes int) bool {
	return dictionaryBytes+values*indexWidth(entries)/8 < plainBytes
}

// lookUp finds the entry of each row that is not null. Rows of entries that are null become null.
func (e *Encoder) lookUp(index arrow.DataType) error {
	dictionaries := e.entries.parts[:0]
	for _, part := range e.rows.parts {
		dictionary := part.Dictionary()
		if dictionary == nil {
			return errors.New("indices without a dictionary")
		}
		if n := len(dictionaries); n == 0 || !sameData(dictionaries[n-1], dictionary) {
			dictionaries = append(dictionaries, dictionary)
		}
	}
	e.entries.parts = dictionaries
	e.entries.findNulls()
	if e.entries.nulls > 0 {
		rank := uint32(0)
		for i := range grow(&e.rank, e.entries.rows) {
			e.rank[i] = rank
			if e.entries.isValid(i) {
				rank++
			}
		}
	}
	e.positions = slices.Grow(e.positions[:0], e.rows.rows)
	dictionary, begin, row := 0, 0, 0
	for _, part := range e.rows.parts {
		if !sameData(dictionaries[dictionary], part.Dictionary()) {
			begin += dictionaries[dictionary].Len()
			dictionary++
		}
		if err := e.lookUpPart(index, part, row, begin); err != nil {
			return err
		}
		row += part.Len()
	}
	return nil
}

func (e *Encoder) lookUpPart(index arrow.DataType, part arrow.ArrayData, row, begin int) error {
	switch index.ID() {
	case arrow.INT8:
		return lookUp(e, slots[int8](part), part, row, begin)
	case arrow.UINT8:
		return lookUp(e, slots[uint8](part), part, row, begin)
	case arrow.INT16:
		return lookUp(e, slots[int16](part), part, row, begin)
	case arrow.UINT16:
		return lookUp(e, slots[uint16](part), part, row, begin)
	case arrow.INT32:
		return lookUp(e, slots[int32](part), part, row, begin)
	case arrow.UINT32:
		return lookUp(e, slots[uint32](part), part, row, begin)
	case arrow.INT64:
		return lookUp(e, slots[int64](part), part, row, begin)
	case arrow.UINT64:
		return lookUp(e, slots[uint64](part), part, row, begin)
	}
	return fmt.Errorf("indices of type %s", index)
}

func lookUp[I anyInteger](e *Encoder, indices []I, part arrow.ArrayData, row, begin int) error {
	entries := uint64(part.Dictionary().Len())
	for i, index := range indices {
		if !e.rows.isValid(row + i) {
			continue
		}
		if uint64(index) >= entries {
			return fmt.Errorf("index %d of a dictionary of %d entries", index, entries)
		}
		position := begin + int(index)
		if e.entries.nulls > 0 {
			if !e.entries.isValid(position) {
				e.rows.setNull(row + i)
				continue
			}
			position = int(e.rank[position])
		}
		e.positions = append(e.positions, uint32(position))
	}
	return nil
}

// sameData tells whether two arrays are the same memory.
func sameData(a, b arrow.ArrayData) bool {
	return a == b || a.Offset() == b.Offset() && a.Len() == b.Len() && slices.Equal(a.Buffers(), b.Buffers()) &&
		a.Dictionary() == b.Dictionary()
}

// indexPositions turns positions into indices of the distinct entries among them, in order of appearance. number gives
// the number of an entry's value, and false if there are too many.
func (e *Encoder) indexPositions(entries int, number func(entry uint32) (uint32, bool)) bool {
	codes := grow(&e.codes, entries) // number plus 1
	clear(codes)
	indices := grow(&e.indices, len(e.positions))
	for i, position := range e.positions {
		code := codes[position]
		if code == 0 {
			n, ok := number(position)
			if !ok {
				return false
			}
			code = n + 1
			codes[position] = code
		}
		indices[i] = uint16(code - 1)
	}
	return true
}

// pick lays the values at the positions side by side.
func pick[T any](to, values []T, positions []uint32) []T {
	for i, position := range positions {
		to[i] = values[position]
	}
	return to[:len(positions)]
}
