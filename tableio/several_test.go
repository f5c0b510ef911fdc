package tableio

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

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

	dir = textFiles(t, map[string]string{"1.csv": "a,b\n", "2.csv": "b,a\n,\n"})
	empty, err := Open(t.Context(), dir, ReadOptions{})
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
		{[]arrow.DataType{decimal(10, 2), decimal(12, 4)}, []string{`["1.25"]`, `["0.0001"]`}, decimal(12, 4),
			"1.25, 0.0001,"},
		{[]arrow.DataType{stamp(arrow.Millisecond), stamp(arrow.Microsecond)},
			[]string{`["2026-01-01"]`, `["2026-01-02"]`}, stamp(arrow.Microsecond),
			"2026-01-01T00:00:00, 2026-01-02T00:00:00,"},
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
				path := filepath.Join(dir, fmt.Sprint(i, ".arrow"))
				typed(t, path, dt, c.values[i], strings.Contains(c.values[i], "null"))
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
				require.ErrorContains(t, err, fmt.Sprintf(`column "k" is %s in %s and %s in %s, and`, c.types[0],
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
		{map[string]string{"y=9/x.csv": "a\n1\n", "y=10/x.csv": "a\n2\n",
			"y=__HIVE_DEFAULT_PARTITION__/x.csv": "a\n3\n"}, "a int64?, y int64?",
			"2,10, 1,9, 3,(null),"},
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
