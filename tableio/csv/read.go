package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// Source reads a CSV file in parallel blocks: once to infer the types that are not given, once to convert. It
// implements [core.Source]; rows are counted where types are inferred.
type Source struct {
	in        *core.Input
	delimiter byte
	nulls     nullTexts
	bodyStart int64 // offset of the first record behind the header
	bodyLine  int64
	fields    *arrow.Schema
	total     int64
	facts     []*columnFacts // shared by files that were united; nil: all types were given
	places    []blockPlace   // of the blocks that are read; empty: not known, because all types were given
}

// Open infers the types that the options do not give, from all values of a seekable input, which must stay open as long
// as the source is used. It calls opening, which may be nil, with the bytes read for that so far and the bytes of the
// file. Errors wrap [core.ErrColumn] if the options' schema names a column that is unknown or ambiguous.
func Open(
	ctx context.Context, in *core.Input, opts Options, opening func(doneBytes, totalBytes int64),
) (*Source, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s := &Source{in: in, delimiter: opts.delimiter(in.Path), nulls: newNullTexts(opts.nulls()), total: -1}
	names, err := s.readHeader(opts)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(names))
	infer := false
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Nullable: true}
		if given := fieldOf(opts, i, name); given != nil {
			fields[i] = *given
		}
		infer = infer || fields[i].Type == nil
	}
	if err := checkGiven(opts, names); err != nil {
		return nil, err
	}
	if infer {
		if err := s.infer(ctx, fields, opening); err != nil {
			return nil, err
		}
	}
	s.fields = arrow.NewSchema(fields, nil)
	return s, nil
}

// fieldOf is the field that the options give for a column, or nil.
func fieldOf(opts Options, i int, name string) *arrow.Field {
	if opts.Schema == nil {
		return nil
	}
	if opts.Header == HeaderPresent {
		indices := opts.Schema.FieldIndices(name)
		if len(indices) == 0 {
			return nil
		}
		i = indices[0]
	}
	field := opts.Schema.Field(i)
	return &field
}

func checkGiven(opts Options, names []string) error {
	if opts.Schema == nil {
		return nil
	}
	var faults []error
	counts := map[string]int{}
	for _, name := range names {
		counts[name]++
	}
	for _, field := range opts.Schema.Fields() {
		count := counts[field.Name]
		switch {
		case count == 0:
			faults = append(faults, core.UnknownColumn(field.Name, names))
		case count > 1:
			faults = append(faults, fmt.Errorf(
				"%w %q is ambiguous: the name occurs more than once", core.ErrColumn, field.Name))
		}
	}
	return core.JoinFaults(faults...)
}

// readHeader finds the names of the columns and where the records begin.
func (s *Source) readHeader(opts Options) ([]string, error) {
	s.bodyLine = 1
	bom := make([]byte, 3)
	if n, err := s.in.At.ReadAt(bom, 0); n == 3 && string(bom) == "\ufeff" {
		s.bodyStart = 3
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	first, length, err := s.firstRecord()
	if err != nil {
		return nil, err
	}
	if opts.Header == HeaderAbsent {
		return s.headerless(opts, len(first))
	}
	if first == nil {
		return nil, errors.New("the file has no header; an empty CSV file has no columns")
	}
	s.bodyStart += length
	for i, name := range first {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("the name of column %d is not valid UTF-8", i+1)
		}
	}
	return first, nil
}

