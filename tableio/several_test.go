package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

// Files of any formats, with columns in any order and some missing, are read as one table, in whatever memory, whole or
// in parts.
func TestSeveralFilesProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "in")
		require.NoError(rt, err)
		schema, all := tabletest.DrawBatches(rt, tabletest.CommonTypes)
		fields := schema.Fields()
		for i := range fields {
			fields[i].Nullable = true
		}
		schema = arrow.NewSchema(fields, nil)
		var want []arrow.RecordBatch
		for i, batch := range all {
			order := rapid.Permutation(upTo(len(fields))).Draw(rt, "order")
			if i > 0 {
				order = order[:rapid.IntRange(1, len(fields)).Draw(rt, "columns")]
			} else {
				order = upTo(len(fields))
			}
			var columns []arrow.Array
			var some []arrow.Field
			whole := make([]arrow.Array, len(fields))
			for c, field := range fields {
				whole[c] = array.MakeArrayOfNull(memory.DefaultAllocator, field.Type, int(batch.NumRows()))
			}
			for _, c := range order {
				columns, some = append(columns, batch.Column(c)), append(some, fields[c])
				whole[c] = batch.Column(c)
			}
			part := array.NewRecordBatch(arrow.NewSchema(some, nil), columns, batch.NumRows())
			want = append(want, array.NewRecordBatch(schema, whole, batch.NumRows()))
			format := rapid.SampledFrom([]Format{Parquet, ArrowFile, ArrowStream}).Draw(rt, "format")
			path := filepath.Join(dir, fmt.Sprintf("%02d%s", i, extension(format)))
			writeFile(rt, path, part.Schema(), []arrow.RecordBatch{part, part}, WriteOptions{RowGroupRows: 7})
			want = append(want, want[len(want)-1])
		}
		if len(all) == 0 {
			return
		}
		table := array.NewTableFromRecords(schema, want)
		aheadBytes := rapid.SampledFrom([]int64{0, 1, 1 << 20}).Draw(rt, "ahead")
		readFile(rt, dir, nil, ReadOptions{AheadBytes: aheadBytes}, func(got arrow.Table) {
			tabletest.RequireSameTable(rt, table, got)
		})
		of := rapid.IntRange(1, 5).Draw(rt, "of")
		tabletest.RequireSameTable(rt, table, shares(rt, dir, of, ReadOptions{AheadBytes: aheadBytes}))
	})
}

func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
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

// textFiles writes files into a folder, which it returns.
func textFiles(t *testing.T, texts map[string]string) string {
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// describe gives the columns of a table and its rows as text.
func describe(t *testing.T, input string, opts ReadOptions) (columns, rows string) {
	t.Helper()
	readFile(t, input, nil, opts, func(got arrow.Table) {
		var fields, lines []string
		for i, field := range got.Schema().Fields() {
			null := ""
			if field.Nullable {
				null = "?"
			}
			fields = append(fields, field.Name+" "+field.Type.String()+null)
			row := 0
			for _, chunk := range got.Column(i).Data().Chunks() {
				for j := range chunk.Len() {
					if row == len(lines) {
						lines = append(lines, "")
					}
					lines[row] += chunk.ValueStr(j) + ","
					row++
				}
			}
		}
		columns, rows = strings.Join(fields, ", "), strings.Join(lines, " ")
	})
	return columns, rows
}

// The types of CSV columns hold the values of all files. Columns without values take the type of the others.
func TestSeveralCSVFiles(t *testing.T) {
	for _, c := range []struct {
		files         map[string]string
		columns, rows string
	}{
		{map[string]string{"1.csv": "a,b\n1,x\n", "2.csv": "b,a\ny,2.5\n"}, "a float64?, b utf8?", "1,x, 2.5,y,"},
		{map[string]string{"1.csv": "a\n1\n", "2.csv": "b\n\n"}, "a int64?, b utf8?", "1,(null), (null),(null),"},
		{map[string]string{"1.csv": "a,b\n,1\n", "2.csv": "a,b\n2026-11-27,\n"}, "a date32?, b int64?",
			"(null),1, 2026-11-27,(null),"},
		{map[string]string{"1.csv": "a,a\n1,x\n", "2.tsv": "a\ta\n2\t3\n"}, "a int64?, a utf8?", "1,x, 2,3,"},
		{map[string]string{"1.csv": "a\n1\n", "2.csv": "a\n"}, "a int64?", "1,"},
	} {
		columns, rows := describe(t, textFiles(t, c.files), ReadOptions{})
		require.Equal(t, c.columns, columns)
		require.Equal(t, c.rows, rows)
	}
	dir := textFiles(t, map[string]string{"1.csv": "a\n1\nx\n", "2.csv": "a\n2\n\n3\n?\n", "3.csv": "a\n\"y\"\n"})
	r, err := Open(t.Context(), dir, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	reason, ok := r.WhyText("a")
	require.True(t, ok)
	require.Equal(t, filepath.Join(dir, "1.csv"), reason.Path)
	require.EqualValues(t, 3, reason.Line)
	require.Equal(t, "x", reason.Value)

	empty, err := Open(t.Context(), textFiles(t, map[string]string{"1.csv": "a,b\n", "2.csv": "b,a\n,\n"}), ReadOptions{})
	require.NoError(t, err)
	defer empty.Close()
	require.True(t, empty.SetType("a", arrow.PrimitiveTypes.Int32))
	require.Equal(t, arrow.PrimitiveTypes.Int32, empty.Schema().Field(0).Type)
	require.False(t, r.SetType("a", arrow.PrimitiveTypes.Int32), "it has values")
	table, err := empty.Read(t.Context(), nil)
	require.NoError(t, err)
	table.Release()
}

// typed writes a file with one column, k, of values in JSON.
func typed(t *testing.T, path string, dt arrow.DataType, json string, nullable bool) {
	t.Helper()
	values, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(json))
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: dt, Nullable: nullable}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{values}, int64(values.Len()))
	writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
}

