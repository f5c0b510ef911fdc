package tableio

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio/csv"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// readBytes of a CSV file are read at a time.
const readBytes = 2 << 20

func writeText(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// render shows a table as type and values of each column.
func render(table arrow.Table) []string {
	var out []string
	for i := range int(table.NumCols()) {
		var values []string
		for _, chunk := range table.Column(i).Data().Chunks() {
			for row := range chunk.Len() {
				values = append(values, chunk.ValueStr(row))
			}
		}
		field := table.Schema().Field(i)
		out = append(out, fmt.Sprintf("%s %s: %s", field.Name, field.Type, strings.Join(values, "|")))
	}
	return out
}

func TestCSVInference(t *testing.T) {
	// each column is inferred alone; values are joined by '|'
	for _, test := range []struct{ values, want string }{
		{"1|-2||0", "int64: 1|-2|(null)|0"},
		{"9223372036854775807|-9223372036854775808", "int64: 9223372036854775807|-9223372036854775808"},
		{"9223372036854775808|1", "uint64: 9223372036854775808|1"},
		{"18446744073709551616|1", "float64: 1.8446744073709552e+19|1"}, // 2^64 is a float64
		{"18446744073709551617", "utf8: 18446744073709551617"},          // and this is not
		{"-1|9223372036854775809", "utf8: -1|9223372036854775809"},      // too wide for all
		{"9007199254740993|0.5", "utf8: 9007199254740993|0.5"},          // 2^53 + 1 beside a fraction
		{"9007199254740992|0.5", "float64: 9.007199254740992e+15|0.5"},
		{"1|2.5|1e3|-.5|5.", "float64: 1|2.5|1000|-0.5|5"},
		{"0.1|0.30000000000000004|0.10000000000000001", "float64: 0.1|0.30000000000000004|0.1"},
		{"0.12345678901234567891", "utf8: 0.12345678901234567891"},
		{"NaN|-Inf|1", "float64: NaN|-Inf|1"},
		{"1e999", "utf8: 1e999"},
		{"007|1", "utf8: 007|1"}, // a code, not a number
		{"+49|1", "utf8: +49|1"},
		{"-0|1", "float64: -0|1"},
		{" 1", "utf8:  1"},
		{"0x10", "utf8: 0x10"},
		{"1_000", "utf8: 1_000"},
		{"true|FALSE|", "bool: true|false|(null)"},
		{"true|1", "utf8: true|1"},
		{"2024-02-29|1970-01-01", "date32: 2024-02-29|1970-01-01"},
		{"2023-02-29", "utf8: 2023-02-29"},
		{"2024-02-29|2024-02-29T12:00:00", "timestamp[us]: 2024-02-29T00:00:00|2024-02-29T12:00:00"},
		{"2024-02-29 12:00:00.123456|1500-01-01", "timestamp[us]: 2024-02-29T12:00:00.123456|1500-01-01T00:00:00"},
		{"2024-02-29 12:00:00.123456789", "timestamp[ns]: 2024-02-29T12:00:00.123456789"},
		{"2024-02-29 12:00:00.123456789|1500-01-01", "utf8: 2024-02-29 12:00:00.123456789|1500-01-01"}, // out of range of ns
		{"2024-02-29T12:00:00Z|2024-02-29T12:00:00+02:00", "timestamp[us, tz=UTC]: 2024-02-29T12:00:00Z|2024-02-29T10:00:00Z"},
		{"2024-02-29T12:00:00Z|2024-02-29T12:00:00", "utf8: 2024-02-29T12:00:00Z|2024-02-29T12:00:00"},
		{"2024-02-29T24:00:00", "utf8: 2024-02-29T24:00:00"},
		{"|", "utf8: (null)|(null)"},
		{`""|x`, `utf8: |x`}, // a quoted empty field is a text, not null
		{`"1"|2`, "int64: 1|2"},
		{"größer|ß", "utf8: größer|ß"},
	} {
		lines := []string{"n,c"}
		for i, value := range strings.Split(test.values, "|") {
			lines = append(lines, fmt.Sprintf("%d,%s", i, value))
		}
		path := writeText(t, strings.Join(lines, "\n"))
		readFile(t, path, []string{"c"}, ReadOptions{}, func(got arrow.Table) {
			require.Equal(t, []string{"c " + test.want}, render(got), test.values)
		})
	}
}

func TestCSVForms(t *testing.T) {
	int32Schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	for name, test := range map[string]struct {
		text string
		opts csv.Options
		want []string
	}{
		"windows line ends":        {"a,b\r\n1,x\r\n2,y\r\n", csv.Options{}, []string{"a int64: 1|2", "b utf8: x|y"}},
		"old mac line ends":        {"a,b\r1,x\r\r2,y\r", csv.Options{}, []string{"a int64: 1|2", "b utf8: x|y"}},
		"no end of last old line":  {"a,b\r1,x\r2,y", csv.Options{}, []string{"a int64: 1|2", "b utf8: x|y"}},
		"mixed line ends":          {"a,b\r1,x\n2,\"y\"\r\n3,\"z\"\r4,\r\n", csv.Options{}, []string{"a int64: 1|2|3|4", "b utf8: x|y|z|(null)"}},
		"quoted carriage returns":  {"a,b\r1,\"x\ry\"\r2,\"\r\"\"\r\n\"\r", csv.Options{}, []string{"a int64: 1|2", "b utf8: x\ry|\r\"\r\n"}},
		"old ends of one column":   {"a\r1\r\r3\r", csv.Options{}, []string{"a int64: 1|(null)|3"}},
		"no end of last line":      {"a,b\n1,x\n2,\"y\"", csv.Options{}, []string{"a int64: 1|2", "b utf8: x|y"}},
		"byte order mark":          {"\ufeffa\n1\n", csv.Options{}, []string{"a int64: 1"}},
		"quotes, commas, new line": {"a,b\n\"x\"\"y\",\"1,\n2\"\n", csv.Options{}, []string{"a utf8: x\"y", "b utf8: 1,\n2"}},
		"empty lines":              {"\n\na,b\n\n1,2\r\n\r\n3,4\n\n", csv.Options{}, []string{"a int64: 1|3", "b int64: 2|4"}},
		"empty line of one column": {"a\n1\n\n3\n", csv.Options{}, []string{"a int64: 1|(null)|3"}},
		"no header":                {"1,x\n2,y\n", csv.Options{Header: csv.HeaderAbsent}, []string{"column_1 int64: 1|2", "column_2 utf8: x|y"}},
		"tab and nulls":            {"a\tb\nNA\t-\n1\t\n", csv.Options{Delimiter: '\t', Nulls: []string{"NA", "-"}}, []string{"a int64: (null)|1", "b utf8: (null)|"}},
		"no nulls at all":          {"a,b\n,1\n", csv.Options{Nulls: []string{}}, []string{"a utf8: ", "b int64: 1"}},
		"type of one column given": {"b,a\n1,7\n", csv.Options{Schema: int32Schema}, []string{"b int64: 1", "a int32: 7"}},
		"header only":              {"a,b\n", csv.Options{}, []string{"a utf8: ", "b utf8: "}},
		"empty, with schema":       {"", csv.Options{Header: csv.HeaderAbsent, Schema: int32Schema}, []string{"a int32: "}},
		"header like another file": {"PARENT,ORC\n1,2\n", csv.Options{}, []string{"PARENT int64: 1", "ORC int64: 2"}},
		"quoted nulls":             {"a,b\n\"NA\",NA\n", csv.Options{Nulls: []string{"NA"}}, []string{"a utf8: NA", "b utf8: (null)"}},
	} {
		t.Run(name, func(t *testing.T) {
			readFile(t, writeText(t, test.text), nil, ReadOptions{CSV: test.opts}, func(got arrow.Table) {
				require.Equal(t, test.want, render(got))
			})
		})
	}
}

func TestCSVFaults(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, nil)
	for name, test := range map[string]struct {
		text string
		opts csv.Options
		want string
	}{
		"too few fields":      {"a,b\n1,2\n3\n", csv.Options{}, "line 3 has 1 fields, 2 are expected"},
		"old line ends":       {"a,b\r\"x\r\ry\",2\r3\r", csv.Options{}, "line 5 has 1 fields, 2 are expected"},
		"mixed line ends":     {"a,b\n\"x\r\ny\",2\r1,1\n3\r", csv.Options{}, "line 5 has 1 fields, 2 are expected"},
		"too many fields":     {"a,b\n1,2,3\n", csv.Options{}, "line 2 has 3 fields"},
		"line behind quotes":  {"a,b\n\"x\n\ny\",2\n3\n", csv.Options{}, "line 5 has"},
		"bare quote":          {"a,b\n1,x\"y\n", csv.Options{}, "line 2, field 2: a quote inside"},
		"open quote":          {"a,b\n1,\"xy\n2,3\n", csv.Options{}, "line 2, field 2: the closing quote is missing"},
		"text after quote":    {"a,b\n\"x\"y,1\n", csv.Options{}, "text after the closing quote"},
		"empty file":          {"", csv.Options{}, "no header"},
		"empty without names": {"", csv.Options{Header: csv.HeaderAbsent}, "give a schema"},
		"not a number":        {"a\n1\nx\n", csv.Options{Schema: schema}, `line 3: column "a": "x" is not a valid int8`},
		"out of range":        {"a\n128\n", csv.Options{Schema: schema}, `"128" is not a valid int8`},
		"null not allowed":    {"a,b\n,1\n", csv.Options{Schema: schema}, `line 2: column "a" may not be null`},
		"not UTF-8":           {"a,b\n1,\xff\n", csv.Options{}, "is not a valid utf8"},
		"header not UTF-8":    {"a,\xff\n", csv.Options{}, "not valid UTF-8"},
		"UTF-16":              {"\xff\xfea\x00", csv.Options{}, "UTF-16"},
		"gzip":                {"\x1f\x8b\x08\x00", csv.Options{}, "gzip"},
		"unknown in schema":   {"aa,b\n1,2\n", csv.Options{Schema: schema}, `did you mean "aa"?`},
		"schema too short":    {"1,2\n", csv.Options{Header: csv.HeaderAbsent, Schema: schema}, "the schema 1 columns"},
		"all bad options":     {"a\n", csv.Options{Header: 7, Delimiter: '"', Nulls: []string{"\n"}}, "header is 7"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Open(context.Background(), writeText(t, test.text), ReadOptions{CSV: test.opts})
			if err == nil {
				_, err = r.Read(context.Background(), nil)
			}
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	err := csv.Options{Header: 7, Delimiter: '"', Nulls: []string{"\n", ","}}.Validate()
	require.ErrorContains(t, err, "header is 7")
	require.ErrorContains(t, err, "delimiter")
	require.ErrorContains(t, err, `null text "\n"`)
}

// A value whose text form would not read back is refused, not bent.
func TestCSVRefusesDatesWithoutText(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: arrow.FixedWidthTypes.Date32}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	dates := b.Field(0).(*array.Date32Builder)
	dates.AppendValues(make([]arrow.Date32, 3), nil)
	first := b.NewRecordBatch()
	dates.AppendValues([]arrow.Date32{0, 1 << 30}, nil)
	path := tempPath(t, CSV)
	w, err := Create(path, schema, WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), first))
	err = w.Write(t.Context(), b.NewRecordBatch())
	require.ErrorIs(t, err, ErrOutput)
	require.EqualError(t, err, "write "+path+`: row 5, column "d": 2941775-04-07 is outside the range of date32 in CSV; `+
		"write Parquet or Arrow, or leave it out with columns")
	require.Equal(t, err, w.Commit(t.Context()))
	requireOnlyFiles(t, filepath.Dir(path))
}

