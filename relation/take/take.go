// Package take gathers rows of Arrow columns of any type by row number, on all cores of the host. [Rows] takes the
// numbers as they are, [Nullable] also numbers of rows that do not exist.
package take

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Rows gathers rows of a column by number: row i of the result is row ids[i] of the column, counted over all chunks.
// Nulls stay null; ids may repeat and be in any order. The result has the column's type and is in memory of alloc; the
// caller releases it. Without ids it is empty. Values are copied on all cores; alloc is only called from the caller's
// goroutine.
//
// Every Arrow type is accepted. If chunks have different dictionaries, each call unifies them: unify them once with
// array.UnifyChunkedDicts before taking many batches. Run-end encoded columns and list views are copied run by run,
// which is slow if the ids are scattered.
//
// Errors wrap [relation.ErrBatchTooLarge] if the gathered strings, or list elements, exceed the type's 32-bit offsets;
// backend.ErrInvalidInput for an id that the column does not have, or for corrupt buffers; backend.ErrUnsupported if
// the index type is too narrow for the dictionaries of all chunks; backend.ErrCancelled and backend.ErrTimedOut.
func Rows(ctx context.Context, column *arrow.Chunked, ids []uint32, alloc memory.Allocator) (arrow.Array, error) {
	data, err := gatherColumn(ctx, column, ids, false, alloc)
	if err != nil {
		return nil, fmt.Errorf("gather %d rows of type %s: %w", len(ids), column.DataType(), err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// NoRow is an id that no row has ([Nullable]).
const NoRow = math.MaxUint32

// Nullable is [Rows] with ids that may be NoRow, for which the result is null. If there is a NoRow, the ids are
// copied, and scattered values take the slower path of columns with several chunks. In a union, which has no nulls of
// its own, the value of the first field is null.
func Nullable(
	ctx context.Context, column *arrow.Chunked, ids []uint32, alloc memory.Allocator,
) (arrow.Array, error) {
	if !slices.Contains(ids, NoRow) {
		return Rows(ctx, column, ids, alloc)
	}
	data, err := gatherColumn(ctx, column, ids, true, alloc)
	if err != nil {
		return nil, fmt.Errorf("gather %d rows of type %s: %w", len(ids), column.DataType(), err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

func errNoRow(i int, id uint32, column *arrow.Chunked) error {
	return fmt.Errorf("%w: id %d is row %d of a column of %d rows", backend.ErrInvalidInput, i, id, column.Len())
}

func chunkData(column *arrow.Chunked) []arrow.ArrayData {
	chunks := make([]arrow.ArrayData, len(column.Chunks()))
	for i, chunk := range column.Chunks() {
		chunks[i] = chunk.Data()
	}
	return chunks
}

// gatherColumn gathers rows of a column. If ids may be NoRow, absent ones refer to a null row behind the chunks.
func gatherColumn(
	ctx context.Context, column *arrow.Chunked, ids []uint32, absent bool, alloc memory.Allocator,
) (arrow.ArrayData, error) {
	if err := primitive.CheckRows("gather", uint64(column.Len())); absent && err != nil {
		return nil, err
	}
	first, last, err := firstAndLast(ctx, column, ids, absent)
	if err != nil {
		return nil, err
	}
	of := func(chunks []arrow.ArrayData, skipped int) (arrow.ArrayData, error) {
		ids, null := ids, uint32(0)
		if absent {
			for _, chunk := range chunks {
				null += uint32(chunk.Len())
			}
			one, err := relation.Nulls(column.DataType(), 1, alloc)
			if err != nil {
				return nil, err
			}
			defer one.Release()
			chunks = append(chunks, one.Data())
		}
		if absent || skipped > 0 {
			if ids, err = shifted(ctx, ids, uint32(skipped), null, absent); err != nil {
				return nil, err
			}
		}
		return gather(ctx, column.DataType(), chunks, ids, alloc)
	}
	if near, skipped := nearChunks(column, first, last); near != nil {
		if data, err := of(near, skipped); err == nil {
			return data, nil
		} // the error names a chunk by its number among these
	}
	return of(chunkData(column), 0)
}

// firstAndLast returns the least and the largest id, and checks all.
func firstAndLast(
	ctx context.Context, column *arrow.Chunked, ids []uint32, absent bool,
) (first, last uint32, err error) {
	var mutex sync.Mutex
	first = NoRow
	err = relation.ForBlocks(ctx, len(ids), func(from, to int) error {
		low, high := uint32(NoRow), uint32(0)
		for i, id := range ids[from:to] {
			if absent && id == NoRow {
				continue
			}
			if uint64(id) >= uint64(column.Len()) {
				return errNoRow(from+i, id, column)
			}
			low, high = min(low, id), max(high, id)
		}
		mutex.Lock()
		defer mutex.Unlock()
		first, last = min(first, low), max(last, high)
		return nil
	})
	return first, last, err
}

// shifted returns ids that count from another row on; absent ones are that of a null.
func shifted(ctx context.Context, ids []uint32, from, null uint32, absent bool) ([]uint32, error) {
	all := make([]uint32, len(ids))
	err := relation.ForBlocks(ctx, len(ids), func(begin, end int) error {
		for i := begin; i < end; i++ {
			if all[i] = ids[i] - from; absent && ids[i] == NoRow {
				all[i] = null
			}
		}
		return nil
	})
	return all, err
}

// manyChunks is the number of chunks from which on a gather prepares only those near its rows. Of those before, it only
// counts the rows.
const manyChunks = 1 << 10

// nearChunks returns the chunks of a column from that of the first row to that of the last one, and how many rows are
// before them; nil if it has so few that all may be looked at. A part of a stream of small batches may have a chunk for
// each row, and the rows of a batch of output are often near one another. Dictionaries need all chunks, or else batches
// would have different ones.
func nearChunks(column *arrow.Chunked, first, last uint32) (near []arrow.ArrayData, skipped int) {
	if len(column.Chunks()) < manyChunks || first > last || hasDictionary(column.DataType()) {
		return nil, 0
	}
	at := 0
	for _, chunk := range column.Chunks() {
		end := at + chunk.Len()
		switch {
		case at > int(last):
			return near, skipped
		case end > int(first):
			near = append(near, chunk.Data())
		default:
			skipped = end
		}
		at = end
	}
	return near, skipped
}

// hasDictionary reports whether a type is a dictionary, or has one in it.
func hasDictionary(dtype arrow.DataType) bool {
	switch dt := dtype.(type) {
	case *arrow.DictionaryType:
		return true
	case arrow.ExtensionType:
		return hasDictionary(dt.StorageType())
	case arrow.NestedType:
		return slices.ContainsFunc(dt.Fields(), func(f arrow.Field) bool { return hasDictionary(f.Type) })
	}
	return false
}

// taker holds what the gathers of all types share: the requested rows, and where each chunk starts.
type taker struct {
	ctx    context.Context
	alloc  memory.Allocator
	dtype  arrow.DataType
	chunks []arrow.ArrayData // without empty ones
	ids    []uint32
	relation.Locator
}

// noRows returns an array without rows, also for types that have no builder in arrow-go.
func noRows(dtype arrow.DataType) *array.Data {
	storage := dtype
	for storage.ID() == arrow.EXTENSION {
		storage = storage.(arrow.ExtensionType).StorageType()
	}
	layout := storage.Layout()
	buffers := make([]*memory.Buffer, max(1, len(layout.Buffers)))
	for i := range layout.Buffers {
		if layout.Buffers[i].Kind != arrow.KindBitmap || i > 0 {
			// Room for the first offset, and for the value to which arrow-go points, the widest of which is a decimal.
			buffers[i] = memory.NewBufferBytes(make([]byte, arrow.Decimal256SizeBytes))
		}
	}
	var children []arrow.ArrayData
	if nested, ok := storage.(arrow.NestedType); ok {
		for _, field := range nested.Fields() {
			children = append(children, noRows(field.Type))
		}
	}
	if dictionary, ok := storage.(*arrow.DictionaryType); ok {
		return array.NewDataWithDictionary(dtype, 0, buffers, 0, 0, noRows(dictionary.ValueType))
	}
	return array.NewData(dtype, 0, buffers, children, 0, 0)
}

// gather gathers rows from chunks of one type. Every id must be valid.
func gather(
	ctx context.Context, dtype arrow.DataType, chunks []arrow.ArrayData, ids []uint32, alloc memory.Allocator,
) (arrow.ArrayData, error) {
	if len(ids) == 0 {
		return noRows(dtype), nil
	}
	t := newTaker(ctx, dtype, chunks, ids, alloc)
	storage := dtype
	for storage.ID() == arrow.EXTENSION {
		storage = storage.(arrow.ExtensionType).StorageType()
	}
	switch dt := storage.(type) {
	case *arrow.NullType:
		return array.NewData(dtype, len(ids), []*memory.Buffer{nil}, nil, len(ids), 0), nil
	case *arrow.BooleanType:
		return t.bools()
	case *arrow.DictionaryType:
		return t.dictionary(dt)
	case *arrow.StringType, *arrow.BinaryType:
		return gatherBinary[int32](t)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return gatherBinary[int64](t)
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return t.views()
	case *arrow.StructType:
		return t.structs(dt)
	case *arrow.ListType, *arrow.MapType:
		return gatherLists[int32](t, dt.(arrow.ListLikeType).Elem())
	case *arrow.LargeListType:
		return gatherLists[int64](t, dt.Elem())
	case *arrow.FixedSizeListType:
		return t.fixedLists(dt)
	case arrow.UnionType:
		return t.union(dt)
	case arrow.FixedWidthDataType:
		return t.fixed(dt.Bytes())
	}
	return t.runs()
}

func newTaker(
	ctx context.Context, dtype arrow.DataType, chunks []arrow.ArrayData, ids []uint32, alloc memory.Allocator,
) *taker {
	t := &taker{ctx: ctx, alloc: alloc, dtype: dtype, ids: ids}
	var rows []int
	for _, chunk := range chunks {
		if chunk.Len() > 0 {
			t.chunks, rows = append(t.chunks, chunk), append(rows, chunk.Len())
		}
	}
	t.Locator = relation.NewLocator(rows)
	return t
}

// runRows is the number of ids that are checked at a time for being consecutive, as they are for a side that is probed
// in its own order. Consecutive rows are copied at once.
const runRows = 64

// isRun reports whether every id is one more than the previous one.
func isRun(ids []uint32) bool {
	last := len(ids) - 1
	if ids[last]-ids[0] != uint32(last) {
		return false
	}
	gaps := uint32(0)
	for i, id := range ids {
		gaps |= id - ids[0] - uint32(i)
	}
	return gaps == 0
}

// result returns the gathered array, which takes over the buffers and children. If err is not nil, it releases them.
func (t *taker) result(
	err error, nulls int, buffers []*memory.Buffer, children ...arrow.ArrayData,
) (arrow.ArrayData, error) {
	defer func() {
		for _, buffer := range buffers {
			if buffer != nil {
				buffer.Release()
			}
		}
		for _, child := range children {
			if child != nil {
				child.Release()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	return array.NewData(t.dtype, len(t.ids), buffers, children, nulls, 0), nil
}

func (t *taker) buffer(sizeBytes int) *memory.Buffer {
	buffer := memory.NewResizableBuffer(t.alloc)
	buffer.Resize(sizeBytes)
	return buffer
}

// runs gathers any type: it concatenates slices of the chunks, one for each run of consecutive rows.
func (t *taker) runs() (arrow.ArrayData, error) {
	sources := make([]arrow.Array, len(t.chunks))
	for c, chunk := range t.chunks {
		sources[c] = array.MakeFromData(chunk)
		defer sources[c].Release()
	}
	var slices []arrow.Array
	defer func() {
		relation.ReleaseAll(slices)
	}()
	for i := 0; i < len(t.ids); {
		if len(slices)&0xfff == 0 && t.ctx.Err() != nil {
			return nil, backend.ContextError(t.ctx)
		}
		chunk, row := t.Find(t.ids[i])
		n := 1
		for i+n < len(t.ids) && row+n < t.chunks[chunk].Len() && t.ids[i+n] == t.ids[i]+uint32(n) {
			n++
		}
		slices = append(slices, array.NewSlice(sources[chunk], int64(row), int64(row+n)))
		i += n
	}
	joined, err := array.Concatenate(slices, t.alloc)
	if err != nil {
		reason := backend.ErrUnsupported
		if strings.Contains(err.Error(), "overflow") {
			reason = relation.ErrBatchTooLarge
		}
		return nil, fmt.Errorf("%w: %w", reason, err)
	}
	defer joined.Release()
	joined.Data().Retain()
	return joined.Data(), nil
}

// errCorrupt reports buffers that contradict each other.
func errCorrupt(chunk int, detail string) error {
	return fmt.Errorf("%w: chunk %d is corrupt: %s", backend.ErrInvalidInput, chunk, detail)
}
