package groupby

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
)

// finishing makes an output column for the groups [from, to).
type finishing struct {
	*finisher
	*groups
	from, to int
	valid    []byte // bitmap; nil if no value is NULL
	nulls    int
}

// key returns key column k of the groups.
func (g *groups) key(ctx context.Context, k, from, to int) (arrow.Array, error) {
	if g.columns != nil {
		return array.NewSlice(g.columns[k], int64(from), int64(to)), nil
	}
	width := g.keys.KeyBytes()
	if g.hashes == nil && g.keys.Decodes(k) {
		return g.keys.Decode(ctx, k, g.codes[from*width:to*width], memory.DefaultAllocator)
	}
	var rows []uint32
	if g.hashes == nil && g.keys.HasRows(k) {
		rows = g.keys.RowsOf(k, g.codes[from*width:to*width])
	} else {
		rows = g.rowNumbers(from, to)
	}
	return take.Rows(ctx, relation.ColumnOf(g.table, g.by[k]), rows, memory.DefaultAllocator)
}

// rowNumbers are the first rows of groups.
func (g *groups) rowNumbers(from, to int) []uint32 {
	numbers := make([]uint32, to-from)
	for i, n := range g.words(g.first, 0)[from:to] {
		numbers[i] = uint32(n)
	}
	return numbers
}

// word is a word of the states of the groups.
func (f *finishing) word(state, word int) []uint64 { return f.words(f.of[state], word)[f.from:f.to] }

// counts are the numbers of values; nil if each group has one.
func (f *finishing) counts() []uint64 {
	if f.count < 0 {
		return nil
	}
	return f.words(f.count, 0)[f.from:f.to]
}

// array makes the column, which the caller releases.
func (f *finishing) array(ctx context.Context) (arrow.Array, error) {
	row := &functions[f.aggregate.Func]
	f.validate(row.least)
	return row.finish(f, ctx)
}

// number makes a column of numbers of values.
func (f *finishing) number(context.Context) (arrow.Array, error) {
	return f.make(copied(f.counts())), nil
}

// fetch makes the column of values of picked rows.
func (f *finishing) fetch(ctx context.Context) (arrow.Array, error) {
	return f.groups.fetch(ctx, f.chosen, f.from, f.to)
}

// validate makes groups of fewer values NULL.
func (f *finishing) validate(least uint64) {
	counts := f.counts()
	for i, n := range counts {
		if n < least {
			if f.valid == nil {
				f.valid = make([]byte, (len(counts)+7)/8)
				for b := range f.valid {
					f.valid[b] = 0xff
				}
			}
			f.valid[i/8] &^= 1 << (i % 8)
			f.nulls++
		}
	}
}

func (f *finishing) isNull(i int) bool { return f.valid != nil && f.valid[i/8]>>(i%8)&1 == 0 }

// make returns an array of the result type with these values, in memory of the heap that it keeps.
func (f *finishing) make(values []byte) arrow.Array {
	return relation.FixedArray(f.result, f.to-f.from, values, f.valid, f.nulls)
}

func copied(values []uint64) []byte { return backend.AsBytes(append([]uint64(nil), values...)) }

// extreme makes the column of least or greatest values.
func (f *finishing) extreme(ctx context.Context) (arrow.Array, error) {
	if f.chosen >= 0 {
		return f.fetch(ctx)
	}
	return f.valueStates(), nil
}

// valueStates makes a column of states that are values.
func (f *finishing) valueStates() arrow.Array {
	low := f.word(0, 0)
	switch width := relation.WordBits(f.result); {
	case f.result.ID() == arrow.BOOL:
		out := make([]byte, (len(low)+7)/8)
		for i, v := range low {
			out[i/8] |= byte(v&1) << (i % 8)
		}
		return f.make(out)
	case f.result.ID() == arrow.FLOAT16:
		return f.make(backend.AsBytes(narrowed(low,
			func(v uint64) uint16 { return narrowHalf(math.Float64frombits(v)) })))
	case f.result.ID() == arrow.FLOAT32:
		return f.make(backend.AsBytes(narrowed(low,
			func(v uint64) float32 { return float32(math.Float64frombits(v)) })))
	case width == 8:
		return f.make(narrowed(low, func(v uint64) uint8 { return uint8(v) }))
	case width == 16:
		return f.make(backend.AsBytes(narrowed(low, func(v uint64) uint16 { return uint16(v) })))
	case width == 32:
		return f.make(backend.AsBytes(narrowed(low, func(v uint64) uint32 { return uint32(v) })))
	case width == 128:
		return f.make(f.interleaved(low, f.word(0, 1)))
	}
	return f.make(copied(low))
}

func narrowed[T any](values []uint64, narrow func(uint64) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = narrow(v)
	}
	return out
}

