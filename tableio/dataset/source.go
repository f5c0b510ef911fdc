// Package dataset makes one source of several files: of a folder, a pattern or a list. Columns are united by name, and
// folders called column=value add columns.
//
//	Find ──► paths ── Open: all files, some at a time ──► schemas ──► unite: fields, types
//	                    │ closed again; of many files only facts are kept
//	                    ▼
//	Batches: opened again in order, some ahead ── conversion ──► batches of the united schema
//
// The footers of the first files stay in memory. Later files are known by their rows, the bytes of their pieces and the
// bounds of their columns, and are opened anew when they are read.
package dataset

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/csv"
)

// Options say how the files of a dataset are opened.
type Options struct {
	// Source opens the content of a file.
	Source func(ctx context.Context, in *core.Input) (core.Source, error)
	// Fail names the file and the operation, "open" or "read", in an error.
	Fail func(op, path string, err error) error
	// AheadBytes bounds the memory beside batches that were drawn, as a source under it does; 0: no bound.
	AheadBytes int64
	// Opening, if set, is told how many bytes the files have that were opened so far, and all of them.
	Opening func(doneBytes, totalBytes int64)
}

// Source is several files, read one after the other. It implements [core.Source], [core.Bounded], [core.Ahead] and
// [core.Divisible].
type Source struct {
	options Options
	members []*member
	shapes  map[*arrow.Schema]*shape
	fields  *arrow.Schema
	ofFiles int           // fields that files have; those of partitions follow
	faults  map[int]error // by field: why it cannot be read
	skips   []skip        // for files whose source is not kept
	cells   atomic.Int64  // of the sources that are kept
}

// skip is a call of SkipOutside.
type skip struct {
	column int
	bounds core.Bounds
}

// member is a file of a dataset.
type member struct {
	File
	in       *core.Input // at rest unless it is read
	source   core.Source // nil: it is opened anew for each read
	schema   *arrow.Schema
	shape    *shape
	rows     int64
	pieces   []core.Piece
	from, to int    // pieces that are read
	skipped  bool   // whole
	facts    *facts // of a source that is not kept
}

// facts are what is kept of a file instead of its source.
type facts struct {
	bounds    []core.Bounds // by column
	bounded   []bool
	nulls     []bool
	needBytes int64 // of all columns
}

// A cell of a footer is a column in a row group, or in the schema; it takes about 1 KiB. Variables for tests.
var (
	mostCells        int64 = 64 << 10
	mostCellsLimited int64 = 8 << 10 // where memory is bounded
)

// Open opens all files and unites their columns. CSV files are read for that once.
//
// Errors: of the file that comes first, by Options.Fail.
func Open(ctx context.Context, files []File, options Options) (*Source, error) {
	s := &Source{options: options, shapes: map[*arrow.Schema]*shape{}, faults: map[int]error{}}
	paths := func(yield func(File, error) bool) {
		for _, file := range files {
			if err := ctx.Err(); !yield(file, err) {
				return
			}
		}
	}
	open := func(ctx context.Context, file File) (m *member, err error) {
		return m, options.Fail("open", file.Path, core.Guard(func() (err error) {
			m, err = s.open(ctx, file)
			return err
		}))
	}
	var texts csv.United
	var doneBytes int64
	for m, err := range core.InOrder(ctx, runtime.GOMAXPROCS(0), paths, open, func(*member) {}) {
		if err != nil {
			return nil, err
		}
		if text, ok := m.source.(*csv.Source); ok {
			texts.Add(text)
		} else {
			m.schema = s.interned(m.schema)
		}
		s.members = append(s.members, m)
		if doneBytes += m.in.SizeBytes; options.Opening != nil { // as if the others had the mean size
			options.Opening(doneBytes, doneBytes/int64(len(s.members))*int64(len(files)))
		}
	}
	for _, m := range s.members {
		if text, ok := m.source.(*csv.Source); ok {
			texts.SetTypes(text)
			m.schema = s.interned(text.Schema())
		}
	}
	s.unite()
	return s, nil
}

// interned returns an equal schema of files before, if there is one.
func (s *Source) interned(schema *arrow.Schema) *arrow.Schema {
	for other := range s.shapes {
		if other.Equal(schema) && other.Metadata().Equal(schema.Metadata()) {
			return other
		}
	}
	s.shapes[schema] = nil
	return schema
}

