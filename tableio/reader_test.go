package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

func contentOf(t testing.TB, format Format, compression string, batches ...arrow.RecordBatch) []byte {
	t.Helper()
	var out bytes.Buffer
	writeFile(t, "-", batches[0].Schema(), batches, WriteOptions{Format: format, Compression: compression, Stdout: &out})
	return out.Bytes()
}

func TestFormatIsFoundByContentThenExtension(t *testing.T) {
	batch := tabletest.ExampleBatch(3)
	for _, format := range formats {
		content := contentOf(t, format, "", batch)
		for _, ext := range []string{extension(format), ".csv", ".parquet", ".dat"} {
			path := filepath.Join(t.TempDir(), "table"+ext)
			require.NoError(t, os.WriteFile(path, content, 0o600))
			r, err := Open(context.Background(), path, ReadOptions{})
			if format == CSV && ext != ".csv" {
				require.ErrorIs(t, err, ErrInput)
				continue
			}
			require.NoError(t, err, "%v in a file called %s", format, ext)
			require.Equal(t, format, r.Format())
			want := int64(3)
			if format == ArrowStream {
				want = -1
			}
			require.Equal(t, want, r.Rows(), "%v", format)
			require.NoError(t, r.Close())
			require.NoError(t, r.Close())
		}
	}
}

func TestParseFormat(t *testing.T) {
	for f := Auto; f <= ArrowStream; f++ {
		parsed, err := ParseFormat(f.String())
		require.NoError(t, err)
		require.Equal(t, f, parsed)
	}
	_, err := ParseFormat("orc")
	require.ErrorContains(t, err, "choose one of auto, parquet, csv, arrow, arrow-stream")
}

func TestStandardInput(t *testing.T) {
	batch := tabletest.ExampleBatch(10)
	want := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch, batch})
	for _, format := range formats {
		content := contentOf(t, format, "", batch, batch)
		opts := ReadOptions{Stdin: bytes.NewReader(content)}
		if format == CSV {
			_, err := Open(context.Background(), "-", opts)
			require.ErrorContains(t, err, "standard input: unknown format: the content is neither Arrow IPC nor Parquet")
			opts = ReadOptions{Stdin: bytes.NewReader(content), Format: CSV, CSV: csv.Options{Schema: batch.Schema()}}
		}
		readFile(t, "-", nil, opts, func(got arrow.Table) { tabletest.RequireSameTable(t, want, got) })
	}
}

func TestStreamOnPipeIsReadOnce(t *testing.T) {
	content := contentOf(t, ArrowStream, "", tabletest.ExampleBatch(10))
	r, err := Open(context.Background(), "-", ReadOptions{Stdin: bytes.NewReader(content)})
	require.NoError(t, err)
	_, err = r.Read(context.Background(), []string{"nmae"})
	require.ErrorContains(t, err, `did you mean "name"?`) // found before the pipe is consumed
	table, err := r.Read(context.Background(), []string{"name"})
	require.NoError(t, err)
	table.Release()
	_, err = r.Read(context.Background(), nil)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "only once")

	path := filepath.Join(t.TempDir(), "again.arrows")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	r, err = Open(context.Background(), path, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	for range 2 {
		table, err := r.Read(context.Background(), nil)
		require.NoError(t, err)
		require.Equal(t, int64(10), table.NumRows())
		table.Release()
	}
}

// A silent pipe must not hold up a cancelled read, in Open and in Read.
func TestCancelWhileThePipeIsSilent(t *testing.T) {
	content := contentOf(t, ArrowStream, "", tabletest.ExampleBatch(1000))
	for _, given := range []int{0, 4, len(content) - 100} {
		t.Run(fmt.Sprint("bytes=", given), func(t *testing.T) {
			in, out := io.Pipe()
			defer out.Close()
			go out.Write(content[:given])
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(20*time.Millisecond, cancel)
			r, err := Open(ctx, "-", ReadOptions{Stdin: in})
			if err == nil {
				_, err = r.Read(ctx, nil)
			}
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, ErrInput)
		})
	}
}