// narrowHalf returns the bits of a 16-bit float with the value of f, which has one.
func narrowHalf(f float64) uint16 {
	single := math.Float32bits(float32(f))
	sign, magnitude := uint16(single>>31)<<15, single&^(1<<31)
	switch {
	case magnitude > 0x7f80_0000:
		return sign | 0x7e00
	case magnitude == 0x7f80_0000:
		return sign | 0x7c00
	case magnitude < 0x3880_0000: // subnormal: units of 2^-24
		return sign | uint16(math.Abs(f)*(1<<24))
	}
	return sign | uint16((magnitude-0x3800_0000)>>13)
}

func (f *finishing) interleaved(low, high []uint64) []byte {
	out := make([]uint64, 2*len(low))
	for i := range low {
		out[2*i], out[2*i+1] = low[i], high[i]
	}
	return backend.AsBytes(out)
}

// sum makes the column of sums. Errors: ErrLimit for one that the type does not hold.
func (f *finishing) sum(context.Context) (arrow.Array, error) {
	if kindOf(f.result) == floating {
		return f.make(copied(f.word(0, 0))), nil
	}
	if len(f.of) > 1 || f.result.ID() == arrow.DECIMAL256 {
		return f.sumParts()
	}
	low, high := f.word(0, 0), f.word(0, 1)
	if kindOf(f.result) == decimal { // of at most 64 bits: 128 hold the sum of 2^32 of them
		return f.make(f.interleaved(low, high)), nil
	}
	wrong := uint64(0)
	for i := range low {
		sign := uint64(0)
		if f.result.ID() != arrow.UINT64 {
			sign = uint64(int64(low[i]) >> 63)
		}
		if differs := high[i] ^ sign; differs != 0 && !f.isNull(i) {
			wrong = differs
		}
	}
	if wrong != 0 {
		return nil, overflow(f.aggregate.Column, f.result)
	}
	return f.make(copied(low)), nil
}

// OverflowError is the ErrLimit of a sum that its type does not hold.
type OverflowError struct{ *backend.OpError }

// Unwrap returns the error of the operation.
func (e OverflowError) Unwrap() error { return e.OpError }

// overflow is the error of a sum of a column that a type of sums does not hold.
func overflow(column string, t arrow.DataType) error {
	advice := "cast it to decimal, whose sum has 38 digits"
	switch t.ID() {
	case arrow.DECIMAL128:
		advice = "cast it to decimal256 or to a float"
	case arrow.DECIMAL256:
		advice = "cast it to a float"
	}
	return OverflowError{&backend.OpError{Op: "group by", Err: backend.ErrLimit, Detail: fmt.Sprintf(
		"the sum of column %q exceeds %s in a group; %s", column, t, advice)}}
}

// sumParts makes sums of 128 or 256 bits from the exact sums of each word of the values.
func (f *finishing) sumParts() (arrow.Array, error) {
	width := relation.WordBits(f.result) / 8
	out := make([]byte, width*(f.to-f.from))
	for i := range f.to - f.from {
		at := out[width*i:][:width]
		if f.isNull(i) || width == 16 && f.fits128(i, at) {
			continue
		}
		if sum := f.exact(f.of, i); !sum.put(at, f.result) {
			return nil, overflow(f.aggregate.Column, f.result)
		}
	}
	return f.make(out), nil
}

// fits128 writes the sum of 128-bit values if it is below 2^126, which is less than 38 digits.
func (f *finishing) fits128(i int, out []byte) bool {
	low, carry := f.word(0, 0)[i], f.word(0, 1)[i]
	high, top := f.word(1, 0)[i], f.word(1, 1)[i]
	high, c := bits.Add64(high, carry, 0)
	top += c
	if sign := uint64(int64(high) >> 63); top != sign || (high^sign)>>62 != 0 {
		return false
	}
	copy(out, backend.AsBytes([]uint64{low, high}))
	return true
}

// average makes the column of means.
func (f *finishing) average(ctx context.Context) (arrow.Array, error) {
	counts := f.counts()
	if isExact(f.input.Type) {
		return f.fractions(ctx, 1, false, func(of *fractions, i int) float64 {
			sum := f.exact(f.of, i)
			return of.mean(counts[i], &sum)
		})
	}
	out := make([]float64, f.to-f.from)
	for i, bits := range f.word(0, 0) {
		out[i] = math.Float64frombits(bits) / float64(counts[i])
	}
	return f.make(backend.AsBytes(out)), nil
}

// variance makes the column of sample variances, or of their roots.
func (f *finishing) variance(ctx context.Context) (arrow.Array, error) {
	counts, root := f.counts(), f.aggregate.Func == Stddev
	if isExact(f.input.Type) {
		return f.fractions(ctx, 2, root, func(of *fractions, i int) float64 {
			sum, squares := f.exact(f.of, i), f.exact(f.squares, i)
			return of.variance(counts[i], &sum, &squares)
		})
	}
	out := make([]float64, f.to-f.from)
	for i, bits := range f.word(0, 1) {
		if out[i] = math.Float64frombits(bits) / float64(counts[i]-1); root {
			out[i] = math.Sqrt(out[i])
		}
	}
	return f.make(backend.AsBytes(out)), nil
}
