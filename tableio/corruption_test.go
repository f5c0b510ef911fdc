package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio/core"
)

func TestCorruptedCSV(t *testing.T)         { testCorruption(t, CSV, "", 600) }
func TestCorruptedArrowFile(t *testing.T)   { testCorruption(t, ArrowFile, "none", 600) }
func TestCorruptedArrowStream(t *testing.T) { testCorruption(t, ArrowStream, "none", 600) }
func TestCorruptedCompressedArrow(t *testing.T) {
	for _, compression := range []string{"zstd", "lz4"} {
		testCorruption(t, ArrowFile, compression, 200)
		testCorruption(t, ArrowStream, compression, 200)
	}
}

// testCorruption damages a small file of a format in many ways, one after the other. What is read then must be a table
// whose values can be used, or end in one line in our own words, with nothing left allocated.
func testCorruption(t *testing.T, format Format, compression string, cases int) {
	var whole [2][]byte // columns of an Arrow file are read alone where none is a dictionary
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for i, kind := range []arrow.DataType{dictionary, arrow.BinaryTypes.String} {
		batch := corruptionBatch(kind)
		whole[i] = contentOf(t, format, compression, batch, batch)
	}
	path := filepath.Join(t.TempDir(), "damaged"+extension(format))
	refused := 0
	if devicetest.RaceDetector {
		cases /= 5
	}
	for seed := range cases {
		rng := rand.New(rand.NewPCG(uint64(seed), uint64(format)))
		content, what := damage(rng, bytes.Clone(whole[seed%2]))
		require.NoError(t, os.WriteFile(path, content, 0o600))
		for _, columns := range [][]string{nil, {"at", "name"}} {
			if err := useTable(t, path, ReadOptions{Format: format, Columns: columns}); err != nil {
				refused++
				requirePlainWords(t, err, fmt.Sprintf("%v, columns %v, seed %d: %s", format, columns, seed, what))
			}
		}
	}
	require.Greater(t, refused, cases/5, "the damage shows")
	require.Less(t, refused, 2*cases, "some of it does not")
}

// damage changes content and says how.
func damage(rng *rand.Rand, content []byte) (damaged []byte, what string) {
	at, length := rng.IntN(len(content)), 1+rng.IntN(64)
	end := min(at+length, len(content))
	switch rng.IntN(6) {
	case 0:
		return content[:at], fmt.Sprintf("cut to %d bytes", at)
	case 1:
		for i := range 1 + rng.IntN(4) {
			content[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
			what = fmt.Sprintf("%d bits flipped", i+1)
		}
		return content, what
	case 2:
		for i := at; i < end; i++ {
			content[i] = byte(rng.Uint32())
		}
		return content, fmt.Sprintf("random bytes at %d to %d", at, end)
	case 3:
		fill := []byte{0, 0xff, 0x7f, 0x80, '"', '\n'}[rng.IntN(6)]
		for i := at; i < end; i++ {
			content[i] = fill
		}
		return content, fmt.Sprintf("bytes %#x at %d to %d", fill, at, end)
	case 4:
		return append(content[:at], content[end:]...), fmt.Sprintf("without %d to %d", at, end)
	}
	return append(content[:end:end], content[at:]...), fmt.Sprintf("%d to %d twice", at, end)
}

// corruptionBatch has a column of every kind that a decoder treats differently.
func corruptionBatch(kind arrow.DataType) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int64},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "kind", Type: kind},
		{Name: "good", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range 60 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		_ = b.Field(1).AppendValueFromString(fmt.Sprintf("%d.%02d", i*i, i))
		if b.Field(2).(*array.StringBuilder).Append(strings.Repeat("ü,\"", i%4)); i%5 == 0 {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.BooleanBuilder).Append(i%3 == 0)
		}
		_ = b.Field(3).AppendValueFromString([]string{"left", "right"}[i%2])
		b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(i) * 1_000_000_007)
	}
	return b.NewRecordBatch()
}

// useTable reads a file, in batches and then whole, and looks at every value.
func useTable(t *testing.T, path string, opts ReadOptions) error {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	opts.Allocator = mem
	r, err := Open(context.Background(), path, opts)
	if err != nil {
		return err
	}
	defer r.Close()
	use := func(chunk arrow.Array) {
		for row := range chunk.Len() {
			_ = chunk.ValueStr(row)
		}
	}
	for batch, err := range r.Batches(context.Background(), nil) {
		if err != nil {
			break // Read finds it, too, and the rest
		}
		for _, column := range batch.Columns() {
			use(column)
		}
		batch.Release()
	}
	table, err := r.Read(context.Background(), nil)
	if err != nil {
		return err
	}
	defer table.Release()
	for i := range int(table.NumCols()) {
		for _, chunk := range table.Column(i).Data().Chunks() {
			use(chunk)
		}
	}
	return nil
}

// requirePlainWords wants one line that a user understands, without words of Go's runtime.
func requirePlainWords(t *testing.T, err error, what string) {
	t.Helper()
	var failure *Error
	require.ErrorAs(t, err, &failure, what)
	require.ErrorIs(t, err, ErrInput, what)
	words := []string{"\n", "runtime error", "goroutine", "interface conversion", "nil pointer", "panic", "%!"}
	for _, word := range words {
		require.NotContains(t, err.Error(), word, what)
	}
}

// The errors of the runtime never come through, whoever caught the panic.
func TestGuardHidesTheRuntime(t *testing.T) {
	index := 3
	for _, fault := range []func() error{
		func() error { _ = []int{}[index]; return nil },
		func() error { var none arrow.Array; return fmt.Errorf("%d", none.(*array.Int8).Len()) },
		func() error { panic("arrow/ipc: text\nof a library") },
		func() (err error) {
			defer func() { err = fmt.Errorf("caught by a library: %v", recover()) }()
			return fmt.Errorf("%d", []int{}[index])
		},
	} {
		err := fail(ErrInput, "read", "f.arrow", core.GuardIn(`column "a"`, fault))
		require.EqualError(t, err, `read f.arrow: column "a": the content is corrupt`)
	}
}