// open opens a file, looks at it, and closes it for a while.
func (s *Source) open(ctx context.Context, file File) (_ *member, err error) {
	in, err := core.OpenInput(file.Path, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if rest := in.Rest(); err == nil {
			err = rest
		}
	}()
	if !in.Regular() {
		return nil, errors.New("only files can be read together; this is a pipe or a device")
	}
	source, err := s.options.Source(ctx, in)
	if err != nil {
		return nil, err
	}
	m := &member{File: file, in: in, source: source, schema: source.Schema(), rows: source.Rows(),
		pieces: []core.Piece{{Bytes: in.SizeBytes, Rows: source.Rows()}}}
	if divisible, ok := source.(core.Divisible); ok {
		m.pieces = divisible.Pieces()
	}
	m.to = len(m.pieces)
	if ahead, ok := source.(core.Ahead); ok && s.options.AheadBytes > 0 {
		ahead.SetAhead(s.aheadOf(m))
	}
	cells := int64(m.schema.NumFields() * (1 + len(m.pieces)))
	if _, ok := source.(*csv.Source); !ok && s.cells.Add(cells) > s.mostCells() {
		m.facts, m.source = factsOf(source), nil
	}
	return m, nil
}

func (s *Source) mostCells() int64 {
	if s.options.AheadBytes > 0 {
		return mostCellsLimited
	}
	return mostCells
}

func factsOf(source core.Source) *facts {
	columns := source.Schema().NumFields()
	f := &facts{bounds: make([]core.Bounds, columns), bounded: make([]bool, columns), nulls: make([]bool, columns)}
	all := make([]int, columns)
	for i := range columns {
		all[i] = i
		f.bounds[i], f.bounded[i] = boundsOf(source, i)
		f.nulls[i] = mayBeNull(source, i)
	}
	if ahead, ok := source.(core.Ahead); ok {
		f.needBytes = ahead.NeedBytes(all, false)
	}
	return f
}

func boundsOf(source core.Source, column int) (b core.Bounds, ok bool) {
	if bounded, is := source.(core.Bounded); is {
		return bounded.Bounds(column)
	}
	return b, false
}

func mayBeNull(source core.Source, column int) bool {
	if bounded, is := source.(core.Bounded); is {
		return bounded.Nulls(column)
	}
	return source.Schema().Field(column).Nullable
}

// Schema implements [core.Source].
func (s *Source) Schema() *arrow.Schema { return s.fields }

// Rows implements [core.Source].
func (s *Source) Rows() (rows int64) {
	for _, m := range s.members {
		if m.rows < 0 {
			return -1
		}
		rows += m.rows
	}
	return rows
}

// at is where a file has a column of the dataset; -1: nowhere.
func (m *member) at(s *Source, column int) int {
	if column >= s.ofFiles {
		return -1
	}
	return m.shape.at[column]
}

// Pieces implements [core.Divisible].
func (s *Source) Pieces() (all []core.Piece) {
	for _, m := range s.members {
		all = append(all, m.pieces...)
	}
	return all
}

// Take implements [core.Divisible]. Files with no piece among them are no longer part of the dataset.
func (s *Source) Take(from, to int) {
	var left []*member
	for _, m := range s.members {
		pieces := len(m.pieces)
		if m.from, m.to = max(0, min(from, pieces)), max(0, min(to, pieces)); m.from < m.to {
			left = append(left, m)
			m.rows = core.RowsOf(m.pieces[m.from:m.to])
			m.take(m.source)
		}
		from, to = from-pieces, to-pieces
	}
	s.members = left
}

// take leaves the pieces that are read in a source of the file; nil: it is opened later.
func (m *member) take(source core.Source) {
	if divisible, ok := source.(core.Divisible); ok && m.to-m.from < len(m.pieces) {
		divisible.Take(m.from, m.to)
	}
}

// WhyText returns the value of a CSV file that made a column text.
func (s *Source) WhyText(column int) (reason csv.TextReason, ok bool) {
	for _, m := range s.members {
		if text, is := m.source.(*csv.Source); is && m.at(s, column) >= 0 {
			return text.WhyText(m.at(s, column))
		}
	}
	return reason, false
}

// SetType gives a column without values in any file, all of them CSV, another type.
func (s *Source) SetType(column int, dt arrow.DataType) bool {
	changed := false
	for m := range s.having(column) {
		text, ok := m.source.(*csv.Source)
		if !ok || text.HasType(m.at(s, column)) {
			return false
		}
	}
	for m := range s.having(column) {
		text := m.source.(*csv.Source)
		if !text.SetType(m.at(s, column), dt) {
			return false
		}
		changed = true
	}
	if changed {
		fields, meta := s.fields.Fields(), s.fields.Metadata()
		fields[column].Type = dt
		s.fields = arrow.NewSchema(fields, &meta)
	}
	return changed
}

// having yields the files that have a column.
func (s *Source) having(column int) iter.Seq[*member] {
	return func(yield func(*member) bool) {
		for _, m := range s.members {
			if m.at(s, column) >= 0 && !yield(m) {
				return
			}
		}
	}
}
