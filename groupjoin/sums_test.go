package groupjoin_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

// pairs has keys k and l and values x of a type, as texts; "" is NULL.
func pairs(t testing.TB, dtype arrow.DataType, rows ...[3]string) arrow.Table {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32},
		{Name: "l", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: dtype, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range rows {
		for i, text := range row {
			if text == "" {
				b.Field(i).AppendNull()
			} else {
				require.NoError(t, b.Field(i).AppendValueFromString(text))
			}
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	t.Cleanup(table.Release)
	return table
}

// cells are the values of the aggregates by k, as texts, of groups in which 1 is the only key. byKey tells which way it
// must be.
func cells(t testing.TB, e *groupjoin.Engine, left, right arrow.Table, byKey bool, list ...string) (texts []string,
	err error) {
	t.Helper()
	l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), join.Spec{On: []string{"k", "l"}},
		groupby.Spec{By: []string{"k"}, Aggregates: aggregates(list...)})
	require.NoError(t, err)
	require.Equal(t, byKey, l.ByKey())
	batches, _, err := run(t.Context(), e, l, source.FromTable(left), source.FromTable(right))
	for _, b := range batches {
		require.EqualValues(t, 1, b.NumRows())
		for _, column := range b.Columns()[1:] {
			texts = append(texts, column.ValueStr(0))
		}
		b.Release()
	}
	return texts, err
}

// TestSumsByKey: sums and means by key equal the joined rows' to the last bit, even if a side's sums overflow.
func TestSumsByKey(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, 0)
		right := pairs(t, arrow.PrimitiveTypes.Int32, [3]string{"1", "1", ""}, [3]string{"1", "1", "5"},
			[3]string{"1", "2", ""}, [3]string{"1", "2", ""}, [3]string{"1", "2", ""})
		most, least := fmt.Sprint(math.MaxInt64), fmt.Sprint(math.MinInt64)
		for _, c := range []struct {
			dtype arrow.DataType
			rows  [][3]string
		}{
			{arrow.PrimitiveTypes.Int64, [][3]string{{"1", "1", most}, {"1", "1", least}, {"1", "1", "3"}, {"1", "2", ""}}},
			{arrow.PrimitiveTypes.Int64, [][3]string{{"1", "1", most}, {"1", "1", most}, {"1", "1", most}, {"1", "2", least},
				{"1", "2", least}}}, // the sums of both keys are beyond int64, and their sum is not
			{arrow.PrimitiveTypes.Uint64, [][3]string{{"1", "1", "18446744073709551"}, {"1", "2", "7"}}},
			{arrow.PrimitiveTypes.Int8, [][3]string{{"1", "1", "-128"}, {"1", "2", "127"}, {"1", "2", "126"}}},
			{&arrow.Decimal128Type{Precision: 38, Scale: 37}, [][3]string{{"1", "1", "0.1"}, {"1", "1", "0.7"}}},
			{&arrow.Decimal64Type{Precision: 18, Scale: 3}, [][3]string{{"1", "1", ""}, {"1", "2", "-999999999999999.999"}}},
			{arrow.PrimitiveTypes.Float32, [][3]string{{"1", "1", "0.5"}, {"1", "2", "-7"}, {"1", "2", ""}}},
			{arrow.FixedWidthTypes.Duration_ms, [][3]string{{"1", "1", "5ms"}, {"1", "2", "-7ms"}}},
			{arrow.PrimitiveTypes.Int32, [][3]string{{"1", "1", ""}}},
		} {
			list := []string{"sum:x", "count:x", "sum:x_right"}
			if c.dtype.ID() != arrow.DURATION {
				list = append(list, "avg:x", "avg:x_right")
			}
			left := pairs(t, c.dtype, c.rows...)
			got, err := cells(t, e, left, right, true, list...)
			require.NoError(t, err)
			want, err := cells(t, e, left, right, false, append(list, "first:x")...)
			require.NoError(t, err)
			require.Equal(t, want[:len(list)], got, "%s %v", c.dtype, c.rows)
		}
		for dtype, value := range map[arrow.DataType]string{arrow.PrimitiveTypes.Int64: most,
			arrow.PrimitiveTypes.Uint64:          "18446744073709551615",
			&arrow.Decimal128Type{Precision: 38}: "99999999999999999999999999999999999999",
			arrow.FixedWidthTypes.Duration_ns:    most} {
			left := pairs(t, dtype, [3]string{"1", "2", value})
			_, err := cells(t, e, left, right, true, "sum:x", "avg:x_right")
			require.ErrorIs(t, err, backend.ErrLimit)
			_, other := cells(t, e, left, right, false, "sum:x", "first:x")
			require.EqualError(t, err, other.Error())
			if dtype.ID() == arrow.DURATION {
				continue
			}
			// Rows without a partner have a sum that is too large, which nobody asks for.
			left = pairs(t, dtype, [3]string{"1", "3", value}, [3]string{"1", "3", value}, [3]string{"1", "1", "4"})
			got, err := cells(t, e, left, right, true, "sum:x")
			require.NoError(t, err)
			require.Equal(t, []string{"8"}, got)
		}
	})
}

