package csv

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// builder converts the fields of one column, block by block. Its scratch memory is kept between blocks.
type builder interface {
	// begin makes room for a number of records in memory of mem.
	begin(mem memory.Allocator, records int)
	// add converts a column of the scanner's tile. It returns the first record whose field is no value of the type,
	// or null where the column allows none; -1 if there is none.
	add(tile *recordScanner, records, column int) (bad int)
	// end gives the column of the block; its owner is the caller.
	end() arrow.Array
	// drop frees what begin reserved and end did not give away.
	drop()
}

// newBuilder fails where CSV cannot hold the type.
func newBuilder(field arrow.Field, nulls nullTexts) (builder, error) {
	base := validity{dataType: field.Type, nullable: field.Nullable, nulls: nulls}
	switch dt := field.Type.(type) {
	case *arrow.BooleanType:
		return &boolBuilder{validity: base}, nil
	case *arrow.Int8Type:
		return &fixedBuilder[int8]{validity: base, parse: parseSigned[int8]}, nil
	case *arrow.Int16Type:
		return &fixedBuilder[int16]{validity: base, parse: parseSigned[int16]}, nil
	case *arrow.Int32Type:
		return &fixedBuilder[int32]{validity: base, parse: parseSigned[int32]}, nil
	case *arrow.Int64Type:
		return &fixedBuilder[int64]{validity: base, parse: parseInt}, nil
	case *arrow.Uint8Type:
		return &fixedBuilder[uint8]{validity: base, parse: parseUnsigned[uint8]}, nil
	case *arrow.Uint16Type:
		return &fixedBuilder[uint16]{validity: base, parse: parseUnsigned[uint16]}, nil
	case *arrow.Uint32Type:
		return &fixedBuilder[uint32]{validity: base, parse: parseUnsigned[uint32]}, nil
	case *arrow.Uint64Type:
		return &fixedBuilder[uint64]{validity: base, parse: parseUint}, nil
	case *arrow.Float32Type:
		return &fixedBuilder[float32]{validity: base, parse: func(b []byte) (float32, bool) {
			v, err := strconv.ParseFloat(string(b), 32)
			return float32(v), err == nil
		}}, nil
	case *arrow.Float64Type:
		return &fixedBuilder[float64]{validity: base, parse: parseFloat64}, nil
	case *arrow.Decimal128Type:
		if dt.Scale < 0 {
			break
		}
		return &fixedBuilder[decimal128.Num]{validity: base, parse: func(b []byte) (decimal128.Num, bool) {
			v, ok := parseDecimal(b, dt.Scale)
			return v, ok && v.FitsInPrecision(dt.Precision)
		}}, nil
	case *arrow.Date32Type:
		return &fixedBuilder[int32]{validity: base, parse: func(b []byte) (int32, bool) {
			days, ok := parseDate(b)
			return int32(days), ok
		}}, nil
	case *arrow.Date64Type:
		return &fixedBuilder[int64]{validity: base, parse: func(b []byte) (int64, bool) {
			days, ok := parseDate(b)
			return days * 86_400_000, ok
		}}, nil
	case *arrow.Time32Type:
		return &fixedBuilder[int32]{validity: base, parse: func(b []byte) (int32, bool) {
			v, ok := parseTimeOfDay(b, dt.Unit)
			return int32(v), ok
		}}, nil
	case *arrow.Time64Type:
		return &fixedBuilder[int64]{validity: base, parse: func(b []byte) (int64, bool) {
			return parseTimeOfDay(b, dt.Unit)
		}}, nil
	case *arrow.TimestampType:
		zoned, perSecond := dt.TimeZone != "", unitsPerSecond(dt.Unit)
		return &fixedBuilder[int64]{validity: base, parse: func(b []byte) (int64, bool) {
			t, ok := parseTimestamp(b)
			v, fits := t.units(perSecond)
			return v, ok && fits && t.zoned == zoned
		}}, nil
	case *arrow.StringType:
		return &textBuilder[int32]{validity: base}, nil
	case *arrow.LargeStringType:
		return &textBuilder[int64]{validity: base}, nil
	case *arrow.BinaryType:
		return &textBuilder[int32]{validity: base, hexadecimal: true}, nil
	case *arrow.LargeBinaryType:
		return &textBuilder[int64]{validity: base, hexadecimal: true}, nil
	}
	return nil, fmt.Errorf("type %s cannot be read from CSV", field.Type)
}

func parseSigned[T int8 | int16 | int32](b []byte) (T, bool) {
	v, ok := parseInt(b)
	return T(v), ok && int64(T(v)) == v
}

func parseUnsigned[T uint8 | uint16 | uint32](b []byte) (T, bool) {
	v, ok := parseUint(b)
	return T(v), ok && uint64(T(v)) == v
}

// validity keeps which values of a column are null; it has no bitmap as long as none is.
type validity struct {
	dataType arrow.DataType
	nullable bool
	nulls    nullTexts

	mem      memory.Allocator
	capacity int
	rows     int
	nullRows int
	bitmap   *memory.Buffer // nil: no null
	values   *memory.Buffer
}

func (v *validity) start(mem memory.Allocator, records, valueBytes int) {
	v.drop()
	v.mem, v.capacity, v.rows, v.nullRows = mem, records, 0, 0
	v.values = memory.NewResizableBuffer(mem)
	v.values.Resize(valueBytes)
}

