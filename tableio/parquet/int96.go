package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/parquet/columnchunk"
)

// sparkKey is in the metadata of all files that Spark writes. Its timestamps are in microseconds.
const sparkKey = "org.apache.spark.version"

// chooseInt96 chooses the unit of INT96 timestamps: microseconds, which hold years like 9999 that are in use for
// "never", unless a value is finer. The type must be known before rows are read, so the columns are read for it, up to
// the first finer value; columns that Spark wrote are not read.
func (s *Source) chooseInt96(ctx context.Context) error {
	fields := s.fields.Fields()
	spark := s.file.MetaData().KeyValueMetadata().FindValue(sparkKey) != nil
	for i := range s.columns {
		column := &s.columns[i]
		if column.Column == nil || !column.Int96 {
			continue
		}
		micros := *column.Column
		micros.Field.Type = &arrow.TimestampType{Unit: arrow.Microsecond}
		if !spark {
			switch err := s.decodeAll(ctx, column.First, micros); {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, columnchunk.ErrFiner):
				continue
			}
		}
		column.Column, column.Field = &micros, micros.Field
		fields[i] = micros.Field
	}
	meta := s.fields.Metadata()
	s.fields = arrow.NewSchema(fields, &meta)
	return nil
}

// decodeAll decodes a column for its error, which does not name the row group.
func (s *Source) decodeAll(ctx context.Context, leaf int, column columnchunk.Column) error {
	decoder := s.decoders.Get().(*columnchunk.Decoder)
	defer s.decoders.Put(decoder)
	for group := range s.file.NumRowGroups() {
		mem := core.NewScope(&offheap.Shared)
		err := mem.Finish(core.Guard(func() error { return s.decodeChunk(ctx, decoder, group, leaf, column, mem) }))
		decoder.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) decodeChunk(
	ctx context.Context, decoder *columnchunk.Decoder, group, leaf int, column columnchunk.Column, mem memory.Allocator,
) error {
	rows := s.file.RowGroup(group)
	chunk, err := rows.MetaData().ColumnChunk(leaf)
	if err != nil {
		return err
	}
	s.pages.mend(chunk)
	pages, err := rows.GetColumnPageReader(leaf)
	if err != nil {
		return err
	}
	defer pages.Close()
	if err := decoder.Open(column, rows.NumRows(), pages); err != nil {
		return err
	}
	for left := rows.NumRows(); left > 0; {
		n := min(left, rowGroupRows)
		values, err := decoder.Next(ctx, n, mem)
		if err != nil {
			return err
		}
		values.Release()
		left -= n
	}
	return nil
}
