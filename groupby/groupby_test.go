package groupby_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// column is a column of numbers as values of a type, of which some are NULL.
type column struct {
	name   string
	dtype  arrow.DataType
	number func(row int) uint64
	nulls  func(row int) bool // nil: none
}

// table has these columns, each in several chunks.
func table(t testing.TB, rows int, columns ...column) arrow.Table {
	t.Helper()
	var fields []arrow.Field
	var all []arrow.Column
	for _, c := range columns {
		var chunks []arrow.Array
		for from := 0; from < rows; from += max(1, rows*2/3) {
			to := min(rows, from+max(1, rows*2/3))
			numbers := make([]uint64, to-from)
			for i := range numbers {
				numbers[i] = c.number(from + i)
			}
			values, err := relation.Column(memory.DefaultAllocator, c.dtype, numbers, 0)
			require.NoError(t, err)
			if c.nulls != nil {
				valid, nulls := make([]byte, (to-from+7)/8), 0
				for i := range numbers {
					if c.nulls(from + i) {
						nulls++
					} else {
						valid[i/8] |= 1 << (i % 8)
					}
				}
				buffers := append([]*memory.Buffer{memory.NewBufferBytes(valid)}, values.Data().Buffers()[1:]...)
				data := array.NewData(c.dtype, to-from, buffers, values.Data().Children(), nulls, 0)
				if d, ok := values.(*array.Dictionary); ok {
					data.SetDictionary(d.Dictionary().Data())
				}
				values = array.MakeFromData(data)
			}
			chunks = append(chunks, values)
		}
		field := arrow.Field{Name: c.name, Type: c.dtype, Nullable: c.nulls != nil}
		fields = append(fields, field)
		all = append(all, *arrow.NewColumn(field, arrow.NewChunked(c.dtype, chunks)))
	}
	return array.NewTable(arrow.NewSchema(fields, nil), all, int64(rows))
}

// check compares a group-by of a table, and of a stream of the same rows, with the oracle.
func check(t testing.TB, e *groupby.Engine, table arrow.Table, spec groupby.Spec) {
	t.Helper()
	ctx := context.Background()
	layout, err := groupby.NewLayout(table.Schema(), spec)
	require.NoError(t, err)
	want := oracle.Groups(table, layout.Spec)
	compare := func(result *groupby.Result, err error) {
		t.Helper()
		require.NoError(t, err)
		defer result.Close()
		var batches []arrow.RecordBatch
		for batch, err := range result.Batches(ctx) {
			require.NoError(t, err)
			batches = append(batches, batch)
		}
		oracle.RequireRows(t, want, result.Layout, batches)
		for _, b := range batches {
			b.Release()
		}
	}
	compare(e.Group(ctx, table, spec))
	for _, rows := range []int64{1 << 20, table.NumRows()/3 + 1} {
		parts := *e
		compare(inParts(&parts, rows).Stream(ctx, layout, batchesOf(table)))
	}
}

// batchesOf yields the rows of a table, at most 64 at a time.
func batchesOf(table arrow.Table) func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			reader := array.NewTableReader(table, 64)
			defer reader.Release()
			for reader.Next() {
				batch := reader.RecordBatch()
				batch.Retain()
				if !yield(batch, nil) {
					return
				}
			}
		}
	}
}

func engine(t testing.TB, device *backend.Device) *groupby.Engine {
	ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
	require.NoError(t, err)
	e := query.NewEngine(ops, memory.DefaultAllocator, 0)
	t.Cleanup(e.Close)
	return &groupby.Engine{Engine: e}
}

func floatBits(n int) uint64 { return math.Float64bits(float64(n) / 4) }

// keyTypes are types of keys, with the numbers of values.
var keyTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Duration_ms,
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary,
	arrow.BinaryTypes.StringView, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	arrow.FixedWidthTypes.Float16, arrow.Null,
}

// valueTypes are types of values.
var valueTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: 3},
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal256Type{Precision: 76, Scale: 2},
	arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
	arrow.FixedWidthTypes.Duration_s, arrow.BinaryTypes.String,
}

