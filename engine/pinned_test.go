package engine_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// pinnedTable has one chunk with a key k, NULL in one row of ten, and payload of 16, 8, 4 bytes and of a bit, some of
// it NULL. All of it but the bitmaps is large enough to be pinned.
func pinnedTable(t *testing.T, rows, stride int, allocator memory.Allocator) arrow.Table {
	decimal := &arrow.Decimal128Type{Precision: 38}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "w", Type: arrow.PrimitiveTypes.Int64}, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "d", Type: decimal}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	values := array.NewRecordBuilder(allocator, schema)
	defer values.Release()
	for i := range rows {
		if i%10 == 9 {
			values.Field(0).AppendNull()
		} else {
			values.Field(0).(*array.Int64Builder).Append(int64(i * stride % rows))
		}
		values.Field(1).(*array.Int64Builder).Append(int64(i) << 33)
		if i%7 == 0 {
			values.Field(2).AppendNull()
		} else {
			values.Field(2).(*array.Int32Builder).Append(int32(-i))
		}
		require.NoError(t, values.Field(3).AppendValueFromString("-"+fmt.Sprint(i)))
		values.Field(4).(*array.BooleanBuilder).Append(i%3 == 0)
	}
	batch := values.NewRecordBatch()
	defer batch.Release()
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
}

// TestPinned joins tables in pinned memory, which kernels read and write where it lies, in one granule and in several
// of which the next is loaded and the last delivered meanwhile. On a device that imports no memory nothing is pinned.
func TestPinned(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		pins := relation.NewPinnedAllocator(device, 1<<30)
		defer pins.Close()
		left, right := pinnedTable(t, 40_000, 7919, pins), pinnedTable(t, 70_000, 1, pins)
		defer left.Release()
		defer right.Release()
		before, _ := pins.Pinned()
		imports := device.Info().Limits.ImportAlignment > 0 // others load and deliver by copies
		require.Equal(t, imports, before > 0, "the tables are pinned")
		engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, pins, 0)
		for _, c := range []struct { // every pair of them
			how       join.How
			algorithm string
			granule   uint64
		}{{join.Inner, "phj-om", 0}, {join.Inner, "smj-um", 1 << 14}, {join.Full, "phj-om", 1 << 14},
			{join.Full, "smj-um", 0}} {
			spec := join.Spec{On: onK, How: c.how, Algorithm: c.algorithm, BatchRows: 1 << 15,
				Materialize: join.MaterializeDevice}
			checkOn(t, engine, left, right, spec, [2]uint64{c.granule, 0})
		}
		after, _ := pins.Pinned()
		require.Equal(t, imports, after > before, "so are batches")
	})
}
