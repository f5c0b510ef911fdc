package tableio

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

const csvFlushBytes = 256 << 10

// csvEncoder writes rows of text; the header comes first, also where no row follows.
type csvEncoder struct {
	out       io.Writer
	delimiter byte
	nulls     csvNulls
	null      string
	columns   int
	buf       []byte
	value     []byte
}

func newCSVEncoder(out io.Writer, path string, schema *arrow.Schema, opts WriteOptions) (encoder, error) {
	schema = plainSchema(schema)
	faults := []error{opts.CSV.Validate()}
	if opts.Compression != "" && opts.Compression != "none" {
		faults = append(faults, fmt.Errorf("compression %q is unknown for CSV: choose none", opts.Compression))
	}
	if schema.NumFields() == 0 {
		faults = append(faults, errors.New("CSV cannot hold a table without columns"))
	}
	for _, field := range schema.Fields() {
		if err := csvWritable(field.Type); err != nil {
			faults = append(faults, fmt.Errorf("column %q: %w", field.Name, err))
		}
	}
	if err := joinFaults(faults...); err != nil {
		return nil, err
	}
	e := &csvEncoder{out: out, delimiter: opts.CSV.delimiter(path), nulls: newCSVNulls(opts.CSV.nulls()), columns: schema.NumFields(), value: []byte{}}
	if texts := opts.CSV.nulls(); len(texts) > 0 {
		e.null = texts[0]
	}
	if opts.CSV.Header == HeaderPresent {
		for i, field := range schema.Fields() {
			e.value = append(e.value[:0], field.Name...)
			e.field(i)
		}
		e.buf = append(e.buf, '\n')
	}
	return e, nil
}

func csvWritable(dt arrow.DataType) error {
	if dict, ok := dt.(*arrow.DictionaryType); ok {
		dt = dict.ValueType
	}
	if _, err := newCSVColumn(arrow.Field{Type: dt}, csvNulls{}); err != nil && dt.ID() != arrow.NULL {
		return fmt.Errorf("type %s cannot be written to CSV", dt)
	}
	return nil
}

func (e *csvEncoder) write(ctx context.Context, batch arrow.RecordBatch) error {
	batch = plainBatch(batch)
	defer batch.Release()
	formats := make([]formatFunc, e.columns)
	for i := range formats {
		formats[i] = csvFormatter(batch.Column(i))
	}
	for row := range int(batch.NumRows()) {
		for i, format := range formats {
			if isNull(batch.Column(i), row) {
				if i > 0 {
					e.buf = append(e.buf, e.delimiter)
				}
				e.buf = append(e.buf, e.null...)
				continue
			}
			value := format(e.value[:0], row)
			if value == nil {
				return fmt.Errorf("column %q: %s is outside the range of its text form", batch.ColumnName(i), batch.Column(i).ValueStr(row))
			}
			e.value = value
			e.field(i)
		}
		e.buf = append(e.buf, '\n')
		if len(e.buf) >= csvFlushBytes {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// field appends e.value as field i of the row, quoted where it must be: where it
// is empty, holds a character with a meaning, or would read as null.
func (e *csvEncoder) field(i int) {
	if i > 0 {
		e.buf = append(e.buf, e.delimiter)
	}
	special := len(e.value) == 0 || bytes.HasPrefix(e.value, []byte("\ufeff"))
	for _, c := range e.value {
		special = special || c == e.delimiter || c == '"' || c == '\n' || c == '\r'
	}
	if !special && !e.nulls.has(e.value) {
		e.buf = append(e.buf, e.value...)
		return
	}
	e.buf = append(e.buf, '"')
	for _, c := range e.value {
		if c == '"' {
			e.buf = append(e.buf, '"')
		}
		e.buf = append(e.buf, c)
	}
	e.buf = append(e.buf, '"')
}

func (e *csvEncoder) flush() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *csvEncoder) close(context.Context) error { return e.flush() }

// formatFunc appends the text of a value that is not null, or gives nil where it has none.
type formatFunc func(dst []byte, row int) []byte

// csvFormatter returns the formatter of a column. Every text is read back to the same value.
func csvFormatter(column arrow.Array) formatFunc {
	switch c := column.(type) {
	case *array.Boolean:
		return func(dst []byte, row int) []byte { return strconv.AppendBool(dst, c.Value(row)) }
	case *array.Int8:
		return formatSigned(c.Int8Values())
	case *array.Int16:
		return formatSigned(c.Int16Values())
	case *array.Int32:
		return formatSigned(c.Int32Values())
	case *array.Int64:
		return formatSigned(c.Int64Values())
	case *array.Uint8:
		return formatUnsigned(c.Uint8Values())
	case *array.Uint16:
		return formatUnsigned(c.Uint16Values())
	case *array.Uint32:
		return formatUnsigned(c.Uint32Values())
	case *array.Uint64:
		return formatUnsigned(c.Uint64Values())
	case *array.Float32:
		return func(dst []byte, row int) []byte { return appendFloat(dst, float64(c.Value(row)), 32) }
	case *array.Float64:
		return func(dst []byte, row int) []byte { return appendFloat(dst, c.Value(row), 64) }
	case *array.Decimal128:
		scale := c.DataType().(*arrow.Decimal128Type).Scale
		return func(dst []byte, row int) []byte { return append(dst, c.Value(row).ToString(scale)...) }
	case *array.Date32:
		return func(dst []byte, row int) []byte { return appendDate(dst, int64(c.Value(row))*86_400) }
	case *array.Date64:
		return func(dst []byte, row int) []byte { return appendDate64(dst, int64(c.Value(row))) }
	case *array.Time32:
		unit := c.DataType().(*arrow.Time32Type).Unit
		return func(dst []byte, row int) []byte { return appendTime(dst, int64(c.Value(row)), unit) }
	case *array.Time64:
		unit := c.DataType().(*arrow.Time64Type).Unit
		return func(dst []byte, row int) []byte { return appendTime(dst, int64(c.Value(row)), unit) }
	case *array.Timestamp:
		dt := c.DataType().(*arrow.TimestampType)
		return func(dst []byte, row int) []byte { return appendTimestamp(dst, int64(c.Value(row)), dt) }
	case *array.String:
		return func(dst []byte, row int) []byte { return append(dst, c.Value(row)...) }
	case *array.LargeString:
		return func(dst []byte, row int) []byte { return append(dst, c.Value(row)...) }
	case *array.Binary:
		return func(dst []byte, row int) []byte { return hex.AppendEncode(dst, c.Value(row)) }
	case *array.LargeBinary:
		return func(dst []byte, row int) []byte { return hex.AppendEncode(dst, c.Value(row)) }
	case *array.Null:
		return nil // isNull is always true
	case *array.Dictionary:
		values := csvFormatter(c.Dictionary())
		return func(dst []byte, row int) []byte { return values(dst, c.GetValueIndex(row)) }
	}
	panic(fmt.Sprintf("column type %s passed csvWritable", column.DataType()))
}

func formatSigned[T int8 | int16 | int32 | int64](values []T) formatFunc {
	return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(values[row]), 10) }
}

