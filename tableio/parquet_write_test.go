package tableio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// checkedBatch is a batch of random texts whose memory is counted.
func checkedBatch(mem memory.Allocator, rows int) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	state := uint64(1)
	for range rows {
		text := make([]byte, 40)
		for i := range text {
			state = state*6364136223846793005 + 1442695040888963407
			text[i] = 'a' + byte(state>>59)%26
		}
		b.Field(0).(*array.StringBuilder).BinaryBuilder.Append(text)
		b.Field(1).(*array.Int64Builder).Append(int64(state))
	}
	return b.NewRecordBatch()
}

func TestRowGroupRows(t *testing.T) {
	batch := tabletest.ExampleBatch(1000)
	want := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch, batch})
	for limit, groups := range map[int64]int{0: 1, 5000: 1, 2000: 1, 1999: 2, 700: 3, 1: 2000} {
		path := tempPath(t, Parquet)
		writeFile(t, path, batch.Schema(), []arrow.RecordBatch{batch, batch}, WriteOptions{RowGroupRows: limit})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			require.Len(t, got.Column(0).Data().Chunks(), groups, "limit %d", limit)
			tabletest.RequireSameTable(t, want, got)
		})
	}
}

// writeSizes are the sizes of the writes that it gets.
type writeSizes []int

func (w *writeSizes) Write(p []byte) (int, error) {
	*w = append(*w, len(p))
	return len(p), nil
}

// A large column chunk is one write, whatever small pieces came before it.
func TestLargeChunksAreWrittenWhole(t *testing.T) {
	batch := checkedBatch(memory.NewGoAllocator(), 10_000) // chunks of more than 400 and 80 kB, with their headers
	var writes writeSizes
	w, err := Create("-", batch.Schema(), WriteOptions{Format: Parquet, Compression: "none", RowGroupRows: 10_000, Stdout: &writes})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, w.Write(context.Background(), batch))
	}
	require.NoError(t, w.Commit(context.Background()))
	large, small := 0, 0
	for _, sizeBytes := range writes {
		if sizeBytes >= 80_000 {
			large++
		} else {
			small += sizeBytes
		}
	}
	require.Equal(t, 6, large, "%v", writes)
	require.Less(t, small, 8_000, "only the magic number and the footer: %v", writes)
}

// Batches are let go of as soon as they are encoded, not only at the end.
func TestWriterHoldsFewBatches(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	w, err := Create(tempPath(t, Parquet), checkedBatch(memory.NewGoAllocator(), 0).Schema(), WriteOptions{RowGroupRows: 1000})
	require.NoError(t, err)
	most, size := 0, 0
	for range 100 {
		batch := checkedBatch(mem, 1000)
		size = max(size, mem.CurrentAlloc()-most)
		require.NoError(t, w.Write(t.Context(), batch))
		batch.Release()
		most = max(most, mem.CurrentAlloc())
	}
	require.NoError(t, w.Commit(t.Context()))
	require.Less(t, most, 40*size)
}

// Every end of a Writer lets go of all batches, leaves no goroutine and, unless it is a commit, no file.
func TestEndsOfAWriter(t *testing.T) {
	broken := errors.New("broken")
	for name, end := range map[string]func(t *testing.T, w *Writer, batch arrow.RecordBatch) error{
		"abort":  func(t *testing.T, w *Writer, _ arrow.RecordBatch) error { return w.Abort() },
		"commit": func(t *testing.T, w *Writer, _ arrow.RecordBatch) error { return w.Commit(t.Context()) },
		"write cancelled": func(t *testing.T, w *Writer, batch arrow.RecordBatch) error {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(broken)
			require.ErrorIs(t, w.Write(ctx, batch), context.Canceled)
			require.ErrorIs(t, w.Write(t.Context(), batch), context.Canceled, "the first failure stays")
			return w.Abort()
		},
		"commit cancelled": func(t *testing.T, w *Writer, batch arrow.RecordBatch) error {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			err := w.Commit(ctx)
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				require.NoError(t, w.Abort())
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			path := tempPath(t, Parquet)
			batch := checkedBatch(mem, 40_000)
			defer batch.Release()
			w, err := Create(path, batch.Schema(), WriteOptions{RowGroupRows: 3000})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), batch))
			require.NoError(t, end(t, w, batch))
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			if len(entries) > 0 {
				require.Contains(t, name, "commit")
				require.Len(t, entries, 1)
				require.Equal(t, filepath.Base(path), entries[0].Name())
			}
		})
	}
}

