package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio"
)

const corruptRows = 2000

// corruptTable has the flat types that differ in the way they are stored. Its column k is unique.
func corruptTable(t *testing.T) arrow.RecordBatch {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "small", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 25, Scale: 2}, Nullable: true},
		{Name: "rate", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "kind", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16,
			ValueType: arrow.BinaryTypes.String}, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range corruptRows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%11 == 4 {
			for _, f := range b.Fields()[1:] {
				f.AppendNull()
			}
			continue
		}
		b.Field(1).(*array.Int32Builder).Append(int32(i % 17))
		b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(random.Int64N(1e15)))
		b.Field(3).(*array.Float64Builder).Append(float64(i) / 3)
		b.Field(4).(*array.BooleanBuilder).Append(i%3 == 0)
		b.Field(5).(*array.Date32Builder).Append(arrow.Date32(i))
		b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(i) * 1e9)
		b.Field(7).(*array.StringBuilder).Append(fmt.Sprintf("name %x, \"%d\"", random.Uint32(), i))
		b.Field(8).(*array.StringBuilder).Append([]string{"", "ship", "rail", "mail"}[i%4])
		require.NoError(t, b.Field(9).(*array.BinaryDictionaryBuilder).AppendString([]string{"x", "yy", "zzz"}[i%3]))
	}
	return b.NewRecordBatch()
}

// corruptSource is an intact file of some writer, of which mutants are made.
type corruptSource struct {
	name, extension string
	write           func(path string, batch arrow.RecordBatch) error
}

func written(opts tableio.WriteOptions) func(string, arrow.RecordBatch) error {
	return func(path string, batch arrow.RecordBatch) error {
		w, err := tableio.Create(path, batch.Schema(), opts)
		if err != nil {
			return err
		}
		defer w.Abort()
		for start := int64(0); start < batch.NumRows(); start += 700 {
			part := batch.NewSlice(start, min(start+700, batch.NumRows()))
			err := w.Write(context.Background(), part)
			part.Release()
			if err != nil {
				return err
			}
		}
		return w.Commit(context.Background())
	}
}

// foreign writes Parquet by another writer than ours.
func foreign(options ...parquet.WriterProperty) func(string, arrow.RecordBatch) error {
	return func(path string, batch arrow.RecordBatch) error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		properties := parquet.NewWriterProperties(append(options, parquet.WithMaxRowGroupLength(900))...)
		w, err := pqarrow.NewFileWriter(batch.Schema(), file, properties, pqarrow.DefaultWriterProps())
		if err != nil {
			return err
		}
		if err := w.Write(batch); err != nil {
			return err
		}
		return w.Close() // and the file
	}
}

// lz4Arrow writes Arrow IPC with compressed buffers of a kind that we read only.
func lz4Arrow(path string, batch arrow.RecordBatch) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(batch.Schema()), ipc.WithLZ4())
	if err != nil {
		return err
	}
	if err := w.Write(batch); err != nil {
		return err
	}
	return w.Close()
}

