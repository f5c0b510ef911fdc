package tableio

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

func TestNothingAppearsBeforeCommit(t *testing.T) {
	for _, format := range formats {
		path := tempPath(t, format)
		dir, name := filepath.Dir(path), filepath.Base(path)
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
		w, err := Create(path, tabletest.ExampleBatch(0).Schema(), WriteOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(context.Background(), tabletest.ExampleBatch(100)))
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "old", string(old))
		require.NoError(t, w.Commit(context.Background()))
		requireOnlyFiles(t, dir, name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "the mode of the file replaced")
		require.NoError(t, w.Abort())
		require.NoError(t, w.Commit(context.Background()))
		require.ErrorIs(t, w.Write(context.Background(), tabletest.ExampleBatch(1)), ErrOutput)
		readFile(t, path, []string{"key"}, ReadOptions{}, func(got arrow.Table) { require.Equal(t, int64(100), got.NumRows()) })
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	for _, format := range formats {
		path := tempPath(t, format)
		w, err := Create(path, tabletest.ExampleBatch(0).Schema(), WriteOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(context.Background(), tabletest.ExampleBatch(100_000)))
		require.NoError(t, w.Abort())
		require.NoError(t, w.Abort())
		requireOnlyFiles(t, filepath.Dir(path))
		require.ErrorIs(t, w.Commit(context.Background()), ErrOutput)
		require.ErrorIs(t, w.Write(context.Background(), tabletest.ExampleBatch(1)), ErrOutput)
	}
}

func TestAbortReleasesDictionaries(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}}}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	require.NoError(t, b.Field(0).(*array.BinaryDictionaryBuilder).AppendString("x"))
	batch := b.NewRecordBatch()
	defer batch.Release()
	for _, format := range formats {
		for _, end := range []func(*Writer) error{(*Writer).Abort, func(w *Writer) error { return w.Commit(context.Background()) }} {
			w, err := Create(tempPath(t, format), schema, WriteOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(context.Background(), batch))
			require.NoError(t, end(w))
		}
	}
}

func TestUnwritablePlacesAreFoundByCreate(t *testing.T) {
	dir := t.TempDir()
	sealed := filepath.Join(dir, "sealed")
	require.NoError(t, os.Mkdir(sealed, 0o500))
	dangling := filepath.Join(dir, "dangling.csv")
	require.NoError(t, os.Symlink(filepath.Join(dir, "none"), dangling))
	schema := tabletest.ExampleBatch(0).Schema()
	cases := map[string]struct{ path, want string }{
		"missing directory": {filepath.Join(dir, "none", "x.csv"), "no such file or directory"},
		"a directory":       {sealed, "directory, not a file"},
		"dangling link":     {dangling, "symbolic link"},
		"no format":         {filepath.Join(dir, "x"), "unknown format: the extension \"\" does not name one"},
	}
	if os.Geteuid() != 0 { // nothing is sealed for root
		cases["sealed directory"] = struct{ path, want string }{filepath.Join(sealed, "x.csv"), "permission denied"}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := WriteOptions{Format: CSV}
			if name == "no format" {
				opts.Format = Auto
			}
			_, err := Create(c.path, schema, opts)
			require.ErrorIs(t, err, ErrOutput)
			require.ErrorContains(t, err, "create "+c.path+": ")
			require.ErrorContains(t, err, c.want)
		})
	}
	requireOnlyFiles(t, dir, "sealed", "dangling.csv")
}

func TestBadOptionsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	schema := tabletest.ExampleBatch(0).Schema()
	for name, opts := range map[string]WriteOptions{
		"x.parquet": {Compression: "lzo"},
		"x.arrow":   {Compression: "snappy"},
		"x.csv":     {Compression: "zstd", CSV: csv.Options{Delimiter: '"'}},
		"x.arrows":  {Format: 77},
	} {
		_, err := Create(filepath.Join(dir, name), schema, opts)
		require.ErrorIs(t, err, ErrOutput, name)
	}
	_, err := Create(filepath.Join(dir, "y.csv"), arrow.NewSchema(nil, nil), WriteOptions{})
	require.ErrorContains(t, err, "without columns")
	_, err = Create(filepath.Join(dir, "y.parquet"), arrow.NewSchema(nil, nil), WriteOptions{})
	require.ErrorContains(t, err, "without columns")
	requireOnlyFiles(t, dir)
}

func TestSymbolicLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.csv"), filepath.Join(dir, "link.csv")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, link))
	writeFile(t, link, tabletest.ExampleBatch(0).Schema(), []arrow.RecordBatch{tabletest.ExampleBatch(3)}, WriteOptions{})
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	requireOnlyFiles(t, dir, "target.csv", "link.csv")
	readFile(t, target, nil, ReadOptions{}, func(got arrow.Table) { require.Equal(t, int64(3), got.NumRows()) })
}

// A NULL is one wherever the type keeps it: as an entry of a dictionary, a run or a field of a union.
func TestInnerNullsAreRefused(t *testing.T) {
	dictionary := dictionaryFromJSON(t, dictionaryOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a", null, null]`, 0, 1, 0)
	numbers := func(text string) arrow.Array {
		a, _, err := array.FromJSON(memory.NewGoAllocator(), arrow.PrimitiveTypes.Int32, strings.NewReader(text))
		require.NoError(t, err)
		return a
	}
	types, _, err := array.FromJSON(memory.NewGoAllocator(), arrow.PrimitiveTypes.Int8, strings.NewReader(`[0, 0, 0]`))
	require.NoError(t, err)
	union, err := array.NewSparseUnionFromArrays(types, []arrow.Array{numbers(`[1, null, 3]`)})
	require.NoError(t, err)
	for _, test := range []struct {
		column  arrow.Array
		formats []Format
	}{
		{dictionary, formats},
		{array.NewRunEndEncodedArray(numbers(`[1, 2, 3]`), numbers(`[1, null, 3]`), 3, 0), []Format{ArrowFile, ArrowStream}},
		{union, []Format{ArrowFile, ArrowStream}},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: test.column.DataType()}}, nil)
		for _, format := range test.formats {
			w, err := Create(tempPath(t, format), schema, WriteOptions{})
			require.NoError(t, err)
			batch := array.NewRecordBatch(schema, []arrow.Array{test.column}, 3)
			err = w.Write(t.Context(), batch)
			require.ErrorIs(t, err, ErrOutput)
			require.ErrorContains(t, err, `column "c" may not be null, but is in 1 rows`)
			require.NoError(t, w.Write(t.Context(), batch.NewSlice(2, 3)), "an entry that no row has")
			require.NoError(t, w.Commit(t.Context()))
		}
	}
}

