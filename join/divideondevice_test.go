package join_test

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
)

// words is a table of rows whose key has a type; other columns have 4 and 8 bytes per value, or are narrow.
func words(t *testing.T, key arrow.DataType, rows int, narrow bool, value func(i int) int64) arrow.Table {
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "k", Type: key},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64}, {Name: "c", Type: arrow.PrimitiveTypes.Int64},
		{Name: "d", Type: arrow.PrimitiveTypes.Uint32}}
	if narrow {
		fields = append(fields, arrow.Field{Name: "e", Type: arrow.PrimitiveTypes.Int16})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range rows {
		for f, field := range fields {
			switch n := value(i); b := b.Field(f).(type) {
			case *array.Int64Builder:
				b.Append([]int64{int64(i) << 40, n}[flag(field.Name == "k")])
			case *array.Int32Builder:
				b.Append([]int32{int32(-i), int32(n)}[flag(field.Name == "k")])
			case *array.Uint32Builder:
				b.Append([]uint32{uint32(i), uint32(n)}[flag(field.Name == "k")])
			case *array.Uint64Builder:
				b.Append(uint64(n))
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(n))
			case *array.Date32Builder:
				b.Append(arrow.Date32(n))
			case *array.Float64Builder:
				b.Append(float64(i))
			case *array.Int16Builder:
				b.Append(int16(i))
			}
		}
	}
	return array.NewTableFromRecords(b.Schema(), []arrow.RecordBatch{b.NewRecordBatch()})
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestDividedOnDevice: blocks that the device divides, and those that the host does, are parts of one division: the
// output is that of one join, for every kind, type of key, skew and cap.
func TestDividedOnDevice(t *testing.T) {
	keys := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Uint32, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Date32}
	skews := []func(i int) int64{func(i int) int64 { return int64(i*7%410 - 100) }, // negative or large, and repeated
		func(i int) int64 { return int64(math.Sqrt(400 / float64(i+1))) }, func(int) int64 { return 5 }}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(keys), len(skews), 3, 2, 2) {
			narrow := [][2]bool{{}, {true, false}, {true, true}}[c[3]] // the host divides none, one side, or both
			tables := [2]arrow.Table{words(t, keys[c[1]], 300, narrow[0], skews[c[2]]),
				words(t, keys[c[1]], 500, narrow[1], skews[c[2]])}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := join.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.DivideBytes, engine.DivideOn = []uint64{1 << 9, 1 << 12}[c[4]], join.DivideOnDevice
			spec := join.Spec{How: kinds[c[0]], On: onK, BatchRows: 100, Output: []join.Output{join.Rows, join.Count}[c[5]]}
			if spec.How == join.Cross || spec.How == join.NotIn {
				continue
			}
			t.Log(c)
			checkStream(t, engine, tables, [2]join.Source{sourceOf(tables[0], 33), sourceOf(tables[1], 70)}, spec)
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

var _ = oracle.Require
var _ = require.Equal