// A cancelled write returns while a large batch is being encoded, not behind it.
func TestWriteIsCancelledInsideABatch(t *testing.T) {
	batch := checkedBatch(memory.NewGoAllocator(), 1_000_000)
	for _, format := range []Format{Parquet, CSV} {
		path := tempPath(t, format)
		w, err := Create(path, batch.Schema(), WriteOptions{Compression: map[Format]string{Parquet: "zstd"}[format]})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, w.Write(ctx, batch), context.DeadlineExceeded, "%v", format)
		require.NoError(t, w.Abort())
		requireOnlyFiles(t, filepath.Dir(path))
	}
}

// What fails while a batch is encoded or written behind the back of Write shows at the latest in Commit.
func TestLateFailuresShow(t *testing.T) {
	batch := checkedBatch(memory.NewGoAllocator(), 200_000)
	for _, left := range []int{0, 100_000, 5_000_000} {
		w, err := Create("-", batch.Schema(), WriteOptions{Format: Parquet, Compression: "none", Stdout: &failingWriter{left}})
		require.NoError(t, err)
		err = w.Write(t.Context(), batch)
		for i := 0; err == nil && i < 10; i++ {
			err = w.Write(t.Context(), batch)
		}
		if err == nil {
			err = w.Commit(t.Context())
		}
		require.ErrorIs(t, err, ErrOutput)
		require.ErrorContains(t, err, "pipe closed")
		require.NoError(t, w.Abort())
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "day", Type: arrow.FixedWidthTypes.Date64}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	b.Field(0).(*array.Date64Builder).Append(86_400_001)
	path := tempPath(t, Parquet)
	w, err := Create(path, schema, WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b.NewRecordBatch()))
	require.ErrorContains(t, w.Commit(t.Context()), `column "day"`)
	requireOnlyFiles(t, filepath.Dir(path))
}

// TestParquetKeepsSeconds covers types that Parquet stores in another unit.
func TestParquetKeepsSeconds(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Date64,
		&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Paris"}, &arrow.TimestampType{Unit: arrow.Second},
	} {
		values, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(`[86400000, null, 0]`))
		if dt.ID() == arrow.TIME32 {
			values, _, err = array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(`[86399, null, 0]`))
		}
		require.NoError(t, err)
		indices, _, err := array.FromJSON(memory.NewGoAllocator(), arrow.PrimitiveTypes.Int8,
			strings.NewReader(`[2, 0, null]`))
		require.NoError(t, err)
		dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: dt}
		schema := arrow.NewSchema([]arrow.Field{
			{Name: "plain", Type: dt, Nullable: true}, {Name: "dictionary", Type: dictionary, Nullable: true},
		}, nil)
		batch := array.NewRecordBatch(schema, []arrow.Array{values, array.NewDictionaryArray(dictionary, indices, values)}, 3)
		path := tempPath(t, Parquet)
		writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			require.Equal(t, core.WideSchema(schema).String(), got.Schema().String())
			require.Equal(t, values.String(), got.Column(0).Data().Chunk(0).String())
			for row := range 3 {
				require.Equal(t, batch.Column(1).ValueStr(row), got.Column(1).Data().Chunk(0).ValueStr(row))
			}
		})
	}
}

func TestRemoveTemporaryFiles(t *testing.T) {
	path := tempPath(t, Parquet)
	dir := filepath.Dir(path)
	batch := tabletest.ExampleBatch(1000)
	kept := filepath.Join(dir, "kept.csv")
	writeFile(t, kept, batch.Schema(), []arrow.RecordBatch{batch}, WriteOptions{})
	w, err := Create(path, batch.Schema(), WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, RemoveTemporaryFiles())
	requireOnlyFiles(t, dir, "kept.csv")
	require.ErrorContains(t, w.Commit(t.Context()), "the program ends")
	requireOnlyFiles(t, dir, "kept.csv")
	require.NoError(t, RemoveTemporaryFiles(), "nothing is left to remove")
}