// Blocks are cut at record ends, so any block size gives the same records: here
// the file has many blocks, with quoted line ends all over.
func TestCSVManyBlocks(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("n,t\n")
	rows := 0
	for ; text.Len() < 3*readBytes; rows++ {
		fmt.Fprintf(&text, "%d,\"%s\n\"\"%d\"\"\"\n", rows, strings.Repeat("x\n", rows%50), rows)
	}
	path := writeText(t, text.String())
	readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
		require.Equal(t, int64(rows), got.NumRows())
		require.GreaterOrEqual(t, len(got.Column(0).Data().Chunks()), 3)
		row := 0
		for c, chunk := range got.Column(0).Data().Chunks() {
			texts := got.Column(1).Data().Chunk(c).(*array.String)
			for i, n := range chunk.(*array.Int64).Int64Values() {
				if want := fmt.Sprintf("%s\n\"%d\"", strings.Repeat("x\n", row%50), row); n != int64(row) || texts.Value(i) != want {
					t.Fatalf("row %d is %d, %q instead of %q", row, n, texts.Value(i), want)
				}
				row++
			}
		}
	})
	// the type is found in the last block only, and the line of a fault is counted through all
	lines := bytes.Count(text.Bytes(), []byte("\n"))
	readFile(t, writeText(t, text.String()+"x,y\n"), []string{"n"}, ReadOptions{}, func(got arrow.Table) {
		require.True(t, arrow.TypeEqual(arrow.BinaryTypes.String, got.Schema().Field(0).Type))
	})
	_, err := Open(context.Background(), writeText(t, text.String()+"x\n"), ReadOptions{})
	require.ErrorContains(t, err, fmt.Sprintf("line %d has 1 fields", lines+1))
}

