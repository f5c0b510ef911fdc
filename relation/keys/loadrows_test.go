package keys

import (
	"context"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// TestLoadRows loads ranges of rows into the middle of buffers, and compares with the codes that Encode writes for
// them.
func TestLoadRows(t *testing.T) {
	devicetest.ForEach(t, testLoadRows)
	t.Run("discrete", func(t *testing.T) { testLoadRows(t, discreteDevice(t)) })
}

func testLoadRows(t *testing.T, device *backend.Device) {
	ctx := context.Background()
	const stagedRows = backend.StagedBytes / 4
	const rows = stagedRows + 2*relation.BlockRows + 777
	for _, nullEvery := range []int{0, 3, 100_000, 1} {
		table := tableOf([]arrow.Array{nullableInts(rows, nullEvery)}, [][]int{{1, 70_000}})
		plan, err := PlanJoin(ctx, table, tableOf([]arrow.Array{nullableInts(rows, 0)}, [][]int{nil}), keyNames(1),
			keyNames(1))
		require.NoError(t, err)
		keys, ids := make([]uint32, plan.Rows(relation.Left)), make([]uint32, plan.Rows(relation.Left))
		require.NoError(t, plan.Encode(ctx, relation.Left, backend.AsBytes(keys), ids))
		if !plan.LeavesOut(relation.Left) {
			for i := range ids {
				ids[i] = uint32(i)
			}
		}
		buffer, err := device.Allocate(ctx, backend.DeviceLocal, (rows+2)*4, "keys")
		require.NoError(t, err)
		for _, r := range [][2]int{{0, rows}, {0, 0}, {rows, rows}, {0, 1}, {1, 64}, {63, 66},
			{relation.BlockRows, 2 * relation.BlockRows}, {5, rows - 3},
			{relation.BlockRows - 1, stagedRows + relation.BlockRows + 5}, {rows - 1, rows}} {
			from, to := r[0], r[1]
			first, _ := slices.BinarySearch(ids, uint32(from))
			end, _ := slices.BinarySearch(ids, uint32(to))
			require.EqualValues(t, end-first, plan.RowsIn(relation.Left, from, to))
			n := uint64(end - first)
			var mark backend.List
			mark.Fill(buffer.All(), 0xabababab)
			require.NoError(t, device.Run(ctx, &mark))
			require.NoError(t, plan.LoadRows(ctx, device, relation.Left, from, to, buffer.Range(4, n*4))())
			words := make([]uint32, n+2)
			require.NoError(t, device.Download(ctx, backend.AsBytes(words), buffer.Range(0, (n+2)*4)))
			require.EqualValues(t, 0xabababab, words[0], "written before the range")
			require.EqualValues(t, 0xabababab, words[n+1], "written behind the range")
			require.True(t, slices.Equal(keys[first:end], words[1:n+1]), "a null every %d rows, rows %v", nullEvery, r)
		}
		buffer.Release()
	}
}

func TestLoadRowsErrors(t *testing.T) {
	ctx, device := context.Background(), discreteDevice(t)
	table := single(arrow.PrimitiveTypes.Int8, ints(1, 2, 3)...)
	plan, err := PlanJoin(ctx, table, table, keyNames(1), keyNames(1))
	require.NoError(t, err)
	buffer, err := device.Allocate(ctx, backend.DeviceLocal, 64, "keys")
	require.NoError(t, err)
	defer buffer.Release()
	for _, r := range [][2]int{{-1, 2}, {2, 1}, {0, 4}} {
		require.ErrorIs(t, plan.LoadRows(ctx, device, relation.Left, r[0], r[1], buffer.All())(), backend.ErrInvalidInput)
		_, err := plan.Keyless(ctx, relation.Left, KeylessAll, r[0], r[1])
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
	require.ErrorIs(t, plan.LoadRows(ctx, device, relation.Left, 0, 3, buffer.Range(0, 8))(), backend.ErrInvalidInput)
}

// TestRowRanges compares RowsIn and Keyless with the rows that Encode leaves out.
func TestRowRanges(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 63, 64, 65, StripRows + 1, relation.BlockRows - 1, relation.BlockRows,
			2*relation.BlockRows + 99}).
			Draw(t, "rows")
		nullEvery := rapid.SampledFrom([]int{0, 1, 2, 65, 5000}).Draw(t, "nulls")
		column := array.NewSlice(nullableInts(rows+3, nullEvery), 3, int64(rows+3))
		table := tableOf([]arrow.Array{column}, [][]int{{rows / 3, rows / 2}})
		plan, err := PlanJoin(ctx, table, table, keyNames(1), keyNames(1))
		require.NoError(t, err)
		from := rapid.IntRange(0, rows).Draw(t, "from")
		to := rapid.IntRange(from, rows).Draw(t, "to")
		var want []uint32
		for i := from; i < to; i++ {
			if column.IsNull(i) {
				want = append(want, uint32(i))
			}
		}
		got, err := plan.Keyless(ctx, relation.Right, KeylessAll, from, to)
		require.NoError(t, err)
		require.True(t, slices.Equal(want, got))
		require.Equal(t, want == nil, got == nil)
		require.EqualValues(t, to-from-len(want), plan.RowsIn(relation.Right, from, to))
	})
	table := single(arrow.PrimitiveTypes.Int8, cell{null: true})
	plan, err := PlanJoin(ctx, table, table, keyNames(1), keyNames(1))
	require.NoError(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = plan.Keyless(ended, relation.Left, KeylessAll, 0, 1)
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestUploads compares uploaded values with the values of the column, also of slices and empty chunks.
func TestUploads(t *testing.T) {
	devicetest.ForEach(t, testUploads)
	t.Run("discrete", func(t *testing.T) { testUploads(t, discreteDevice(t)) })
}

func testUploads(t *testing.T, device *backend.Device) {
	ctx := context.Background()
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64} {
		cells := make([]cell, 300)
		for i := range cells {
			cells[i] = cell{raw: uint64(i) * 0x1_0000_0101, null: i%5 == 0}
		}
		whole := columnOf(dt, cells, 3)
		column := arrow.NewChunked(dt, []arrow.Array{array.NewSlice(whole, 0, 10), array.NewSlice(whole, 10, 10),
			array.NewSlice(whole, 10, 290), array.NewSlice(whole, 290, 300)})
		width := relation.WordBits(dt) / 8
		buffer, err := device.Allocate(ctx, backend.DeviceLocal, uint64(300*width+12), "values")
		require.NoError(t, err)
		check := func(what string, rows []uint32, upload func(into backend.Range) error) {
			sizeBytes := uint64(len(rows) * width)
			var mark backend.List
			mark.Fill(buffer.All(), 0xabababab)
			require.NoError(t, device.Run(ctx, &mark))
			require.NoError(t, upload(buffer.Range(8, sizeBytes)), what)
			got := make([]byte, sizeBytes+12)
			require.NoError(t, device.Download(ctx, got, buffer.Range(0, sizeBytes+12)))
			require.EqualValues(t, 0xab, got[7], what)
			require.EqualValues(t, 0xab, got[8+sizeBytes], what)
			for i, row := range rows {
				value := uint64(relation.View[uint32](got[8:][i*width:][:4])[0])
				if width == 8 {
					value |= uint64(relation.View[uint32](got[8:][i*8+4:][:4])[0]) << 32
					require.Equal(t, cells[row].raw, value, what)
				}
				require.Equal(t, uint32(cells[row].raw), uint32(value), what)
			}
		}
		rowsOf := func(from, to int) (rows []uint32) {
			for i := from; i < to; i++ {
				rows = append(rows, uint32(i))
			}
			return rows
		}
		for _, r := range [][2]int{{0, 300}, {0, 0}, {300, 300}, {9, 11}, {10, 290}, {250, 299}} {
			check("rows", rowsOf(r[0], r[1]), func(into backend.Range) error {
				transfers, err := relation.Transfers(column, r[0], r[1], into)
				require.NoError(t, err)
				_, err = device.UploadAll(ctx, transfers)
				return err
			})
		}
		for _, r := range [][2]int{{-1, 2}, {2, 1}, {0, 301}} {
			_, err = relation.Transfers(column, r[0], r[1], buffer.All())
			require.ErrorIs(t, err, backend.ErrInvalidInput)
		}
		small := buffer.Range(0, 8)
		_, err = relation.Transfers(column, 0, 3, small)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		buffer.Release()
	}
	bools := arrow.NewChunked(arrow.FixedWidthTypes.Boolean, nil)
	_, err := relation.Transfers(bools, 0, 0, backend.Range{})
	require.ErrorIs(t, err, backend.ErrUnsupported)
	binary := &arrow.FixedSizeBinaryType{ByteWidth: 4}
	short := array.NewData(binary, 3, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 8))}, nil, 0, 0)
	defer short.Release()
	corrupt := array.MakeFromData(short)
	defer corrupt.Release()
	column := arrow.NewChunked(binary, []arrow.Array{corrupt})
	defer column.Release()
	buffer, err := device.Allocate(ctx, backend.DeviceLocal, 64, "values")
	require.NoError(t, err)
	defer buffer.Release()
	_, err = relation.Transfers(column, 0, 3, buffer.All())
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}
