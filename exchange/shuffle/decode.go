package shuffle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// mostBodyBytes is the largest body that a message may claim.
const mostBodyBytes = 64 << 30

// decoder makes rows of the messages of one rank. Nothing in a message is trusted. Not safe for concurrent use.
type decoder struct {
	*format
	alloc memory.Allocator
	last  []arrow.ArrayData // by plain column: the dictionary that came last; nil if none came
}

func newDecoder(f *format, alloc memory.Allocator) *decoder {
	return &decoder{f, alloc, make([]arrow.ArrayData, len(f.columns))}
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

// arriving is a message whose body is being received.
type arriving struct {
	head      []byte // what was not read yet
	rows      int
	columns   []arrivingColumn
	nested    *memory.Buffer
	buffers   []*memory.Buffer // all that the message has
	bodyBytes uint64
	alloc     memory.Allocator
}

type arrivingColumn struct {
	arrivingArray
	dictionary *arrivingArray // nil: the last one that came
}

type arrivingArray struct {
	n, nulls int
	buffers  [3]*memory.Buffer // validity, values or offsets, bytes
}

// Release releases the memory of the message.
func (a *arriving) Release() {
	relation.ReleaseAll(a.buffers)
	a.buffers = nil
}

func malformed(format string, a ...any) error {
	return fmt.Errorf("%w: a message from another rank is malformed: %s", backend.ErrInvalidInput,
		fmt.Sprintf(format, a...))
}

// number reads a number of the head, which is at most most.
func (a *arriving) number(what string, most int) (int, error) {
	n, length := binary.Uvarint(a.head)
	if length <= 0 || n > uint64(most) {
		return 0, malformed("%s", what)
	}
	a.head = a.head[length:]
	return int(n), nil
}

// take returns a buffer of the body, for n values of that many bits.
func (a *arriving) take(n, bitWidth int) (*memory.Buffer, error) {
	high, low := bits.Mul64(uint64(n), uint64(bitWidth))
	sizeBytes := low/8 + (low%8+7)/8
	if a.bodyBytes += sizeBytes; high > 0 || sizeBytes > mostBodyBytes || a.bodyBytes > mostBodyBytes {
		return nil, malformed("%d values of %d bits", n, bitWidth)
	}
	b := memory.NewResizableBuffer(a.alloc)
	b.Resize(int(sizeBytes))
	a.buffers = append(a.buffers, b)
	return b, nil
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
			err = a.array(c.array.values, entries-1, column.dictionary)
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

// array reads the head of an array of n values.
func (a *arriving) array(p *plainArray, n int, into *arrivingArray) (err error) {
	if into.n = n; p.shape == shapeNone {
		into.nulls = n
		return nil
	}
	if into.nulls, err = a.number("NULLs", n); err != nil {
		return err
	}
	if into.nulls > 0 {
		if into.buffers[0], err = a.take(n, 1); err != nil {
			return err
		}
	}
	switch p.shape {
	case shapeBits:
		into.buffers[1], err = a.take(n, 1)
	case shapeFixed, shapeIndex:
		into.buffers[1], err = a.take(n, 8*p.sizeBytes)
	case shapeOffsets:
		sizeBytes, err := a.number("bytes of values", mostBodyBytes)
		if err != nil {
			return err
		}
		if n == 0 && sizeBytes > 0 {
			return malformed("%d bytes of no values", sizeBytes)
		}
		if n > 0 {
			n++
		}
		if into.buffers[1], err = a.take(n, 8*p.sizeBytes); err == nil {
			into.buffers[2], err = a.take(sizeBytes, 8)
		}
		return err
	}
	return err
}

// body returns the memory in which the body is to be received.
func (a *arriving) body() (body [][]byte) {
	for _, b := range a.buffers {
		if b.Len() > 0 {
			body = append(body, b.Bytes())
		}
	}
	return body
}

// finish returns the rows of a message whose body was received. The caller releases them.
func (d *decoder) finish(a *arriving) (_ arrow.RecordBatch, err error) {
	columns := make([]arrow.Array, d.schema.NumFields())
	defer func() { relation.ReleaseAll(columns) }()
	for i := range a.columns {
		c := d.columns[i]
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

// column checks a plain column. The caller releases it.
func (d *decoder) column(a *arrivingColumn, p *plainArray, column int) (arrow.ArrayData, error) {
	if p.shape != shapeIndex {
		return a.data(p, nil)
	}
	if a.dictionary != nil {
		values, err := a.dictionary.data(p.values, nil)
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

// data checks an array. The caller releases it.
func (a *arrivingArray) data(p *plainArray, dictionary arrow.ArrayData) (arrow.ArrayData, error) {
	if a.buffers[0] != nil {
		if nulls := a.n - bitutil.CountSetBits(a.buffers[0].Bytes(), 0, a.n); nulls != a.nulls {
			return nil, malformed("%d NULLs, not %d", nulls, a.nulls)
		}
	}
	buffers := a.buffers[:2]
	switch p.shape {
	case shapeNone:
		buffers = a.buffers[:1]
	case shapeOffsets:
		ok := false
		if buffers = a.buffers[:]; p.sizeBytes == 4 {
			ok = rebase(relation.View[int32](buffers[1].Bytes()), buffers[2].Len())
		} else {
			ok = rebase(relation.View[int64](buffers[1].Bytes()), buffers[2].Len())
		}
		if !ok {
			return nil, malformed("offsets that descend, or go beyond the %d bytes of the values", buffers[2].Len())
		}
	case shapeIndex:
		if err := a.checkIndices(p, uint64(dictionary.Len())); err != nil {
			return nil, err
		}
		return array.NewDataWithDictionary(p.dtype, a.n, buffers, a.nulls, 0, dictionary.(*array.Data)), nil
	}
	return array.NewData(p.dtype, a.n, buffers, nil, a.nulls, 0), nil
}

// rebase makes offsets begin at 0, and reports whether they ascend and end with the values.
func rebase[O int32 | int64](offsets []O, sizeBytes int) bool {
	if len(offsets) == 0 {
		return true
	}
	first, before, descends := offsets[0], offsets[0], O(0)
	if first < 0 || int64(offsets[len(offsets)-1])-int64(first) != int64(sizeBytes) {
		return false
	}
	for i, offset := range offsets {
		descends |= (offset - before) | offset
		before, offsets[i] = offset, offset-first
	}
	return descends >= 0
}

// checkIndices checks that each index that is not NULL is less than the number of entries.
func (a *arrivingArray) checkIndices(p *plainArray, entries uint64) error {
	var validity []byte
	if a.buffers[0] != nil {
		validity = a.buffers[0].Bytes()
	}
	if bits := 8 * p.sizeBytes; !arrow.IsUnsignedInteger(p.index.ID()) { // a negative index is a large one
		entries = min(entries, 1<<(bits-1))
	}
	ok, of := false, a.buffers[1].Bytes()
	switch p.sizeBytes {
	case 1:
		ok = below(relation.View[uint8](of), validity, entries)
	case 2:
		ok = below(relation.View[uint16](of), validity, entries)
	case 4:
		ok = below(relation.View[uint32](of), validity, entries)
	default:
		ok = below(relation.View[uint64](of), validity, entries)
	}
	if !ok {
		return malformed("an index beyond the %d entries of a dictionary", entries)
	}
	return nil
}

func below[I uint8 | uint16 | uint32 | uint64](indices []I, validity []byte, entries uint64) bool {
	for i, index := range indices {
		if uint64(index) >= entries && (validity == nil || bitutil.BitIsSet(validity, i)) {
			return false
		}
	}
	return true
}

// ipc decodes the nested columns, and validates them whole. The caller releases them.
func (d *decoder) ipc(a *arriving) (rows arrow.RecordBatch, err error) {
	bounded := &boundedAllocator{d.alloc, 2*a.nested.Len() + 1<<16, make(map[*byte][]byte)}
	if fault := exec.Protect("decode nested columns", func() error {
		rows, err = d.read(bytes.NewReader(a.nested.Bytes()), bounded)
		return err
	}); fault != nil {
		bounded.free()
		return nil, malformed("nested columns: %v", fault)
	}
	bounded.blocks = nil // buffers are freed by any goroutine
	if rows.NumRows() != int64(a.rows) {
		defer rows.Release()
		return nil, malformed("nested columns of %d rows, not %d", rows.NumRows(), a.rows)
	}
	return rows, nil
}

func (d *decoder) read(from io.Reader, alloc memory.Allocator) (arrow.RecordBatch, error) {
	r, err := ipc.NewReader(from, ipc.WithAllocator(alloc), ipc.WithSchema(d.ofIPC))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	if !r.Next() {
		if r.Err() != nil {
			return nil, r.Err()
		}
		return nil, io.ErrUnexpectedEOF
	}
	rows := r.RecordBatch()
	for _, column := range rows.Columns() {
		if err := array.ValidateFull(column); err != nil {
			return nil, err
		}
	}
	rows.Retain()
	return rows, nil
}

// boundedAllocator panics instead of allocating more than is left: a message claims more than it has. It knows its
// blocks until all is decoded, because a decoder that panics does not free them.
type boundedAllocator struct {
	memory.Allocator
	left   int
	blocks map[*byte][]byte
}

func (b *boundedAllocator) charge(sizeBytes int) {
	if b.left -= sizeBytes; b.left < 0 {
		panic(fmt.Sprintf("they claim %d bytes too many", -b.left))
	}
}

func (b *boundedAllocator) keep(block []byte) []byte {
	if cap(block) > 0 && b.blocks != nil {
		b.blocks[unsafe.SliceData(block)] = block
	}
	return block
}

func (b *boundedAllocator) Allocate(size int) []byte {
	b.charge(size)
	return b.keep(b.Allocator.Allocate(size))
}

func (b *boundedAllocator) Reallocate(size int, block []byte) []byte {
	b.charge(size - len(block))
	delete(b.blocks, unsafe.SliceData(block))
	return b.keep(b.Allocator.Reallocate(size, block))
}

func (b *boundedAllocator) Free(block []byte) {
	delete(b.blocks, unsafe.SliceData(block))
	b.Allocator.Free(block)
}

// free frees all blocks.
func (b *boundedAllocator) free() {
	for _, block := range b.blocks {
		b.Allocator.Free(block)
	}
}
