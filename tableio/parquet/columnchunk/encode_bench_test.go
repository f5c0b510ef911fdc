package columnchunk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"
)

// BenchmarkEncode encodes chunks of 131072 rows in 4 parts. MB/s count the chunk before compression.
func BenchmarkEncode(b *testing.B) {
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38},
		arrow.FixedWidthTypes.Timestamp_s, arrow.BinaryTypes.String, arrow.BinaryTypes.StringView,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	}
	for _, dt := range types {
		for _, nulls := range []string{nullsNone, nullsSome} {
			for _, distinct := range []uint64{100, 1 << 40} {
				b.Run(fmt.Sprintf("type=%s/nulls=%s/distinct=%d", dt, nulls, distinct), func(b *testing.B) {
					parts := split(generateArray(dt, 1<<17, nulls, distinct, rand.New(rand.NewPCG(1, 2))), 4)
					schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt, Nullable: true}}, nil)
					_, columns, _, err := WriteSchema(schema)
					require.NoError(b, err)
					var e Encoder
					var chunk Chunk
					b.ReportAllocs()
					for b.Loop() {
						require.NoError(b, e.Encode(context.Background(), columns[0], compress.Codecs.Snappy, parts, &chunk))
					}
					b.SetBytes(int64(chunk.plainBytes))
					b.ReportMetric(float64(len(chunk.bytes))/float64(chunk.rows), "bytes/row")
				})
			}
		}
	}
}
