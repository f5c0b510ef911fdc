package csv

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// rowFormatter turns rows of a batch into text. It may be used by several goroutines.
type rowFormatter struct {
	batch   arrow.RecordBatch
	before  int64 // rows of the output
	quoting quoter
	null    string
	columns []cells
}

// cells are the values of one column.
type cells struct {
	format formatFunc
	isNull func(row int) bool // nil: never
	quotes bool               // may be needed
}

func newRowFormatter(batch arrow.RecordBatch, before int64, quoting quoter, null string) *rowFormatter {
	r := &rowFormatter{batch: batch, before: before, quoting: quoting, null: null,
		columns: make([]cells, batch.NumCols())}
	for i, column := range batch.Columns() {
		r.columns[i] = cells{formatterOf(column), nullTest(column), quoting.concerns(column)}
	}
	return r
}

// append appends rows [start, end). An error names the row of the output, from 1, and the column.
func (r *rowFormatter) append(dst []byte, start, end int) ([]byte, error) {
	if dst == nil {
		dst = []byte{} // nil is what formats give for a value without text
	}
	for row := start; row < end; row++ {
		for i := range r.columns {
			column := &r.columns[i]
			if i > 0 {
				dst = append(dst, r.quoting.delimiter)
			}
			if column.isNull != nil && column.isNull(row) {
				dst = append(dst, r.null...)
				continue
			}
			before := len(dst)
			with := column.format(dst, row)
			if with == nil {
				return dst, fmt.Errorf("row %d, column %q: %s is outside the range of %s in CSV; "+
					"write Parquet or Arrow, or leave it out with columns", r.before+int64(row)+1, r.batch.ColumnName(i),
					r.batch.Column(i).ValueStr(row), r.batch.Column(i).DataType())
			}
			if dst = with; column.quotes {
				dst = r.quoting.quote(dst, before)
			}
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}

// quoter says which values need quotes.
type quoter struct {
	delimiter byte
	nulls     nullTexts
}

// concerns says whether a value of the column may need quotes: numbers and the like have no special characters, unless
// the delimiter or a null text is of the kind that they have.
func (q *quoter) concerns(column arrow.Array) bool {
	switch column.(type) {
	case *array.String, *array.LargeString, *array.Binary, *array.LargeBinary, *array.Dictionary:
		return true
	}
	d := q.delimiter
	return !q.nulls.onlyEmpty || d >= '0' && d <= '9' || d|0x20 >= 'a' && d|0x20 <= 'z' ||
		bytes.IndexByte([]byte("+-.: "), d) >= 0
}

// quote puts the text behind start between quotes where it must be: where it is empty, holds a character with a
// meaning, or would read as null.
func (q *quoter) quote(dst []byte, start int) []byte {
	text := dst[start:]
	if len(text) > 0 && !q.special(text) && !q.nulls.has(text) && !bytes.HasPrefix(text, []byte("\ufeff")) {
		return dst
	}
	quotes := bytes.Count(text, []byte{'"'})
	size := len(dst)
	dst = append(append(dst, text[:quotes]...), `""`...)
	to := len(dst) - 1
	dst[to] = '"'
	for from := size - 1; from >= start; from-- {
		to--
		if dst[to] = dst[from]; dst[from] == '"' {
			to--
			dst[to] = '"'
		}
	}
	dst[start] = '"'
	return dst
}

// special says whether a text has a delimiter, a quote or a line end. Whole words are looked at, the last one again
// where it overlaps.
func (q *quoter) special(text []byte) bool {
	if len(text) < 8 {
		for _, c := range text {
			if c == q.delimiter || c == '"' || c == '\n' || c == '\r' {
				return true
			}
		}
		return false
	}
	delimiters := uint64(q.delimiter) * eachByte
	for at := 0; ; at = min(at+8, len(text)-8) {
		word := binary.LittleEndian.Uint64(text[at:])
		a, b, c, d := word^delimiters, word^'"'*eachByte, word^'\n'*eachByte, word^'\r'*eachByte
		if ((a-eachByte)&^a|(b-eachByte)&^b|(c-eachByte)&^c|(d-eachByte)&^d)&^lowBits != 0 {
			return true
		}
		if at == len(text)-8 {
			return false
		}
	}
}

// formatFunc appends the text of a value that is not null, or gives nil where it has none.
type formatFunc func(dst []byte, row int) []byte

// formatterOf returns the formatter of a column. Every text is read back to the same value.
func formatterOf(column arrow.Array) formatFunc {
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
		return func(dst []byte, row int) []byte { return text.AppendFloat(dst, float64(c.Value(row)), 32) }
	case *array.Float64:
		return func(dst []byte, row int) []byte { return text.AppendFloat(dst, c.Value(row), 64) }
	case *array.Decimal128:
		scale := c.DataType().(*arrow.Decimal128Type).Scale
		return func(dst []byte, row int) []byte { return appendDecimal(dst, c.Value(row), scale) }
	case *array.Date32:
		return func(dst []byte, row int) []byte { return appendDate(dst, int64(c.Value(row))) }
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
		values := formatterOf(c.Dictionary())
		return func(dst []byte, row int) []byte { return values(dst, c.GetValueIndex(row)) }
	}
	panic(fmt.Sprintf("column type %s passed csvWritable", column.DataType()))
}

func formatSigned[T int8 | int16 | int32 | int64](values []T) formatFunc {
	return func(dst []byte, row int) []byte { return appendInt(dst, int64(values[row])) }
}

func formatUnsigned[T uint8 | uint16 | uint32 | uint64](values []T) formatFunc {
	return func(dst []byte, row int) []byte { return appendUint(dst, uint64(values[row])) }
}

// nullTest tells which values are NULL, wherever their type keeps that; nil means that no value is.
func nullTest(column arrow.Array) func(row int) bool {
	bitmap, first, nulls := relation.LogicalValidity(column)
	if nulls == 0 {
		return nil
	}
	return func(row int) bool { return bitmap[(first+row)/8]>>((first+row)%8)&1 == 0 }
}
