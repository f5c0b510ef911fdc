package kernel

import "iter"

// Fields says what a word of 4 bytes holds that narrow columns share: from its lowest bit on values of 16 bits, then
// values of 8, then single bits. They fit the word.
type Fields struct {
	Shorts uint32
	Bytes  uint32
	Bits   uint32
}

// MaxFields is how many fields a word has at most.
const MaxFields = 32

// Count is the number of fields.
func (f Fields) Count() int { return int(f.Shorts + f.Bytes + f.Bits) }

// Width is how many bits of the word are taken.
func (f Fields) Width() uint32 { return 16*f.Shorts + 8*f.Bytes + f.Bits }

// Of yields the fields: number, lowest bit in the word, and bits.
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

// ColumnWords is how many 32-bit words the column of a field takes of rows values, one behind the other as Arrow has
// them, rounded up to 64 bytes. [UnpackWords] puts columns one behind the other that are as long.
func (f Field) ColumnWords(rows uint32) uint64 {
	perWord := uint64(32 / f.Bits)
	return ((uint64(rows)+perWord-1)/perWord + 15) &^ 15
}
