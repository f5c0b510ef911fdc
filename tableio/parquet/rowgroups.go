package parquet

import (
	"slices"
	"sort"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/spirjoin/spirjoin/relation"
)

const (
	// rowGroupRows is the size of a row group: large enough for readers to scan fast and for dictionaries to pay, small
	// enough that several are encoded at a time in little memory.
	rowGroupRows = 1 << 17
	// rowGroupBytes bounds row groups of long rows. Readers hold a column chunk, or much of it, in memory; some, as
	// ours of nested columns, hold its text in arrays with offsets of 32 bits.
	rowGroupBytes = 256 << 20
)

// rowGroups cuts batches of any size into row groups.
type rowGroups struct {
	limitRows, limitBytes int64
	filling               *rowGroup // nil: none begun
}

func newRowGroups(opts Options) rowGroups {
	r := rowGroups{limitRows: opts.RowGroupRows, limitBytes: opts.RowGroupBytes}
	if r.limitRows <= 0 {
		r.limitRows = rowGroupRows
	}
	if r.limitBytes == 0 {
		r.limitBytes = rowGroupBytes
	}
	return r
}

// rowGroup are the rows of a row group, as slices of the batches that they came in.
type rowGroup struct {
	parts []arrow.RecordBatch
	rows  int64
	bytes int64        // of Arrow data
	left  atomic.Int64 // columns that are not encoded
}

// add adds the rows of a batch and gives away row groups that are full.
func (r *rowGroups) add(batch arrow.RecordBatch, full func(*rowGroup) error) error {
	if r.filling != nil && !r.filling.countsDictionaries(batch) {
		if err := r.end(full); err != nil {
			return err
		}
	}
	for start := int64(0); start < batch.NumRows(); {
		if r.filling == nil {
			r.filling = &rowGroup{}
		}
		group := r.filling
		rows := min(batch.NumRows()-start, r.limitRows-group.rows)
		sizeBytes := batchBytes(batch, start, start+rows)
		if room := r.limitBytes - group.bytes; sizeBytes > room {
			rows = int64(sort.Search(int(rows), func(n int) bool {
				return batchBytes(batch, start, start+int64(n)+1) > room
			}))
			if group.rows == 0 {
				rows = max(rows, 1)
			}
			sizeBytes = batchBytes(batch, start, start+rows)
		}
		if rows > 0 {
			group.parts = append(group.parts, batch.NewSlice(start, start+rows))
		}
		start += rows
		group.rows += rows
		group.bytes += sizeBytes
		if group.rows == r.limitRows || start < batch.NumRows() {
			if err := r.end(full); err != nil {
				return err
			}
		}
	}
	return nil
}

// end gives the row group that was begun away, if there is one.
func (r *rowGroups) end(full func(*rowGroup) error) error {
	group := r.filling
	if r.filling = nil; group == nil {
		return nil
	}
	return full(group)
}

// weight is the memory of a row group in flight, with what it becomes. A limit has room for any one row group.
func (g *rowGroup) weight(limitBytes int64) int64 { return min(2*g.bytes, limitBytes) }

// done counts columns that are no longer read, and lets go of the batches after the last.
func (g *rowGroup) done(columns int64) {
	if g.left.Add(-columns) == 0 {
		relation.ReleaseAll(g.parts)
	}
}

// countsDictionaries tells whether the index types of dictionary columns can count the values of the row group's and
// the batch's dictionaries together, which become one.
func (g *rowGroup) countsDictionaries(batch arrow.RecordBatch) bool {
	for i, column := range batch.Columns() {
		added, ok := column.(*array.Dictionary)
		if !ok {
			continue
		}
		index := column.DataType().(*arrow.DictionaryType).IndexType
		bits := index.(arrow.FixedWidthDataType).BitWidth()
		if !arrow.IsUnsignedInteger(index.ID()) {
			bits--
		}
		if bits > 16 { // it counts more than a dictionary page has
			continue
		}
		last := g.parts[len(g.parts)-1].Column(i).(*array.Dictionary)
		if last.Dictionary().Data() == added.Dictionary().Data() {
			continue // it is counted already
		}
		distinct := []arrow.Array{added.Dictionary()}
		total := added.Dictionary().Len()
		for _, part := range g.parts {
			values := part.Column(i).(*array.Dictionary).Dictionary()
			same := func(other arrow.Array) bool { return other.Data() == values.Data() || array.Equal(other, values) }
			if !slices.ContainsFunc(distinct, same) {
				distinct = append(distinct, values)
				total += values.Len()
			}
		}
		if len(distinct) > 1 && total > 1<<bits {
			return false
		}
	}
	return true
}

