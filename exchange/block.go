package exchange

import (
	"cmp"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// block is rows of a part in memory or on disk.
type block struct {
	rows      int64
	sizeBytes uint64            // in memory
	batch     arrow.RecordBatch // nil on disk
	at        []span            // nil in memory
	gone      bool              // from its part
}

// BatchBytes is the memory of a batch without dictionaries, which batches share.
func BatchBytes(batch arrow.RecordBatch) (sizeBytes uint64) {
	var add func(data arrow.ArrayData)
	add = func(data arrow.ArrayData) {
		for _, b := range data.Buffers() {
			if b != nil {
				sizeBytes += uint64(b.Len())
			}
		}
		for _, child := range data.Children() {
			add(child)
		}
	}
	for _, column := range batch.Columns() {
		add(column.Data())
	}
	return sizeBytes
}

// encode writes a batch as an Arrow IPC stream, without compression: to write and read a byte takes less time than to
// compress and decompress it (docs/exchange.md).
func (f *File) encode(batch arrow.RecordBatch) ([]span, error) {
	return f.write(func(to io.Writer) error {
		w := ipc.NewWriter(to, ipc.WithSchema(batch.Schema()))
		if err := w.Write(batch); err != nil {
			return fmt.Errorf("encode rows: %w", err)
		}
		if err := w.Close(); err != nil {
			return fmt.Errorf("encode rows: %w", err)
		}
		return nil
	})
}

// decode reads a batch into memory of alloc.
func (f *File) decode(at []span, alloc memory.Allocator) (arrow.RecordBatch, error) {
	r, err := ipc.NewReader(f.reader(at), ipc.WithAllocator(alloc))
	if err != nil {
		return nil, f.failed("read", err)
	}
	defer r.Release()
	if !r.Next() {
		return nil, f.failed("read", cmp.Or(r.Err(), io.ErrUnexpectedEOF))
	}
	batch := r.RecordBatch()
	batch.Retain()
	return batch, nil
}
