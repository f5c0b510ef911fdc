package keys

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// indexed reads a dictionary chunk: the entries of the dictionary are encoded once, and rows look their codes up by
// index.
type indexed struct {
	index   reader
	entries []uint64
	texts   []string // of the entries, if codes are hashes
	coded   []uint64 // bit i: entry i has a code, or is null
	all     bool
	beyond  bool // some entry has more than 64 bits
}

// readDictionary sets the reader of the chunk. A row is null if its index is null, or the entry that it points to. For
// the latter, the chunk gets its own validity bitmap.
func (k *keyChunk) readDictionary(chunk *array.Dictionary, c coding) error {
	dictionary := chunk.Dictionary()
	read, err := newKeyChunk(dictionary, c)
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	index, entries := newReader(chunk.Indices(), coding{domain: domainSigned, factor: 1}), read.reader
	n := dictionary.Len()
	r := &indexed{index: index, entries: make([]uint64, n), coded: fullBits(n)}
	if source, ok := entries.(texts); ok && c.method == methodText {
		r.texts = make([]string, n)
		for i := range r.texts {
			r.texts[i] = source.text(i)
		}
	}
	copy(r.entries, entries.codes(r.entries, 0, n))
	if entries.filters() {
		r.beyond = entries.admit(r.coded, make([]uint64, n), 0, 0, n) > 0
	}
	for i := range n {
		if dictionary.IsNull(i) {
			setBit(r.coded, i)
		}
	}
	r.all = countBits(r.coded) == n
	k.reader = r

	most := uint64(0)
	var strip [StripRows]uint64
	for from := 0; from < k.rows; from += StripRows {
		for _, entry := range index.codes(strip[:], from, min(StripRows, k.rows-from)) {
			most = max(most, entry)
		}
	}
	if most < uint64(n) && dictionary.NullN() == 0 {
		return nil
	}
	var nulls []uint64
	for i := range k.rows {
		switch entry := index.codes(strip[:], i, 1)[0]; {
		case chunk.IsNull(i): // its index may be anything
		case entry >= uint64(n):
			return fmt.Errorf("row %d has index %d into a dictionary of %d entries", i, int64(entry), n)
		case dictionary.IsNull(int(entry)):
			if nulls == nil {
				nulls = fullBits(k.rows)
			}
			clearBit(nulls, i)
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

func (r *indexed) admit(mask, scratch []uint64, at, from, n int) (beyond int) {
	for i, entry := range r.index.codes(scratch, from, n) {
		if entry < uint64(len(r.entries)) && !hasBit(r.coded, int(entry)) {
			if r.beyond && hasBit(mask, at+i) {
				beyond++
			}
			clearBit(mask, at+i)
		}
	}
	return beyond
}
