package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/tableio"
)

// The files of tableio and of DuckDB, read by the other: types x nulls x distinct values x compression x row groups.
// A table has all types in columns called type/nulls/values, so that few files cover the product.

const matrixRows = 5000

// values is how the values of a column repeat: it gives the number from which the value of a row is made.
var values = map[string]struct {
	of  func(row int) int
	sql string
}{
	"few":  {func(row int) int { return row * 7919 % 5 }, "i * 7919 % 5"},
	"many": {func(row int) int { return row }, "i"},
	"runs": {func(row int) int { return row / 500 % 5 }, "i // 500 % 5"},
}

// nulls says which rows are null.
var nulls = map[string]struct {
	is  func(row int) bool
	sql string
}{
	"none": {func(int) bool { return false }, "false"},
	"some": {func(row int) bool { return row%7 == 3 || row/300%4 == 2 }, "i % 7 = 3 OR i // 300 % 4 = 2"},
	"all":  {func(int) bool { return true }, "true"},
}

// matrixColumn is one point of types x nulls x values.
type matrixColumn struct{ typ, nulls, values string }

func (c matrixColumn) name() string { return c.typ + "/" + c.nulls + "/" + c.values }

func matrixColumns(types []string) (columns []matrixColumn) {
	for _, typ := range types {
		for _, v := range slices.Sorted(maps.Keys(values)) {
			columns = append(columns, matrixColumn{typ, "none", v}, matrixColumn{typ, "some", v})
		}
		columns = append(columns, matrixColumn{typ, "all", "few"})
	}
	return columns
}

// ordered is a session that keeps the order of rows and knows the time zone.
func ordered(t *testing.T) *session {
	t.Helper()
	s, err := openSession(t.Context(), limits{threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	require.NoError(t, s.exec(t.Context(), "SET preserve_insertion_order = true; SET TimeZone = 'UTC'"))
	return s
}

// texts reads all rows of a table or a file as texts by column.
func (s *session) texts(ctx context.Context, from string) (map[string][]string, error) {
	columns, err := s.describe(ctx, from)
	if err != nil {
		return nil, err
	}
	expressions := make([]string, len(columns))
	for i, c := range columns {
		expressions[i] = exactly(c)
	}
	rows, err := s.conn.QueryContext(ctx, "SELECT "+strings.Join(expressions, ", ")+" FROM "+from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range into {
		into[i] = &found[i]
	}
	texts := make([][]string, len(columns))
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, c := range columns {
			texts[i] = append(texts[i], duckText(found[i], c.typ))
		}
	}
	byName := map[string][]string{}
	for i, c := range columns {
		byName[c.name] = texts[i]
	}
	return byName, rows.Err()
}

// types are the columns of a table or a file by name.
func (s *session) types(ctx context.Context, from string) (map[string]string, error) {
	columns, err := s.describe(ctx, from)
	byName := map[string]string{}
	for _, c := range columns {
		byName[c.name] = c.typ
	}
	return byName, err
}

// requireTexts compares a column row by row; it names the first that differs.
func requireTexts(t *testing.T, where string, want, got []string) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d rows, want %d", where, len(got), len(want))
		return
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s: row %d is %q, want %q", where, i, got[i], want[i])
			return
		}
	}
}

// The comparison must see a changed value, a lost null and another order.
func TestTextsSeeFaults(t *testing.T) {
	s := ordered(t)
	of := func(rows string) []string {
		texts, err := s.texts(t.Context(), "(SELECT * FROM (VALUES "+rows+") t(a))")
		require.NoError(t, err)
		return texts["a"]
	}
	right := of("(1.50), (NULL), (2.25)")
	require.Equal(t, []string{"150e-2", null, "225e-2"}, right)
	for _, wrong := range []string{"(1.50), (NULL), (2.26)", "(1.50), (0.00), (2.25)", "(NULL), (1.50), (2.25)"} {
		require.NotEqual(t, right, of(wrong))
	}
}

