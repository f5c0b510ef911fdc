package shuffle

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// message is rows on their way to a rank. Its body lies in the buffers of the rows, except for what is copied.
type message struct {
	head       []byte
	body       [][]byte
	copied     []*memory.Buffer
	savedBytes int // by encoded columns
}

// Release releases what was copied.
func (m *message) Release() { relation.ReleaseAll(m.copied) }

func (m *message) bodyBytes() (sizeBytes uint64) {
	for _, b := range m.body {
		sizeBytes += uint64(len(b))
	}
	return sizeBytes
}

func (m *message) put(n int) { m.head = binary.AppendUvarint(m.head, uint64(n)) }

// add adds a buffer. Empty ones do not travel.
func (m *message) add(b []byte) {
	if len(b) > 0 {
		m.body = append(m.body, b)
	}
}

// room returns memory of a copy, which is part of the body.
func (m *message) room(alloc memory.Allocator, sizeBytes int) []byte {
	b := memory.NewResizableBuffer(alloc)
	b.Resize(sizeBytes)
	m.copied = append(m.copied, b)
	m.add(b.Bytes())
	return b.Bytes()
}

// encoder makes messages for one rank, which has the dictionaries of earlier messages. Not safe for concurrent use.
type encoder struct {
	*format
	alloc memory.Allocator
	last  []arrow.Array // by plain column: the dictionary that the rank has; nil if it has none
}

func newEncoder(f *format, alloc memory.Allocator) *encoder {
	return &encoder{f, alloc, make([]arrow.Array, len(f.columns))}
}

// Release releases the dictionaries.
func (e *encoder) Release() {
	for i, of := range e.last {
		if of != nil {
			of.Release()
		}
		e.last[i] = nil
	}
}

// encode returns the message of rows that have the schema of the format. They must stay alive as long as the message,
// which the caller releases. The error is backend.ErrInvalidInput for corrupt buffers.
func (e *encoder) encode(rows *parcel) (m *message, err error) {
	m = &message{}
	defer func() {
		if err != nil {
			m.Release()
			m = nil
		}
	}()
	m.put(int(rows.NumRows()))
	for i, c := range e.columns {
		data, coded := rows.Column(c.field).Data(), (*memory.Buffer)(nil)
		if rows.coded != nil {
			coded = rows.coded[i]
		}
		if err = e.array(m, c.array, data, coded); err == nil && c.array.shape == shapeIndex {
			err = e.dictionary(m, i, data.Dictionary())
		}
		if err != nil {
			return m, fmt.Errorf("%w: send column %q: %w", backend.ErrInvalidInput, e.schema.Field(c.field).Name, err)
		}
	}
	if len(e.nested) > 0 {
		err = e.ipc(m, rows.RecordBatch)
	}
	return m, err
}

// array adds the buffers of an array without its dictionary, and instead of its words the message that has them if they
// are encoded.
func (e *encoder) array(m *message, p *plainArray, data arrow.ArrayData, coded *memory.Buffer) error {
	if p.shape == shapeNone {
		return nil
	}
	if err := relation.CheckValidity(data); err != nil {
		return err
	}
	nulls, n := nullsOf(data), data.Len()
	m.put(nulls)
	if nulls > 0 {
		e.bits(m, data, 0)
	}
	add := m.add
	if p.words {
		if coded == nil {
			m.put(0)
		} else {
			m.put(coded.Len())
			add = func(raw []byte) {
				m.add(coded.Bytes())
				m.savedBytes += len(raw) - coded.Len()
			}
		}
	}
	switch p.shape {
	case shapeBits:
		if err := relation.CheckBuffers(data, 1); err != nil {
			return err
		}
		e.bits(m, data, 1)
	case shapeFixed, shapeIndex:
		values, err := p.values(data)
		if err != nil {
			return err
		}
		add(values)
	case shapeOffsets:
		if n == 0 {
			m.put(0)
			return nil
		}
		var err error
		var of [2]int64
		if p.sizeBytes == 4 {
			of, err = span[int32](data)
		} else {
			of, err = span[int64](data)
		}
		if err != nil {
			return err
		}
		m.put(int(of[1] - of[0]))
		offsets, err := p.values(data)
		if err != nil {
			return err
		}
		add(offsets)
		m.add(relation.BufferBytes(data, 2)[of[0]:of[1]])
	}
	return nil
}

