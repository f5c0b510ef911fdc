package parquet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// The pages of a chunk count with what they take, whatever its size.
func TestAheadBytesCountPages(t *testing.T) {
	batch := tabletest.ExampleBatch(300_000) // one chunk of each column, of several pages
	source := written(t, batch, Options{RowGroupRows: 300_000}, 1)
	for column, field := range source.fields.Fields() {
		chunk, err := source.file.MetaData().RowGroup(0).ColumnChunk(source.columns[column].First)
		require.NoError(t, err)
		pages, err := source.file.RowGroup(0).GetColumnPageReader(source.columns[column].First)
		require.NoError(t, err)
		largest, all := 0, 0
		for pages.Next() {
			largest, all = max(largest, len(pages.Page().Data())), all+len(pages.Page().Data())
		}
		require.NoError(t, pages.Err())
		require.NoError(t, pages.Close())
		sizeBytes := source.pageBytes(column)
		require.GreaterOrEqual(t, sizeBytes, int64(largest), field.Name)
		if all > 2<<20 {
			require.Less(t, sizeBytes, chunk.TotalUncompressedSize(), field.Name)
		}
	}
	require.GreaterOrEqual(t, source.NeedBytes([]int{0}, true), source.pageBytes(0))
	require.Zero(t, source.NeedBytes(nil, true))
	header, err := parsePageHeader([]byte{0x15, 4, 0x15, 200, 1, 0x15, 100, 0x2c, 0x15, 2, 0x15, 0, 0, 0, 99})
	require.NoError(t, err)
	require.Equal(t, pageHeader{kind: pageTypeDictionary, decompressedBytes: 100, compressedBytes: 50, sizeBytes: 14}, header)
	for _, corrupt := range [][]byte{nil, {0x15}, {0x15, 4, 0x2c}, {0xff, 0xff}} {
		_, err := parsePageHeader(corrupt)
		require.Error(t, err)
	}
}
