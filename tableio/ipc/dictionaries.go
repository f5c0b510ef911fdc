package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
)

// dictionaryFileWriter writes Arrow files with dictionary columns. A file has one dictionary for each of them, but
// batches bring their own. Their entries become one dictionary, in the order in which they are met, and the indices of
// the batches change accordingly. The dictionaries are written behind the batches; the footer tells where they are.
//
// arrow-go's FileWriter (18.8) refuses a second dictionary, so its writer of streams encodes the messages.
type dictionaryFileWriter struct {
	schema  *arrow.Schema
	options []ipc.Option
	batches *ipc.Writer
	file    *fileLayout
	columns [][]*unitedDictionary // of each column, in the order of its type
}

func newDictionaryFileWriter(out io.Writer, schema *arrow.Schema, options []ipc.Option) *dictionaryFileWriter {
	w := &dictionaryFileWriter{schema: schema, options: options, file: &fileLayout{out: out}}
	w.batches = ipc.NewWriterWithPayloadWriter(w.file, options...)
	for _, field := range schema.Fields() {
		w.columns = append(w.columns, unitedDictionaries(field.Type))
	}
	return w
}

// Write writes a batch without its dictionaries.
func (w *dictionaryFileWriter) Write(batch arrow.RecordBatch) error {
	return w.encode(w.batches, batch, (*unitedDictionary).renumber)
}

// Close writes the dictionaries, by a batch without rows, and the footer.
func (w *dictionaryFileWriter) Close() error {
	w.file.ending = true
	last := ipc.NewWriterWithPayloadWriter(w.file, w.options...) // the other one takes the dictionaries for written
	columns := make([]arrow.Array, w.schema.NumFields())
	defer func() { relation.ReleaseAll(columns) }()
	for i, field := range w.schema.Fields() {
		var err error
		if columns[i], err = relation.Nulls(field.Type, 0, memory.NewGoAllocator()); err != nil {
			columns = columns[:i]
			return fmt.Errorf("column %q: %w", field.Name, err)
		}
	}
	none := array.NewRecordBatch(w.schema, columns, 0)
	defer none.Release()
	return errors.Join(w.encode(last, none, (*unitedDictionary).finish), last.Close())
}

// encode writes a batch of which change replaced the dictionaries.
func (w *dictionaryFileWriter) encode(
	writer *ipc.Writer, batch arrow.RecordBatch,
	change func(*unitedDictionary, arrow.ArrayData) (*array.Data, error),
) error {
	var columns []arrow.Array
	defer func() { relation.ReleaseAll(columns) }()
	for i, column := range batch.Columns() {
		left := w.columns[i]
		data, err := mapDictionaries(column.Data(), func(data arrow.ArrayData) (*array.Data, error) {
			united := left[0]
			left = left[1:]
			return change(united, data)
		})
		if err != nil {
			return fmt.Errorf("column %q: %w", batch.ColumnName(i), err)
		}
		columns = append(columns, array.MakeFromData(data))
		data.Release()
	}
	changed := array.NewRecordBatch(w.schema, columns, batch.NumRows())
	defer changed.Release()
	return writer.Write(changed)
}

// mapDictionaries gives an array whose dictionary arrays, also those in nested columns, were changed. The caller
// releases it.
func mapDictionaries(
	data arrow.ArrayData, change func(arrow.ArrayData) (*array.Data, error),
) (_ *array.Data, err error) {
	if data.DataType().Layout().HasDict {
		return change(data)
	}
	children := make([]arrow.ArrayData, 0, len(data.Children()))
	defer func() {
		relation.ReleaseAll(children)
	}()
	for _, child := range data.Children() {
		mapped, err := mapDictionaries(child, change)
		if err != nil {
			return nil, err
		}
		children = append(children, mapped)
	}
	return array.NewData(data.DataType(), data.Len(), data.Buffers(), children, data.NullN(), data.Offset()), nil
}

// unitedDictionary unites the dictionaries of a field.
type unitedDictionary struct {
	dt     *arrow.DictionaryType
	empty  arrow.Array
	places map[string]uint64 // of the entries, by value
	pieces []arrow.Array     // the entries
	total  uint64

	last arrow.ArrayData // the dictionary that was added last
	at   []uint64        // the places of its entries; nil: as there
}

// unitedDictionaries makes one for each dictionary in a type.
func unitedDictionaries(dt arrow.DataType) (all []*unitedDictionary) {
	switch dt := dt.(type) {
	case arrow.ExtensionType:
		return unitedDictionaries(dt.StorageType())
	case *arrow.DictionaryType:
		return []*unitedDictionary{{dt: dt, places: map[string]uint64{}}}
	case arrow.NestedType:
		for _, field := range dt.Fields() {
			all = append(all, unitedDictionaries(field.Type)...)
		}
	}
	return all
}

// renumber adds the dictionary of an array and gives the array with the new indices and an empty dictionary.
func (u *unitedDictionary) renumber(data arrow.ArrayData) (*array.Data, error) {
	if data.Dictionary() != u.last {
		if err := u.add(data.Dictionary()); err != nil {
			return nil, err
		}
	}
	if u.empty == nil {
		var err error
		if u.empty, err = relation.Nulls(u.dt.ValueType, 0, memory.NewGoAllocator()); err != nil {
			return nil, err
		}
	}
	empty := u.empty.Data().(*array.Data)
	if u.at == nil {
		return array.NewDataWithDictionary(data.DataType(), data.Len(), data.Buffers(), data.NullN(), data.Offset(),
			empty), nil
	}
	indices, err := u.indices(data)
	if err != nil {
		return nil, err
	}
	before := data.Offset() / 8 // bytes of validity, of rows that are left out
	validity := data.Buffers()[0]
	if validity != nil {
		validity = memory.SliceBuffer(validity, before, validity.Len()-before)
		defer validity.Release()
	}
	buffers := []*memory.Buffer{validity, memory.NewBufferBytes(indices)}
	return array.NewDataWithDictionary(data.DataType(), data.Len(), buffers, data.NullN(), data.Offset()%8, empty), nil
}