// TestSumsOfManyPairs: sums of 10^10 pairs are found without them.
func TestSumsOfManyPairs(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		const rows = 100_000
		side := func(value int64) arrow.Table {
			keys, values := make([]int32, rows), make([]int64, rows)
			for i := range values {
				keys[i], values[i] = 1, value
			}
			schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32},
				{Name: "l", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			defer b.Release()
			b.Field(0).(*array.Int32Builder).AppendValues(keys, nil)
			b.Field(1).(*array.Int32Builder).AppendValues(keys, nil)
			b.Field(2).(*array.Int64Builder).AppendValues(values, nil)
			batch := b.NewRecordBatch()
			defer batch.Release()
			return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
		}
		left, right := side(7), side(-3)
		defer left.Release()
		defer right.Release()
		got, err := cells(t, open(t, device, 0), left, right, true, "count", "sum:x", "avg:x", "sum:x_right")
		require.NoError(t, err)
		require.Equal(t, []string{"10000000000", "70000000000", "7", "-30000000000"}, got)
	})
}

// TestByKeyWithoutRoom: rows are joined if the groups of both sides have no room in memory and both can be read again.
func TestByKeyWithoutRoom(t *testing.T) {
	const rows, limitBytes = 100_000, 8 << 20
	column := func(row int) int64 { return int64(row) * 7919 % rows }
	left := longs(t, rows, map[string]func(int) int64{"k": column})
	right := longs(t, rows, map[string]func(int) int64{"k": column, "a": func(row int) int64 { return int64(row) }})
	l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), join.Spec{On: []string{"k"}},
		groupby.Spec{By: []string{"k"}, Aggregates: aggregates("sum:a", "count")})
	require.NoError(t, err)
	require.True(t, l.ByKey())
	e := open(t, onHost(t), limitBytes)
	e.Groups.TempDir = t.TempDir()
	e.Join.Spill(e.Groups.TempDir, 1<<30)
	_, _, err = run(t.Context(), e, l, unknown(left), unknown(right))
	require.ErrorIs(t, err, backend.ErrHostMemory)
	batches, stats, err := run(t.Context(), e, l, again(left), again(right))
	require.NoError(t, err)
	require.Nil(t, stats.Sides)
	require.EqualValues(t, rows, stats.GroupBy.Groups)
	total := int64(0)
	for _, b := range batches {
		for _, sum := range b.Column(1).(*array.Int64).Int64Values() {
			total += sum
		}
		b.Release()
	}
	require.EqualValues(t, rows*(rows-1)/2, total)
}

// TestByKeyOrRows: devices that join tables group the rows, unless more are expected, or come, than both tables have. A
// sample misses the frequent key of the last case.
func TestByKeyOrRows(t *testing.T) {
	const rows, hot = 100_000, 7
	keyed := func(rows int, key func(row int) int64) arrow.Table {
		return longs(t, rows, map[string]func(int) int64{"k": key})
	}
	unique := keyed(rows, func(row int) int64 { return int64(row) })
	repeated := keyed(rows, func(row int) int64 { return int64(row % 5000) })
	for name, c := range map[string]struct {
		left, right  arrow.Table
		expected, is string
	}{
		"a row has one partner": {unique, unique, "on the device ", reducedText},
		"a row has many": {unique, keyed(rows, func(row int) int64 { return int64(row % 50) }), "on the device ",
			reducedText},
		"rows have many": {repeated, repeated, "no rows are joined", "group left side"},
		"more than are expected": {keyed(4*rows, func(row int) int64 { return int64(max(hot, row-hot)) }),
			keyed(4*rows, func(row int) int64 { return int64(max(hot, row-3*rows)) }), "on the device ", "group left side"},
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, onHost(t), 0)
			l, err := groupjoin.NewLayout(c.left.Schema(), c.right.Schema(), join.Spec{On: []string{"k"}},
				groupby.Spec{By: []string{"k"}, Aggregates: aggregates("count")})
			require.NoError(t, err)
			text, err := e.Explain(t.Context(), l, c.left, c.right)
			require.NoError(t, err)
			require.Contains(t, text, c.expected)
			r, err := e.Run(t.Context(), l, source.FromTable(c.left), source.FromTable(c.right))
			require.NoError(t, err)
			defer r.Close()
			require.Contains(t, r.Explain(), c.is)
			partners, pairs := map[int64]uint64{}, uint64(0)
			for _, key := range int64s(c.right) {
				partners[key]++
			}
			for _, key := range int64s(c.left) {
				pairs += partners[key]
			}
			require.Equal(t, pairs, r.Stats().GroupBy.Rows)
		})
	}
}

// int64s are the values of the first column.
func int64s(table arrow.Table) (all []int64) {
	for _, chunk := range table.Column(0).Data().Chunks() {
		all = append(all, chunk.(*array.Int64).Int64Values()...)
	}
	return all
}
