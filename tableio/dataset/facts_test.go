package dataset_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio"
	"github.com/spirjoin/spirjoin/tableio/dataset"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// known is what a reader tells of some files, and the keys that the parts of three processes read within bounds.
func known(t *testing.T, dir string, aheadBytes int64) (told []string, keys []int64) {
	for rank := range 3 {
		r, err := tableio.Open(t.Context(), dir, tableio.ReadOptions{AheadBytes: aheadBytes})
		require.NoError(t, err)
		for _, field := range r.Schema().Fields() {
			b, ok := r.Bounds(field.Name)
			told = append(told, fmt.Sprint(field, b.Min, b.Max, b.Nulls, ok, r.Nulls(field.Name)))
		}
		require.NoError(t, r.Share(rank, 3))
		told = append(told, fmt.Sprint(r.Rows()))
		r.SkipOutside("key", tableio.Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 35, Max: 144})
		table, err := r.Read(t.Context(), []string{"key"})
		require.NoError(t, err)
		for _, chunk := range table.Column(0).Data().Chunks() {
			keys = append(keys, chunk.(*array.Int64).Int64Values()...)
		}
		table.Release()
		require.NoError(t, r.Close())
	}
	return told, keys
}

// Files whose footers are not kept are read like others: in parts, and row groups are skipped.
func TestFooterNotKept(t *testing.T) {
	dir, batch := t.TempDir(), tabletest.ExampleBatch(200)
	for i := range int64(4) {
		for _, extension := range []string{".parquet", ".arrow"} {
			if extension == ".arrow" && i != 2 {
				continue
			}
			w, err := tableio.Create(filepath.Join(dir, fmt.Sprint(i, extension)), batch.Schema(),
				tableio.WriteOptions{RowGroupRows: 10})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), batch.NewSlice(50*i, 50*i+50)))
			require.NoError(t, w.Commit(t.Context()))
			require.NoError(t, w.Abort())
		}
	}
	for _, aheadBytes := range []int64{0, 1 << 20} {
		want, wantKeys := known(t, dir, aheadBytes)
		restore := dataset.KeepNoSources()
		got, gotKeys := known(t, dir, aheadBytes)
		restore()
		require.Equal(t, want, got)
		require.Equal(t, wantKeys, gotKeys)
		require.Len(t, wantKeys, 50+120, "row groups of 10, and an Arrow file of 50")
	}
}