// Open tells how much of a CSV file was read, block by block and in the end all of it, where types are inferred.
// Reading tells its rows alone.
func TestCSVOpening(t *testing.T) {
	text := "\ufeffn,t\n" + strings.Repeat("1,one\n", 3*readBytes/6)
	path, size := writeText(t, text), int64(len(text))
	var done []int64
	options := ReadOptions{Opening: func(doneBytes, totalBytes int64) {
		require.Equal(t, size, totalBytes)
		done = append(done, doneBytes)
	}}
	readFile(t, path, nil, options, func(arrow.Table) {})
	require.GreaterOrEqual(t, len(done), 3)
	require.True(t, slices.IsSorted(done), "%v", done)
	require.InDelta(t, readBytes, done[0], 20, "a block")
	require.Equal(t, size, done[len(done)-1])

	done = nil
	options.CSV.Schema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	readFile(t, path, nil, options, func(arrow.Table) {})
	require.Empty(t, done, "nothing is to be inferred")
}

// The reason is the first value in the order of the file, however its blocks were read.
func TestWhyText(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("a,b,c,d,e\n")
	line := 2
	write := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...); line++ }
	fill := func(until int) {
		for text.Len() < until {
			write("%d,%d.5,x%d,,2024-01-01", line, line, line)
		}
	}
	fill(readBytes / 2)
	write("1,none,x,,2024-01-01")
	floats := line - 1
	fill(5 * readBytes / 2)
	write("n/a,none,x,,%s", strings.Repeat("y", 200))
	first := line - 1
	write("m/b,,x,,7")
	fill(4 * readBytes)
	write("o/c,,x,,")
	path := writeText(t, text.String())
	for range 3 {
		r, err := Open(context.Background(), path, ReadOptions{})
		require.NoError(t, err)
		for column, want := range map[string]csv.TextReason{
			"a": {Line: int64(first), Value: "n/a"}, "b": {Line: int64(floats), Value: "none"}, "c": {Line: 2, Value: "x2"},
			"e": {Line: int64(first), Value: strings.Repeat("y", 100)},
		} {
			reason, ok := r.WhyText(column)
			require.True(t, ok)
			require.Equal(t, want, reason, column)
		}
		for _, column := range []string{"d", "no such"} { // no values, no column
			_, ok := r.WhyText(column)
			require.False(t, ok)
		}
		require.NoError(t, r.Close())
	}
	r, err := Open(context.Background(), writeText(t, "a,b\n1,\"x\"\n2024-01-01,y\n"), ReadOptions{})
	require.NoError(t, err)
	reason, ok := r.WhyText("a")
	require.True(t, ok)
	require.Equal(t, csv.TextReason{Line: 3, Value: "2024-01-01"}, reason)
	reason, ok = r.WhyText("b")
	require.True(t, ok)
	require.Equal(t, csv.TextReason{Line: 2, Value: "x", Quoted: true}, reason)
	require.NoError(t, r.Close())
}

