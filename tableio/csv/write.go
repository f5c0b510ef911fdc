package csv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/tableio/core"
)

const (
	flushBytes = 256 << 10
	partValues = 1 << 17 // of the rows that one task turns into text, about a megabyte
)

// encoder writes rows of text; the header comes first, also where no row follows. Parts of a batch become text on
// all cores.
type encoder struct {
	out     io.Writer
	quoting quoter
	null    string
	columns int
	written int64  // rows
	buf     []byte // rows of small batches, to be written before anything else
}

// NewEncoder makes an encoder of rows of text, which it writes to out. If the options have no delimiter, it follows
// from the extension of path. Errors wrap [core.ErrCompression] for any compression but "none" or an empty text.
func NewEncoder(
	out io.Writer, path string, schema *arrow.Schema, opts Options, compression string,
) (core.Encoder, error) {
	schema = core.PlainSchema(schema)
	faults := []error{opts.Validate()}
	if compression != "" && compression != "none" {
		faults = append(faults, fmt.Errorf("%w %q is unknown for CSV: choose none", core.ErrCompression, compression))
	}
	if schema.NumFields() == 0 {
		faults = append(faults, errors.New("CSV cannot hold a table without columns"))
	}
	for _, field := range schema.Fields() {
		if err := writable(field.Type); err != nil {
			faults = append(faults, fmt.Errorf("column %q: %w", field.Name, err))
		}
	}
	if err := core.JoinFaults(faults...); err != nil {
		return nil, err
	}
	e := &encoder{out: out, columns: schema.NumFields(),
		quoting: quoter{delimiter: opts.delimiter(path), nulls: newNullTexts(opts.nulls())}}
	if texts := opts.nulls(); len(texts) > 0 {
		e.null = texts[0]
	}
	if opts.Header == HeaderPresent {
		for i, field := range schema.Fields() {
			if i > 0 {
				e.buf = append(e.buf, e.quoting.delimiter)
			}
			start := len(e.buf)
			e.buf = append(e.buf, field.Name...)
			e.buf = e.quoting.quote(e.buf, start)
		}
		e.buf = append(e.buf, '\n')
	}
	return e, nil
}

func writable(dt arrow.DataType) error {
	if dict, ok := dt.(*arrow.DictionaryType); ok {
		dt = dict.ValueType
	}
	if _, err := newBuilder(arrow.Field{Type: dt}, nullTexts{}); err != nil && dt.ID() != arrow.NULL {
		return fmt.Errorf("type %s cannot be written to CSV", dt)
	}
	return nil
}

// Write implements [core.Encoder].
func (e *encoder) Write(ctx context.Context, batch arrow.RecordBatch) error {
	batch = core.PlainBatch(batch)
	defer batch.Release()
	rows := newRowFormatter(batch, e.written, e.quoting, e.null)
	e.written += batch.NumRows()
	total := int(batch.NumRows())
	if part := max(1, partValues/e.columns); total > part {
		return e.writeParts(ctx, rows, total, part)
	}
	var err error
	if e.buf, err = rows.append(e.buf, 0, total); err != nil {
		return err
	}
	if len(e.buf) >= flushBytes {
		return e.flush()
	}
	return ctx.Err()
}

// writeParts turns parts of the given number of rows into text at once and writes them in order.
func (e *encoder) writeParts(ctx context.Context, rows *rowFormatter, total, part int) error {
	if err := e.flush(); err != nil {
		return err
	}
	starts := func(yield func(int, error) bool) {
		for start := 0; start < total && yield(start, ctx.Err()); start += part {
		}
	}
	text := func(ctx context.Context, start int) (buffer *textBuffer, err error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		buffer = textBuffers.Get().(*textBuffer)
		buffer.bytes, err = rows.append(buffer.bytes[:0], start, min(start+part, total))
		return buffer, err
	}
	discard := func(buffer *textBuffer) { textBuffers.Put(buffer) }
	for buffer, err := range core.InOrder(ctx, runtime.GOMAXPROCS(0), starts, text, discard) {
		if err != nil {
			return err
		}
		_, err = e.out.Write(buffer.bytes)
		textBuffers.Put(buffer)
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) flush() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// Close implements [core.Encoder].
func (e *encoder) Close(context.Context) error { return e.flush() }
