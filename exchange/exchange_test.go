package exchange_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// keyed is a table with a key of a type, of values in text, and the number of each row.
func keyed(t *testing.T, key arrow.DataType, values []string) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: key, Nullable: true},
		{Name: "row", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, value := range values {
		if b.Field(1).(*array.Int64Builder).Append(int64(i)); value == "" {
			b.Field(0).AppendNull()
		} else {
			require.NoError(t, b.Field(0).AppendValueFromString(value))
		}
	}
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{b.NewRecordBatch()})
}

// partsOf says in which part each row of a table is.
func partsOf(t *testing.T, d *exchange.Divider, side relation.Side, table arrow.Table) []int {
	of := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer of.AssertSize(t, 0)
	divided, err := d.Divide(t.Context(), side, table, of)
	require.NoError(t, err)
	require.Len(t, divided, d.Parts)
	parts := make([]int, table.NumRows())
	for i := range parts {
		parts[i] = -1
	}
	for part, rows := range divided {
		last := int64(-1)
		for _, row := range rows.Column(1).(*array.Int64).Int64Values() {
			require.Equal(t, -1, parts[row], "a row is in one part")
			require.Greater(t, row, last, "rows of a part keep their order")
			parts[row], last = part, row
		}
		rows.Release()
	}
	require.NotContains(t, parts, -1)
	return parts
}

// TestEqualKeysMeet: rows of both sides with equal keys are in parts of one number, whatever their types; the parts
// differ little in size; with another seed, the keys of a part spread.
func TestEqualKeysMeet(t *testing.T) {
	devicetest.HostTest(t)
	rows, parts := devicetest.Short(5_000, 20_000), 16
	random := rand.New(rand.NewPCG(1, 2))
	var numbers, nulls [2][]string
	for side := range numbers {
		for range rows {
			numbers[side] = append(numbers[side], fmt.Sprint(random.IntN(50_000)))
			nulls[side] = append(nulls[side], []string{"", numbers[side][len(numbers[side])-1]}[min(random.IntN(5), 1)])
		}
	}
	wide := &arrow.Decimal128Type{Precision: 38, Scale: 2}
	for _, types := range [][2]arrow.DataType{
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64}, {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64},
		{arrow.BinaryTypes.String, arrow.BinaryTypes.StringView}, {arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64},
		{wide, &arrow.Decimal128Type{Precision: 38, Scale: 0}}, {arrow.PrimitiveTypes.Int64, wide},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
			arrow.BinaryTypes.String},
	} {
		for name, values := range map[string][2][]string{"numbers": numbers, "with nulls": nulls} {
			tables := [2]arrow.Table{keyed(t, types[0], values[0]), keyed(t, types[1], values[1])}
			schemas := [2]*arrow.Schema{tables[0].Schema(), tables[1].Schema()}
			hashes, err := keys.PlanHashes(schemas, [2][]string{{"k"}, {"k"}}, name == "with nulls")
			require.NoError(t, err)
			d := exchange.Divider{Hashes: hashes, Parts: parts, Together: name == "numbers"}
			where, sizes := make(map[string]int), make([]int, parts)
			for side, table := range tables {
				for row, part := range partsOf(t, &d, relation.Side(side), table) {
					if side == 1 {
						sizes[part]++
					}
					if of, known := where[values[side][row]]; known {
						require.Equal(t, of, part, "%v: key %q", types, values[side][row])
					}
					where[values[side][row]] = part
				}
			}
			for _, size := range sizes {
				if name == "numbers" {
					require.InDelta(t, rows/parts, size, float64(rows/parts/4))
				}
			}
			again := exchange.Divider{Hashes: hashes, Parts: parts, Seed: 1}
			spread := make(map[int]bool)
			for row, part := range partsOf(t, &again, relation.Right, tables[1]) {
				if where[values[1][row]] == 3 {
					spread[part] = true
				}
			}
			require.Len(t, spread, parts, "%v", types)
		}
	}
	// Values of more than 64 bits, which no packed code has, meet too.
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: wide}, {Name: "row", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 100 {
		b.Field(0).(*array.Decimal128Builder).Append(decimal128.New(int64(1+i%10), 7))
		b.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{b.NewRecordBatch()})
	hashes, err := keys.PlanHashes([2]*arrow.Schema{schema, schema}, [2][]string{{"k"}, {"k"}})
	require.NoError(t, err)
	d := exchange.Divider{Hashes: hashes, Parts: parts}
	of := partsOf(t, &d, relation.Left, table)
	require.Equal(t, of, partsOf(t, &d, relation.Right, table))
	for i := range 90 {
		require.Equal(t, of[i], of[i+10])
	}
	_, err = keys.PlanHashes([2]*arrow.Schema{schema, schema}, [2][]string{{"none"}, {"k"}})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}
