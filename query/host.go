package query

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// tableBytes is the memory of a table's columns.
func tableBytes(table arrow.Table) (sizeBytes uint64) {
	for i := range int(table.NumCols()) {
		sizeBytes += ColumnBytes(table.Column(i).Data())
	}
	return sizeBytes
}

// ColumnBytes is the memory of a column. Chunks that are slices of one array share its buffers, which count once.
func ColumnBytes(column *arrow.Chunked) (sizeBytes uint64) {
	seen := make(map[*memory.Buffer]bool)
	var add func(data arrow.ArrayData)
	add = func(data arrow.ArrayData) {
		for _, b := range data.Buffers() {
			if b != nil && !seen[b] {
				seen[b] = true
				sizeBytes += uint64(b.Len())
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
	return sizeBytes
}
