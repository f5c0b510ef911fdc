package relation

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// indexed reads a dictionary chunk: the codes of the dictionary's entries are taken once, those of the rows by index.
type indexed struct {
	index   reader
	entries []uint64
	coded   []uint64 // bit i: entry i has a code, or is null
	all     bool
}

// readDictionary sets the chunk's reader. A row is null where its index is, or the entry that it points to; the second
// kind needs a validity bitmap of its own, made here.
func (k *keyChunk) readDictionary(chunk *array.Dictionary, c coding) error {
	dictionary := chunk.Dictionary()
	if err := checkBuffers(dictionary); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	index := newReader(chunk.Indices(), coding{domain: domainSigned, factor: 1})
	if u, ok := index.(*scaled[uint64]); ok {
		u.all = true // an index above 63 bits is caught below
	}
	entries := newReader(dictionary, c)
	n := dictionary.Len()
	r := &indexed{index: index, entries: make([]uint64, n), coded: fullBits(n)}
	copy(r.entries, entries.codes(r.entries, 0, n))
	entries.admit(r.coded, make([]uint64, n), 0, 0, n)
	for i := range n {
		if dictionary.IsNull(i) {
			setBit(r.coded, i)
		}
	}
	r.all = countBits(r.coded) == n
	k.reader = r

	var nulls []uint64
	var strip [stripRows]uint64
	for from := 0; from < k.rows; from += stripRows {
		for i, entry := range index.codes(strip[:], from, min(stripRows, k.rows-from)) {
			switch {
			case entry < uint64(n) && dictionary.IsValid(int(entry)), chunk.IsNull(from + i):
			case entry >= uint64(n):
				return fmt.Errorf("row %d has index %d into a dictionary of %d entries", from+i, int64(entry), n)
			default:
				if nulls == nil {
					nulls = fullBits(k.rows)
				}
				clearBit(nulls, from+i)
			}
		}
	}
	if nulls == nil {
		return nil
	}
	if k.validity != nil {
		andBits(nulls, 0, k.validity, k.offset, k.rows)
	}
	k.validity, k.offset = bitBytes(nulls), 0
	return nil
}

func (r *indexed) codes(scratch []uint64, from, n int) []uint64 {
	scratch = scratch[:n]
	for i, entry := range r.index.codes(scratch, from, n) {
		if entry < uint64(len(r.entries)) { // null rows may have any index
			scratch[i] = r.entries[entry]
		}
	}
	return scratch
}

func (r *indexed) filters() bool { return !r.all }

func (r *indexed) admit(mask, scratch []uint64, at, from, n int) {
	for i, entry := range r.index.codes(scratch, from, n) {
		if entry < uint64(len(r.entries)) && !hasBit(r.coded, int(entry)) {
			clearBit(mask, at+i)
		}
	}
}
