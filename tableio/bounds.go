package tableio

import (
	"github.com/spirjoin/spirjoin/tableio/core"
)

// Bounds is a range that contains all values of a column.
type Bounds = core.Bounds

// Bounds returns the bounds of a column of signed integers, dates, times or timestamps, taken from the statistics of
// the row groups of Parquet files, or of a partition column of numbers or dates. ok is false if a row group has no
// statistics, for other types and formats, and for unknown or ambiguous names. Bounds may be wider than the actual
// values.
func (r *Reader) Bounds(column string) (b Bounds, ok bool) {
	src, index := r.boundedColumn(column)
	if src == nil {
		return b, false
	}
	return src.Bounds(index)
}

// Nulls reports whether a column may have NULLs. In Parquet files with statistics it tells whether there are any, in
// row groups that later reads skip too; otherwise the schema counts. It is true for unknown or ambiguous names.
func (r *Reader) Nulls(column string) bool {
	if src, index := r.boundedColumn(column); src != nil {
		return src.Nulls(index)
	}
	indices := r.Schema().FieldIndices(column)
	return len(indices) != 1 || r.Schema().Field(indices[0]).Nullable
}

// SkipOutside makes later reads skip the row groups of Parquet files, and the files of partitions, in which no value of
// the column lies within the bounds. NULL lies within bounds with Nulls. Row groups without statistics are not skipped,
// and nothing is if the bounds have a different type than the column, unless both are signed integers. Rows and Bounds
// still describe all rows.
func (r *Reader) SkipOutside(column string, b Bounds) {
	if src, index := r.boundedColumn(column); src != nil {
		src.SkipOutside(index, b)
	}
}

// boundedColumn finds a column of a source with statistics; nil for other sources, and for names that are none or not
// unique.
func (r *Reader) boundedColumn(name string) (core.Bounded, int) {
	src, ok := r.src.(core.Bounded)
	if !ok {
		return nil, 0
	}
	indices := r.src.Schema().FieldIndices(name)
	if len(indices) != 1 {
		return nil, 0
	}
	return src, indices[0]
}
