package relation

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// TableBytes is the memory of the columns of tables. Buffers that columns share, as slices of one array do, count once.
func TableBytes(tables ...arrow.Table) (sizeBytes uint64) {
	for _, bytes := range SharedBytes(tables...) {
		sizeBytes += bytes
	}
	return sizeBytes
}

// SharedBytes is the memory of each buffer of the columns of tables, as exec.Need.Shared takes it: several queries may
// use the same buffers.
func SharedBytes(tables ...arrow.Table) map[any]uint64 {
	shared := make(map[any]uint64)
	for _, table := range tables {
		for i := range int(table.NumCols()) {
			addBuffers(shared, table.Column(i).Data())
		}
	}
	return shared
}

// ColumnBytes is the memory of a column. Buffers that its chunks share count once.
func ColumnBytes(column *arrow.Chunked) (sizeBytes uint64) {
	shared := make(map[any]uint64)
	addBuffers(shared, column)
	for _, bytes := range shared {
		sizeBytes += bytes
	}
	return sizeBytes
}

func addBuffers(shared map[any]uint64, column *arrow.Chunked) {
	var add func(data arrow.ArrayData)
	add = func(data arrow.ArrayData) {
		for _, b := range data.Buffers() {
			if b != nil {
				shared[b] = uint64(b.Len())
			}
		}
		for _, child := range data.Children() {
			add(child)
		}
		if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
			add(dictionary)
		}
	}
	for _, chunk := range column.Chunks() {
		add(chunk.Data())
	}
}
