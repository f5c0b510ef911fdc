package tableio

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// shares reads the parts of several processes and puts them together.
func shares(t tabletest.T, path string, of int, opts ReadOptions) arrow.Table {
	var batches []arrow.RecordBatch
	var schema *arrow.Schema
	for rank := range of {
		r, err := Open(context.Background(), path, opts)
		require.NoError(t, err)
		require.NoError(t, r.Share(rank, of))
		schema = r.Schema()
		rows := int64(0)
		for batch, err := range r.Batches(context.Background(), nil) {
			require.NoError(t, err)
			batches = append(batches, batch)
			rows += batch.NumRows()
		}
		if r.Rows() >= 0 {
			require.Equal(t, r.Rows(), rows)
		}
		require.NoError(t, r.Close())
	}
	return array.NewTableFromRecords(schema, batches)
}

// Parts of one file are disjoint, together everything, in order and about equally long.
func TestShareOfOneFile(t *testing.T) {
	batch := tabletest.ExampleBatch(5000)
	var batches []arrow.RecordBatch
	for i := range int64(20) {
		batches = append(batches, batch.NewSlice(i*250, (i+1)*250))
	}
	for _, format := range formats {
		path := tempPath(t, format)
		writeFile(t, path, batch.Schema(), batches, WriteOptions{RowGroupRows: 250})
		whole, err := Open(t.Context(), path, ReadOptions{})
		require.NoError(t, err)
		want, err := whole.Read(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, whole.Close())
		for _, of := range []int{1, 2, 3, 7, 20, 33} {
			tabletest.RequireSameTable(t, want, shares(t, path, of, ReadOptions{}))
			if format != Parquet && format != ArrowFile {
				continue
			}
			for rank := range of {
				r, err := Open(t.Context(), path, ReadOptions{})
				require.NoError(t, err)
				require.NoError(t, r.Share(rank, of))
				require.InDelta(t, 5000/of, r.Rows(), 300, "%v: part %d of %d", format, rank, of)
				if b, ok := r.Bounds("key"); ok && r.Rows() > 0 {
					require.Equal(t, r.Rows(), b.Max-b.Min+1)
				}
				require.NoError(t, r.Close())
			}
		}
		want.Release()
	}
	r, err := Open(t.Context(), tempPath(t, Parquet), ReadOptions{})
	require.Error(t, err)
	require.Nil(t, r)
	content := contentOf(t, ArrowStream, "", batch)
	r, err = Open(t.Context(), "-", ReadOptions{Stdin: bytes.NewReader(content)})
	require.NoError(t, err)
	defer r.Close()
	require.ErrorContains(t, r.Share(0, 2), "share standard input: a pipe cannot be read in parts")
	require.ErrorContains(t, r.Share(2, 2), "there is no part 2 of 2")
}

// A large CSV file is divided between blocks, whose lines errors still name.
func TestShareOfCSV(t *testing.T) {
	var text strings.Builder
	text.WriteString("k,\"a\nb\"\n")
	for i := range 400_000 {
		fmt.Fprintf(&text, "%d,\"x\ny %d\"\n", i, i%7)
	}
	path := writeText(t, text.String())
	whole, err := Open(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	defer whole.Close()
	want, err := whole.Read(t.Context(), nil)
	require.NoError(t, err)
	defer want.Release()
	tabletest.RequireSameTable(t, want, shares(t, path, 2, ReadOptions{}))
	r, err := Open(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Share(1, 2))
	require.InDelta(t, 200_000, r.Rows(), 150_000)
}
