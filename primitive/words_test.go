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

// Words are unpacked from any row on, and packed again they are the same.
func TestPackAndUnpackWords(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(11, 12))
		for _, rows := range r.sizesAround("words") {
			for _, fields := range []kernel.Fields{{Bits: 1}, {Bits: 32}, {Shorts: 1, Bytes: 1, Bits: 8}} {
				first, words := random.IntN(70), make([]uint32, rows+70)
				for i := range words {
					words[i] = random.Uint32() & uint32(1<<fields.Width()-1)
				}
				size, origins, bits := uint64(0), []uint32(nil), make([]uint32, fields.Bits)
				for n, field := range fields.Of() {
					origins = append(origins, uint32(size), 0)
					size += field.ColumnWords(uint32(rows))
					for _, word := range words[first:][:rows] {
						if field.Bits == 1 {
							bits[n-int(fields.Shorts+fields.Bytes)] += word >> field.Place & 1
						}
					}
				}
				from, unpacked, counts := column(r, words), r.empty(size*4), column(r, make([]uint32, fields.Bits))
				at, again := column(r, origins), r.empty(uint64(rows*4))
				r.run(func(list *backend.List) error {
					some := from.Range(uint64(first*4), uint64(rows*4))
					if err := r.ops.UnpackWords(list, fields, some, unpacked.All(), counts.All()); err != nil {
						return err
					}
					return r.ops.PackWords(list, fields, unpacked.All(), at.All(), again.All(), uint64(rows))
				})
				require.Equal(r, slices.Clone(words[first:][:rows]), values[uint32](r, again.All(), rows))
				require.Equal(r, bits, values[uint32](r, counts.All(), len(bits)))
			}
		}
	})
}

// Values of two words are taken apart from any row on, and put together again.
func TestCopyStrided(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(13, 14))
		for _, rows := range r.sizesAround("words") {
			source := make([]uint64, 2*rows+14)
			for i := range source {
				source[i] = random.Uint64()
			}
			high := make([]uint64, rows)
			for i := range high {
				high[i] = source[14+2*i+1]
			}
			from, apart, together := column(r, source), r.empty(uint64(rows*8)), column(r, slices.Clone(source))
			r.run(func(list *backend.List) error {
				if err := r.ops.CopyStrided(list, primitive.Strided{Words: apart.All(), Stride: 1},
					primitive.Strided{Words: from.Range(7*16, uint64(rows*16)), First: 1, Stride: 2},
					uint64(rows)); err != nil {
					return err
				}
				return r.ops.CopyStrided(list,
					primitive.Strided{Words: together.Range(7*16, uint64(rows*16)), Stride: 2},
					primitive.Strided{Words: apart.All(), Stride: 1}, uint64(rows))
			})
			require.Equal(r, high, values[uint64](r, apart.All(), rows))
			for i, word := range high {
				source[14+2*i] = word
			}
			require.Equal(r, source, values[uint64](r, together.All(), len(source)))
		}
	})
}
