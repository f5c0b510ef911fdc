package shuffle

import (
	"bytes"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin/exec"
)

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