func TestOtherSchemaIsRefused(t *testing.T) {
	path := tempPath(t, Parquet)
	w, err := Create(path, arrow.NewSchema(tabletest.ExampleBatch(0).Schema().Fields()[:2], nil), WriteOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(context.Background(), tabletest.ExampleBatch(1)), ErrOutput)
	strict := arrow.NewSchema([]arrow.Field{{Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	for _, format := range formats {
		w, err := Create(tempPath(t, format), strict, WriteOptions{})
		require.NoError(t, err)
		err = w.Write(context.Background(), array.NewRecordBatch(strict, tabletest.ExampleBatch(20).Columns()[2:3], 20))
		require.ErrorIs(t, err, ErrOutput)
		require.ErrorContains(t, err, `column "name" may not be null, but is in 3 rows`)
		require.NoError(t, w.Commit(context.Background()))
		require.Zero(t, w.Rows())
	}
	require.NoError(t, w.Commit(context.Background()), "the batch was refused, nothing is lost")
}

func TestDiskFullOnADevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /dev/full here")
	}
	for _, format := range formats {
		w, err := Create("/dev/full", tabletest.ExampleBatch(0).Schema(), WriteOptions{Format: format})
		require.NoError(t, err)
		err = w.Write(context.Background(), tabletest.ExampleBatch(100))
		if err == nil {
			err = w.Commit(context.Background())
		}
		require.ErrorIs(t, err, ErrOutput)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NoError(t, w.Abort())
	}
}

func TestDiskFullOnAFileSystem(t *testing.T) {
	dir := t.TempDir()
	mountSmall(t, dir)
	for _, format := range formats {
		path := filepath.Join(dir, "table"+extension(format))
		w, err := Create(path, tabletest.ExampleBatch(0).Schema(), WriteOptions{Compression: "none"})
		require.NoError(t, err)
		batch := tabletest.ExampleBatch(20_000)
		for range 20 {
			if err = w.Write(context.Background(), batch); err != nil {
				break
			}
		}
		first := err
		if err == nil {
			err = w.Commit(context.Background())
		}
		require.ErrorIs(t, err, ErrOutput, "%v", format)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, path)
		if first != nil {
			require.ErrorIs(t, w.Write(context.Background(), batch), syscall.ENOSPC, "the first failure stays")
			require.ErrorIs(t, w.Commit(context.Background()), syscall.ENOSPC)
		}
		requireOnlyFiles(t, dir)
	}
}

// failingWriter fails after some bytes, as a closed pipe does.
type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left < len(p) {
		return w.left, errors.New("pipe closed")
	}
	w.left -= len(p)
	return len(p), nil
}

func TestStandardOutput(t *testing.T) {
	for _, format := range formats {
		for _, left := range []int{0, 3000} {
			w, err := Create("-", tabletest.ExampleBatch(0).Schema(), WriteOptions{Format: format, Compression: "none", Stdout: &failingWriter{left}})
			require.NoError(t, err)
			_ = w.Write(context.Background(), tabletest.ExampleBatch(100_000))
			err = w.Commit(context.Background())
			require.ErrorIs(t, err, ErrOutput)
			require.ErrorContains(t, err, "standard output")
			require.ErrorContains(t, err, "pipe closed")
		}
	}
	in, out := io.Pipe()
	go func() {
		writeFile(t, "-", tabletest.ExampleBatch(0).Schema(), []arrow.RecordBatch{tabletest.ExampleBatch(10)}, WriteOptions{Stdout: out})
		out.Close()
	}()
	readFile(t, "-", nil, ReadOptions{Stdin: in}, func(got arrow.Table) { require.Equal(t, int64(10), got.NumRows()) })
}

// Reading and writing are measured in every format, also those parts that run on other goroutines.
func TestBusyOfFormats(t *testing.T) {
	for _, format := range formats {
		var written, read, streamed Busy
		path, name := tempPath(t, format), format.String()
		batch := tabletest.ExampleBatch(100_000)
		writeFile(t, path, batch.Schema(), []arrow.RecordBatch{batch}, WriteOptions{Busy: &written})
		require.Positive(t, written.Time(), name)
		require.Equal(t, written.Time(), written.Time(), "%s: nobody is at work", name)
		for _, busy := range []*Busy{&read, &streamed} {
			r, err := Open(t.Context(), path, ReadOptions{Busy: busy})
			require.NoError(t, err)
			opened := busy.Time()
			if busy == &read {
				table, err := r.Read(t.Context(), nil)
				require.NoError(t, err)
				table.Release()
			} else {
				for batch, err := range r.Batches(t.Context(), nil) {
					require.NoError(t, err)
					batch.Release()
				}
			}
			require.Greater(t, busy.Time(), opened, name)
			require.Equal(t, busy.Time(), busy.Time(), "%s: nobody is at work", name)
			require.NoError(t, r.Close())
		}
	}
}