func TestTemporaryFolder(t *testing.T) {
	dir, batch := t.TempDir(), tabletest.ExampleBatch(10)
	_, _, err := TemporaryFolder(filepath.Join(dir, "missing"), "some-")
	require.ErrorIs(t, err, os.ErrNotExist)
	made := func() (folder string, remove func() error) {
		folder, remove, err := TemporaryFolder(dir, "some-")
		require.NoError(t, err)
		require.Equal(t, dir, filepath.Dir(folder))
		require.True(t, strings.HasPrefix(filepath.Base(folder), "some-"))
		writeFile(t, filepath.Join(folder, "a.csv"), batch.Schema(), []arrow.RecordBatch{batch}, WriteOptions{})
		return folder, remove
	}
	kept, remove := made()
	require.NoError(t, remove())
	requireOnlyFiles(t, dir)
	require.NoError(t, os.Mkdir(kept, 0o700))
	folder, remove := made()
	require.NoError(t, RemoveTemporaryFiles())
	requireOnlyFiles(t, dir, filepath.Base(kept))
	_, err = Create(filepath.Join(folder, "b.csv"), batch.Schema(), WriteOptions{})
	require.ErrorIs(t, err, os.ErrNotExist, "whoever is at work there fails")
	require.NoError(t, remove(), "nothing is left to remove")
	requireOnlyFiles(t, dir, filepath.Base(kept))

	used, remove := made()
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(kept, old, old))
	require.NoError(t, os.Chtimes(used, old, old))
	_, removeNext := made()
	require.NoDirExists(t, kept, "as a process leaves it that was killed")
	require.DirExists(t, used)
	require.NoError(t, remove())
	require.NoError(t, removeNext())
	requireOnlyFiles(t, dir)
}

// Batches with dictionaries of their own share a row group as long as the index type counts all their values.
func TestNarrowDictionariesOfManyBatches(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt}}, nil)
	var batches []arrow.RecordBatch
	for i := range 5 {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for j := range 60 {
			require.NoError(t, b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("value ", i/2*60+j)))
		}
		batches = append(batches, b.NewRecordBatch())
	}
	path := tempPath(t, Parquet)
	writeFile(t, path, schema, batches, WriteOptions{})
	for i, batch := range batches {
		batches[i] = core.WidenBatch(batch, core.WideSchema(schema))
	}
	want := array.NewTableFromRecords(core.WideSchema(schema), batches)
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		require.Len(t, got.Column(0).Data().Chunks(), 2, "the first two pairs of batches have 120 values, all have 180")
		require.Equal(t, render(want), render(got))
	})
}

// What fits a page of a column chunk can be read back, also where a single value fills more than pages usually have.
func TestLargeValues(t *testing.T) {
	devicetest.SkipRace(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.BinaryTypes.Binary}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	value := make([]byte, 70<<20)
	state := uint64(1)
	for i := 0; i < len(value); i += 8 {
		state = state*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(value[i:], state^state>>33)
	}
	b.Field(0).(*array.BinaryBuilder).Append(value)
	batch := b.NewRecordBatch()
	path := tempPath(t, Parquet)
	writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		require.Equal(t, value, got.Column(0).Data().Chunk(0).(*array.Binary).Value(0))
	})
}

// Decimals that Parquet does not allow are refused for that reason, wherever they are in a type.
func TestDecimalsThatParquetDoesNotAllow(t *testing.T) {
	negative, above := &arrow.Decimal128Type{Precision: 5, Scale: -2}, &arrow.Decimal256Type{Precision: 2, Scale: 4}
	for _, c := range []struct {
		dt   arrow.DataType
		want string
	}{
		{negative, `type decimal(5, -2) cannot be written to Parquet: it allows no scale below 0`},
		{above, `type decimal256(2, 4) cannot be written to Parquet: it allows no scale above the precision`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: above}, "no scale above the precision"},
		{arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: above})), "no scale above the precision"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: c.dt}}, nil)
		_, err := Create(tempPath(t, Parquet), schema, WriteOptions{})
		require.ErrorIs(t, err, ErrOutput)
		require.NotErrorIs(t, err, core.ErrCorrupt)
		require.ErrorContains(t, err, `column "d": type `)
		require.ErrorContains(t, err, c.want+"; write Arrow, or leave it out with columns")
	}
}

// A long row among short ones has a row group of its own, not the rows beside it.
func TestRowGroupsOfUnevenRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range 300 {
		b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", 1+i%100/99*5000))
	}
	batch := b.NewRecordBatch()
	path := tempPath(t, Parquet)
	writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{RowGroupBytes: 1000})
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		var rows []int
		for _, chunk := range got.Column(0).Data().Chunks() {
			rows = append(rows, chunk.Len())
		}
		require.Equal(t, []int{99, 1, 99, 1, 99, 1}, rows)
		tabletest.RequireSameTable(t, array.NewTableFromRecords(schema, []arrow.RecordBatch{batch}), got)
	})
}