func TestTypesThatDiffer(t *testing.T) {
	p, text, large := arrow.PrimitiveTypes, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString
	dictionary := &arrow.DictionaryType{IndexType: p.Int32, ValueType: text}
	decimal := func(digits, scale int32) arrow.DataType {
		return &arrow.Decimal128Type{Precision: digits, Scale: scale}
	}
	stamp := func(unit arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: unit} }
	for _, c := range []struct {
		types  []arrow.DataType
		values []string
		want   arrow.DataType // nil: refused
		rows   string
	}{
		{[]arrow.DataType{p.Int32, p.Int64, p.Int8}, []string{`[1,null]`, `[5000000000]`, `[-3]`}, p.Int64,
			"1, (null), 5000000000, -3,"},
		{[]arrow.DataType{p.Uint32, p.Int64}, []string{`[4000000000]`, `[-1]`}, p.Int64, "4000000000, -1,"},
		{[]arrow.DataType{p.Int32, p.Float64, p.Float32}, []string{`[7]`, `[0.1]`, `[0.5]`}, p.Float64, "7, 0.1, 0.5,"},
		{[]arrow.DataType{dictionary, text}, []string{`["a",null,"a"]`, `["b"]`}, text, "a, (null), a, b,"},
		{[]arrow.DataType{text, large, dictionary}, []string{`["a"]`, `["b"]`, `["c"]`}, large, "a, b, c,"},
		{[]arrow.DataType{text, arrow.BinaryTypes.StringView}, []string{`["a"]`, `["b"]`}, large, "a, b,"},
		{[]arrow.DataType{decimal(10, 2), decimal(12, 4)}, []string{`["1.25"]`, `["0.0001"]`}, decimal(12, 4), "1.25, 0.0001,"},
		{[]arrow.DataType{stamp(arrow.Millisecond), stamp(arrow.Microsecond)}, []string{`["2026-01-01"]`, `["2026-01-02"]`},
			stamp(arrow.Microsecond), "2026-01-01T00:00:00, 2026-01-02T00:00:00,"},
		{[]arrow.DataType{arrow.Null, p.Int16}, []string{`[null]`, `[3]`}, p.Int16, "(null), 3,"},
		{[]arrow.DataType{p.Int64, p.Uint64}, []string{`[1]`, `[1]`}, nil, ""},
		{[]arrow.DataType{p.Int32, p.Uint32}, []string{`[1]`, `[1]`}, nil, ""},
		{[]arrow.DataType{p.Int64, p.Float64}, []string{`[1]`, `[1]`}, nil, ""},
		{[]arrow.DataType{p.Int32, text}, []string{`[1]`, `["1"]`}, nil, ""},
		{[]arrow.DataType{decimal(10, 2), decimal(10, 4)}, []string{`["1.25"]`, `["0.0001"]`}, nil, ""},
		{[]arrow.DataType{arrow.ListOf(p.Int32), arrow.ListOf(p.Int64)}, []string{`[[1]]`, `[[1]]`}, nil, ""},
	} {
		for _, aheadBytes := range []int64{0, 1} {
			dir := t.TempDir()
			for i, dt := range c.types {
				typed(t, filepath.Join(dir, fmt.Sprint(i, ".arrow")), dt, c.values[i], strings.Contains(c.values[i], "null"))
			}
			if c.want == nil {
				r, err := Open(t.Context(), dir, ReadOptions{AheadBytes: aheadBytes})
				require.NoError(t, err)
				for batch, err := range r.Batches(t.Context(), []string{}) { // not the column
					require.NoError(t, err)
					batch.Release()
				}
				_, err = r.Read(t.Context(), nil)
				require.ErrorIs(t, err, ErrInput)
				require.ErrorContains(t, err, fmt.Sprintf(`column "k" is %s in %s and %s in %s, and neither`, c.types[0],
					filepath.Join(dir, "0.arrow"), c.types[1], filepath.Join(dir, "1.arrow")))
				require.NoError(t, r.Close())
				continue
			}
			columns, rows := describe(t, dir, ReadOptions{AheadBytes: aheadBytes})
			null := ""
			if strings.Contains(c.rows, "null") {
				null = "?"
			}
			require.Equal(t, "k "+c.want.String()+null, columns)
			require.Equal(t, c.rows, rows)
		}
	}
	dir := t.TempDir() // a finer unit does not reach as far
	typed(t, filepath.Join(dir, "far.arrow"), stamp(arrow.Second), `["9999-01-01"]`, false)
	typed(t, filepath.Join(dir, "near.arrow"), stamp(arrow.Nanosecond), `["2026-01-01"]`, false)
	r, err := Open(t.Context(), dir, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Read(t.Context(), nil)
	require.ErrorContains(t, err, "read "+filepath.Join(dir, "far.arrow")+`: column "k": `)
}

