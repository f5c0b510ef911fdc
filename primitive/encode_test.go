package primitive_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Codes of three columns are packed from any row on, in any order: a byte, bits of which some are NULL, and the low
// words of values of 128 bits.
func TestEncodeKeys(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(15, 16))
		for _, rows := range r.sizesAround("words") {
			const first = 13 // the row with which codes begin, in every column
			bytes, bits, valid := make([]uint32, (rows+first)/4+1), make([]uint32, (rows+first)/32+1), make([]uint32,
				(rows+first)/32+1)
			wide := make([]uint64, 2*(rows+first))
			for _, column := range [][]uint32{bytes, bits, valid} {
				for i := range column {
					column[i] = random.Uint32()
				}
			}
			for i := range wide {
				wide[i] = 1<<40 + random.Uint64N(1<<20)
			}
			const span = 1 << 19 // beyond which bit 31 is set
			want := make([]uint64, rows)
			for i := range want {
				row := i + first
				bit := uint64(bits[row/32] >> (row % 32) & 1)
				if valid[row/32]>>(row%32)&1 == 0 {
					bit = 2
				}
				want[i] = uint64(bytes[row/4]>>(row%4*8)&255)<<22 | bit<<20 | (wide[2*row] - 1<<40)
				if wide[2*row]-1<<40 > span {
					want[i] |= 1 << 31
				}
			}
			of := func(bits, meaning uint32) kernel.KeyValues {
				return kernel.KeyValues{ValueBits: bits, Meaning: meaning}
			}
			unsigned := uint32(kernel.Unsigned)
			bytesAt, bitsAt, validAt, wideAt := column(r, bytes), column(r, bits), column(r, valid), column(r, wide)
			for _, keyBytes := range []int{4, 8} {
				codes := r.empty(uint64((rows + 3) * keyBytes))
				part := codes.Range(uint64(3*keyBytes), uint64(rows*keyBytes))
				r.run(func(list *backend.List) error {
					list.Fill(codes.All(), 0xffffffff)
					if err := r.ops.EncodeKeys(list, primitive.KeyCoding{KeyValues: of(1, unsigned), Null: 2, Shift: 20},
						primitive.KeyRows{Values: bitsAt.All(), FirstValue: first, Validity: validAt.All(), FirstValid: first,
							Codes: part, KeyBytes: keyBytes}); err != nil {
						return err
					}
					if err := r.ops.EncodeKeys(list, primitive.KeyCoding{KeyValues: of(8, unsigned), Shift: 22},
						primitive.KeyRows{Values: bytesAt.Range(12, uint64(len(bytes)*4-12)), FirstValue: 1, Codes: part,
							KeyBytes: keyBytes, Merge: true}); err != nil {
						return err
					}
					return r.ops.EncodeKeys(list, primitive.KeyCoding{KeyValues: of(128, kernel.Signed), Least: 1 << 40, Marked: true,
						Span: span, Mark: 31},
						primitive.KeyRows{Values: wideAt.Range(13*16, uint64(rows*16)), Codes: part, KeyBytes: keyBytes,
							Merge: true})
				})
				if keyBytes == 8 {
					require.Equal(r, want, values[uint64](r, part, rows))
					continue
				}
				narrow := make([]uint32, rows)
				for i, code := range want {
					narrow[i] = uint32(code)
				}
				require.Equal(r, narrow, values[uint32](r, part, rows))
				require.Equal(r, slices.Repeat([]uint32{0xffffffff}, 3), values[uint32](r, codes.Range(0, 12), 3))
			}
		}
	})
}
