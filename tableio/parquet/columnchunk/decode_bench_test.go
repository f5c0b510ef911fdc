package columnchunk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
)

// BenchmarkDecode decodes one row group of a column, and has pqarrow do so.
func BenchmarkDecode(b *testing.B) {
	const rows = 1 << 17
	number := func(limit int64) func(r *rand.Rand) any { return func(r *rand.Rand) any { return r.Int64N(limit) } }
	for _, c := range []struct {
		name       string
		column     decodeCase
		dictionary bool
	}{
		{"bool", decodeCase{arrow.FixedWidthTypes.Boolean, number(2), nil}, false},
		{"int8", decodeCase{arrow.PrimitiveTypes.Int8, number(100), nil}, false},
		{"int32", decodeCase{arrow.PrimitiveTypes.Int32, number(1 << 31), nil}, false},
		{"int64", decodeCase{arrow.PrimitiveTypes.Int64, number(1 << 62), nil}, false},
		{"int64", decodeCase{arrow.PrimitiveTypes.Int64, number(2000), nil}, true},
		{"float64", decodeCase{arrow.PrimitiveTypes.Float64, number(1 << 50), nil}, false},
		{"decimal", decodeCase{&arrow.Decimal128Type{Precision: 15, Scale: 2},
			func(r *rand.Rand) any { return fmt.Sprint(r.Int64N(1e9)) }, nil}, false},
		{"string", decodeCase{arrow.BinaryTypes.String, func(r *rand.Rand) any {
			return "carefully final deposits detect slyly again"[:4+r.IntN(30)]
		}, nil}, false},
		{"string", decodeCase{arrow.BinaryTypes.String, func(r *rand.Rand) any { return vocabulary[r.IntN(len(vocabulary))] }, nil},
			true},
	} {
		for _, nulls := range []nullness{noNulls, someNulls} {
			column := testArray(c.column, rows, nulls, rand.New(rand.NewPCG(9, 9)))
			content := writeColumns(b, []arrow.Array{column}, true, nil, parquet.WithDictionaryDefault(c.dictionary),
				parquet.WithVersion(parquet.V2_LATEST))
			reader := openFile(b, content)
			name := fmt.Sprintf("type=%s/dictionary=%t/nulls=%s", c.name, c.dictionary, nulls)
			b.Run(name+"/by=columnchunk", func(b *testing.B) {
				var d Decoder
				for b.Loop() {
					got, err := decodeColumn(b, &d, reader, 0, 0, column.DataType(), memory.DefaultAllocator)
					require.NoError(b, err)
					got.Release()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
			b.Run(name+"/by=pqarrow", func(b *testing.B) {
				arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
				require.NoError(b, err)
				for b.Loop() {
					columnReader, err := arrowReader.GetFieldReader(context.Background(), 0, map[int]bool{0: true}, []int{0})
					require.NoError(b, err)
					got, err := columnReader.NextBatch(rows)
					require.NoError(b, err)
					got.Release()
					columnReader.Release()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
			column.Release()
		}
	}
}
