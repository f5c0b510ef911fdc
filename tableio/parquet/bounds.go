package parquet

import (
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// Bounds returns the bounds of a column of signed integers, dates, times or timestamps, taken from the statistics of
// the row groups. ok is false if a row group has no statistics, and for other types. Bounds may be wider than the
// values.
func (s *Source) Bounds(column int) (b core.Bounds, ok bool) {
	b = core.Bounds{Type: s.fields.Field(column).Type, Min: 1}
	for group := s.from; group < s.to; group++ {
		one, ok := s.groupBounds(column, group)
		if !ok {
			return core.Bounds{}, false
		}
		b = b.Union(one)
	}
	return b, true
}

// Nulls implements [core.Bounded], from the schema and the statistics of the row groups.
func (s *Source) Nulls(column int) bool {
	field := &s.columns[column]
	if !s.fields.Field(column).Nullable || field.Column == nil {
		return s.fields.Field(column).Nullable
	}
	for group := s.from; group < s.to; group++ {
		if nulls, ok := s.nullCount(field.First, group); !ok || nulls > 0 {
			return true
		}
	}
	return false
}

// SkipOutside implements [core.Bounded]. Row groups without statistics are not skipped.
func (s *Source) SkipOutside(column int, b core.Bounds) {
	if !b.ComparesWith(s.fields.Field(column).Type) {
		return
	}
	for group := range s.skipped {
		if one, ok := s.groupBounds(column, group); ok && !one.Meets(b) {
			s.skipped[group] = true
		}
	}
}

// groupBounds reads the statistics of a column in one row group.
func (s *Source) groupBounds(column, group int) (b core.Bounds, ok bool) {
	switch s.fields.Field(column).Type.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.DATE32, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
	default:
		return b, false
	}
	if s.columns[column].Column == nil {
		return b, false
	}
	err := core.Guard(func() error {
		rows := s.file.MetaData().RowGroup(group)
		chunk, err := rows.ColumnChunk(s.columns[column].First)
		if err != nil {
			return err
		}
		stats, err := chunk.Statistics()
		if err != nil || stats == nil || stats.Descr().SortOrder() != schema.SortSIGNED {
			return err
		}
		nulls, known := s.nullCount(s.columns[column].First, group)
		if known && nulls == rows.NumRows() && !stats.HasMinMax() {
			b, ok = core.Bounds{Min: 1, Nulls: true}, true
			return nil
		}
		leaf := s.file.MetaData().GetRowGroups()[group].GetColumns()[s.columns[column].First]
		stored := leaf.GetMetaData().GetStatistics()
		if stored.IsSetMin() != stored.IsSetMax() || stored.IsSetMinValue() != stored.IsSetMaxValue() ||
			!stats.HasMinMax() {
			return nil // the library takes one bound alone for both, the other being 0
		}
		switch stats := stats.(type) {
		case *metadata.Int32Statistics:
			b = core.Bounds{Min: int64(stats.Min()), Max: int64(stats.Max())}
		case *metadata.Int64Statistics:
			b = core.Bounds{Min: stats.Min(), Max: stats.Max()}
		default:
			return nil
		}
		temporal, isTemporal := s.fields.Field(column).Type.(arrow.TemporalWithUnit)
		if isTemporal && temporal.TimeUnit() == arrow.Second {
			b.Min, b.Max = time.UnixMilli(b.Min).Unix(), time.UnixMilli(b.Max).Unix() // stored as milliseconds
		}
		b.Nulls, ok = s.fields.Field(column).Nullable && (!known || nulls > 0), b.Min <= b.Max
		return nil
	})
	return b, ok && err == nil
}

// countingWriters are programs whose counts of NULLs tell that there are none, or that there is nothing else. Others
// are known to err both ways: parquet-rs before 4.1 and cuDF wrote 0 for columns with NULLs, Polars counts them once
// for each page.
var countingWriters = []string{"spirjoin", "parquet-cpp-arrow ", "parquet-mr ", "DuckDB "}

// nullCount is the number of NULLs of a flat column in a row group, if it is known for sure. The format allows writers
// to leave it out, which does not mean 0; some write -1. A row group whose count is not known is read where NULLs
// matter: its definition levels alone would cost most of that, for they are compressed together with the values.
func (s *Source) nullCount(leaf, group int) (nulls int64, ok bool) {
	meta := s.file.MetaData()
	if meta.Schema.Column(leaf).MaxDefinitionLevel() == 0 {
		return 0, true
	}
	chunk := meta.GetRowGroups()[group].GetColumns()[leaf].GetMetaData()
	if chunk == nil || !chunk.IsSetStatistics() || !chunk.GetStatistics().IsSetNullCount() {
		return 0, false
	}
	nulls = chunk.GetStatistics().GetNullCount()
	trusted := slices.ContainsFunc(countingWriters, func(name string) bool {
		return strings.HasPrefix(meta.GetCreatedBy(), name)
	})
	return nulls, trusted && nulls >= 0 && nulls <= chunk.GetNumValues()
}