var corruptSources = map[string][]corruptSource{
	"parquet": {
		{"snappy", ".parquet", written(tableio.WriteOptions{})},
		{"zstd-groups", ".parquet", written(tableio.WriteOptions{Compression: "zstd", RowGroupRows: 600})},
		{"none", ".parquet", written(tableio.WriteOptions{Compression: "none"})},
		{"v2-pages", ".parquet", foreign(parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithDataPageSize(1000),
			parquet.WithCompression(compress.Codecs.Snappy), parquet.WithVersion(parquet.V2_LATEST))},
		{"delta", ".parquet", foreign(parquet.WithDictionaryDefault(false),
			parquet.WithEncodingFor("k", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("small", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("name", parquet.Encodings.DeltaByteArray),
			parquet.WithEncodingFor("kind", parquet.Encodings.DeltaLengthByteArray),
			parquet.WithEncodingFor("rate", parquet.Encodings.ByteStreamSplit))},
		{"gzip", ".parquet", foreign(parquet.WithCompression(compress.Codecs.Gzip), parquet.WithDataPageSize(500))},
	},
	"csv": {{"csv", ".csv", written(tableio.WriteOptions{})}},
	"arrow": {
		{"plain", ".arrow", written(tableio.WriteOptions{})},
		{"zstd", ".arrow", written(tableio.WriteOptions{Compression: "zstd"})},
		{"lz4", ".arrow", lz4Arrow},
	},
	"arrow-stream": {
		{"plain", ".arrows", written(tableio.WriteOptions{})},
		{"zstd", ".arrows", written(tableio.WriteOptions{Compression: "zstd"})},
	},
}

// mutant damages a copy of the content, once or twice, and tells how. The same random numbers give the same mutant.
func mutant(content []byte, random *rand.Rand) ([]byte, string) {
	content = slices.Clone(content)
	var told []string
	for range 1 + random.IntN(2) {
		var how string
		content, how = damage(content, random)
		told = append(told, how)
	}
	return content, strings.Join(told, ", ")
}

func damage(content []byte, random *rand.Rand) ([]byte, string) {
	// Two of three hit the metadata, which lie at both ends of a file.
	size := len(content)
	at := random.IntN(size + 1)
	if edge := min(size, 2000); random.IntN(3) > 0 {
		if at = random.IntN(edge + 1); random.IntN(2) == 0 {
			at = size - at
		}
	}
	length := min(1+random.IntN(64), size-at)
	if random.IntN(4) == 0 {
		length = random.IntN(size - at + 1)
	}
	noise := make([]byte, 1+random.IntN(16))
	for i := range noise {
		noise[i] = []byte{0, 0xff, '"', ',', '\n', byte(random.Uint32()), byte(random.Uint32())}[random.IntN(7)]
	}
	switch kind := random.IntN(8); kind {
	case 0:
		return content[:at], fmt.Sprintf("truncated to %d bytes of %d", at, size)
	case 1, 2:
		bits := 1 + random.IntN(3)
		for range bits {
			if place := at + random.IntN(8); place < size {
				content[place] ^= 1 << random.IntN(8)
			}
		}
		return content, fmt.Sprintf("%d bits flipped at %d", bits, at)
	case 3:
		clear(content[at : at+length])
		return content, fmt.Sprintf("%d zeros at %d", length, at)
	case 4:
		copy(content[at:at+length], bytes.Repeat([]byte{0xff}, length))
		return content, fmt.Sprintf("%d ones at %d", length, at)
	case 5:
		copy(content[at:], noise)
		return content, fmt.Sprintf("%q at %d", noise, at)
	case 6:
		return slices.Insert(content, at, noise...), fmt.Sprintf("%q inserted at %d", noise, at)
	default:
		return slices.Delete(content, at, at+length), fmt.Sprintf("%d bytes removed at %d", length, at)
	}
}

// Corrupted files of every format are joined, or refused with one line in our words, a documented code and nothing
// left. A mutant follows from its name: -run 'TestCorruptFiles/parquet/gzip/7$' -v makes the same again and says how.
func TestCorruptFiles(t *testing.T) {
	mutants := 100
	switch {
	case devicetest.Full():
		mutants = 3000
	case testing.Short():
		mutants = 20
	}
	batch := corruptTable(t)
	defer batch.Release()
	dir := t.TempDir()
	right := filepath.Join(dir, "right.parquet")
	require.NoError(t, written(tableio.WriteOptions{})(right, batch))
	for format, sources := range corruptSources {
		t.Run(format, func(t *testing.T) {
			ran, refused := 0, 0
			for _, source := range sources {
				path := filepath.Join(dir, source.name+source.extension)
				require.NoError(t, source.write(path, batch))
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NoError(t, os.Remove(path))
				join := corruptJoin{source.extension, content, "intact", []string{right, "--on", "k"}}
				require.True(t, join.run(t), source.name)
				for i := range mutants / len(sources) {
					t.Run(fmt.Sprintf("%s/%d", source.name, i), func(t *testing.T) {
						ran++
						seed := fnv.New64a()
						fmt.Fprint(seed, format, source.name)
						join := join
						join.content, join.how = mutant(content, rand.New(rand.NewPCG(seed.Sum64(), uint64(i))))
						if !join.run(t) {
							refused++
						}
					})
				}
			}
			if ran >= mutants/2 { // not a few of them alone
				require.Greater(t, refused, ran/10, "the mutants are too tame")
			}
		})
	}
}

// corruptJoin is a join of a damaged file.
type corruptJoin struct {
	extension string
	content   []byte
	how       string   // it was damaged
	args      []string // the other file and options
}

// run joins the file and says whether that succeeded.
func (c corruptJoin) run(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	left, out := filepath.Join(dir, "left"+c.extension), filepath.Join(dir, "out.parquet")
	require.NoError(t, os.WriteFile(left, c.content, 0o666))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := tested.Run(ctx, strings.NewReader(""), append([]string{"join", left, "--device", "host", "-q", "-o", out},
		c.args...)...)
	t.Logf("%s: code %d %s", c.how, o.Code, o.Stderr)
	if o.Code == command.ExitDone {
		require.Empty(t, o.Stderr, c.how)
		commandtest.RequireFiles(t, dir, filepath.Base(left), "out.parquet")
		return true
	}
	require.Contains(t, []int{command.ExitUsage, command.ExitInputOutput, command.ExitNoDevice, command.ExitLimit}, o.Code,
		"%s\n%s", c.how, o.Stderr)
	tested.RequireOneLine(t, o)
	for _, word := range []string{"runtime error", "panic", "goroutine", "interface conversion", "invalid memory"} {
		require.NotContains(t, o.Stderr, word, c.how)
	}
	commandtest.RequireFiles(t, dir, filepath.Base(left))
	return false
}

// Damaged files of other programs are joined or refused likewise. Their columns of all kinds are read. Most of them are so
// small that a mutant seldom leaves them readable.
func TestCorruptForeignFiles(t *testing.T) {
	const folder = "../../tableio/testdata/foreign"
	one := filepath.Join(folder, "one.csv")
	files, err := filepath.Glob(filepath.Join(folder, "*.*"))
	require.NoError(t, err)
	mutants := 3
	switch {
	case devicetest.Full():
		mutants = 100
	case testing.Short():
		mutants = 1
	}
	for _, path := range files {
		name := filepath.Base(path)
		if filepath.Ext(name) == ".txt" {
			continue
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		for i := range mutants {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				seed := fnv.New64a()
				fmt.Fprint(seed, name)
				changed, how := mutant(content, rand.New(rand.NewPCG(seed.Sum64(), uint64(i))))
				corruptJoin{extension: filepath.Ext(name), content: changed, how: how,
					args: []string{one, "--how", "cross"}}.run(t)
			})
		}
	}
}

// The mutants change something, and are the same whenever they are made.
func TestMutants(t *testing.T) {
	content := bytes.Repeat([]byte("spirjoin"), 1000)
	same := 0
	for i := range uint64(200) {
		a, how := mutant(content, rand.New(rand.NewPCG(1, i)))
		b, _ := mutant(content, rand.New(rand.NewPCG(1, i)))
		require.Equal(t, a, b, how)
		if bytes.Equal(a, content) {
			same++
		}
	}
	require.Less(t, same, 10)
}
