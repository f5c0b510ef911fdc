// Package parquet reads and writes Parquet files: column chunks are decoded and encoded on all cores, flat types by
// package columnchunk, nested ones by arrow-go.
package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/ipc"
	"github.com/spirjoin/spirjoin/tableio/parquet/columnchunk"
)

// Source reads the column chunks of row groups, in slices of rows, as tasks on all cores. It implements [core.Source].
type Source struct {
	file       *file.Reader
	fields     *arrow.Schema
	columns    []columnchunk.FileField        // by field
	alone      []func() (*file.Reader, error) // by field: the file with this field alone
	pages      *mendedPages
	skipped    []bool        // by row group
	from, to   int           // row groups that are read
	decoders   sync.Pool     // of *columnchunk.Decoder
	cores      chan struct{} // holds an element for each slice that is being decoded
	pageSizes  map[int]int64 // by column
	aheadBytes int64         // beside batches that were drawn; 0: any number
}

// leastPageBytes is the decompressed size of a page that is read on any machine; larger ones where an eighth of the
// memory suffices.
const leastPageBytes = 256 << 20

// fewValues are decoded sooner than goroutines start that decode them side by side.
const fewValues = 1 << 14

// pageBufferBytes of a column chunk are read at a time.
const pageBufferBytes = 64 << 10

// Open reads the footer of a file, a seekable input that must stay open as long as the source is used. If aheadBytes is
// not 0, it bounds the memory beside batches that were drawn, unless [Source.NeedBytes] is more, and pages come from
// mem, if that is not nil.
func Open(ctx context.Context, in *core.Input, aheadBytes int64, mem memory.Allocator) (*Source, error) {
	buffers := memory.Allocator(&offheap.Shared)
	if aheadBytes > 0 && mem != nil {
		buffers = mem // which may have a limit
	}
	properties := parquet.NewReaderProperties(buffers)
	properties.BufferedStreamEnabled, properties.BufferSize = true, pageBufferBytes
	properties.MaxCompressedPageSize = min(max(in.SizeBytes, 1), math.MaxInt32)
	properties.MaxUncompressedPageSize = min(max(leastPageBytes, core.PhysicalMemoryBytes()/8), math.MaxInt32)
	pages := &mendedPages{at: in.At}
	open := func(meta *metadata.FileMetaData) (*file.Reader, error) {
		return file.NewParquetReader(struct {
			io.ReaderAt
			io.Seeker
		}{pages, in.Seek}, file.WithReadProps(properties), file.WithMetadata(meta))
	}
	reader, faults, err := openFooter(in, open)
	if err != nil {
		return nil, err
	}
	if stored := reader.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); stored != nil {
		if err := ipc.VerifyStoredSchema(*stored); err != nil {
			return nil, fmt.Errorf("the stored Arrow schema: %w", err)
		}
	}
	s := &Source{file: reader, aheadBytes: aheadBytes, pageSizes: map[int]int64{},
		skipped: make([]bool, reader.NumRowGroups()), to: reader.NumRowGroups(),
		decoders: sync.Pool{New: func() any { return &columnchunk.Decoder{MaxBytes: core.PhysicalMemoryBytes()} }},
		cores:    make(chan struct{}, runtime.GOMAXPROCS(0)), pages: pages}
	if s.fields, s.columns, err = columnchunk.ReadSchema(reader); err != nil {
		return nil, err
	}
	s.fields = core.WideSchema(s.fields)
	for i := range s.columns {
		if s.columns[i].Field.Type = s.fields.Field(i).Type; s.columns[i].Column != nil {
			s.columns[i].Column.Field.Type = s.columns[i].Field.Type
		}
	}
	s.refuse(faults)
	for i := range s.columns {
		s.alone = append(s.alone, sync.OnceValues(func() (*file.Reader, error) {
			return open(s.columns[i].Alone(reader.MetaData()))
		}))
	}
	if err := s.validate(in.SizeBytes); err != nil {
		return nil, err
	}
	return s, s.chooseInt96(ctx)
}

// openFooter opens a file, also where the library refuses its footer because of single fields, whose faults it gives.
func openFooter(
	in *core.Input, open func(*metadata.FileMetaData) (*file.Reader, error),
) (reader *file.Reader, faults map[int]error, err error) {
	err = core.Guard(func() (err error) {
		reader, err = open(nil)
		return err
	})
	if err == nil {
		return reader, nil, nil
	}
	footer, ok := plainFooter(in)
	if !ok {
		return nil, nil, err
	}
	meta, faults, again := columnchunk.RepairFooter(footer)
	if again != nil {
		return nil, nil, err
	}
	reader, err = open(meta)
	return reader, faults, err
}