func (v *validity) drop() {
	for _, buffer := range []**memory.Buffer{&v.bitmap, &v.values} {
		if *buffer != nil {
			(*buffer).Release()
			*buffer = nil
		}
	}
}

// isNull says whether a field is null.
func (v *validity) isNull(tile *recordScanner, span fieldSpan) bool {
	return span.start&spanQuoted == 0 && (span.start == span.end || !v.nulls.onlyEmpty) && v.nulls.has(tile.text(span))
}

// addNull notes that a row is null, or refuses it.
func (v *validity) addNull(row int) bool {
	if !v.nullable {
		return false
	}
	if v.bitmap == nil {
		v.bitmap = memory.NewResizableBuffer(v.mem)
		v.bitmap.Resize(int(bitutil.BytesForBits(int64(v.capacity))))
		memory.Set(v.bitmap.Bytes(), 0xff)
	}
	bitutil.ClearBit(v.bitmap.Bytes(), row)
	v.nullRows++
	return true
}

// array is the finished column: its validity and the other buffers, which it takes over.
func (v *validity) array(buffers ...*memory.Buffer) arrow.Array {
	data := array.NewData(v.dataType, v.rows, append([]*memory.Buffer{v.bitmap}, buffers...), nil, v.nullRows, 0)
	defer data.Release()
	v.drop()
	return array.MakeFromData(data)
}

// fixedBuilder holds values of a fixed width.
type fixedBuilder[T arrow.FixedWidthType] struct {
	validity
	parse func(text []byte) (T, bool)
	slice []T // the values as such
}

func (c *fixedBuilder[T]) begin(mem memory.Allocator, records int) {
	c.start(mem, records, records*int(unsafe.Sizeof(*new(T))))
	c.slice = arrow.GetData[T](c.values.Bytes())
}

func (c *fixedBuilder[T]) add(tile *recordScanner, records, column int) (bad int) {
	out := c.slice[c.rows:][:records]
	at, stride := column, tile.columns
	for i := range out {
		span := tile.spans[at]
		at += stride
		if c.isNull(tile, span) {
			var zero T
			if out[i] = zero; !c.addNull(c.rows + i) {
				return i
			}
			continue
		}
		v, ok := c.parse(tile.value(span))
		if !ok {
			return i
		}
		out[i] = v
	}
	c.rows += records
	return -1
}

func (c *fixedBuilder[T]) end() arrow.Array {
	c.slice = nil
	c.values.ResizeNoShrink(c.rows * int(unsafe.Sizeof(*new(T))))
	return c.array(c.values)
}

// boolBuilder holds truth values as bits.
type boolBuilder struct{ validity }

func (c *boolBuilder) begin(mem memory.Allocator, records int) {
	c.start(mem, records, int(bitutil.BytesForBits(int64(records))))
	memory.Set(c.values.Bytes(), 0)
}

func (c *boolBuilder) add(tile *recordScanner, records, column int) (bad int) {
	for i := range records {
		span := tile.spans[i*tile.columns+column]
		if c.isNull(tile, span) {
			if !c.addNull(c.rows + i) {
				return i
			}
			continue
		}
		v, ok := parseBool(tile.value(span))
		if !ok {
			return i
		}
		if v {
			bitutil.SetBit(c.values.Bytes(), c.rows+i)
		}
	}
	c.rows += records
	return -1
}

func (c *boolBuilder) end() arrow.Array { return c.array(c.values) }

// textBuilder holds texts, or bytes that are hexadecimal in the file, with offsets of one width. The values come
// together in scratch memory and are copied once their size is known.
type textBuilder[O int32 | int64] struct {
	validity
	hexadecimal bool
	offsets     []O
	texts       []byte
}

func (c *textBuilder[O]) begin(mem memory.Allocator, records int) {
	c.start(mem, records, (records+1)*int(unsafe.Sizeof(O(0))))
	c.offsets = arrow.GetData[O](c.values.Bytes())
	c.texts = c.texts[:0]
	c.offsets[0] = 0
}

func (c *textBuilder[O]) add(tile *recordScanner, records, column int) (bad int) {
	offsets := c.offsets[c.rows+1:][:records]
	checked := c.hexadecimal || tile.isASCII()
	texts := c.texts
	at, stride := column, tile.columns
	for i := range offsets {
		span := tile.spans[at]
		at += stride
		switch {
		case c.isNull(tile, span):
			if !c.addNull(c.rows + i) {
				return i
			}
		case c.hexadecimal:
			var err error
			if texts, err = hex.AppendDecode(texts, tile.value(span)); err != nil {
				return i
			}
		default:
			text := tile.value(span)
			if !checked && !utf8.Valid(text) {
				return i
			}
			texts = append(texts, text...)
		}
		offsets[i] = O(len(texts))
	}
	c.texts = texts
	c.rows += records
	return -1
}

func (c *textBuilder[O]) end() arrow.Array {
	c.offsets = nil
	c.values.ResizeNoShrink((c.rows + 1) * int(unsafe.Sizeof(O(0))))
	texts := memory.NewResizableBuffer(c.mem)
	defer texts.Release()
	texts.Resize(len(c.texts))
	copy(texts.Bytes(), c.texts)
	return c.array(c.values, texts)
}
