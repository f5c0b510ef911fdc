package tableio

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// sparseFile leaves holes where zeros are written.
type sparseFile struct{ *os.File }

func (f sparseFile) Write(p []byte) (int, error) {
	if len(p) >= 1<<20 { // the only large thing here are zeros
		_, err := f.Seek(int64(len(p)), io.SeekCurrent)
		return len(p), err
	}
	return f.File.Write(p)
}

// Arrow's own readers refuse a body above 256 MiB, which a batch of a million wide rows has.
func TestBodiesAbove256MiB(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 260 << 20
	schema := arrow.NewSchema([]arrow.Field{{Name: "zero", Type: arrow.PrimitiveTypes.Int8}}, nil)
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, rows))}
	data := array.NewData(arrow.PrimitiveTypes.Int8, rows, buffers, nil, 0, 0)
	column := array.MakeFromData(data)
	batch := array.NewRecordBatch(schema, []arrow.Array{column}, rows)
	dir := t.TempDir()
	for _, format := range []Format{ArrowFile, ArrowStream} {
		path := filepath.Join(dir, "large"+extension(format))
		file, err := os.Create(path)
		require.NoError(t, err)
		var writer interface {
			Write(arrow.RecordBatch) error
			Close() error
		} = ipc.NewWriter(sparseFile{file}, ipc.WithSchema(schema))
		if format == ArrowFile {
			writer, err = ipc.NewFileWriter(sparseFile{file}, ipc.WithSchema(schema))
			require.NoError(t, err)
		}
		require.NoError(t, writer.Write(batch))
		require.NoError(t, writer.Close())
		require.NoError(t, file.Close())
		for _, columns := range [][]string{nil, {}} {
			readFile(t, path, columns, ReadOptions{}, func(got arrow.Table) {
				require.EqualValues(t, rows, got.NumRows())
			})
		}
	}
	pipe, err := os.Open(filepath.Join(dir, "large.arrows"))
	require.NoError(t, err)
	defer pipe.Close()
	r, err := Open(context.Background(), "-", ReadOptions{Stdin: pipe})
	require.NoError(t, err)
	table, err := r.Read(context.Background(), nil)
	require.NoError(t, err)
	require.EqualValues(t, rows, table.NumRows())
	table.Release()
}

func TestCompressedBatchesAreCut(t *testing.T) {
	const rows = 1<<20 + 5 // the most of a compressed batch, and a few
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	builder := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range int32(rows) {
		builder.Field(0).(*array.Int32Builder).Append(i)
	}
	batch := builder.NewRecordBatch()
	want := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	for compression, chunks := range map[string]int{"none": 1, "zstd": 2, "lz4": 2} {
		path := tempPath(t, ArrowFile)
		writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{Compression: compression})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			require.Len(t, got.Column(0).Data().Chunks(), chunks, compression)
			tabletest.RequireSameTable(t, want, got)
		})
	}
}

// Batches of a file with dictionaries are decoded one at a time: run with the race detector, this shows otherwise.
func TestDictionariesOfManyBatches(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	batch := corruptionBatch(dictionary)
	batches := make([]arrow.RecordBatch, 200)
	for i := range batches {
		batches[i] = batch
	}
	want := array.NewTableFromRecords(batch.Schema(), batches)
	path := tempPath(t, ArrowFile)
	writeFile(t, path, batch.Schema(), batches, WriteOptions{})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) { tabletest.RequireSameTable(t, want, got) })
}
