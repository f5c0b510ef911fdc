package tableio

import (
	"github.com/spirjoin/spirjoin/tableio/parquet"
)

// Bounds is a range that contains all values of a column.
type Bounds = parquet.Bounds

// Bounds returns the bounds of a column of signed integers, dates, times or timestamps, taken from the statistics of
// the row groups of a Parquet file. ok is false if a row group has no statistics, for other types and formats, and for
// unknown or ambiguous names. Bounds may be wider than the actual values.
func (r *Reader) Bounds(column string) (b Bounds, ok bool) {
	src, index := r.parquetColumn(column)
	if src == nil {
		return b, false
	}
	return src.Bounds(index)
}

// Nulls reports whether a column may have NULLs. In a Parquet file with statistics it tells whether there are any, in
// row groups that later reads skip too; otherwise the schema counts. It is true for unknown or ambiguous names.
func (r *Reader) Nulls(column string) bool {
	if src, index := r.parquetColumn(column); src != nil {
		return src.Nulls(index)
	}
	indices := r.Schema().FieldIndices(column)
	return len(indices) != 1 || r.Schema().Field(indices[0]).Nullable
}

// SkipOutside makes later reads skip the row groups of a Parquet file in which no value of the column lies within the
// bounds. NULL lies within bounds with Nulls. Row groups without statistics are not skipped, and nothing is if the
// bounds have a different type than the column. Rows and Bounds still describe the whole file.
func (r *Reader) SkipOutside(column string, b Bounds) {
	if src, index := r.parquetColumn(column); src != nil {
		src.SkipOutside(index, b)
	}
}

// parquetColumn finds a column of a Parquet file; nil for other formats, and for names that are none or not unique.
func (r *Reader) parquetColumn(name string) (*parquet.Source, int) {
	src, ok := r.src.(*parquet.Source)
	if !ok {
		return nil, 0
	}
	indices := src.Schema().FieldIndices(name)
	if len(indices) != 1 {
		return nil, 0
	}
	return src, indices[0]
}
