package kernel

import "iter"

// Fields describes a 4-byte word that narrow columns share. It holds, from its lowest bit on, 16-bit values, then 8-bit
// values, then single bits, which together must fit the word.
type Fields struct {
	Shorts uint32
	Bytes  uint32
	Bits   uint32
}

// MaxFields is the maximum number of fields of a word.
const MaxFields = 32

// Count is the number of fields.
func (f Fields) Count() int { return int(f.Shorts + f.Bytes + f.Bits) }

// Width is the number of bits used.
func (f Fields) Width() uint32 { return 16*f.Shorts + 8*f.Bytes + f.Bits }

// Of yields the number and the position of each field.
func (f Fields) Of() iter.Seq2[int, Field] {
	return func(yield func(int, Field) bool) {
		place := uint32(0)
		for i := range f.Count() {
			field := Field{place, 1}
			if n := uint32(i); n < f.Shorts {
				field.Bits = 16
			} else if n < f.Shorts+f.Bytes {
				field.Bits = 8
			}
			if !yield(i, field) {
				return
			}
			place += field.Bits
		}
	}
}

// Field is the bits [Place, Place+Bits) of a word.
type Field struct{ Place, Bits uint32 }

// ColumnWords is the number of 32-bit words that rows values of the field take as a column in Arrow's layout, rounded
// up to 64 bytes. [UnpackWords] writes columns of this length one after the other.
func (f Field) ColumnWords(rows uint32) uint64 {
	perWord := uint64(32 / f.Bits)
	return ((uint64(rows)+perWord-1)/perWord + 15) &^ 15
}