func TestFilesOfTableioInDuckDB(t *testing.T) {
	schema, batch := arrowMatrix(t)
	defer batch.Release()
	want := make([][]string, schema.NumFields())
	for i := range want {
		column := arrow.NewColumn(schema.Field(i), arrow.NewChunked(schema.Field(i).Type, []arrow.Array{batch.Column(i)}))
		want[i] = columnTexts(column)
	}
	s, dir := ordered(t), t.TempDir()
	compressions, sizes := []string{"", "snappy", "zstd", "lz4", "none"}, []int64{0, 2048, 700}
	for _, c := range devicetest.Product(t, len(compressions), len(sizes)) {
		compression, groupRows := compressions[c[0]], sizes[c[1]]
		name := fmt.Sprintf("compression=%s/rows=%d", compression, groupRows)
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "ours.parquet")
			options := tableio.WriteOptions{Compression: compression, RowGroupRows: groupRows}
			w, err := tableio.Create(path, schema, options)
			require.NoError(t, err)
			defer w.Abort()
			for start := int64(0); start < matrixRows; start += 1700 { // borders of batches and row groups differ
				part := batch.NewSlice(start, min(start+1700, matrixRows))
				require.NoError(t, w.Write(context.Background(), part))
				part.Release()
			}
			require.NoError(t, w.Commit(context.Background()))

			var groups, codecs int
			var codec string
			require.NoError(t, s.one(t.Context(), "SELECT count(DISTINCT row_group_id), count(DISTINCT compression), "+
				"min(compression) FROM parquet_metadata("+quoteText(path)+")", &groups, &codecs, &codec))
			require.Equal(t, 1, codecs)
			require.Equal(t, map[string]string{"": "SNAPPY", "snappy": "SNAPPY", "zstd": "ZSTD", "lz4": "LZ4_RAW",
				"none": "UNCOMPRESSED"}[compression], codec)
			if groupRows > 0 {
				require.Equal(t, (matrixRows+int(groupRows)-1)/int(groupRows), groups)
			}
			types, err := s.types(t.Context(), file(path))
			require.NoError(t, err)
			got, err := s.texts(t.Context(), file(path))
			require.NoError(t, err)
			require.Len(t, got, len(want))
			for i, field := range schema.Fields() {
				typ, _, _ := strings.Cut(field.Name, "/")
				if types[field.Name] != arrowTypes[typ].duck {
					t.Errorf("%s: type %s, want %s", field.Name, types[field.Name], arrowTypes[typ].duck)
				}
				requireTexts(t, field.Name, want[i], got[field.Name])
			}
			if compression == "" {
				requireStatistics(t, s, path)
			}
		})
	}
}

// requireStatistics looks for values of every type by the statistics of the row groups, which must lose no row.
func requireStatistics(t *testing.T, s *session, path string) {
	t.Helper()
	for typ := range arrowTypes {
		name := quoteName(matrixColumn{typ, "some", "many"}.name())
		for _, row := range []int{1, 2, 4, 1234, 4500} { // the edges of integers, and others that are not null
			require.NoError(t, s.exec(t.Context(), fmt.Sprintf("SET VARIABLE v = (SELECT %s FROM %s OFFSET %d LIMIT 1)",
				name, file(path), row)))
			var pushed, all int64 // the random column keeps the second filter from the file
			require.NoError(t, s.one(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE %s = getvariable('v')",
				file(path), name), &pushed))
			require.NoError(t, s.one(t.Context(), fmt.Sprintf("SELECT count(*) FROM (SELECT %s AS v, random() AS r FROM %s "+
				"ORDER BY r) WHERE v = getvariable('v')", name, file(path)), &all))
			require.Positive(t, all, "%s, row %d", typ, row)
			require.Equal(t, all, pushed, "%s, row %d", typ, row)
		}
	}
}

