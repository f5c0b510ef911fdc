package take

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// scattered returns a column of scattered values below rows, in chunks of 2^20 rows; nullEvery 0 means no nulls.
func scattered(rows, nullEvery int) *arrow.Chunked {
	var chunks []arrow.Array
	for start := 0; start < rows; start += 1 << 20 {
		builder := array.NewInt64Builder(memory.DefaultAllocator)
		for i := start; i < min(rows, start+1<<20); i++ {
			if nullEvery > 0 && i%nullEvery == 0 {
				builder.AppendNull()
			} else {
				builder.Append(int64(uint64(i) * 0x9e3779b97f4a7c15 % uint64(rows)))
			}
		}
		chunks = append(chunks, builder.NewArray())
	}
	return arrow.NewChunked(arrow.PrimitiveTypes.Int64, chunks)
}

func BenchmarkRows(b *testing.B) {
	const rows = 10_000_000
	int64s, nullable := scattered(rows, 0), scattered(rows, 20)
	oneChunk, err := array.Concatenate(int64s.Chunks(), memory.DefaultAllocator)
	require.NoError(b, err)
	var chunks []arrow.Array
	for start := 0; start < rows; start += 1 << 20 {
		builder := array.NewStringBuilder(memory.DefaultAllocator)
		for i := start; i < min(rows, start+1<<20); i++ {
			builder.Append("Customer#00000" + fmt.Sprint(i%1000))
		}
		chunks = append(chunks, builder.NewArray())
	}
	ids := map[string][]uint32{"sorted": make([]uint32, rows), "scattered": make([]uint32, rows)}
	for i := range rows {
		ids["sorted"][i] = uint32(i)
		ids["scattered"][i] = uint32(uint64(i) * 0x9e3779b1 % rows)
	}
	for _, c := range []struct {
		name   string
		column *arrow.Chunked
	}{
		{"int64/chunks=1", arrow.NewChunked(int64s.DataType(), []arrow.Array{oneChunk})},
		{"int64/chunks=10", int64s},
		{"int64/chunks=10/nulls=5%", nullable},
		{"string/chunks=10", arrow.NewChunked(arrow.BinaryTypes.String, chunks)},
	} {
		for _, order := range []string{"sorted", "scattered"} {
			b.Run(fmt.Sprintf("type=%s/rows=%d/ids=%s", c.name, rows, order), func(b *testing.B) {
				for b.Loop() {
					taken, err := Rows(context.Background(), c.column, ids[order], memory.DefaultAllocator)
					require.NoError(b, err)
					taken.Release()
				}
			})
		}
	}
}
