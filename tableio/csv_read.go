package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// csvSource reads a CSV file in parallel blocks: once to infer the types that
// are not given, once to convert.
type csvSource struct {
	in        *input
	delimiter byte
	nulls     []string
	bodyStart int64 // offset of the first record behind the header
	bodyLine  int64
	fields    *arrow.Schema
	total     int64
}

func openCSV(ctx context.Context, in *input, opts CSVOptions) (source, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s := &csvSource{in: in, delimiter: opts.delimiter(in.path), nulls: opts.nulls(), total: -1}
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
		if err := s.infer(ctx, fields); err != nil {
			return nil, err
		}
	}
	s.fields = arrow.NewSchema(fields, nil)
	return s, nil
}

// fieldOf is the field that the options give for a column, or nil.
func fieldOf(opts CSVOptions, i int, name string) *arrow.Field {
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

func checkGiven(opts CSVOptions, names []string) error {
	if opts.Schema == nil {
		return nil
	}
	var faults []error
	for _, field := range opts.Schema.Fields() {
		count := 0
		for _, name := range names {
			if name == field.Name {
				count++
			}
		}
		switch {
		case count == 0:
			faults = append(faults, unknownColumn(field.Name, names))
		case count > 1:
			faults = append(faults, fmt.Errorf("%w %q is ambiguous: the name occurs more than once", ErrColumn, field.Name))
		}
	}
	return joinFaults(faults...)
}

// readHeader finds the names of the columns and where the records begin.
func (s *csvSource) readHeader(opts CSVOptions) ([]string, error) {
	s.bodyLine = 1
	bom := make([]byte, 3)
	if n, err := s.in.at.ReadAt(bom, 0); n == 3 && string(bom) == "\ufeff" {
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
	names := make([]string, len(first))
	var scratch []byte
	for i, field := range first {
		name := field.value(&scratch)
		if !utf8.Valid(name) {
			return nil, fmt.Errorf("the name of column %d is not valid UTF-8", i+1)
		}
		names[i] = string(name)
	}
	return names, nil
}

// firstRecord parses the first record and says how many bytes precede the
// second; nil where there is none.
func (s *csvSource) firstRecord() ([]csvField, int64, error) {
	var fields []csvField
	length := int64(0)
	stop := errors.New("stop")
	body := io.NewSectionReader(s.in.at, s.bodyStart, s.in.size-s.bodyStart)
	err := splitCSV(context.Background(), body, func(block csvBlock) error {
		scanner := newCSVScanner(block, s.delimiter, 0)
		record, err := scanner.next()
		if errors.Is(err, io.EOF) { // only empty lines so far
			length += int64(len(block.data))
			return nil
		}
		if err != nil {
			return err
		}
		fields = record
		length += int64(scanner.pos)
		s.bodyLine = scanner.nextLine
		return stop
	})
	if err != nil && !errors.Is(err, stop) {
		return nil, 0, err
	}
	return fields, length, nil
}

func (s *csvSource) headerless(opts CSVOptions, fields int) ([]string, error) {
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

func (s *csvSource) schema() *arrow.Schema { return s.fields }
func (s *csvSource) rows() int64           { return s.total }

// blocks runs work on every block of records, on all cores, and returns the
// error of the earliest block.
func (s *csvSource) blocks(ctx context.Context, columns int, work func(ctx context.Context, index int, scanner *csvScanner) error) error {
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.SetLimit(runtime.GOMAXPROCS(0) + 1)
	var mu sync.Mutex
	firstIndex, first := -1, error(nil)
	report := func(index int, err error) error {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && !errors.Is(err, context.Canceled) && (firstIndex < 0 || index < firstIndex) {
			firstIndex, first = index, err
		}
		return err
	}
	body := io.NewSectionReader(s.in.at, s.bodyStart, s.in.size-s.bodyStart)
	err := splitCSV(ctx, body, func(block csvBlock) error {
		block.firstLine += s.bodyLine - 1
		tasks.Go(func() error {
			return report(block.index, guard(func() error {
				return work(ctx, block.index, newCSVScanner(block, s.delimiter, columns))
			}))
		})
		return nil
	})
	taskErr := tasks.Wait()
	switch {
	case first != nil:
		return first
	case err != nil:
		return err
	}
	return taskErr
}

// infer fills in the missing types and counts the rows.
func (s *csvSource) infer(ctx context.Context, fields []arrow.Field) error {
	facts := make([]csvColumnFacts, len(fields))
	total := int64(0)
	var mu sync.Mutex
	err := s.blocks(ctx, len(fields), func(_ context.Context, _ int, scanner *csvScanner) error {
		local := make([]csvColumnFacts, len(fields))
		rows := int64(0)
		var scratch []byte
		for ; ; rows++ {
			record, err := scanner.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			for i, field := range record {
				if fields[i].Type == nil && !field.isNull(s.nulls) {
					local[i].add(field.value(&scratch))
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range facts {
			facts[i].merge(local[i])
		}
		total += rows
		return nil
	})
	if err != nil {
		return err
	}
	for i := range fields {
		if fields[i].Type == nil {
			fields[i].Type = facts[i].dataType()
		}
	}
	s.total = total
	return nil
}

func (s *csvSource) read(ctx context.Context, columns []int, mem memory.Allocator) (arrow.Table, error) {
	var mu sync.Mutex
	var batches []arrow.RecordBatch // by block
	err := s.blocks(ctx, s.fields.NumFields(), func(ctx context.Context, index int, scanner *csvScanner) error {
		batch, err := s.convert(ctx, scanner, columns, mem)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for len(batches) <= index {
			batches = append(batches, nil)
		}
		batches[index] = batch
		return nil
	})
	if err != nil {
		return nil, err
	}
	return assembleBatches(s.fields, columns, batches)
}

// convert parses a block into a record batch of the chosen columns.
func (s *csvSource) convert(ctx context.Context, scanner *csvScanner, columns []int, mem memory.Allocator) (arrow.RecordBatch, error) {
	builders := make([]array.Builder, len(columns))
	appenders := make([]appendFunc, len(columns))
	fields := make([]arrow.Field, len(columns))
	for i, column := range columns {
		fields[i] = s.fields.Field(column)
		builders[i] = array.NewBuilder(mem, fields[i].Type)
		defer builders[i].Release()
		var err error
		if appenders[i], err = csvAppender(fields[i].Type); err != nil {
			return nil, err
		}
	}
	expected := 1 + bytes.Count(scanner.data, []byte{'\n'})
	for _, builder := range builders {
		builder.Reserve(expected)
	}
	rows := int64(0)
	var scratch []byte
	for ; ; rows++ {
		if rows%65536 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		record, err := scanner.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, column := range columns {
			field := record[column]
			switch {
			case field.isNull(s.nulls):
				if !fields[i].Nullable {
					return nil, fmt.Errorf("line %d: column %q may not be null", scanner.line, fields[i].Name)
				}
				builders[i].AppendNull()
			case !appenders[i](builders[i], field.value(&scratch)):
				return nil, fmt.Errorf("line %d: column %q: %.40q is not a valid %s", scanner.line, fields[i].Name, field.text, fields[i].Type)
			}
		}
	}
	arrays := make([]arrow.Array, len(columns))
	for i, builder := range builders {
		arrays[i] = builder.NewArray()
		defer arrays[i].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows), nil
}
