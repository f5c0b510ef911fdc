package keys

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// PlanGroups plans the keys of one table, as its left side, whose rows are put in groups of equal keys. Every row has a
// code: NULL is one more value of each key, equal to itself. Without keys, all rows have the same code, of 0 bits. The
// columns are measured and packed as in [PlanJoin], with the same limits and errors, and texts with few different
// values are numbered; keys that need more than 64 bits are hashes. With guess, the range of a single key may be
// guessed: [Plan.Guessed] tells, and [Plan.Strips] whether all rows have a code. room is asked before texts are
// numbered, for memory as long as the plan, and told of what is returned, which is negative; where it refuses, they are
// not numbered. nil: there is room.
func PlanGroups(ctx context.Context, table arrow.Table, by []string, guess bool,
	room func(byBytes int64) bool) (*Plan, error) {
	if len(by) == 0 {
		none := array.NewTableFromSlice(arrow.NewSchema(nil, nil), nil)
		defer none.Release()
		return PlanCross(table, none)
	}
	b := &Build{Plan: &Plan{keys: make([]key, len(by))}, side: relation.Left, numbersTexts: true,
		room: room}
	err := b.plan(ctx, table, table.Schema(), by, by, guess, slices.Repeat([]bool{true}, len(by)))
	if err != nil {
		return nil, fmt.Errorf("plan keys: %w", err)
	}
	if !b.hashed {
		b.pack(func(k int) extent { return b.keys[k].extent }) // there are no other rows that a code has to mark
	}
	return b.Plan, nil
}

// CheckGroup returns nil if rows can be put in groups by a column, otherwise backend.ErrUnsupported.
func CheckGroup(field arrow.Field) error {
	if relation.TraitOf(field.Type).Class == relation.ClassNone {
		return fmt.Errorf("%w: key column %q has type %s; %s", backend.ErrUnsupported, field.Name, field.Type, whatKeysMayBe)
	}
	return nil
}

// Decodes reports whether [Plan.Decode] can make the values of key k from codes: integers, booleans, dates, times,
// durations, decimals, and floats of 4 or 8 bytes, in packed codes.
func (p *Plan) Decodes(k int) bool {
	key := &p.keys[k]
	t := &key.sides[relation.Left]
	if p.hashed || t.dtype.ID() == arrow.DICTIONARY || t.dtype.ID() == arrow.EXTENSION {
		return false
	}
	bits := relation.WordBits(t.dtype)
	if t.coding.method == methodRank {
		return bits == 32 || bits == 64
	}
	return bits > 0 && t.coding.method == methodScale && t.coding.factor == 1
}

// Decode returns the values of key k, of which [Plan.Decodes] is true, for packed codes of KeyBytes each. A zero of
// a float is +0, and a NaN the quiet one. It runs on all cores. The caller releases the array, in memory of alloc.
func (p *Plan) Decode(ctx context.Context, k int, codes []byte, alloc memory.Allocator) (arrow.Array, error) {
	key, shift := &p.keys[k], 0
	for _, next := range p.keys[k+1:] {
		shift += next.bits
	}
	rows, width := len(codes)/p.KeyBytes(), relation.WordBits(key.sides[relation.Left].dtype)
	values := memory.NewResizableBuffer(alloc)
	defer values.Release()
	values.Resize((rows*width + 7) / 8)
	var valid *memory.Buffer
	if key.extent.null {
		valid = memory.NewResizableBuffer(alloc)
		defer valid.Release()
		valid.Resize((rows + 63) / 64 * 8)
	}
	nulls := make([]int, (rows+relation.BlockRows-1)/relation.BlockRows)
	err := relation.ForBlocks(ctx, rows, func(from, to int) error {
		d := decoding{key: key, shift: shift, mask: 1<<key.bits - 1}
		if key.bits >= 64 {
			d.mask = ^uint64(0)
		}
		if valid != nil {
			d.valid = relation.View[uint64](valid.Bytes())[from/64 : (to+63)/64]
		}
		block, out := from/relation.BlockRows, values.Bytes()[from*width/8:(to*width+7)/8]
		switch p.KeyBytes() {
		case 4:
			nulls[block] = decode(&d, relation.View[uint32](codes)[from:to], out, width)
		default:
			nulls[block] = decode(&d, relation.View[uint64](codes)[from:to], out, width)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := 0
	for _, n := range nulls {
		all += n
	}
	data := array.NewData(key.sides[relation.Left].dtype, rows, []*memory.Buffer{valid, values}, nil, all, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// decoding is where a key is in codes.
type decoding struct {
	key   *key
	shift int
	mask  uint64
	valid []uint64 // bitmap to write; nil if no value is NULL
}

// decode writes the values of some codes, of width bits, and returns how many are NULL.
func decode[K uint32 | uint64](d *decoding, codes []K, values []byte, width int) (nulls int) {
	least, ranks := d.key.extent.min, d.key.sides[relation.Left].coding.method == methodRank
	switch width {
	case 32:
		out := relation.View[uint32](values)
		for i, code := range codes {
			out[i] = uint32(uint64(code)>>(d.shift&63)&d.mask + least)
		}
		for i := range out {
			if ranks {
				out[i] = unrank32(out[i])
			}
		}
	case 64:
		out := relation.View[uint64](values)
		for i, code := range codes {
			out[i] = uint64(code)>>(d.shift&63)&d.mask + least
		}
		for i := range out {
			if ranks {
				out[i] = unrank64(out[i])
			}
		}
	case 1:
		clear(values)
		for i, code := range codes {
			values[i/8] |= byte(uint64(code)>>(d.shift&63)&d.mask+least) & 1 << (i % 8)
		}
	default:
		bytes := width / 8
		for i, code := range codes {
			value := uint64(code)>>(d.shift&63)&d.mask + least
			var words [4]uint64
			for w := range words {
				words[w] = uint64(int64(value) >> 63)
			}
			words[0] = value
			copy(values[i*bytes:][:bytes], backend.AsBytes(words[:]))
		}
	}
	if d.valid == nil {
		return 0
	}
	null := d.key.extent.nullCode() - least
	for w := range d.valid {
		word := uint64(0)
		for i, code := range codes[w*64 : min(len(codes), w*64+64)] {
			if uint64(code)>>(d.shift&63)&d.mask != null {
				word |= 1 << i
			} else {
				nulls++
			}
		}
		d.valid[w] = word
	}
	return nulls
}

// unrank32 returns the bits of the float32 with a rank, the quiet NaN for that of NaN.
func unrank32(rank uint32) uint32 {
	switch signed := int32(rank); {
	case signed < 0:
		return 1<<31 | -rank
	case signed > kernel.Inf32:
		return kernel.Inf32 | 1<<22
	}
	return rank
}

// unrank64 returns the bits of the float64 with a rank, the quiet NaN for that of NaN.
func unrank64(rank uint64) uint64 {
	switch signed := int64(rank); {
	case signed < 0:
		return 1<<63 | -rank
	case signed > kernel.Inf64:
		return kernel.Inf64 | 1<<51
	}
	return rank
}
