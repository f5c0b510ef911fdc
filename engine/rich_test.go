package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// rich is a table of several chunks with a key k, drawn from 0 to values-1 and here and there NULL, and payload of every
// sort: wide and narrow, with NULLs and without, strings, dictionaries, booleans.
func rich(t testing.TB, seed uint64, rows, values int, keyType arrow.DataType) arrow.Table {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: keyType, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "w", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "d", Type: dictionary, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil)
	random := rand.New(rand.NewPCG(seed, uint64(rows)))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var batches []arrow.RecordBatch
	flush := func() {
		batch := b.NewRecordBatch()
		batches = append(batches, batch)
		t.Cleanup(batch.Release)
	}
	maybe := func(field int, add func()) {
		if random.IntN(4) == 0 {
			b.Field(field).AppendNull()
		} else {
			add()
		}
	}
	for i := range rows {
		if v := int64(random.IntN(values)); random.IntN(8) == 0 {
			b.Field(0).AppendNull()
		} else if stamps, ok := b.Field(0).(*array.TimestampBuilder); ok {
			if keyType.(*arrow.TimestampType).Unit == arrow.Millisecond {
				v *= 1000
			}
			stamps.Append(arrow.Timestamp(v))
		} else {
			appendInt(b.Field(0), v)
		}
		b.Field(1).(*array.Int32Builder).Append(int32(i))
		maybe(2, func() { b.Field(2).(*array.Float64Builder).Append(float64(i) / 4) })
		b.Field(3).(*array.Int64Builder).Append(int64(i) << 33)
		maybe(4, func() { b.Field(4).(*array.StringBuilder).Append(strings.Repeat("x", i%5) + fmt.Sprint(i)) })
		maybe(5, func() {
			require.NoError(t, b.Field(5).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("d", i%7)))
		})
		maybe(6, func() { b.Field(6).(*array.BooleanBuilder).Append(i%3 == 0) })
		if random.IntN(200) == 0 {
			flush()
		}
	}
	flush()
	table := array.NewTableFromRecords(schema, batches)
	t.Cleanup(table.Release)
	return table
}

// empty is a table of the same columns without rows.
func empty(t testing.TB, like arrow.Table) arrow.Table {
	none := array.NewTableFromRecords(like.Schema(), nil)
	t.Cleanup(none.Release)
	return none
}