func TestFilesOfDuckDBInTableio(t *testing.T) {
	s, dir := ordered(t), t.TempDir()
	columns := matrixColumns(slices.Sorted(maps.Keys(duckTypes)))
	require.NoError(t, s.exec(t.Context(), "CREATE TABLE t AS SELECT "+duckMatrix(columns)+
		fmt.Sprintf(" FROM range(%d) r(i)", matrixRows)))
	want, err := s.texts(t.Context(), "(SELECT "+readBack(columns)+" FROM t)")
	require.NoError(t, err)

	encodings := map[string]bool{}
	for _, compression := range []string{"snappy", "zstd", "lz4", "gzip", "brotli", "uncompressed"} {
		rows := matrixRows
		if compression == "brotli" { // takes DuckDB a millisecond a page
			rows = 500
		}
		for v, version := range []string{"V1", "V2"} {
			for g, groupRows := range []int{2048, 122880} {
				if !devicetest.Turn(v+g, 2) {
					continue
				}
				name := fmt.Sprintf("compression=%s/version=%s/rows=%d", compression, version, groupRows)
				t.Run(name, func(t *testing.T) {
					path := filepath.Join(dir, "theirs.parquet")
					require.NoError(t, s.exec(t.Context(), fmt.Sprintf(
						"COPY (FROM t LIMIT %d) TO %s (FORMAT parquet, COMPRESSION %s, PARQUET_VERSION %s, ROW_GROUP_SIZE %d)",
						rows, quoteText(path), compression, version, groupRows)))
					require.NoError(t, s.encodings(t.Context(), path, encodings))
					requireReads(t, path, columns, want, rows)
					requireUnchangedTypes(t, s, path, columns)
				})
			}
		}
	}
	for _, encoding := range []string{"PLAIN", "RLE_DICTIONARY", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY",
		"BYTE_STREAM_SPLIT"} {
		require.True(t, encodings[encoding], "no file has %s; there are %v", encoding, encodings)
	}
}

// encodings adds those that a file has.
func (s *session) encodings(ctx context.Context, path string, to map[string]bool) error {
	var lists string
	err := s.one(ctx, "SELECT string_agg(DISTINCT encodings, ',') FROM parquet_metadata("+quoteText(path)+")", &lists)
	for encoding := range strings.SplitSeq(lists, ",") {
		to[strings.TrimSpace(encoding)] = true
	}
	return err
}

// readColumns reads columns of a file into texts.
func readColumns(ctx context.Context, path string, names []string) (table arrow.Table, err error) {
	r, err := tableio.Open(ctx, path, tableio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Read(ctx, names)
}

// requireReads reads the columns of each type and compares them with the first rows of want. Columns of refused types
// must be refused by name, and only when they are asked for.
func requireReads(t *testing.T, path string, columns []matrixColumn, want map[string][]string, rows int) {
	t.Helper()
	byType := map[string][]string{}
	for _, c := range columns {
		byType[c.typ] = append(byType[c.typ], c.name())
	}
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		names := byType[typ]
		if duckTypes[typ].refused {
			requireRefused(t, path, names)
			continue
		}
		table, err := readColumns(t.Context(), path, names)
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		for i, name := range names {
			requireTexts(t, name, want[name][:rows], columnTexts(table.Column(i)))
		}
		table.Release()
	}
}

func requireRefused(t *testing.T, path string, names []string) {
	t.Helper()
	for _, name := range names {
		table, err := readColumns(t.Context(), path, []string{name})
		if err == nil {
			t.Errorf("%s is read as %s, should be refused", name, table.Schema().Field(0).Type)
			table.Release()
			continue
		}
		require.ErrorIs(t, err, tableio.ErrInput)
		require.ErrorContains(t, err, fmt.Sprintf("column %q", name))
	}
}

// requireUnchangedTypes reads one column of each type and writes it again: DuckDB must see the type that it wrote.
func requireUnchangedTypes(t *testing.T, s *session, path string, columns []matrixColumn) {
	t.Helper()
	var names []string
	again := map[string]string{} // types that change
	for _, c := range columns {
		if c.nulls == "some" && c.values == "few" && !duckTypes[c.typ].refused {
			names = append(names, c.name())
			again[c.name()] = duckTypes[c.typ].again
		}
	}
	table, err := readColumns(t.Context(), path, names)
	require.NoError(t, err)
	defer table.Release()
	rewritten := path + ".again.parquet"
	require.NoError(t, writeTable(rewritten, table))
	before, err := s.types(t.Context(), file(path))
	require.NoError(t, err)
	after, err := s.types(t.Context(), file(rewritten))
	require.NoError(t, err)
	for _, name := range names {
		if want := cmp.Or(again[name], before[name]); after[name] != want {
			t.Errorf("%s: written again as %s, should be %s", name, after[name], want)
		}
	}
}