// Only columns without values, whose type was not given, take another type, and only one that CSV has.
func TestSetType(t *testing.T) {
	given := arrow.NewSchema([]arrow.Field{{Name: "given", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	r, err := Open(context.Background(), writeText(t, "given,empty,full,twice,twice\n,,1,,\n,,,,\n"),
		ReadOptions{CSV: csv.Options{Schema: given}})
	require.NoError(t, err)
	defer r.Close()
	before := r.Schema()
	for _, name := range []string{"given", "full", "twice", "none"} {
		require.False(t, r.SetType(name, arrow.PrimitiveTypes.Int64), name)
	}
	require.False(t, r.SetType("empty", arrow.ListOf(arrow.PrimitiveTypes.Int64)))
	require.True(t, before.Equal(r.Schema()))
	require.True(t, r.SetType("empty", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.FixedWidthTypes.Date32}))
	table, err := r.Read(context.Background(), []string{"empty", "full"})
	require.NoError(t, err)
	defer table.Release()
	require.Equal(t, arrow.FixedWidthTypes.Date32, table.Schema().Field(0).Type)
	require.Equal(t, 2, table.Column(0).NullN())
	require.Equal(t, 1, table.Column(1).NullN())
}

func TestCSVEmptyTextFirst(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"", "x"}, nil)
	var out bytes.Buffer
	options := WriteOptions{Format: CSV, CSV: csv.Options{Header: csv.HeaderAbsent}, Stdout: &out}
	writeFile(t, "-", schema, []arrow.RecordBatch{b.NewRecordBatch()}, options)
	require.Equal(t, "\"\"\nx\n", out.String())
}

