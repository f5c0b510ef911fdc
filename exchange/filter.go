package exchange

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Filter knows the keys of one side of a join by their hashes, so that rows of the other side without a partner are
// found before they move. It may take a key for one that it knows, in one of some 70 cases, but never the other way
// round.
//
// It is a blocked Bloom filter. A hash chooses the part of the filter, which is that of the division, a block of 256
// bits in it, and one bit in each of the four words of the block. A test reads half a cache line:
//
//	hash, mixed    part 2 | block 5 | ... | bits 63, 0, 17, 4
//	part 2         block 0 ... block 5: word 0, bit 4; word 1, bit 17; word 2, bit 0; word 3, bit 63 ... block n-1
//
// Each rank that owns a part adds the keys of that part alone, and the parts of all ranks follow one another. That
// moves fewer bytes than filters of all keys from each rank, which would be united bit by bit.
//
// Source: Lang, Neumann, Kemper, Boncz, "Performance-Optimal Filtering: Bloom Overtakes Cuckoo at High Throughput",
// PVLDB 12(5), 2019: section 3.2, sectorized filters.
type Filter struct {
	seed, all uint64 // of the division: added to hashes; number of parts by hashes
	own       uint64 // part of which keys are added
	blocks    uint64 // of a part
	words     []uint64
	parts     [][]byte // by number; nil until SetParts
}

// Sizes of a Filter.
const (
	filterKeys  = 24 // per block: 10.7 bits a key
	filterWords = 4  // of 64 bits, per block
	filterBytes = 8 * filterWords
)

// FilterBytes is the size of one part of a filter for this number of keys in all parts.
func FilterBytes(keys uint64, parts int) uint64 {
	return max(1, (keys/uint64(parts)+filterKeys-1)/filterKeys) * filterBytes
}

// NewFilter returns an empty filter of the parts of a Divider, to which keys of one part are added: one of partBytes,
// as from FilterBytes. More keys make it less exact.
func (d *Divider) NewFilter(part int, partBytes uint64) *Filter {
	blocks := partBytes / filterBytes
	return &Filter{seed: d.seed(), all: uint64(d.Parts), own: uint64(part), blocks: blocks,
		words: make([]uint64, blocks*filterWords)}
}

// place returns the part of a hash, the first word of its block, and its mix, whose low bits choose bits.
func (f *Filter) place(hash uint64) (part, word, x uint64) {
	x = mixed(hash + f.seed)
	part, rest := bits.Mul64(x, f.all)
	block, _ := bits.Mul64(rest, f.blocks)
	return part, block * filterWords, x
}

// Add adds the keys of a table that are in the part of the filter. Safe for concurrent use. Errors: as for
// [keys.HashedTable.Each].
func (f *Filter) Add(ctx context.Context, table *keys.HashedTable) error {
	return table.Each(ctx, func(hashes []uint64, _ []uint32) {
		for _, hash := range hashes {
			part, word, x := f.place(hash)
			if part != f.own {
				continue
			}
			for i := range f.words[word:][:filterWords] {
				if at, bit := &f.words[int(word)+i], uint64(1)<<(x%64); atomic.LoadUint64(at)&bit == 0 {
					atomic.OrUint64(at, bit)
				}
				x >>= 6
			}
		}
	})
}

// Part returns the part to which keys were added, as bytes for the other ranks. No keys may be added afterwards.
func (f *Filter) Part() []byte {
	part := make([]byte, 0, len(f.words)*8)
	for _, word := range f.words {
		part = binary.LittleEndian.AppendUint64(part, word)
	}
	f.words = nil
	return part
}

// SetParts gives the filter all parts, which it keeps. ErrInvalidInput if their number or a size is wrong.
func (f *Filter) SetParts(parts [][]byte) error {
	for number, part := range parts {
		if uint64(len(part)) != f.blocks*filterBytes {
			return fmt.Errorf("%w: part %d of a filter has %d bytes instead of %d", backend.ErrInvalidInput, number,
				len(part), f.blocks*filterBytes)
		}
	}
	if uint64(len(parts)) != f.all {
		return fmt.Errorf("%w: a filter of %d parts instead of %d", backend.ErrInvalidInput, len(parts), f.all)
	}
	f.parts = parts
	return nil
}

// Known returns how many hashes belong to the part to which keys were added, and are known to it.
func (f *Filter) Known(hashes []uint64) (known int) {
	for _, hash := range hashes {
		part, word, x := f.place(hash)
		if part != f.own {
			continue
		}
		has := uint64(1)
		for _, w := range f.words[word:][:filterWords] {
			has &= w >> (x % 64)
			x >>= 6
		}
		known += int(has)
	}
	return known
}

// partsOf sets the part of each hash to that of the division, or to none if no row of the other side has the hash.
func (f *Filter) partsOf(hashes []uint64, none uint16, into []uint16) {
	into = into[:len(hashes)]
	le, all, blocks, seed := binary.LittleEndian, f.all, f.blocks, f.seed
	for i, hash := range hashes {
		x := mixed(hash + seed)
		part, rest := bits.Mul64(x, all)
		block, _ := bits.Mul64(rest, blocks)
		w := (*[filterBytes]byte)(f.parts[part][block*filterBytes:])
		has := le.Uint64(w[:]) >> (x % 64) & (le.Uint64(w[8:]) >> (x >> 6 % 64)) &
			(le.Uint64(w[16:]) >> (x >> 12 % 64)) & (le.Uint64(w[24:]) >> (x >> 18 % 64))
		into[i] = none + (uint16(part)-none)&-uint16(has&1) // without a branch, which would be mispredicted
	}
}