func TestCancelledReads(t *testing.T) {
	for _, format := range formats {
		path := tempPath(t, format)
		writeFile(t, path, tabletest.ExampleBatch(0).Schema(), []arrow.RecordBatch{tabletest.ExampleBatch(1000)}, WriteOptions{})
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		r, err := Open(context.Background(), path, ReadOptions{Allocator: mem})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = r.Read(ctx, nil)
		require.ErrorIs(t, err, context.Canceled, "%v", format)
		require.NotErrorIs(t, err, ErrInput)
		require.Zero(t, mem.CurrentAlloc())
		require.NoError(t, r.Close())
	}
}

func TestUnknownColumns(t *testing.T) {
	path := tempPath(t, Parquet)
	writeFile(t, path, tabletest.ExampleBatch(0).Schema(), []arrow.RecordBatch{tabletest.ExampleBatch(3)}, WriteOptions{})
	for _, columns := range [][]string{{"key", "prise"}, {"zzzzzzzzz", "day"}} {
		_, err := Open(context.Background(), path, ReadOptions{Columns: columns})
		require.ErrorIs(t, err, ErrColumn)
		require.ErrorIs(t, err, ErrInput)
		r, err := Open(context.Background(), path, ReadOptions{})
		require.NoError(t, err)
		_, err = r.Read(context.Background(), columns)
		require.ErrorIs(t, err, ErrColumn)
		require.NoError(t, r.Close())
	}
	_, err := Open(context.Background(), path, ReadOptions{Columns: []string{"prise", "quite else"}})
	require.EqualError(t, err, fmt.Sprintf(`open %s: column "prise" does not exist; did you mean "price"?; column "quite else" does not exist; there are: key, price, name, day`, path))
	_, err = Open(context.Background(), writeText(t, "a,b,a\n1,2,3\n"), ReadOptions{Columns: []string{"a"}})
	require.ErrorContains(t, err, `column "a" is ambiguous`)

	readFile(t, path, nil, ReadOptions{Columns: []string{"day", "key", "day"}}, func(got arrow.Table) {
		require.Equal(t, 3, int(got.NumCols()))
		require.Equal(t, "key", got.Schema().Field(1).Name)
	})
}

func TestMissingInputs(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.parquet"): "no such file",
		dir:                                "there is no file in the folder",
	} {
		_, err := Open(context.Background(), path, ReadOptions{})
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, "open "+path+": ")
		require.ErrorContains(t, err, want)
	}
	for _, format := range formats {
		path := tempPath(t, format)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		_, err := Open(context.Background(), path, ReadOptions{})
		require.ErrorIs(t, err, ErrInput, "empty %v file", format)
	}
}

// A cut file is never read as a shorter one.
func TestTruncatedFiles(t *testing.T) {
	devicetest.SkipRace(t)
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		for _, compression := range []string{"none", "zstd"} {
			content := contentOf(t, format, compression, tabletest.ExampleBatch(50), tabletest.ExampleBatch(50))
			for length := 0; length < len(content); length += devicetest.Short(7, 1) {
				require.Error(t, readCorrupt(t, format, content[:length]), "%v cut to %d of %d bytes", format, length, len(content))
			}
			require.NoError(t, readCorrupt(t, format, content))
		}
	}
}

// Flipped bytes end in an error or in other values, but never in a panic, in a
// table that panics when used, or in leaked memory.
func TestFlippedBytes(t *testing.T) {
	devicetest.SkipRace(t)
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		for _, compression := range []string{"none", "zstd"} {
			content := contentOf(t, format, compression, tabletest.ExampleBatch(40), tabletest.ExampleBatch(7))
			for i := 0; i < len(content); i += 3 {
				flip := []byte{0x01, 0x80, 0xff}[i/3%3]
				content[i] ^= flip
				_ = readCorrupt(t, format, content)
				content[i] ^= flip
			}
		}
	}
}