// plainFooter reads the footer of a file, if it is there and not encrypted.
func plainFooter(in *core.Input) ([]byte, bool) {
	var tail [8]byte // the size of the footer and the magic bytes
	if in.SizeBytes < int64(len(tail)) {
		return nil, false
	}
	if _, err := in.At.ReadAt(tail[:], in.SizeBytes-int64(len(tail))); err != nil || string(tail[4:]) != magic {
		return nil, false
	}
	sizeBytes := int64(binary.LittleEndian.Uint32(tail[:]))
	if sizeBytes > in.SizeBytes-int64(len(tail)) || sizeBytes > math.MaxInt32/2 {
		return nil, false
	}
	footer := make([]byte, sizeBytes)
	_, err := in.At.ReadAt(footer, in.SizeBytes-int64(len(tail))-sizeBytes)
	return footer, err == nil
}

// refuse makes it an error to read the fields that are encrypted, have types that nothing can work with, or faults.
func (s *Source) refuse(faults map[int]error) {
	fields := s.fields.Fields()
	for i := range s.columns {
		column := &s.columns[i]
		reason := faults[i]
		if err := core.CheckType(column.Field.Type); err != nil && reason == nil {
			reason = err
			column.Field.Type = arrow.BinaryTypes.Binary
		}
		for leaf := column.First; leaf < column.First+column.Leaves && reason == nil; leaf++ {
			decimal, ok := s.file.MetaData().Schema.Column(leaf).LogicalType().(schema.DecimalLogicalType)
			if ok && decimal.Scale() < 0 {
				reason = fmt.Errorf("a decimal of scale %d", decimal.Scale())
				column.Field.Type = arrow.BinaryTypes.Binary
			}
		}
		for _, group := range s.file.MetaData().GetRowGroups() {
			columns := group.GetColumns()
			for leaf := column.First; leaf < min(column.First+column.Leaves, len(columns)); leaf++ {
				if columns[leaf].IsSetCryptoMetadata() {
					reason = errors.New("it is encrypted")
				}
			}
		}
		if reason != nil && column.Err == nil {
			column.Refuse(reason)
		}
		fields[i] = column.Field
	}
	meta := s.fields.Metadata()
	s.fields = arrow.NewSchema(fields, &meta)
}

// validate compares the counts that the footer repeats, so that a corrupt one
// is seen before memory is reserved for it.
func (s *Source) validate(sizeBytes int64) error {
	total := int64(0)
	for i := range s.file.NumRowGroups() {
		group := s.file.MetaData().RowGroup(i)
		rows := group.NumRows()
		if rows < 0 || total+rows < total {
			return fmt.Errorf("row group %d claims %d rows", i, rows)
		}
		total += rows
		if group.NumColumns() != s.file.MetaData().Schema.NumColumns() {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, group.NumColumns(),
				s.file.MetaData().Schema.NumColumns())
		}
		for c, stored := range s.file.MetaData().GetRowGroups()[i].GetColumns() {
			if path := stored.GetFilePath(); path != "" {
				return fmt.Errorf("this is a summary of other files: a column lies in %q", path)
			}
			if stored.IsSetCryptoMetadata() {
				continue // refused by itself
			}
			chunk, err := group.ColumnChunk(c)
			if err != nil {
				return err
			}
			column := s.file.MetaData().Schema.Column(c)
			if column.MaxRepetitionLevel() == 0 && chunk.NumValues() != rows {
				return fmt.Errorf("column %s has %d values in row group %d of %d rows", column.Path(),
					chunk.NumValues(), i, rows)
			}
			start, length := chunk.DataPageOffset(), chunk.TotalCompressedSize()
			if start < 0 || length < 0 || start > sizeBytes || length > sizeBytes {
				return fmt.Errorf("column %s in row group %d lies outside the file of %d bytes", column.Path(), i,
					sizeBytes)
			}
		}
	}
	switch claimed := s.file.NumRows(); claimed {
	case total:
	case 0: // left at its initial value, as by parquet-rs 0.3
		s.file.MetaData().NumRows = total
	default:
		return fmt.Errorf("the footer claims %d rows, the row groups have %d", claimed, total)
	}
	return nil
}

// Schema implements [core.Source].
func (s *Source) Schema() *arrow.Schema { return s.fields }