func formatUnsigned[T uint8 | uint16 | uint32 | uint64](values []T) formatFunc {
	return func(dst []byte, row int) []byte { return strconv.AppendUint(dst, uint64(values[row]), 10) }
}

// appendFloat writes the shortest text that reads back the same. A whole number
// gets ".0" where it is short, so that inference does not make it an integer.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(dst, "Inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-Inf"...)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.AppendFloat(dst, v, 'f', 1, bits)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// The years that a text of four digits holds.
var (
	minTextSeconds = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	maxTextSeconds = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

func appendDate(dst []byte, seconds int64) []byte {
	if seconds < minTextSeconds || seconds > maxTextSeconds {
		return nil
	}
	return time.Unix(seconds, 0).UTC().AppendFormat(dst, "2006-01-02")
}

// appendDate64 has no text for a date that is not a whole day.
func appendDate64(dst []byte, milliseconds int64) []byte {
	if milliseconds%86_400_000 != 0 {
		return nil
	}
	return appendDate(dst, milliseconds/1000)
}

func appendTime(dst []byte, units int64, unit arrow.TimeUnit) []byte {
	perSecond := unitsPerSecond(unit)
	seconds := units / perSecond
	if units < 0 || seconds >= 86_400 {
		return nil
	}
	dst = time.Unix(seconds, 0).UTC().AppendFormat(dst, "15:04:05")
	return appendFraction(dst, units%perSecond, perSecond)
}

// appendTimestamp writes UTC for columns that have a time zone.
func appendTimestamp(dst []byte, units int64, dt *arrow.TimestampType) []byte {
	perSecond := unitsPerSecond(dt.Unit)
	seconds := units / perSecond
	if units%perSecond < 0 {
		seconds--
	}
	if dst = appendDate(dst, seconds); dst == nil {
		return nil
	}
	dst = time.Unix(seconds, 0).UTC().AppendFormat(dst, " 15:04:05")
	dst = appendFraction(dst, units-seconds*perSecond, perSecond)
	if dt.TimeZone != "" {
		dst = append(dst, 'Z')
	}
	return dst
}

// appendFraction writes all digits of the unit, unless the fraction is zero.
func appendFraction(dst []byte, units, perSecond int64) []byte {
	if units == 0 {
		return dst
	}
	dst = append(dst, '.')
	for place := perSecond / 10; place > 0; place /= 10 {
		dst = append(dst, byte('0'+units/place%10))
	}
	return dst
}

// isNull looks through a dictionary, whose values may be null too.
func isNull(column arrow.Array, row int) bool {
	if column.IsNull(row) || column.DataType().ID() == arrow.NULL {
		return true
	}
	dict, ok := column.(*array.Dictionary)
	return ok && dict.Dictionary().IsNull(dict.GetValueIndex(row))
}
