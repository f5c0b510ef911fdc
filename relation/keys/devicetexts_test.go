package keys

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// stringsOf returns rows texts of 0 to 40 bytes, in slices at odd offsets, each three times as long as the previous
// one.
func stringsOf(dtype arrow.DataType, rows int) (chunks []arrow.Array, texts []string) {
	for from, size := 0, 1; from < rows; from, size = from+size, size*3 {
		b := array.NewBuilder(memory.DefaultAllocator, dtype)
		add := func(text string) {
			switch b := b.(type) {
			case *array.StringBuilder:
				b.Append(text)
			case *array.LargeStringBuilder:
				b.Append(text)
			case *array.FixedSizeBinaryBuilder:
				b.Append([]byte(text))
			}
		}
		text := func(row int) string {
			if f, ok := dtype.(*arrow.FixedSizeBinaryType); ok {
				return fmt.Sprintf("%0*d", f.ByteWidth, row)
			}
			return strings.Repeat("t", row*7%30) + fmt.Sprint(row)
		}
		add(text(1))
		for row := from; row < min(from+size, rows); row++ {
			add(text(row))
			texts = append(texts, text(row))
		}
		add(text(2))
		whole := b.NewArray()
		chunks = append(chunks, array.NewSlice(whole, 1, int64(whole.Len()-1)))
	}
	return chunks, texts
}

// TestUploadTexts: any range of rows of a column arrives contiguously, whatever its chunks; numbers beside it arrive as
// codes of 8 bytes.
func TestUploadTexts(t *testing.T) {
	ctx, device, rows := context.Background(), discreteDevice(t), 1000
	for _, dtype := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		&arrow.FixedSizeBinaryType{ByteWidth: 9}} {
		chunks, texts := stringsOf(dtype, rows)
		numbers := nullableInts(rows, 0)
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dtype}, {Name: "b", Type: numbers.DataType()}}, nil)
		table := array.NewTable(schema, []arrow.Column{
			*arrow.NewColumn(schema.Field(0), arrow.NewChunked(dtype, chunks)),
			*arrow.NewColumn(schema.Field(1), arrow.NewChunked(numbers.DataType(), []arrow.Array{numbers}))},
			int64(rows))
		plan, err := PlanJoin(ctx, table, table, []string{"a", "b"}, []string{"a", "b"})
		require.NoError(t, err)
		require.True(t, plan.DeviceTexts())
		for _, part := range [][2]int{{0, rows}, {0, 1}, {3, 4}, {2, 57}, {41, 999}, {500, 500}} {
			from, to := part[0], part[1]
			n := uint64(to - from)
			for k, c := range plan.TextColumns(relation.Left, from, to) {
				bytes, err := device.Allocate(ctx, backend.DeviceLocal, c.BytesNeeded(), "bytes")
				require.NoError(t, err)
				starts, err := device.Allocate(ctx, backend.DeviceLocal, max(4, c.StartsNeeded(n)), "starts")
				require.NoError(t, err)
				require.NoError(t, plan.UploadTexts(ctx, device, relation.Left, k, from, to, bytes.All(), starts.All()))
				got, at := make([]byte, c.BytesNeeded()), make([]uint32, max(1, c.StartsNeeded(n)/4))
				require.NoError(t, device.Download(ctx, got, bytes.All()))
				require.NoError(t, device.Download(ctx, backend.AsBytes(at), starts.All()))
				if k == 1 {
					require.Equal(t, TextColumn{Width: 8, Coded: true, Bytes: 8 * n, Longest: 8}, c)
					for row := from; row < to; row++ {
						require.EqualValues(t, row*7, binary.LittleEndian.Uint64(got[8*(row-from):]))
					}
				} else {
					require.Equal(t, strings.Join(texts[from:to], ""), string(got[:c.Bytes]))
				}
				if width := uint64(c.Width); width > 0 {
					require.Equal(t, n*width, c.Bytes)
				} else if n > 0 {
					end := uint32(0)
					for i, text := range texts[from:to] {
						require.Equal(t, end, at[i])
						end += uint32(len(text))
					}
					require.Equal(t, end, at[n])
				}
				bytes.Release()
				starts.Release()
			}
		}
		one, err := device.Allocate(ctx, backend.DeviceLocal, 16, "too small")
		require.NoError(t, err)
		require.ErrorIs(t, plan.UploadTexts(ctx, device, relation.Left, 0, 0, rows, one.All(), one.All()),
			backend.ErrInvalidInput)
		require.ErrorIs(t, plan.UploadTexts(ctx, device, relation.Left, 0, 0, rows+1, one.All(), one.All()),
			backend.ErrInvalidInput)
		one.Release()
		table.Release()
	}
}