// numberOf is the number that relation.Column makes the value n of a type of.
func numberOf(t arrow.DataType, n int) uint64 {
	switch t.ID() {
	case arrow.FLOAT64:
		return math.Float64bits(float64(n) / 4)
	case arrow.FLOAT32:
		return uint64(math.Float32bits(float32(n) / 4))
	case arrow.FLOAT16: // 1 + n/1024
		return 0x3c00 + uint64(n&0x3ff)
	}
	return uint64(int64(n))
}

// TestTypes groups by keys of each type, and computes all that a type of values allows.
func TestTypes(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := engine(t, device)
		for i, dtype := range valueTypes {
			for r, rows := range []int{300, 7, 0} {
				if r > 0 && !devicetest.Turn(i+r, 4) {
					continue
				}
				random := rand.New(rand.NewPCG(uint64(rows), uint64(i)))
				key, numbers := keyTypes[(i+rows)%len(keyTypes)], random.Perm(max(rows, 1))
				tab := table(t, rows, column{"k", key, func(row int) uint64 { return numberOf(key, numbers[row]%9) },
					func(row int) bool { return key.ID() != arrow.NULL && numbers[row]%11 == 3 }},
					column{"x", dtype, func(row int) uint64 { return numberOf(dtype, numbers[row]%100) }, nil},
					column{"y", dtype, func(row int) uint64 { return numberOf(dtype, numbers[row]%100) },
						func(row int) bool { return numbers[row]%5 > 0 }})
				spec := groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{{Func: groupby.Count}}}
				for _, f := range groupby.Funcs() {
					for _, name := range []string{"x", "y"} {
						one := groupby.Spec{By: spec.By, Aggregates: []groupby.Aggregate{{Func: f, Column: name}}}
						if _, err := groupby.NewLayout(tab.Schema(), one); err == nil {
							spec.Aggregates = append(spec.Aggregates, one.Aggregates...)
						} else {
							require.ErrorIs(t, err, backend.ErrUnsupported)
						}
					}
				}
				t.Run(fmt.Sprintf("key=%s/value=%s/rows=%d", key, dtype, rows), func(t *testing.T) {
					check(t, e, tab, spec)
					spec.By = nil
					check(t, e, tab, spec)
				})
			}
		}
	})
}

// TestKeys groups by keys of each type, and by several.
func TestKeys(t *testing.T) {
	devicetest.SkipRace(t)
	bys := [][]string{{"k"}, {"n"}, {"n", "m"}, {"m", "k", "n"}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(keyTypes), 2, len(bys), 2) {
			key, other := keyTypes[c[0]], keyTypes[(c[0]*7+3)%len(keyTypes)]
			rows, by, bits := []int{1, 300}[c[1]], bys[c[2]], []int{64, 3}[c[3]]
			random := rand.New(rand.NewPCG(uint64(rows), uint64(c[0])))
			tab := table(t, rows,
				column{"k", key, func(row int) uint64 { return numberOf(key, random.IntN(100)-50) }, nil},
				column{"n", key, func(row int) uint64 { return numberOf(key, random.IntN(100)-50) },
					func(row int) bool { return key.ID() != arrow.NULL && random.IntN(3) == 0 }},
				column{"m", other, func(row int) uint64 { return numberOf(other, random.IntN(5)) },
					func(row int) bool { return other.ID() != arrow.NULL && random.IntN(3) == 0 }},
				column{"x", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(random.IntN(100)) }, nil})
			e := engine(t, device)
			e.HashBits = new(bits)
			e.GranuleRows = 1 << 8
			t.Run(fmt.Sprintf("key=%s/by=%v/rows=%d/bits=%d", key, by, rows, bits), func(t *testing.T) {
				check(t, e, tab, groupby.Spec{By: by, BatchRows: 100, Aggregates: []groupby.Aggregate{
					{Func: groupby.Sum, Column: "x"}, {Func: groupby.Count},
					{Func: groupby.CountDistinct, Column: "x"}, {Func: groupby.CountDistinct, Column: "m"}}})
			})
		}
	})
}