// firstRecord parses the first record and says how many bytes precede the
// second; nil where there is none.
func (s *Source) firstRecord() ([]string, int64, error) {
	length := int64(0)
	body := io.NewSectionReader(s.in.At, s.bodyStart, s.in.SizeBytes-s.bodyStart)
	for block, err := range split(context.Background(), body, 1) {
		if err != nil {
			return nil, 0, err
		}
		scanner := newRecordScanner(block, s.delimiter, 0)
		err := scanner.record()
		if errors.Is(err, io.EOF) { // only empty lines so far
			length += int64(len(block.data))
			block.release()
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		texts := make([]string, len(scanner.spans))
		for i, span := range scanner.spans {
			texts[i] = string(scanner.value(span))
		}
		s.bodyLine = scanner.nextLine
		return texts, length + int64(scanner.pos), nil
	}
	return nil, length, nil
}

func (s *Source) headerless(opts Options, fields int) ([]string, error) {
	s.bodyLine = 1
	if opts.Schema == nil {
		if fields == 0 {
			return nil, errors.New("the file is empty and has no header: give a schema to read it as an empty table")
		}
		names := make([]string, fields)
		for i := range names {
			names[i] = fmt.Sprintf("column_%d", i+1)
		}
		return names, nil
	}
	names := make([]string, opts.Schema.NumFields())
	for i := range names {
		names[i] = opts.Schema.Field(i).Name
	}
	if fields != 0 && fields != len(names) {
		return nil, fmt.Errorf("the first record has %d fields, the schema %d columns", fields, len(names))
	}
	return names, nil
}

// Schema implements [core.Source].
func (s *Source) Schema() *arrow.Schema { return s.fields }

// Rows implements [core.Source].
func (s *Source) Rows() int64 { return s.total }

// blocks are all records behind the header, to be worked on in parallel.
func (s *Source) blocks(ctx context.Context) iter.Seq2[textBlock, error] {
	start, bytes, line := s.bodyStart, s.in.SizeBytes-s.bodyStart, s.bodyLine
	if len(s.places) > 0 {
		start, bytes, line = s.places[0].offset, 0, s.places[0].line
		for _, place := range s.places {
			bytes += place.bytes
		}
	}
	return split(ctx, io.NewSectionReader(s.in.At, start, bytes), line)
}

// blockPlace is where a block of records lies.
type blockPlace struct{ offset, line, rows, bytes int64 }

// Pieces implements [core.Divisible]: the blocks that inference met, or all text as one.
func (s *Source) Pieces() []core.Piece {
	if len(s.places) == 0 {
		return []core.Piece{{Bytes: s.in.SizeBytes, Rows: s.total}}
	}
	pieces := make([]core.Piece, len(s.places))
	for i, place := range s.places {
		pieces[i] = core.Piece{Bytes: place.bytes, Rows: place.rows}
	}
	return pieces
}

// Take implements [core.Divisible].
func (s *Source) Take(from, to int) {
	switch {
	case from == to:
		s.total, s.places = 0, []blockPlace{{offset: s.bodyStart, line: s.bodyLine}}
	case len(s.places) > 0:
		s.total, s.places = core.RowsOf(s.Pieces()[from:to]), s.places[from:to]
	}
}

// infer fills in the missing types and counts the rows. It calls progress, which may be nil, with the bytes so far and
// in all.
func (s *Source) infer(ctx context.Context, fields []arrow.Field, progress func(done, total int64)) error {
	var mu sync.Mutex
	s.facts = make([]*columnFacts, len(fields))
	for i := range s.facts {
		s.facts[i] = new(columnFacts)
	}
	scanners := sync.Pool{New: func() any { return &recordScanner{} }}
	work := func(ctx context.Context, block textBlock) (place blockPlace, err error) {
		defer block.release()
		scanner := scanners.Get().(*recordScanner)
		defer scanners.Put(scanner)
		scanner.reset(block, s.delimiter, len(fields))
		facts := make([]columnFacts, len(fields))
		mu.Lock()
		for i := range facts {
			facts[i] = s.facts[i].before(block.firstLine) // what is excluded already need not be looked at again
		}
		mu.Unlock()
		for !errors.Is(err, io.EOF) {
			var records int
			records, err = scanner.tile()
			if err != nil && !errors.Is(err, io.EOF) {
				return place, err
			}
			if err := ctx.Err(); err != nil {
				return place, err
			}
			for i := range fields {
				if fields[i].Type == nil {
					facts[i].add(scanner, records, i, &s.nulls)
				}
			}
			place.rows += int64(records)
		}
		place.bytes, place.line = int64(len(block.data)), block.firstLine
		mu.Lock()
		defer mu.Unlock()
		for i := range facts {
			s.facts[i].merge(facts[i])
		}
		return place, nil
	}
	s.total = 0
	done := s.bodyStart
	var places []blockPlace
	for place, err := range core.InOrder(ctx, runtime.GOMAXPROCS(0), s.blocks(ctx), work, func(blockPlace) {}) {
		if err != nil {
			return err
		}
		place.offset = done
		places = append(places, place)
		s.total += place.rows
		if done += place.bytes; progress != nil {
			progress(done, s.in.SizeBytes)
		}
	}
	s.places = places
	for i := range fields {
		if s.facts[i].given = fields[i].Type != nil; !s.facts[i].given {
			fields[i].Type = s.facts[i].dataType()
		}
	}
	return nil
}

// Batches yields one record batch for every block.
func (s *Source) Batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	schema := core.ChosenSchema(s.fields, columns)
	if _, err := newBatchConverter(schema, columns, s.nulls); err != nil {
		return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
	}
	converters := sync.Pool{New: func() any {
		converter, _ := newBatchConverter(schema, columns, s.nulls)
		return converter
	}}
	work := func(ctx context.Context, block textBlock) (arrow.RecordBatch, error) {
		defer block.release()
		converter := converters.Get().(*batchConverter)
		defer converters.Put(converter)
		converter.scanner.reset(block, s.delimiter, s.fields.NumFields())
		return converter.convert(ctx, mem)
	}
	return core.InOrder(ctx, runtime.GOMAXPROCS(0), s.blocks(ctx), work, arrow.RecordBatch.Release)
}

