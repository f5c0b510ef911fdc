package keys

import (
	"iter"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Encoded is a key column of one side whose codes a device makes from Arrow's values.
type Encoded struct {
	Name string
	primitive.KeyCoding

	Nullable bool // NULL is a value, so that validity bits matter

	column *keyColumn
}

// OnDevice reports whether a device can make the codes of a side ([Plan.Encoded]): of integers, booleans,
// times and decimals in their own unit, and of floats compared with floats. The host makes codes that take a division,
// a dictionary or the bytes of a text.
func (p *Plan) OnDevice(side relation.Side) bool {
	for k := range p.keys {
		if _, ok := p.keys[k].values(side); (p.keys[k].bits > 0 || p.marked) && !ok {
			return false
		}
	}
	return !p.hashed
}

// values describes the values of a side's column. ok is false if kernels cannot encode them.
func (k *key) values(side relation.Side) (v kernel.KeyValues, ok bool) {
	t := &k.sides[side]
	v.ValueBits = uint32(relation.WordBits(t.dtype))
	switch c := &t.coding; {
	case c.method == methodRank && c.domain == domainFloat32:
		v.Meaning = kernel.RankSingle
	case c.method == methodRank:
		v.Meaning = kernel.RankDouble
	case c.method == methodScale && !t.trait.Unsigned:
		v.Meaning = kernel.Signed
	case c.method != methodScale:
		return v, false
	}
	return v, v.ValueBits > 0
}

// Encoded returns the key columns of a side, without those whose value is constant on both, for a device that makes the
// codes.
// [Plan.OnDevice] must be true.
func (p *Plan) Encoded(side relation.Side) (keys []Encoded) {
	shift, mark := p.bits, 0
	if p.marked {
		shift--
		mark = shift
	}
	for k := range p.keys {
		key := &p.keys[k]
		if shift -= key.bits; key.bits == 0 && !p.marked {
			continue
		}
		values, _ := key.values(side)
		column := p.sides[side].columns[k]
		keys = append(keys, Encoded{key.sides[side].name,
			primitive.KeyCoding{KeyValues: values, Least: key.extent.min, Null: key.extent.nullCode(),
				Shift: uint32(shift), Marked: p.marked, Span: key.extent.max - key.extent.min, Mark: uint32(mark)},
			key.extent.null, column})
	}
	return keys
}

// RowBits returns the bits per row in Arrow's buffers.
func (k *Encoded) RowBits() int {
	if k.Nullable {
		return int(k.ValueBits) + 1
	}
	return int(k.ValueBits)
}

// Alignment returns the alignment in bytes of values that kernels read.
func (k *Encoded) Alignment() uint64 { return max(4, uint64(k.ValueBits)/8) }

// Imported reports whether a device can read all values, and validity if NULL is a value, from imported memory
// ([backend.Device.Imported]).
func (k *Encoded) Imported(device *backend.Device) bool {
	imported := func(b []byte, alignment uint64) bool {
		r, ok := device.Imported(b, alignment)
		if ok {
			r.Buffer.Release()
		}
		return ok
	}
	for _, chunk := range k.column.chunks {
		if !imported(relation.BufferBytes(chunk.values.Data(), 1), k.Alignment()) ||
			k.Nullable && chunk.validity != nil && !imported(chunk.validity, 4) {
			return false
		}
	}
	return true
}

// Part is a range of rows of one chunk of a key column, in Arrow's format.
type Part struct {
	At, Rows int // first row, relative to the first requested one, and number of rows
	// Values begin with a whole 4-byte word; the first value is number FirstValue from there. The same holds for
	// Validity and FirstValid; Validity is nil if no row is NULL.
	Values, Validity       []byte
	FirstValue, FirstValid uint32
}

// Parts yields the rows [from, to), at most [relation.StageRows] per part.
func (k *Encoded) Parts(from, to int) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for first := from; first < to; first += relation.StageRows {
			for s := range k.column.segments(first, min(to, first+relation.StageRows)) {
				data := s.values.Data()
				part := Part{At: first + s.at - from, Rows: s.n}
				part.Values, part.FirstValue = wholeWords(relation.BufferBytes(data, 1), data.Offset()+s.from, s.n,
					int(k.ValueBits))
				if k.Nullable && s.validity != nil {
					part.Validity, part.FirstValid = wholeWords(s.validity, s.offset+s.from, s.n, 1)
				}
				if !yield(part) {
					return
				}
			}
		}
	}
}

// wholeWords returns the bytes of n values of bits bits, from value first on, extended to the start of a 4-byte word,
// and the number of value first in them.
func wholeWords(b []byte, first, n, bits int) (words []byte, number uint32) {
	from := first * bits / 32 * 4
	return b[from : ((first+n)*bits+7)/8], uint32(first - from*8/bits)
}

// PartBytes returns the device memory for the values and the validity of a part of at most rows rows, including the
// other values in the same 4-byte words. Both begin at multiples of [StageAlignment].
func (k *Encoded) PartBytes(rows uint64) (sizeBytes uint64) {
	for _, bits := range []uint64{uint64(k.ValueBits), 1} {
		sizeBytes += (rows*bits+7)/8 + 8 + StageAlignment
	}
	return backend.Aligned(sizeBytes)
}

// StageBytes returns the device memory to stage rows rows, at most two parts at a time.
func (k *Encoded) StageBytes(rows uint64) uint64 {
	if rows <= relation.StageRows {
		return k.PartBytes(rows)
	}
	return 2 * k.PartBytes(relation.StageRows)
}

// StageAlignment is the alignment of staged values in bytes, a multiple of the size of every value.
const StageAlignment = 32
