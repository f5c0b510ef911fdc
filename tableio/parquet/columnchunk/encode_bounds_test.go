package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// orderOf is the value of a row, as something that Go compares in the order of its type: a number or a text.
func orderOf(a arrow.Array, row int) any {
	switch a := a.(type) {
	case *array.Dictionary:
		return orderOf(a.Dictionary(), a.GetValueIndex(row))
	case array.ExtensionArray:
		return orderOf(a.Storage(), row)
	case *array.Boolean:
		return big.NewInt(int64(asByte(a.Value(row))))
	case *array.Float16:
		return float64(a.Value(row).Float32())
	case *array.Float32:
		return float64(a.Value(row))
	case *array.Float64:
		return a.Value(row)
	case *array.Time32:
		return big.NewInt(int64(a.Value(row)))
	case *array.Time64:
		return big.NewInt(int64(a.Value(row)))
	case *array.Timestamp:
		return big.NewInt(int64(a.Value(row)))
	}
	text := canonical(a, row)
	switch a.DataType().ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return text
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(a.DataType().String())
	}
	return n
}

// orderOfBound reads a bound of statistics.
func orderOfBound(leaf *schema.Column, bound []byte) any {
	unsigned := false
	if integer, ok := leaf.LogicalType().(schema.IntLogicalType); ok {
		unsigned = !integer.IsSigned()
	}
	switch leaf.PhysicalType() {
	case parquet.Types.Boolean:
		return big.NewInt(int64(bound[0]))
	case parquet.Types.Int32:
		if v := binary.LittleEndian.Uint32(bound); unsigned {
			return big.NewInt(int64(v))
		} else {
			return big.NewInt(int64(int32(v)))
		}
	case parquet.Types.Int64:
		if v := binary.LittleEndian.Uint64(bound); unsigned {
			return new(big.Int).SetUint64(v)
		} else {
			return big.NewInt(int64(v))
		}
	case parquet.Types.Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(bound)))
	case parquet.Types.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(bound))
	}
	switch leaf.LogicalType().(type) {
	case schema.DecimalLogicalType:
		n := new(big.Int).SetBytes(bound)
		if bound[0] >= 128 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bound))))
		}
		return n
	case schema.Float16LogicalType:
		return float64(float16.FromLEBytes(bound).Float32())
	}
	return string(bound)
}

func compareOrders(a, b any) int {
	switch a := a.(type) {
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case float64:
		switch b := b.(float64); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	return strings.Compare(a.(string), b.(string))
}

// naiveBounds are nil without values that can be compared.
func naiveBounds(columns []arrow.Array) (low, high any, nulls int) {
	for _, a := range columns {
		for row := range a.Len() {
			if canonical(a, row) == "null" {
				nulls++
				continue
			}
			v := orderOf(a, row)
			if number, ok := v.(float64); ok && math.IsNaN(number) {
				continue
			}
			if low == nil || compareOrders(v, low) < 0 {
				low = v
			}
			if high == nil || compareOrders(v, high) > 0 {
				high = v
			}
		}
	}
	return low, high, nulls
}

func statisticsOf(t *testing.T, content []byte) metadata.TypedStatistics {
	t.Helper()
	meta, err := openEncoded(t, content).MetaData().RowGroup(0).ColumnChunk(0)
	require.NoError(t, err)
	statistics, err := meta.Statistics()
	require.NoError(t, err)
	require.NotNil(t, statistics)
	return statistics
}

func checkStatistics(t *testing.T, content []byte) {
	t.Helper()
	statistics := statisticsOf(t, content)
	low, high, nulls := naiveBounds(firstColumn(t, content))
	require.True(t, statistics.HasNullCount())
	require.EqualValues(t, nulls, statistics.NullCount())
	require.Equal(t, low != nil, statistics.HasMinMax())
	if low != nil {
		leaf := statistics.Descr()
		gotLow, gotHigh := orderOfBound(leaf, statistics.EncodeMin()), orderOfBound(leaf, statistics.EncodeMax())
		require.Zero(t, compareOrders(low, gotLow), "min %v instead of %v", gotLow, low)
		require.Zero(t, compareOrders(high, gotHigh), "max %v instead of %v", gotHigh, high)
	}
}

func TestStatistics(t *testing.T) {
	var e Encoder
	var chunk Chunk
	random := rand.New(rand.NewPCG(11, 12))
	for _, dt := range flatTypes() {
		if dt.ID() == arrow.NULL { // without an order
			continue
		}
		t.Run(dt.String(), func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
			for run, nulls := range nullPatterns {
				for _, distinct := range []uint64{1, 2, 9, 1 << 40} {
					a := generateArray(dt, 40+run, nulls, distinct, random)
					checkStatistics(t, encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{split(a, 3)}))
				}
			}
		})
	}
}

// TestStatisticsOfZero: a bound of 0 stands for both zeros, and NaN is no bound.
func TestStatisticsOfZero(t *testing.T) {
	nan, zero, minus := math.NaN(), 0.0, math.Copysign(0, -1)
	cases := []struct {
		values    []float64
		low, high float64 // NaN: none
	}{
		{[]float64{nan, nan}, nan, nan},
		{[]float64{nan, 3, nan, 2, nan}, 2, 3},
		{[]float64{zero, zero}, minus, zero},
		{[]float64{minus, minus}, minus, zero},
		{[]float64{zero, minus, 1}, minus, 1},
		{[]float64{-1, zero, minus}, -1, zero},
		{[]float64{-1, minus, nan}, -1, zero},
		{[]float64{math.Inf(1), math.Inf(-1)}, math.Inf(-1), math.Inf(1)},
	}
	var e Encoder
	var chunk Chunk
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	}
	for _, dt := range types {
		for _, c := range cases {
			for _, repeat := range []int{1, 50} {
				builder := array.NewBuilder(memory.NewGoAllocator(), dt)
				for _, v := range slices.Repeat(c.values, repeat) {
					switch b := builder.(type) {
					case *array.Float16Builder:
						b.Append(float16.New(float32(v)))
					case *array.Float32Builder:
						b.Append(float32(v))
					case *array.Float64Builder:
						b.Append(v)
					}
				}
				a := builder.NewArray()
				schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
				content := encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{a}})
				require.Empty(t, difference([]arrow.Array{a}, firstColumn(t, content)))
				statistics := statisticsOf(t, content)
				require.Equal(t, !math.IsNaN(c.low), statistics.HasMinMax(), "%s %v", dt, c.values)
				if statistics.HasMinMax() {
					require.Equal(t, chunk.min, statistics.EncodeMin())
					low := orderOfBound(statistics.Descr(), chunk.min).(float64)
					high := orderOfBound(statistics.Descr(), chunk.max).(float64)
					want := fmt.Sprint(c.low, math.Signbit(c.low), c.high, math.Signbit(c.high))
					got := fmt.Sprint(low, math.Signbit(low), high, math.Signbit(high))
					require.Equal(t, want, got, "%s %v", dt, c.values)
				}
			}
		}
	}
}

func TestStatisticsOfLongTexts(t *testing.T) {
	var e Encoder
	var chunk Chunk
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	for _, length := range []int{0, maxBoundBytes, maxBoundBytes + 1} {
		builder := array.NewStringBuilder(memory.NewGoAllocator())
		builder.Append("a")
		builder.Append(strings.Repeat("b", length))
		content := encodeFile(t, &e, &chunk, schema, compress.Codecs.Snappy, [][]arrow.Array{{builder.NewArray()}})
		require.Equal(t, length <= maxBoundBytes, statisticsOf(t, content).HasMinMax())
	}
}