// add finds the places of the entries of a dictionary. Entries of nested types are not compared.
func (u *unitedDictionary) add(dictionary arrow.ArrayData) error {
	entries := array.MakeFromData(dictionary)
	defer entries.Release()
	u.at = make([]uint64, entries.Len())
	var added []uint32
	key, known := entryKey(entries), u.total
	for i := range u.at {
		bytes := key(i)
		place, ok := u.places[string(bytes)]
		if !ok || bytes == nil {
			place, added = u.total, append(added, uint32(i))
			u.total++
			if bytes != nil {
				u.places[string(bytes)] = place
			}
		}
		u.at[i] = place
	}
	if most := mostEntries(u.dt); u.total > most {
		return fmt.Errorf("its dictionaries have %d entries together, an index of type %s counts %d; write an Arrow stream",
			u.total, u.dt.IndexType, most)
	}
	if known == 0 && len(added) == len(u.at) {
		u.at = nil
	}
	if len(added) > 0 {
		chunked := arrow.NewChunked(u.dt.ValueType, []arrow.Array{entries})
		defer chunked.Release()
		piece, err := take.Rows(context.Background(), chunked, added, memory.NewGoAllocator())
		if err != nil {
			return err
		}
		u.pieces = append(u.pieces, piece)
	}
	u.forget()
	u.last = dictionary
	u.last.Retain()
	return nil
}

func (u *unitedDictionary) forget() {
	if u.last != nil {
		u.last.Release()
		u.last = nil
	}
}

// mostEntries is the number of entries that indices can count.
func mostEntries(dt *arrow.DictionaryType) uint64 {
	bits := dt.IndexType.(arrow.FixedWidthDataType).BitWidth() - 1
	if arrow.IsUnsignedInteger(dt.IndexType.ID()) {
		bits++
	}
	return 1 << min(bits, 63)
}

// entryKey returns a function that gives the bytes of an entry, different for different values, until its next call. It
// gives nil for types whose values are not compared.
func entryKey(entries arrow.Array) func(i int) []byte {
	for entries.DataType().ID() == arrow.EXTENSION {
		entries = entries.(array.ExtensionArray).Storage()
	}
	var value func(dst []byte, i int) []byte
	switch e := entries.(type) {
	case interface{ Value(int) string }:
		value = func(dst []byte, i int) []byte { return append(dst, e.Value(i)...) }
	case interface{ Value(int) []byte }:
		value = func(dst []byte, i int) []byte { return append(dst, e.Value(i)...) }
	case interface{ Value(int) bool }:
		value = func(dst []byte, i int) []byte { return append(dst, fmt.Sprint(e.Value(i))...) }
	default:
		data, layout := entries.Data(), entries.DataType().Layout()
		fixed, ok := entries.DataType().(arrow.FixedWidthDataType)
		if ok && len(layout.Buffers) == 2 && !layout.HasDict {
			value = func(dst []byte, i int) []byte {
				return append(dst, data.Buffers()[1].Bytes()[(data.Offset()+i)*fixed.Bytes():][:fixed.Bytes()]...)
			}
		}
	}
	var buf []byte
	return func(i int) []byte {
		switch {
		case relation.IsNull(entries, i):
			return []byte{0}
		case value == nil:
			return nil
		}
		buf = value(append(buf[:0], 1), i)
		return buf
	}
}

// indices gives the indices of an array into the united dictionary, behind as many others as its offset modulo 8.
func (u *unitedDictionary) indices(data arrow.ArrayData) ([]byte, error) {
	switch u.dt.Bytes() {
	case 1:
		return renumbered[uint8](data, u.at)
	case 2:
		return renumbered[uint16](data, u.at)
	case 4:
		return renumbered[uint32](data, u.at)
	}
	return renumbered[uint64](data, u.at)
}

func renumbered[I uint8 | uint16 | uint32 | uint64](data arrow.ArrayData, at []uint64) ([]byte, error) {
	if data.Len() == 0 {
		return nil, nil
	}
	old := array.MakeFromData(data)
	defer old.Release()
	indices := unsafe.Slice((*I)(unsafe.Pointer(&data.Buffers()[1].Bytes()[0])), data.Offset()+data.Len())[data.Offset():]
	first := data.Offset() % 8
	out := make([]I, first+len(indices))
	for row, index := range indices {
		if uint64(index) < uint64(len(at)) {
			out[first+row] = I(at[index])
		} else if old.IsValid(row) { // the index of a NULL may be anything
			return nil, fmt.Errorf("row %d has index %d into a dictionary of %d entries", row, index, len(at))
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), len(out)*int(unsafe.Sizeof(out[0]))), nil
}

// finish gives an array without rows and with the united dictionary.
func (u *unitedDictionary) finish(data arrow.ArrayData) (*array.Data, error) {
	u.forget()
	u.places = nil
	dictionary := data.Dictionary()
	if len(u.pieces) > 0 {
		united, err := copied(context.Background(), u.dt.ValueType, u.pieces, memory.NewGoAllocator())
		if err != nil {
			return nil, err
		}
		defer united.Release()
		dictionary = united.Data()
	}
	return array.NewDataWithDictionary(data.DataType(), data.Len(), data.Buffers(), 0, 0, dictionary.(*array.Data)), nil
}