func TestPartitionColumns(t *testing.T) {
	for _, c := range []struct {
		files         map[string]string
		columns, rows string
	}{
		{map[string]string{"d=2026-11-27/r=eu/x.csv": "a\n1\n", "d=2026-11-28/r=a%20b/x.csv": "a\n2\n3\n"},
			"a int64?, d date32?, r utf8?", "1,2026-11-27,eu, 2,2026-11-28,a b, 3,2026-11-28,a b,"},
		{map[string]string{"y=9/x.csv": "a\n1\n", "y=10/x.csv": "a\n2\n", "y=__HIVE_DEFAULT_PARTITION__/x.csv": "a\n3\n"},
			"a int64?, y int64?", "2,10, 1,9, 3,(null),"},
		{map[string]string{"m=01/x.csv": "a\n1\n", "m=2/x.csv": "a\n2\n", "x.csv": "a\n3\n"}, "a int64?, m utf8?",
			"1,01, 2,2, 3,(null),"},
		{map[string]string{"a=7/x.csv": "a\n1\n"}, "a int64?", "1,"}, // the file has it
		{map[string]string{"p=1/x.csv": "a\n1\n"}, "a int64?, p int64?", "1,1,"},
	} {
		for _, aheadBytes := range []int64{0, 1} {
			columns, rows := describe(t, textFiles(t, c.files), ReadOptions{AheadBytes: aheadBytes})
			require.Equal(t, c.columns, columns)
			require.Equal(t, c.rows, rows)
		}
	}
}

// Files are skipped by the values of partitions, and in part by statistics.
func TestSkipFiles(t *testing.T) {
	dir := t.TempDir()
	batch := tabletest.ExampleBatch(100)
	for year := range 5 {
		path := filepath.Join(dir, fmt.Sprint("year=", 2020+year), "x.parquet")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		part := batch.NewSlice(int64(20*year), int64(20*year+20))
		writeFile(t, path, batch.Schema(), []arrow.RecordBatch{part}, WriteOptions{RowGroupRows: 10})
	}
	for _, aheadBytes := range []int64{0, 1} {
		r, err := Open(t.Context(), dir, ReadOptions{AheadBytes: aheadBytes})
		require.NoError(t, err)
		b, ok := r.Bounds("year")
		require.True(t, ok)
		require.Equal(t, Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 2020, Max: 2024}, b)
		require.False(t, r.Nulls("year"))
		b, ok = r.Bounds("key")
		require.True(t, ok)
		require.Equal(t, Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 0, Max: 99}, b)
		require.True(t, r.Nulls("name"))
		require.Len(t, keysOf(t, r), 100)
		r.SkipOutside("year", Bounds{Type: arrow.PrimitiveTypes.Int32, Min: 2021, Max: 2022})
		require.NoError(t, os.Rename(filepath.Join(dir, "year=2020"), filepath.Join(dir, "gone"))) // not even opened
		keys := keysOf(t, r)
		require.NoError(t, os.Rename(filepath.Join(dir, "gone"), filepath.Join(dir, "year=2020")))
		require.Equal(t, []int64{20, 59}, []int64{keys[0], keys[len(keys)-1]})
		r.SkipOutside("key", Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 30, Max: 30})
		require.Len(t, keysOf(t, r), 10)
		require.EqualValues(t, 100, r.Rows())
		require.NoError(t, r.Close())
	}
}