// A file of several blocks without a line feed is read, and one in which they end in the middle.
func TestOldLineEndsOfLargeFiles(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 3 * readBytes / 20
	var text strings.Builder
	text.WriteString("a,b\n")
	for row := range rows {
		end := "\r"
		if row < rows/3 {
			end = "\r\n"
		}
		fmt.Fprintf(&text, "%08d9,\"x\ry,zz\"%s", row, end)
	}
	path := writeText(t, text.String())
	readFile(t, path, []string{"b"}, ReadOptions{}, func(got arrow.Table) {
		require.EqualValues(t, rows, got.NumRows())
		for _, chunk := range got.Column(0).Data().Chunks() {
			for row := range chunk.Len() {
				require.Equal(t, "x\ry,zz", chunk.ValueStr(row))
			}
		}
	})
	require.NoError(t, os.WriteFile(path, []byte(text.String()+"1,2,3\r"), 0o600))
	_, err := Open(t.Context(), path, ReadOptions{})
	require.ErrorContains(t, err, fmt.Sprintf("line %d has 3 fields", 2+2*rows))
}

// FuzzCSV reads arbitrary bytes with arbitrary options: never a panic, errors
// of the right kind, nothing leaked; and what was read is written and read back
// the same.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,x\n2,\"y\"\n"), byte(','), "", false)
	f.Add([]byte("1;2.5\n;NA\n"), byte(';'), "NA", true)
	f.Add([]byte("\ufeffa\n\n\"\"\n"), byte(0), "", false)
	f.Add([]byte("a,b\r\n2024-01-01,2024-01-01T00:00:00Z\r\n"), byte(','), "-", false)
	f.Fuzz(func(t *testing.T, content []byte, delimiter byte, null string, headless bool) {
		opts := csv.Options{Delimiter: delimiter, Nulls: []string{null}}
		if headless {
			opts.Header = csv.HeaderAbsent
		}
		path := filepath.Join(t.TempDir(), "in.csv")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		r, err := Open(context.Background(), path, ReadOptions{Format: CSV, CSV: opts})
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		defer r.Close()
		first, err := r.Read(context.Background(), nil)
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		defer first.Release()
		require.Equal(t, r.Rows(), first.NumRows())

		again := filepath.Join(t.TempDir(), "out.csv")
		w, err := Create(again, first.Schema(), WriteOptions{CSV: opts})
		require.NoError(t, err)
		batches := array.NewTableReader(first, 3)
		defer batches.Release()
		for batches.Next() {
			require.NoError(t, w.Write(context.Background(), batches.RecordBatch()))
		}
		require.NoError(t, w.Commit(context.Background()))
		names := map[string]bool{}
		for _, field := range first.Schema().Fields() {
			names[field.Name] = true
		}
		if len(names) == first.Schema().NumFields() { // a schema has each name once
			opts.Schema = first.Schema()
		}
		readFile(t, again, nil, ReadOptions{Format: CSV, CSV: opts}, func(second arrow.Table) { tabletest.RequireSameTable(t, first, second) })
	})
}
