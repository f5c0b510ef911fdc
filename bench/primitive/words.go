package primitive

import (
	"cmp"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// sharedFields are two columns with NULLs, a boolean one and one of a byte.
var sharedFields = kernel.Fields{Bytes: 1, Bits: 3}

// sharedWord is a word that columns share, of a row.
func (b *bed) sharedWord(row uint64) uint64 {
	return narrow(workload.Random(b.seed, row), int(sharedFields.Width()))
}

// narrowColumn is one of the columns, as Arrow has it, in a buffer with the others.
type narrowColumn struct {
	kernel.Field
	begin, words uint64 // in words of 4 bytes; those that hold values
}

// narrowColumns are all of them, and the words of the buffer.
func (b *bed) narrowColumns() (columns []narrowColumn, words uint64) {
	for _, field := range sharedFields.Of() {
		columns = append(columns, narrowColumn{field, words, (b.Rows*uint64(field.Bits) + 31) / 32})
		words += field.ColumnWords(uint32(b.Rows))
	}
	return columns, words
}

// word is a word of a column.
func (c *narrowColumn) word(b *bed, word uint64) (held uint64) {
	perWord := uint64(32 / c.Bits)
	for i := range min(perWord, b.Rows-word*perWord) {
		held |= narrow(b.sharedWord(word*perWord+i)>>c.Place, int(c.Bits)) << (i * uint64(c.Bits))
	}
	return held
}

func (b *bed) sharedBytes() uint64 { return b.Rows*4 + (b.Rows*uint64(sharedFields.Width())+7)/8 }

// Narrow columns to the words that they share.
var packBenchmark = Benchmark{
	Name: "pack_words", Table: "words", Keys: []int{32}, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment {
		columns, size := b.narrowColumns()
		var origins []uint64
		sources, words := b.empty(32, size), b.empty(32, b.Rows)
		for _, c := range columns {
			origins = append(origins, c.begin, 0)
			b.fill(sources.Part(4*c.begin, 4*c.words), 32, c.words,
				func(word uint64) uint64 { return c.word(b, word) })
		}
		at := b.column(32, uint64(len(origins)), func(i uint64) uint64 { return origins[i] })
		return experiment{
			leastBytes: b.sharedBytes(),
			answers:    []backend.Range{words},
			record: func(list *backend.List) error {
				return b.ops.PackWords(list, sharedFields, sources, at, words, b.Rows)
			},
			verify: func() error { return b.equal(words, 32, b.Rows, b.sharedWord) },
		}
	},
}

// And back.
var unpackBenchmark = Benchmark{
	Name: "unpack_words", Table: "words", tunes: true, Keys: []int{32}, Payloads: none, Distributions: only,
	variant: noVariant,
	set: func(b *bed) experiment {
		columns, size := b.narrowColumns()
		words := b.column(32, b.Rows, b.sharedWord)
		unpacked, counts := b.empty(32, size), b.empty(32, uint64(sharedFields.Bits))
		e := experiment{leastBytes: b.sharedBytes(), answers: []backend.Range{counts}}
		for _, c := range columns {
			e.answers = append(e.answers, unpacked.Part(4*c.begin, 4*c.words))
		}
		e.record = func(list *backend.List) error {
			list.Fill(counts, 0)
			return b.ops.UnpackWords(list, sharedFields, words, unpacked, counts)
		}
		e.verify = func() error {
			for n, c := range columns {
				if err := b.equal(unpacked.Part(4*c.begin, 4*c.words), 32, c.words,
					func(word uint64) uint64 { return c.word(b, word) }); err != nil {
					return err
				}
				bit := uint64(n) - uint64(sharedFields.Bytes)
				if c.Bits > 1 {
					continue
				}
				set, err := b.sum(func(row uint64) uint64 { return b.sharedWord(row) >> c.Place & 1 })
				if err != nil {
					return err
				}
				if got, err := b.word(counts, 4*bit, 32); err != nil || got != set {
					return cmp.Or(err, measure.Wrongf("%d rows have bit %d, not %d", got, bit, set))
				}
			}
			return nil
		}
		return e
	},
}

// Values of two words to columns of one, one of them.
var stridedBenchmark = Benchmark{
	Name: "copy_strided", Table: "words", Keys: []int{64}, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment {
		value := func(word uint64) uint64 { return workload.Random(b.seed, word) }
		from, to := b.column(64, 2*b.Rows, value), b.empty(64, b.Rows)
		return experiment{
			leastBytes: 2 * 8 * b.Rows,
			answers:    []backend.Range{to},
			record: func(list *backend.List) error {
				return b.ops.CopyStrided(list, primitive.Strided{Words: to, Stride: 1},
					primitive.Strided{Words: from, First: 1, Stride: 2}, b.Rows)
			},
			verify: func() error {
				return b.equal(to, 64, b.Rows, func(row uint64) uint64 { return value(2*row + 1) })
			},
		}
	},
}

// A key column of 64-bit values, as Arrow has them, to codes.
var encodeBenchmark = Benchmark{
	Name: "encode_keys", Table: "words", Keys: []int{32, 64}, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment {
		const least = 1 << 40
		code := func(row uint64) uint64 { return narrow(workload.Random(b.seed, row), b.Key-2) }
		from, to := b.column(64, b.Rows, func(row uint64) uint64 { return least + code(row) }), b.empty(b.Key, b.Rows)
		coding := primitive.KeyCoding{KeyValues: kernel.KeyValues{ValueBits: 64, Meaning: kernel.Signed}, Least: least}
		return experiment{
			leastBytes: b.Rows * uint64(8+b.Key/8),
			answers:    []backend.Range{to},
			record: func(list *backend.List) error {
				return b.ops.EncodeKeys(list, coding, primitive.KeyRows{Values: from, Codes: to, KeyBytes: b.Key / 8})
			},
			verify: func() error { return b.equal(to, b.Key, b.Rows, code) },
		}
	},
}

// equal compares a column with what its values must be.
func (b *bed) equal(column backend.Range, bits int, rows uint64, value func(row uint64) uint64) error {
	return b.check(rows, func(k *block) error {
		for i := range k.rows {
			if got, want := k.at(0, int64(i)), value(k.first+i); got != want {
				return measure.Wrongf("row %d is %#x, not %#x", k.first+i, got, want)
			}
		}
		return nil
	}, result{column, bits})
}