// Rows implements [core.Source].
func (s *Source) Rows() (rows int64) {
	for group := s.from; group < s.to; group++ {
		rows += s.groupRows(group)
	}
	return rows
}

// Pieces implements [core.Divisible]: the compressed bytes of row groups.
func (s *Source) Pieces() []core.Piece {
	pieces := make([]core.Piece, s.file.NumRowGroups())
	for i, group := range s.file.MetaData().GetRowGroups() {
		pieces[i].Rows = group.GetNumRows()
		for _, chunk := range group.GetColumns() {
			if meta := chunk.GetMetaData(); meta != nil { // otherwise it is encrypted
				pieces[i].Bytes += max(0, meta.GetTotalCompressedSize())
			}
		}
	}
	return pieces
}

// Take implements [core.Divisible].
func (s *Source) Take(from, to int) { s.from, s.to = from, to }

// groups are the row groups that are not skipped.
func (s *Source) groups() (groups []int) {
	for group := s.from; group < s.to; group++ {
		if !s.skipped[group] {
			groups = append(groups, group)
		}
	}
	return groups
}

// Batches yields the rows of row groups as batches; a large group comes in several. Column chunks are decoded on all
// cores; as many slices of them are in flight as there are cores, and once more as many but no more than there are
// columns.
func (s *Source) Batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		schema := core.ChosenSchema(s.fields, columns)
		for _, column := range columns {
			if err := s.columns[column].Err; err != nil {
				yield(nil, err)
				return
			}
		}
		groups := s.groups()
		if len(columns) == 0 {
			for _, group := range groups {
				if !yield(array.NewRecordBatch(schema, nil, s.groupRows(group)), nil) {
					return
				}
			}
			return
		}
		if s.aheadBytes > 0 {
			s.bounded(ctx, columns, mem)(yield)
			return
		}
		jobs := func(yield func(chunkSlice, error) bool) {
			for _, group := range groups {
				if !s.drawGroup(group, columns, sliceRows(s.groupRows(group), len(columns), len(groups)), yield) {
					return
				}
			}
		}
		var slices pieces
		defer func() { slices.release() }()
		ahead := runtime.GOMAXPROCS(0) + min(len(columns), runtime.GOMAXPROCS(0))
		if s.Rows()*int64(len(columns)) <= fewValues {
			ahead = 0
		}
		decode := func(ctx context.Context, job chunkSlice) ([]arrow.Array, error) { return job.decode(ctx, mem) }
		for slice, err := range core.InOrder(ctx, ahead, jobs, decode, relation.ReleaseAll[arrow.Array]) {
			if err != nil {
				yield(nil, err)
				return
			}
			if slices = append(slices, slice); len(slices) < len(columns) {
				continue
			}
			for len(slices[0]) > 0 { // once, unless there are very long values
				if !yield(slices.batch(schema), nil) {
					return
				}
			}
			slices = slices[:0]
		}
	}
}

// drawGroup yields slices of all columns of a row group, and tells whether all were taken.
func (s *Source) drawGroup(group int, columns []int, sliceRows int64, yield func(chunkSlice, error) bool) bool {
	reader := s.file.RowGroup(group)
	chunks := make([]*chunkReader, len(columns))
	for i, column := range columns {
		chunks[i] = &chunkReader{source: s, group: group, column: column, rows: reader}
	}
	for left := reader.NumRows(); ; left -= sliceRows {
		for _, chunk := range chunks {
			if !yield(chunk.draw(min(left, sliceRows), left <= sliceRows), nil) {
				for _, chunk := range chunks {
					chunk.abandon()
				}
				return false
			}
		}
		if left <= sliceRows {
			return true
		}
	}
}

// sliceRows is how many rows of a row group are decoded at a time. Slices of a column follow one another, so there are
// no more of a row group than it has columns for each core, lest cores wait for each other; a single row group has no
// others to keep them busy. None is smaller than the row groups that we write.
func sliceRows(groupRows int64, columns, groups int) int64 {
	slices := groupRows / rowGroupRows
	if groups > 1 {
		slices = min(slices, int64(columns/runtime.GOMAXPROCS(0)))
	}
	if slices <= 1 {
		return max(1, groupRows)
	}
	const multiple = 1 << 10 // so that bitmaps begin at a byte
	perSlice := (groupRows + slices - 1) / slices
	return (perSlice + multiple - 1) / multiple * multiple
}

func (s *Source) groupRows(group int) int64 {
	return s.file.MetaData().RowGroup(group).NumRows()
}
