// Package resident has what the join algorithms share: relations and results that are on a device as columns, and the memory that
// they work in. It knows keys and payload by their width, no tables.
package resident

import (
	"context"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Side of a join; an index.
const (
	Left  = 0
	Right = 1
)

// Column is a column on a device, of values of 4 or 8 bytes.
type Column struct {
	Data  backend.Range
	Bytes int
}

// Relation is one side of a join. A join reads it and leaves it as it is.
type Relation struct {
	Rows    uint64
	Keys    Column
	Payload []Column
}

// Check reports a relation whose columns are not what it says.
func (r *Relation) Check(op string) error {
	if r.Rows > primitive.MaxRows {
		return &backend.OpError{Op: op, Err: backend.ErrLimit, Detail: fmt.Sprintf("%d rows in one relation, the limit is %d", r.Rows, uint64(primitive.MaxRows))}
	}
	for i, c := range append([]Column{r.Keys}, r.Payload...) {
		if c.Bytes != 4 && c.Bytes != 8 || c.Data.SizeBytes != r.Rows*uint64(c.Bytes) {
			return &backend.OpError{Op: op, Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("column %d has %d bytes for %d rows of %d", i, c.Data.SizeBytes, r.Rows, c.Bytes)}
		}
	}
	return nil
}

// Result is the output of a join: Rows rows of the key and of the payload columns of both sides, in the order of their relations.
// Buffers may be longer. The owner releases it.
type Result struct {
	Rows    uint64
	Keys    *backend.Buffer
	Payload [2][]*backend.Buffer
}

// Release gives the device memory back.
func (r *Result) Release() {
	r.Keys.Release()
	for _, side := range r.Payload {
		for _, b := range side {
			b.Release()
		}
	}
}

// Memory allocates device-local buffers that are released together. After an error it allocates nothing more, so that Err is
// checked once, before the first use.
type Memory struct {
	Context context.Context // of the work that the buffers are for; bounds the wait for released memory
	Device  *backend.Device
	Err     error

	held []*backend.Buffer
}

// New allocates a buffer; nil for 0 bytes and after an error.
func (m *Memory) New(sizeBytes uint64, label string) *backend.Buffer {
	if m.Err != nil || sizeBytes == 0 {
		return nil
	}
	var b *backend.Buffer
	if b, m.Err = m.Device.Allocate(m.Context, backend.DeviceLocal, sizeBytes, label); m.Err == nil {
		m.held = append(m.held, b)
	}
	return b
}

// Release releases buffers before the others; those that are not of this memory stay.
func (m *Memory) Release(buffers ...*backend.Buffer) {
	for _, b := range buffers {
		if m.drop(b) {
			b.Release()
		}
	}
}

// Keep takes buffers from those that ReleaseAll will release: they have another owner now.
func (m *Memory) Keep(buffers ...*backend.Buffer) {
	for _, b := range buffers {
		m.drop(b)
	}
}

// Own releases buffers with the others from now on.
func (m *Memory) Own(buffers ...*backend.Buffer) { m.held = append(m.held, buffers...) }

func (m *Memory) drop(b *backend.Buffer) (held bool) {
	i := slices.Index(m.held, b)
	if b == nil || i < 0 {
		return false
	}
	m.held = slices.Delete(m.held, i, i+1)
	return true
}

// ReleaseAll releases all buffers that were not kept.
func (m *Memory) ReleaseAll() {
	for _, b := range m.held {
		b.Release()
	}
	m.held = nil
}