func TestRandomCorruptionProperty(t *testing.T) {
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		rapid.Check(t, func(rt *rapid.T) {
			schema, batches := tabletest.DrawBatches(rt, tabletest.CommonTypes)
			var out bytes.Buffer
			compression := rapid.SampledFrom([]string{"none", "zstd"}).Draw(rt, "compression")
			writeFile(rt, "-", schema, batches, WriteOptions{Format: format, Compression: compression, Stdout: &out})
			content := out.Bytes()
			for range rapid.IntRange(1, 5).Draw(rt, "faults") {
				at := rapid.IntRange(0, len(content)-1).Draw(rt, "at")
				content[at] = rapid.Byte().Draw(rt, "byte")
			}
			_ = readCorrupt(rt, format, content)
		})
	}
}

// readCorrupt reads everything and uses every value of what it got.
func readCorrupt(t tabletest.T, format Format, content []byte) error {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	r, err := Open(context.Background(), "-", ReadOptions{Format: format, Stdin: bytes.NewReader(content), Allocator: mem})
	if err == nil {
		var table arrow.Table
		if table, err = r.Read(context.Background(), nil); err == nil {
			for i := range int(table.NumCols()) {
				for _, chunk := range table.Column(i).Data().Chunks() {
					for row := range chunk.Len() {
						_ = chunk.ValueStr(row)
					}
				}
			}
			table.Release()
		}
		require.NoError(t, r.Close())
	}
	if err != nil {
		require.ErrorIs(t, err, ErrInput)
	}
	require.Zero(t, mem.CurrentAlloc(), "bytes leaked after: %v", err)
	return err
}

func FuzzParquet(f *testing.F)     { fuzzContent(f, Parquet) }
func FuzzArrowFile(f *testing.F)   { fuzzContent(f, ArrowFile) }
func FuzzArrowStream(f *testing.F) { fuzzContent(f, ArrowStream) }

func fuzzContent(f *testing.F, format Format) {
	for _, compression := range []string{"none", "zstd"} {
		f.Add(contentOf(f, format, compression, tabletest.ExampleBatch(9), tabletest.ExampleBatch(1)))
	}
	f.Fuzz(func(t *testing.T, content []byte) { _ = readCorrupt(t, format, content) })
}

// What a pipe holds is of the allocator, and is free when the reader is closed, or was never opened.
func TestPipeBytes(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	r, err := Open(t.Context(), "-", ReadOptions{Format: CSV, Stdin: bytes.NewReader([]byte("k\n1\n2\n")), Allocator: mem})
	require.NoError(t, err)
	require.EqualValues(t, 256<<10, r.PipeBytes(), "a block")
	require.Equal(t, 256<<10, mem.CurrentAlloc())
	table, err := r.Read(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Zero(t, r.PipeBytes())
	require.EqualValues(t, 2, table.NumRows())
	table.Release()
	mem.AssertSize(t, 0)

	_, err = Open(t.Context(), "-", ReadOptions{Format: Parquet, Stdin: bytes.NewReader([]byte("no Parquet")), Allocator: mem})
	require.ErrorIs(t, err, ErrInput)
	mem.AssertSize(t, 0)
}

// A stream that breaks off is an error, also where it says so as io.ReadFull says that it ended.
func TestContentThatBreaksOff(t *testing.T) {
	for _, broken := range []error{errors.New("broken"), io.ErrUnexpectedEOF} {
		stream := io.MultiReader(bytes.NewReader([]byte("k\n1\n")), iotest.ErrReader(broken))
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		_, err := Open(context.Background(), "-", ReadOptions{Format: CSV, Stdin: stream, Allocator: mem})
		require.ErrorIs(t, err, broken)
		mem.AssertSize(t, 0)
	}
}
