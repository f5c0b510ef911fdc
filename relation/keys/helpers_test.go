package keys

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// cell is a value, given by its bits: the low bits of raw that the type has, sign-extended, or all bits of raw if wide
// is set and the type has more than 64 bits.
type cell struct {
	raw        uint64
	null, wide bool
}

// columnOf returns cells as an array that is a slice of a longer one, after skip other rows.
func columnOf(dt arrow.DataType, cells []cell, skip int) arrow.Array {
	if d, ok := dt.(*arrow.DictionaryType); ok {
		return dictionaryOf(d, cells, skip)
	}
	all := append(make([]cell, skip), cells...)
	validity := make([]byte, (len(all)+7)/8)
	width := dt.(arrow.FixedWidthDataType).BitWidth()
	values := make([]byte, (len(all)*width+7)/8)
	for i, c := range all {
		if !c.null {
			validity[i/8] |= 1 << (i % 8)
		}
		if width == 1 {
			values[i/8] |= byte(c.raw&1) << (i % 8)
			continue
		}
		row := make([]byte, 32)
		binary.LittleEndian.PutUint64(row, c.raw)
		rest := uint64(int64(c.raw) >> 63)
		if c.wide {
			rest = c.raw
		}
		for word := 1; word < 4; word++ {
			binary.LittleEndian.PutUint64(row[8*word:], rest)
		}
		copy(values[i*width/8:][:width/8], row)
	}
	data := array.NewData(dt, len(cells), []*memory.Buffer{memory.NewBufferBytes(validity),
		memory.NewBufferBytes(values)}, nil,
		array.UnknownNullCount, skip)
	return array.MakeFromData(data)
}

// dictionaryOf gives each cell its own entry, in reverse order. Every other null is a null entry, the rest null
// indices.
func dictionaryOf(dt *arrow.DictionaryType, cells []cell, skip int) arrow.Array {
	entries := make([]cell, len(cells))
	indices := make([]cell, len(cells))
	for i, c := range cells {
		at := len(cells) - 1 - i
		entries[at] = c
		indices[i] = cell{raw: uint64(at)}
		if c.null && i%2 == 0 {
			indices[i] = cell{raw: 1 << 62, null: true} // the index of a null may be anything
		}
	}
	return array.NewDictionaryArray(dt, columnOf(dt.IndexType, indices, skip), columnOf(dt.ValueType, entries, skip))
}

// tableOf returns a table of columns k0, k1, ... Each column is cut after the rows in cuts, as far as it has them.
func tableOf(columns []arrow.Array, cuts [][]int) arrow.Table {
	var fields []arrow.Field
	var all []arrow.Column
	for k, column := range columns {
		var chunks []arrow.Array
		from := 0
		for _, cut := range cuts[k] {
			if cut = min(cut, column.Len()); cut >= from { // empty chunks are legal
				chunks = append(chunks, array.NewSlice(column, int64(from), int64(cut)))
				from = cut
			}
		}
		chunks = append(chunks, array.NewSlice(column, int64(from), int64(column.Len())))
		fields = append(fields, arrow.Field{Name: fmt.Sprint("k", k), Type: column.DataType(), Nullable: true})
		all = append(all, *arrow.NewColumn(fields[k], arrow.NewChunked(column.DataType(), chunks)))
	}
	return array.NewTable(arrow.NewSchema(fields, nil), all, int64(columns[0].Len()))
}

func keyNames(n int) (names []string) {
	for k := range n {
		names = append(names, fmt.Sprint("k", k))
	}
	return names
}

// single returns a table of one column k0 in one chunk.
func single(dt arrow.DataType, cells ...cell) arrow.Table {
	return tableOf([]arrow.Array{columnOf(dt, cells, 0)}, [][]int{nil})
}
