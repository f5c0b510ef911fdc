package tableio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// What arrow-go does not swap is refused, and not given as it is. If the library swaps run ends one day, it need not
// be.
func TestValuesThatAreNotSwappedAreRefused(t *testing.T) {
	b := array.NewRunEndEncodedBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32)
	defer b.Release()
	b.Append(1)
	b.ValueBuilder().(*array.Int32Builder).Append(1)
	runs := b.NewArray()
	defer runs.Release()
	other := endian.BigEndian
	if endian.NativeEndian == endian.BigEndian {
		other = endian.LittleEndian
	}
	schema := arrow.NewSchemaWithEndian([]arrow.Field{{Name: "runs", Type: runs.DataType()}}, nil, other)
	batch := array.NewRecordBatch(schema, []arrow.Array{runs}, 1)
	defer batch.Release()
	var content bytes.Buffer
	w := ipc.NewWriter(&content, ipc.WithSchema(schema))
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())

	library, err := ipc.NewReader(bytes.NewReader(content.Bytes()))
	require.NoError(t, err)
	defer library.Release()
	require.True(t, library.Next())
	values := library.RecordBatch().Column(0).(*array.RunEndEncoded).Values().(*array.Int32)
	require.EqualValues(t, 1, values.Value(0), "the library swaps now")

	path := filepath.Join(t.TempDir(), "runs.arrows")
	require.NoError(t, os.WriteFile(path, content.Bytes(), 0o600))
	r, err := Open(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Read(t.Context(), nil)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, `column "runs": the values of type run_end_encoded`)
	table, err := r.Read(t.Context(), []string{})
	require.NoError(t, err)
	require.EqualValues(t, 1, table.NumRows())
	table.Release()
}