// batchConverter makes record batches of the chosen columns of blocks, one block at a time.
type batchConverter struct {
	scanner recordScanner
	schema  *arrow.Schema
	columns []int // of the file
	into    []builder
	nulls   nullTexts
}

func newBatchConverter(schema *arrow.Schema, columns []int, nulls nullTexts) (*batchConverter, error) {
	c := &batchConverter{schema: schema, columns: columns, into: make([]builder, len(columns)), nulls: nulls}
	for i, field := range schema.Fields() {
		var err error
		if c.into[i], err = newBuilder(field, nulls); err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
	}
	return c, nil
}

// convert makes the batch of the block that the scanner was set to.
func (c *batchConverter) convert(ctx context.Context, mem memory.Allocator) (arrow.RecordBatch, error) {
	most := 1 + bytes.Count(c.scanner.data, []byte{'\n'})
	defer func() {
		for _, column := range c.into {
			column.drop()
		}
	}()
	for _, column := range c.into {
		column.begin(mem, most)
	}
	rows := int64(0)
	for {
		records, err := c.scanner.tile()
		if fault := c.add(records); fault != nil {
			return nil, fault
		}
		rows += int64(records)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	arrays := make([]arrow.Array, len(c.into))
	for i, column := range c.into {
		arrays[i] = column.end()
		defer arrays[i].Release()
	}
	return array.NewRecordBatch(c.schema, arrays, rows), nil
}

// add converts the tile column by column and reports its first fault.
func (c *batchConverter) add(records int) error {
	bad, fault := records, -1
	for i, column := range c.into {
		if at := column.add(&c.scanner, records, c.columns[i]); at >= 0 && at < bad {
			bad, fault = at, i
		}
	}
	if fault < 0 {
		return nil
	}
	line, field := c.scanner.lines[bad], c.schema.Field(fault)
	span := c.scanner.spans[bad*c.scanner.columns+c.columns[fault]]
	if text := c.scanner.text(span); span.quoted() || !c.nulls.has(text) {
		return fmt.Errorf("line %d: column %q: %.40q is not a valid %s", line, field.Name, text, field.Type)
	}
	return fmt.Errorf("line %d: column %q may not be null", line, field.Name)
}
