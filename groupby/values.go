package groupby

import (
	"context"
	"math/bits"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// form says how the values of a column are on the device.
type form uint8

const (
	asValues      form = iota // as they are
	asValidity                // only whether they are NULL
	asInt8                    // booleans as 0 and 1
	asSquare                  // integers and decimals, squared
	asShortSquare             // integers and decimals of 64 bits, squared, if all are so small that squares have 64 bits
	asSquareHigh              // what the squares of decimals of 256 bits have above their low 256 bits
)

// value identifies a column on the device.
type value struct {
	column string
	form   form
}

// formOf is the form in which functions take the values of a type.
func formOf(t arrow.DataType) form {
	switch {
	case relation.WordBits(t) == 0:
		return asValidity
	case t.ID() == arrow.BOOL:
		return asInt8
	}
	return asValues
}

// isExact tells whether values have exact sums and squares.
func isExact(t arrow.DataType) bool {
	k := kindOf(t)
	return k == signed || k == unsigned || k == decimal
}

// of is the type of values of a type in a form.
func (f form) of(t arrow.DataType) arrow.DataType {
	switch bits := relation.WordBits(t); {
	case f == asValues:
		return t
	case f == asValidity:
		return arrow.FixedWidthTypes.Boolean
	case f == asInt8:
		return arrow.PrimitiveTypes.Uint8
	case bits <= 32 || f == asShortSquare:
		return arrow.PrimitiveTypes.Uint64
	case bits == 64 && wordKind(t) == reduce.Signed: // up to 2^126
		return &arrow.Decimal128Type{Precision: digits128}
	}
	return &arrow.Decimal256Type{Precision: digits256}
}

// bytes is the most memory that values of a type take that are converted to a form.
func (f form) bytes(t arrow.DataType, rows uint64) uint64 {
	switch f {
	case asValues:
		return 0
	case asValidity:
		return (rows + 7) / 8
	}
	return rows * uint64(relation.WordBits(f.of(t))) / 8
}

// convert returns a column in a form. All cores of the host convert its chunks. The caller releases the result, which
// is valid as long as the column. A column in another form than asValues need not be released.
func convert(ctx context.Context, column *arrow.Chunked, form form) (*arrow.Chunked, error) {
	if form == asValues {
		column.Retain()
		return column, nil
	}
	chunks := make([]arrow.Array, len(column.Chunks()))
	defer func() { relation.ReleaseAll(chunks) }()
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, chunk := range column.Chunks() {
		all.Go(func() error {
			return exec.Protect("convert values", func() error {
				if ctx.Err() != nil {
					return backend.ContextError(ctx)
				}
				data := convertChunk(chunk, form)
				chunks[i] = array.MakeFromData(data)
				data.Release()
				return nil
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return arrow.NewChunked(form.of(column.DataType()), chunks), nil
}

func convertChunk(chunk arrow.Array, form form) *array.Data {
	dtype := form.of(chunk.DataType())
	if form == asValidity { // which is the value too
		bitmap, first, nulls := relation.LogicalValidity(chunk)
		values, validity := bitmap, unowned(bitmap)
		if bitmap == nil {
			values = make([]byte, (chunk.Len()+7)/8)
		}
		buffers := []*memory.Buffer{validity, memory.NewBufferBytes(values)}
		return array.NewData(dtype, chunk.Len(), buffers, nil, nulls, first)
	}
	offset, n := chunk.Data().Offset(), chunk.Len()
	values := make([]byte, (offset+n)*relation.WordBits(dtype)/8)
	if form == asInt8 {
		for i := range n {
			if chunk.(*array.Boolean).Value(i) {
				values[offset+i] = 1
			}
		}
	} else {
		square(chunk, form, backend.Longs(values[offset*relation.WordBits(dtype)/8:]))
	}
	var validity *memory.Buffer
	if bitmap := chunk.Data().Buffers()[0]; bitmap != nil {
		validity = unowned(bitmap.Bytes())
	}
	buffers := []*memory.Buffer{validity, memory.NewBufferBytes(values)}
	return array.NewData(dtype, n, buffers, nil, chunk.NullN(), offset)
}

// unowned returns a buffer of memory that stays with its owner; nil for nil.
func unowned(data []byte) *memory.Buffer {
	if data == nil {
		return nil
	}
	return memory.NewBufferBytes(data)
}

// squareOf is the form of the squares of a column. Tables that come later may have greater values.
func squareOf(column *arrow.Chunked, later bool) form {
	if later || relation.WordBits(column.DataType()) != 64 {
		return asSquare
	}
	unsigned, size := wordKind(column.DataType()) == reduce.Unsigned, uint64(0)
	for _, chunk := range column.Chunks() {
		if chunk.Len() == 0 {
			continue
		}
		values := backend.Longs(chunk.Data().Buffers()[1].Bytes())[chunk.Data().Offset():][:chunk.Len()]
		for part := range slices.Chunk(values, keys.StripRows) {
			for _, v := range part {
				size |= v ^ uint64(int64(v)>>63) // -1 is 0
			}
			if unsigned {
				for _, v := range part {
					size |= v
				}
			}
			if size>>31 != 0 {
				return asSquare
			}
		}
	}
	return asShortSquare
}

// square writes the squares of the values of an array. Squares of NULL may be anything. For squares of 512 bits,
// asSquare writes the low half as a signed number and asSquareHigh the rest: the high half, plus 1 if the low half is
// negative.
func square(a arrow.Array, form form, out []uint64) {
	if a.Len() == 0 {
		return
	}
	width, kind := relation.WordBits(a.DataType()), wordKind(a.DataType())
	words := len(out) / a.Len()
	data := a.Data().Buffers()[1].Bytes()[a.Data().Offset()*width/8:][:a.Len()*width/8]
	if width <= 64 {
		reader := stripState{bits: width, kind: kind}
		var room [keys.StripRows]uint64
		for from := 0; from < a.Len(); from += len(room) {
			to := min(from+len(room), a.Len())
			for i, v := range reader.decode(room[:to-from], data[from*width/8:to*width/8]) {
				if kind == reduce.Signed && int64(v) < 0 {
					v = -v
				}
				high, low := bits.Mul64(v, v)
				if out[(from+i)*words] = low; words > 1 {
					out[(from+i)*words+1] = high
				}
			}
		}
		return
	}
	values, n := backend.Longs(data), width/64
	for i := range a.Len() {
		var size [4]uint64
		if copy(size[:], values[i*n:][:n]); int64(size[n-1]) < 0 {
			carry := uint64(0)
			for w := range n {
				size[w], carry = bits.Sub64(0, size[w], carry)
			}
		}
		product := squared(size[:n])
		if form == asSquareHigh {
			carry := product[3] >> 63
			for w := range 4 {
				product[w], carry = bits.Add64(product[4+w], 0, carry)
			}
		}
		copy(out[i*words:][:words], product[:])
	}
}

// squared returns the square of an unsigned number of at most four words.
func squared(v []uint64) (product [8]uint64) {
	for i, a := range v {
		carry := uint64(0)
		for j, b := range v {
			high, low := bits.Mul64(a, b)
			var c uint64
			low, c = bits.Add64(low, carry, 0)
			high += c
			product[i+j], c = bits.Add64(product[i+j], low, 0)
			carry = high + c
		}
		product[i+len(v)] = carry
	}
	return product
}

// place returns where a column of planned words is in the payload of a chunk.
func place(words *relation.Words, column int) reduce.Value {
	c := &words.Columns[column]
	v := reduce.Value{Bits: relation.WordBits(c.Type), ValidWord: -1}
	field := func(f *relation.SharedField) (word, at int) {
		for i, place := range words.Shared[f.Word].Of() {
			if i == f.Field {
				at = int(place.Place)
			}
		}
		return words.SharedFrom() + f.Word, at
	}
	if v.Word = c.First; c.Count == 0 {
		v.Word, v.Shift = field(c.Value)
	}
	if c.Valid != nil {
		v.ValidWord, v.ValidBit = field(c.Valid)
	}
	v.Kind = wordKind(c.Type)
	return v
}

// wordKind is how words of a type are read.
func wordKind(t arrow.DataType) reduce.Kind {
	switch kindOf(t) {
	case unsigned, boolean, other:
		return reduce.Unsigned
	case floating:
		return reduce.Float
	}
	return reduce.Signed
}