// values returns the values, indices or offsets of an array; no offsets if it is empty.
func (p *plainArray) values(data arrow.ArrayData) ([]byte, error) {
	n, from := data.Len(), data.Offset()
	if p.shape == shapeOffsets {
		if n == 0 {
			return nil, nil
		}
		if have := len(relation.BufferBytes(data, 1)) / p.sizeBytes; have < from+n+1 {
			return nil, fmt.Errorf("%d offsets instead of %d", have, from+n+1)
		}
		n++
	} else if err := relation.CheckBuffers(data, 8*p.sizeBytes); err != nil {
		return nil, err
	}
	return relation.BufferBytes(data, 1)[from*p.sizeBytes:][:n*p.sizeBytes], nil
}

// span returns where the bytes of all values of an array begin and end. It does not look at the values between.
func span[O int32 | int64](data arrow.ArrayData) (of [2]int64, err error) {
	offsets, err := relation.SpansOf[O](data)
	if err != nil {
		return of, err
	}
	of[0], of[1] = int64(offsets[0]), int64(offsets[data.Len()])
	if have := int64(len(relation.BufferBytes(data, 2))); of[0] < 0 || of[1] < of[0] || of[1] > have {
		return of, fmt.Errorf("the values are bytes %d to %d of %d", of[0], of[1], have)
	}
	return of, nil
}

// nullsOf is the number of NULLs of an array.
func nullsOf(data arrow.ArrayData) int {
	switch validity := relation.BufferBytes(data, 0); {
	case len(validity) == 0:
		return 0
	case data.NullN() >= 0:
		return data.NullN()
	default:
		return data.Len() - bitutil.CountSetBits(validity, data.Offset(), data.Len())
	}
}

// bits adds the bits of a buffer of an array: from where they lie if they begin at a byte.
func (e *encoder) bits(m *message, data arrow.ArrayData, buffer int) {
	of, n, from := relation.BufferBytes(data, buffer), data.Len(), data.Offset()
	if from%8 == 0 {
		m.add(of[from/8:][:bitmapBytes(n)])
		return
	}
	bitutil.CopyBitmap(of, from, n, m.room(e.alloc, bitmapBytes(n)), 0)
}

// dictionary adds the dictionary of a plain column if the rank does not have it: the number of its entries and one, or
// 0 if it has it.
func (e *encoder) dictionary(m *message, column int, of arrow.ArrayData) error {
	values := array.MakeFromData(of)
	if last := e.last[column]; last != nil && (last.Data() == of || array.Equal(last, values)) {
		values.Release()
		m.put(0)
		return nil
	}
	if e.last[column] != nil {
		e.last[column].Release()
	}
	e.last[column] = values
	m.put(values.Len() + 1)
	return e.array(m, e.columns[column].array.entries, values.Data(), nil)
}

// ipc adds the nested columns as an Arrow IPC stream.
func (e *encoder) ipc(m *message, rows arrow.RecordBatch) error {
	columns := make([]arrow.Array, len(e.nested))
	for i, field := range e.nested {
		columns[i] = rows.Column(field)
	}
	nested := array.NewRecordBatch(e.ofIPC, columns, rows.NumRows())
	defer nested.Release()
	to := &appended{Buffer: memory.NewResizableBuffer(e.alloc)}
	m.copied = append(m.copied, to.Buffer)
	// With an allocator of memory that is not zeroed, arrow-go (18.8) writes undefined bitmaps of arrays that are all
	// NULL.
	w := ipc.NewWriter(to, ipc.WithSchema(e.ofIPC))
	if err := w.Write(nested); err != nil {
		return fmt.Errorf("send nested columns: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("send nested columns: %w", err)
	}
	m.put(to.Len())
	m.add(to.Bytes())
	return nil
}

// appended is a buffer that grows.
type appended struct{ *memory.Buffer }

// Write implements io.Writer.
func (a *appended) Write(p []byte) (int, error) {
	at := a.Len()
	if need := at + len(p); need > a.Cap() {
		a.Reserve(max(need, 2*a.Cap()))
	}
	a.ResizeNoShrink(at + len(p))
	return copy(a.Bytes()[at:], p), nil
}
