package exchange

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Digit is the place of the part in a mixed key, for the partition that divides rows on a device as [Divider.Divide]
// does: the highest Bits of [kernel.Mix] of the key and Seed. Joins of parts mix with other seeds.
type Digit struct {
	Bits int
	Seed uint32
}

// Digit returns the place of the part if KeyBytes is not 0.
func (d *Divider) Digit() Digit {
	const seed = 0x2545f491
	return Digit{Bits: bits.Len(uint(d.Parts)) - 1, Seed: seed + uint32(d.Seed)}
}

// placeByDigit sets the parts of rows by their keys, which are the low bits of the hashes.
func (d *Divider) placeByDigit(ctx context.Context, table *keys.HashedTable, parts []uint16) error {
	digit := d.Digit()
	shift := 8*d.KeyBytes - digit.Bits
	return table.Each(ctx, func(hashes []uint64, rows []uint32) {
		for i, row := range rows {
			if d.KeyBytes == 4 {
				parts[row] = uint16(kernel.Mix(uint32(hashes[i]), digit.Seed) >> shift)
			} else {
				parts[row] = uint16(kernel.Mix(hashes[i], digit.Seed) >> shift)
			}
		}
	})
}