// What happens to one file is said with its name, and leaves nothing behind.
func TestFaultsInOneOfSeveralFiles(t *testing.T) {
	batch := tabletest.ExampleBatch(3000)
	for _, format := range formats {
		for _, aheadBytes := range []int64{0, 1} {
			dir, content := t.TempDir(), contentOf(t, format, "none", batch)
			bad := filepath.Join(dir, "5"+extension(format))
			for i := range 9 {
				path := filepath.Join(dir, fmt.Sprint(i, extension(format)))
				require.NoError(t, os.WriteFile(path, content, 0o600))
			}
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			for fault, spoil := range map[string]func() error{
				"no such file":      func() error { return os.Remove(bad) },
				"has changed since": func() error { return os.WriteFile(bad, append(content[:len(content):len(content)], 0), 0o600) },
			} {
				require.NoError(t, os.WriteFile(bad, content, 0o600))
				r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
				require.NoError(t, err)
				require.NoError(t, spoil())
				_, err = r.Read(t.Context(), nil)
				require.ErrorIs(t, err, ErrInput)
				require.ErrorContains(t, err, "read "+bad+": ")
				require.ErrorContains(t, err, fault)
				rows := int64(0)
				for batch, failed := range r.Batches(t.Context(), nil) {
					if err = failed; failed == nil {
						rows += batch.NumRows()
						batch.Release()
					}
				}
				require.ErrorContains(t, err, bad)
				require.EqualValues(t, 5*3000, rows, "what comes before")
				require.NoError(t, r.Close())
			}
			for _, spoilt := range [][]byte{nil, content[:len(content)/2], []byte("x")} {
				if format == CSV && len(spoilt) > 1 {
					spoilt = append(spoilt, "\n\"unfinished"...)
				}
				require.NoError(t, os.WriteFile(bad, spoilt, 0o600))
				r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
				if err == nil && format == CSV && len(spoilt) == 1 { // a file with another column
					require.NoError(t, r.Close())
					continue
				}
				if err == nil {
					_, err = r.Read(t.Context(), nil)
					require.NoError(t, r.Close())
				}
				require.ErrorContains(t, err, bad+": ", "%v", format)
			}
			require.Zero(t, mem.CurrentAlloc())
		}
	}
}

// peak is an allocator that knows the most that was allocated at once.
type peak struct {
	memory.Allocator
	now, most atomic.Int64
}

func (p *peak) grow(bytes int) {
	now := p.now.Add(int64(bytes))
	for most := p.most.Load(); now > most && !p.most.CompareAndSwap(most, now); most = p.most.Load() {
	}
}

func (p *peak) Allocate(size int) []byte {
	p.grow(size)
	return p.Allocator.Allocate(size)
}

func (p *peak) Reallocate(size int, b []byte) []byte {
	p.grow(size - len(b))
	return p.Allocator.Reallocate(size, b)
}

func (p *peak) Free(b []byte) {
	p.grow(-len(b))
	p.Allocator.Free(b)
}

// A thousand files, more than stay open or have their footers kept, are read in the memory that is promised, which is
// that of a few.
func TestManyFilesInBoundedMemory(t *testing.T) {
	batch := tabletest.ExampleBatch(20_000)
	content := contentOf(t, Parquet, "", batch)
	dir := t.TempDir()
	for i := range 1200 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.parquet", i)), content, 0o600))
	}
	restore := limitOpenFiles(t, uint64(100+8*runtime.GOMAXPROCS(0)))
	defer restore()
	const aheadBytes = 1 << 20
	mem := &peak{Allocator: memory.NewGoAllocator()}
	r, err := Open(t.Context(), dir, ReadOptions{Allocator: mem, AheadBytes: aheadBytes})
	require.NoError(t, err)
	defer r.Close()
	require.EqualValues(t, 1200*20_000, r.Rows())
	columns := []string{"key", "name"}
	need, err := r.AheadBytes(columns)
	require.NoError(t, err)
	require.LessOrEqual(t, need, int64(2*aheadBytes)) // a file takes more than the bound
	b, ok := r.Bounds("key")
	require.True(t, ok)
	require.Equal(t, [2]int64{0, 19_999}, [2]int64{b.Min, b.Max})
	rows, largest := int64(0), int64(0)
	for batch, err := range r.Batches(t.Context(), columns) {
		require.NoError(t, err)
		rows += batch.NumRows()
		sizeBytes := int64(0)
		for _, column := range batch.Columns() {
			sizeBytes += int64(column.Data().SizeInBytes())
		}
		largest = max(largest, sizeBytes)
		batch.Release()
	}
	require.EqualValues(t, 1200*20_000, rows)
	require.Less(t, mem.most.Load(), need+2*largest+math.MaxInt16)
	r.SkipOutside("key", Bounds{Type: arrow.PrimitiveTypes.Int64, Min: -5, Max: -1})
	require.Empty(t, keysOf(t, r))
}
