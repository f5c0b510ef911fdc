package shuffle

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// decoder makes rows of the messages of one rank. Nothing in a message is trusted. Not safe for concurrent use.
type decoder struct {
	*format
	alloc memory.Allocator
	coder codec.Coder
	last  []arrow.ArrayData // by plain column: the dictionary that came last; nil if none came
}

func newDecoder(f *format, alloc memory.Allocator, coder codec.Coder) *decoder {
	return &decoder{f, alloc, coder, make([]arrow.ArrayData, len(f.columns))}
}

// Release releases the dictionaries.
func (d *decoder) Release() {
	for i, of := range d.last {
		if of != nil {
			of.Release()
		}
		d.last[i] = nil
	}
}

// begin reads a head, and allocates the memory of the body, which the caller releases.
func (d *decoder) begin(head []byte) (a *arriving, err error) {
	a = &arriving{head: head, alloc: d.alloc, columns: make([]arrivingColumn, len(d.columns))}
	defer func() {
		if err != nil {
			a.Release()
			a = nil
		}
	}()
	if a.rows, err = a.number("rows", primitive.MaxRows); err != nil {
		return a, err
	}
	for i, c := range d.columns {
		column := &a.columns[i]
		if err = a.array(c.array, a.rows, &column.arrivingArray); err != nil || c.array.shape != shapeIndex {
			if err != nil {
				return a, err
			}
			continue
		}
		entries, err := a.number("entries of a dictionary", primitive.MaxRows)
		if err == nil && entries > 0 {
			column.dictionary = new(arrivingArray)
			err = a.array(c.array.entries, entries-1, column.dictionary)
		}
		if err != nil {
			return a, err
		}
	}
	if len(d.nested) > 0 {
		sizeBytes, err := a.number("bytes of nested columns", mostBodyBytes)
		if err == nil {
			a.nested, err = a.take(sizeBytes, 8)
		}
		if err != nil {
			return a, err
		}
	}
	if len(a.head) > 0 {
		err = malformed("the head is %d bytes too long", len(a.head))
	}
	return a, err
}

// finish returns the rows of a message whose body was received. The caller releases them.
func (d *decoder) finish(ctx context.Context, a *arriving) (_ arrow.RecordBatch, err error) {
	columns := make([]arrow.Array, d.schema.NumFields())
	defer func() { relation.ReleaseAll(columns) }()
	for i := range a.columns {
		c := d.columns[i]
		err := d.words(ctx, a, &a.columns[i].arrivingArray, c.array)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", d.schema.Field(c.field).Name, err)
		}
		data, err := d.column(&a.columns[i], c.array, i)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", d.schema.Field(c.field).Name, err)
		}
		columns[c.field] = array.MakeFromData(data)
		data.Release()
	}
	if len(d.nested) > 0 {
		nested, err := d.ipc(a)
		if err != nil {
			return nil, err
		}
		defer nested.Release()
		for i, field := range d.nested {
			columns[field] = nested.Column(i)
			columns[field].Retain()
		}
	}
	return array.NewRecordBatch(d.schema, columns, int64(a.rows)), nil
}

// words decodes the words of an array that has come encoded.
func (d *decoder) words(ctx context.Context, a *arriving, of *arrivingArray, p *plainArray) error {
	if of.coded == nil {
		return nil
	}
	m, err := codec.Open(of.coded.Bytes())
	if err != nil {
		return err
	}
	if m.ValueBytes != p.sizeBytes || int(m.Rows) != of.words {
		return malformed("%d encoded words of %d bytes instead of %d of %d", m.Rows, m.ValueBytes, of.words, p.sizeBytes)
	}
	b := memory.NewResizableBuffer(d.alloc)
	b.Resize(of.words * p.sizeBytes)
	a.decoded, of.buffers[1] = append(a.decoded, b), b
	a.decodedBytes += uint64(b.Len())
	return d.coder.Decode(ctx, codec.Column{Values: b.Bytes(), ValueBytes: p.sizeBytes}, m)
}

// column checks a plain column. The caller releases it.
func (d *decoder) column(a *arrivingColumn, p *plainArray, column int) (arrow.ArrayData, error) {
	if p.shape != shapeIndex {
		return a.data(p, nil)
	}
	if a.dictionary != nil {
		values, err := a.dictionary.data(p.entries, nil)
		if err != nil {
			return nil, err
		}
		if d.last[column] != nil {
			d.last[column].Release()
		}
		d.last[column] = values
	}
	if d.last[column] == nil {
		return nil, malformed("no dictionary came")
	}
	indices, err := a.data(p, d.last[column])
	if err != nil {
		return nil, err
	}
	return indices, nil
}