// batchBytes is the memory of rows [from, to) of a batch.
func batchBytes(batch arrow.RecordBatch, from, to int64) (sizeBytes int64) {
	for _, column := range batch.Columns() {
		sizeBytes += rowBytes(column.Data(), from, to)
	}
	return sizeBytes
}

// rowBytes is the memory of rows [from, to) of an array, which may share buffers with others. Rows of a dictionary
// count with their entries, as which other readers may hold them.
func rowBytes(data arrow.ArrayData, from, to int64) (sizeBytes int64) {
	rows := to - from
	if rows == 0 {
		return 0
	}
	offset := int64(data.Offset())
	from, to = from+offset, to+offset
	buffers, children := data.Buffers(), data.Children()
	if data.NullN() != 0 {
		sizeBytes = (rows + 7) / 8
	}
	dt := data.DataType()
	for dt.ID() == arrow.EXTENSION {
		dt = dt.(arrow.ExtensionType).StorageType()
	}
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return sizeBytes + rows*int64(dt.Bytes()) + entryBytes(dt, data, from-offset, to-offset)
	case *arrow.StringType, *arrow.BinaryType:
		start, end := offsetsOf[int32](buffers[1].Bytes(), from, to)
		return sizeBytes + 4*rows + end - start
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		start, end := offsetsOf[int64](buffers[1].Bytes(), from, to)
		return sizeBytes + 8*rows + end - start
	case arrow.BinaryViewDataType:
		for _, view := range arrow.ViewHeaderTraits.CastFromBytes(buffers[1].Bytes())[from:to] {
			sizeBytes += int64(arrow.ViewHeaderSizeBytes)
			if !view.IsInline() {
				sizeBytes += int64(view.Len())
			}
		}
		return sizeBytes
	case *arrow.ListType, *arrow.MapType:
		start, end := offsetsOf[int32](buffers[1].Bytes(), from, to)
		return sizeBytes + 4*rows + rowBytes(children[0], start, end)
	case *arrow.LargeListType:
		start, end := offsetsOf[int64](buffers[1].Bytes(), from, to)
		return sizeBytes + 8*rows + rowBytes(children[0], start, end)
	case *arrow.FixedSizeListType:
		return sizeBytes + rowBytes(children[0], from*int64(dt.Len()), to*int64(dt.Len()))
	case *arrow.StructType:
		for _, child := range children {
			sizeBytes += rowBytes(child, from, to)
		}
		return sizeBytes
	case arrow.FixedWidthDataType:
		return sizeBytes + (rows*int64(dt.BitWidth())+7)/8
	}
	return sizeBytes + int64(float64(data.SizeInBytes())*float64(rows)/float64(data.Len()))
}

// entryBytes is the memory of the entries of rows [from, to), each as often as it occurs.
func entryBytes(dt *arrow.DictionaryType, data arrow.ArrayData, from, to int64) (sizeBytes int64) {
	entries := data.Dictionary()
	storage := array.NewDataWithDictionary(dt, data.Len(), data.Buffers(), data.NullN(), data.Offset(),
		entries.(*array.Data))
	defer storage.Release()
	column := array.NewDictionaryData(storage)
	defer column.Release()
	if fixed, ok := entries.DataType().(arrow.FixedWidthDataType); ok {
		return ((to-from)*int64(fixed.BitWidth()) + 7) / 8
	}
	for row := int(from); row < int(to); row++ {
		entry := column.GetValueIndex(row)
		if column.IsNull(row) || entry < 0 || entry >= entries.Len() {
			continue
		}
		sizeBytes += rowBytes(entries, int64(entry), int64(entry)+1)
	}
	return sizeBytes
}

// offsetsOf are the first and the last of the offsets of rows [from, to).
func offsetsOf[O int32 | int64](offsets []byte, from, to int64) (first, last int64) {
	var zero O
	at := unsafe.Slice((*O)(unsafe.Pointer(unsafe.SliceData(offsets))), len(offsets)/int(unsafe.Sizeof(zero)))
	return int64(at[from]), int64(at[to])
}
