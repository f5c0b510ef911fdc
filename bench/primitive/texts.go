package primitive

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// textBytes is the size of texts, a common one of keys.
const textBytes = 16

// textWord is a word of 8 bytes of all texts.
func (b *bed) textWord(word uint64) uint64 { return workload.Random(b.seed, word) }

// textHash is the hash of a text.
func (b *bed) textHash(row uint64) uint64 {
	var text [textBytes]byte
	for i := range uint64(textBytes / 8) {
		binary.LittleEndian.PutUint64(text[8*i:], b.textWord(row*textBytes/8+i))
	}
	return kernel.HashText(string(text[:]))
}

// texts returns the texts of all rows, of textBytes each.
func (b *bed) texts() primitive.Texts {
	if b.Rows*textBytes+kernel.TextPadding > math.MaxUint32 {
		b.fail(fmt.Errorf("%w: texts of %d rows take 4 GiB or more", backend.ErrLimit, b.Rows))
		return primitive.Texts{}
	}
	return primitive.Texts{
		Bytes:   b.column(64, (b.Rows*textBytes+kernel.TextPadding+7)/8, b.textWord),
		Starts:  b.column(32, b.Rows+1, func(row uint64) uint64 { return row * textBytes }),
		Longest: textBytes,
	}
}

// Texts of 16 bytes to their hashes.
var hashTextsBenchmark = Benchmark{
	Name: "hash_texts", Table: "texts", tunes: true, Keys: []int{64}, Payloads: none, Distributions: only,
	variant: noVariant,
	set: func(b *bed) experiment {
		texts, hashes := b.texts(), b.empty(64, b.Rows)
		return experiment{
			leastBytes: b.Rows * (textBytes + 4 + 8),
			answers:    []backend.Range{hashes},
			record: func(list *backend.List) error {
				return b.ops.HashTexts(list, &texts, primitive.TextHashes{Hashes: hashes, Kept: math.MaxUint64}, b.Rows)
			},
			verify: func() error { return b.equal(hashes, 64, b.Rows, b.textHash) },
		}
	},
}

// Pairs of texts of 16 bytes, of which one of eight has two, anywhere in a column.
var compareTextsBenchmark = Benchmark{
	Name: "compare_texts", Table: "texts", Keys: []int{32}, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment {
		anywhere := func(row uint64) uint64 { return workload.Random(b.seed+1, row) % b.Rows }
		other := func(row uint64) uint64 {
			if row%8 == 0 {
				return (anywhere(row) + 1) % b.Rows
			}
			return anywhere(row)
		}
		texts := b.texts()
		left, right := b.column(32, b.Rows, anywhere), b.column(32, b.Rows, other)
		keep := b.empty(32, (b.Rows+31)/32)
		return experiment{
			leastBytes: b.Rows * 2 * (textBytes + 4 + 4),
			answers:    []backend.Range{keep},
			record: func(list *backend.List) error {
				list.Fill(keep, math.MaxUint32)
				return b.ops.CompareTexts(list, primitive.TextRows{Texts: &texts, IDs: left},
					primitive.TextRows{Texts: &texts, IDs: right}, keep, b.Rows)
			},
			verify: func() error {
				return b.equal(keep, 32, (b.Rows+31)/32, func(word uint64) (bits uint64) {
					for i := range uint64(32) {
						if row := word*32 + i; row >= b.Rows || anywhere(row) == other(row) {
							bits |= 1 << i
						}
					}
					return bits
				})
			},
		}
	},
}
