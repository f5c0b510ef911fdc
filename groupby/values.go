package groupby

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
)

// form says how the values of a column are on the device.
type form uint8

const (
	asValues   form = iota // as they are
	asValidity             // only whether they are NULL
	asInt8                 // booleans as 0 and 1
	asFloat64              // decimals of more than 64 bits, divided by 10^scale
)

// value identifies a column on the device.
type value struct {
	column string
	form   form
}

// formOf is the form in which a function takes the values of a type.
func formOf(f Func, t arrow.DataType) form {
	switch {
	case f == Count || relation.WordBits(t) == 0:
		return asValidity
	case t.ID() == arrow.BOOL:
		return asInt8
	case (f == Var || f == Stddev) && relation.WordBits(t) > 64:
		return asFloat64
	}
	return asValues
}

// bytes is the most memory that values take that are converted to a form.
func (f form) bytes(rows uint64) uint64 {
	return [...]uint64{asValues: 0, asValidity: (rows + 7) / 8, asInt8: rows, asFloat64: 8 * rows}[f]
}

// convert returns a column in a form. It converts chunk by chunk on the host; the caller releases the result.
func convert(ctx context.Context, column *arrow.Chunked, form form) (*arrow.Chunked, error) {
	if form == asValues {
		column.Retain()
		return column, nil
	}
	chunks := make([]arrow.Array, len(column.Chunks()))
	defer func() {
		for _, c := range chunks {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, chunk := range column.Chunks() {
		if ctx.Err() != nil {
			return nil, backend.ContextError(ctx)
		}
		data, err := convertChunk(chunk, form)
		if err != nil {
			return nil, err
		}
		chunks[i] = array.MakeFromData(data)
		data.Release()
	}
	return arrow.NewChunked(formTypes[form], chunks), nil
}

func convertChunk(chunk arrow.Array, form form) (*array.Data, error) {
	var validity *memory.Buffer
	if form == asValidity { // which is the value too
		bitmap, first, nulls := relation.LogicalValidity(chunk)
		values := bitmap
		if bitmap != nil {
			validity = memory.NewBufferBytes(bitmap)
		} else {
			values = make([]byte, (chunk.Len()+7)/8)
		}
		buffers := []*memory.Buffer{validity, memory.NewBufferBytes(values)}
		return array.NewData(formTypes[form], chunk.Len(), buffers, nil, nulls, first), nil
	}
	bytes, err := converted(chunk, form)
	if err != nil {
		return nil, err
	}
	buffers := []*memory.Buffer{chunk.Data().Buffers()[0], memory.NewBufferBytes(bytes)}
	return array.NewData(formTypes[form], chunk.Len(), buffers, nil, chunk.NullN(), chunk.Data().Offset()), nil
}

var formTypes = map[form]arrow.DataType{asValidity: arrow.FixedWidthTypes.Boolean, asInt8: arrow.PrimitiveTypes.Uint8,
	asFloat64: arrow.PrimitiveTypes.Float64}

// converted returns the values of an array in another form, from the start of its buffers on, as its validity is.
func converted(a arrow.Array, form form) ([]byte, error) {
	offset, n := a.Data().Offset(), a.Len()
	switch a := a.(type) {
	case *array.Boolean:
		out := make([]byte, offset+n)
		for i := range n {
			if a.Value(i) {
				out[offset+i] = 1
			}
		}
		return out, nil
	case *array.Decimal128:
		out, unit := make([]float64, offset+n), power10(a.DataType().(arrow.DecimalType).GetScale())
		for i, v := range a.Values() {
			out[offset+i] = float128(v.LowBits(), uint64(v.HighBits())) / unit
		}
		return backend.AsBytes(out), nil
	case *array.Decimal256:
		out, scale := make([]float64, offset+n), a.DataType().(arrow.DecimalType).GetScale()
		for i, v := range a.Values() {
			out[offset+i] = v.ToFloat64(scale)
		}
		return backend.AsBytes(out), nil
	}
	return nil, fmt.Errorf("%w: group by: no form %d of type %s", backend.ErrUnsupported, form, a.DataType())
}

func power10(scale int32) float64 { return math.Pow(10, float64(scale)) }

// float128 returns the float64 nearest to a 128-bit number in two's complement, but for one rounding of its low word.
func float128(low, high uint64) float64 {
	negative := int64(high) < 0
	if negative {
		low = -low
		if high = ^high; low == 0 {
			high++
		}
	}
	f := float64(high)*(1<<64) + float64(low)
	if negative {
		return -f
	}
	return f
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
