package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/tableio"
)

func TestJoinFormats(t *testing.T) {
	for _, extension := range []string{".parquet", ".csv", ".arrow", ".arrows", ".tsv"} {
		for _, to := range []string{".parquet", ".csv", ".arrow", ".arrows"} {
			dir, args := orders(t, extension)
			out := filepath.Join(dir, "out"+to)
			o := tested.Require(t, command.ExitDone, append(args, "-o", out)...)
			require.Empty(t, o.Stdout)
			require.Regexp(t,
				`^3 rows to .*out\`+to+
					` in \d+\.\d\d s \(read \d+\.\d\d, match \d+\.\d\d, output \d+\.\d\d\) by \S+ on .+ \(host\)\n$`,
				o.Stderr)
			names, rows := rowsOf(t, out, nil)
			require.Equal(t, []string{"id", "customer", "part", "id_right"}, names)
			require.Equal(t, joined, rows, "%s to %s", extension, to)
		}
	}
}

func TestJoinChoosesColumns(t *testing.T) {
	_, args := orders(t, ".parquet")
	names, rows := joinedBy(t, append(args, "--columns", "part,id2", "--columns", "customer", "--suffix", "2")...)
	require.Equal(t, []string{"part", "id2", "customer"}, names)
	require.Equal(t, sorted([]string{"nut|10|bob", "nail|12|bob", "bolt|11|dot"}), rows)
}

// A right column keeps its suffix when the left column of the same name is not asked for.
func TestJoinSuffixWithoutTheOtherColumn(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), texts("x", "p"), ints("k", 1), texts("name", "ann"))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), texts("name", "bob"), ints("k", 1))
	names, rows := joinedBy(t, "join", left, right, "--on", "k", "--device", "host", "--columns", "name_right")
	require.Equal(t, []string{"name_right"}, names)
	require.Equal(t, []string{"bob"}, rows)
}

// A table whose names already have suffixes joins with one whose names have none, on either side.
func TestJoinOfClashingNames(t *testing.T) {
	dir := t.TempDir()
	plain, clash := filepath.Join(dir, "l.csv"), filepath.Join(dir, "clash.csv")
	require.NoError(t, os.WriteFile(plain, []byte("k,name\n1,ann\n"), 0o666))
	require.NoError(t, os.WriteFile(clash, []byte("k,name,name_right\n1,bob,cid\n"), 0o666))
	for _, c := range []struct{ left, right, want string }{
		{plain, clash, "k,name,name_right_right,name_right\n1,ann,bob,cid\n"},
		{clash, plain, "k,name,name_right,name_right_right\n1,bob,cid,ann\n"},
	} {
		require.Equal(t, c.want, tested.Require(t, command.ExitDone, "join", c.left, c.right, "--on", "k", "--device", "host",
			"-q", "-o", "-", "--format", "csv").Stdout)
	}
}

// NULL is the empty field. It equals NULL where that is asked for, and decides NOT IN.
func TestJoinOfNulls(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	left := file("l.csv", "k,d,a\n1,2024-01-01,p\n,2024-01-02,q\n,,r\n4,,s\n")
	right := file("r.csv", "k,d,b\n,2024-01-02,t\n4,,u\n,,v\n")
	keys, none := file("keys.csv", "k\n1\n7\n"), file("none.csv", "k\n")
	run := func(code int, args ...string) string {
		o := tested.Require(t, code, append([]string{"join", "--device", "host", "-q", "--deterministic"}, args...)...)
		return o.Stdout + o.Stderr
	}
	rows := []string{left, right, "--columns", "a,b", "-o", "-", "--format", "csv"}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"a,b\n", []string{"--on", "k,d"}},
		{"a,b\nq,t\nr,v\ns,u\n", []string{"--on", "k,d", "--nulls-equal"}},
		{"a,b\nq,t\n", []string{"--on", "k,d", "--nulls-equal=k"}},
		{"a,b\ns,u\n", []string{"--on", "k", "--on", "d", "--nulls-equal=d"}},
		{"a,b\np,\nq,t\nq,v\nr,t\nr,v\ns,u\n", []string{"--on", "k", "--nulls-equal", "--how", "left"}},
	} {
		require.Equal(t, c.want, run(command.ExitDone, append(rows, c.args...)...), "%q", c.args)
	}
	require.Equal(t, "1\n", run(command.ExitDone, left, keys, "--on", "k", "--how", "not-in", "--count"))
	require.Equal(t, "0\n", run(command.ExitDone, keys, left, "--on", "k", "--how", "not-in", "--count"))
	require.Equal(t, "4\n", run(command.ExitDone, left, none, "--on", "k", "--how", "not-in", "--count"))
	for _, c := range [][]string{
		{`--nulls-equal names "b", which is not a left key column`, "--on", "k", "--nulls-equal=b"},
		{"a name is empty", "--on", "k", "--nulls-equal=k,,d"},
		{"--nulls-equal: a cross join has no keys", "--how", "cross", "--nulls-equal"},
		{"use anti with --nulls-equal", "--on", "k", "--how", "not-in", "--nulls-equal"},
		{"a not-in join takes one key column", "--on", "k,d", "--how", "not-in"},
	} {
		require.Contains(t, run(command.ExitUsage, append([]string{left, right, "--count"}, c[1:]...)...), c[0])
	}
}

func TestJoinOnSeveralColumns(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("a", 1, 1, 2), ints("b,c", 1, 2, 1),
		texts("x", "p", "q", "r"))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("a", 1, 2, 1), ints("d=e", 2, 1, 7),
		texts("y", "s", "t", "u"))
	for _, on := range [][]string{{"--on", `a,b\,c=d\=e`}, {"--on", "a", "--on", `b\,c=d\=e`},
		{"--on", `a,"b,c"="d=e"`}} {
		_, rows := joinedBy(t, append([]string{"join", left, right, "--device", "host", "--columns", "x,y"}, on...)...)
		require.Equal(t, []string{"q|s", "r|t"}, rows)
	}
}

func TestNamesWithBlanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.csv")
	require.NoError(t, os.WriteFile(path, []byte("a, b\n1, 2\n"), 0o666))
	args := []string{"join", path, path, "--device", "host", "--count", "--on"}
	require.Equal(t, "1\n", tested.Require(t, command.ExitDone, append(args, " b")...).Stdout)
	require.Contains(t, tested.Require(t, command.ExitUsage, append(args, "b")...).Stderr, `did you mean ' b'?`)
}

func TestJoinCSVOptions(t *testing.T) {
	dir := t.TempDir()
	left, right, out := filepath.Join(dir, "l.csv"), filepath.Join(dir, "r.txt"), filepath.Join(dir, "out.csv")
	require.NoError(t, os.WriteFile(left, []byte("1;x\n-;y\n3;z\n"), 0o666))
	require.NoError(t, os.WriteFile(right, []byte("3;u\n-;v\n"), 0o666))
	tested.Require(t, command.ExitDone, "join", left, right, "--on", "column_1", "--device", "host", "-o", out,
		"--csv-no-header", "--csv-delimiter", ";", "--csv-null", "-")
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "3;z;u\n", string(text))
}

// A key that is text because of one value is refused with the line of that value, and with what helps.
func TestJoinNamesTheValueThatMadeAKeyText(t *testing.T) {
	dir := t.TempDir()
	left, right, out := filepath.Join(dir, "l.csv"), filepath.Join(dir, "r.csv"), filepath.Join(dir, "out.csv")
	require.NoError(t, os.WriteFile(left, []byte("k,x\n1,a\n2,\"b\nb\"\nn/a,c\n3,d\nnone,e\n"), 0o666))
	require.NoError(t, os.WriteFile(right, []byte("k,y\n3,u\n"), 0o666))
	args := []string{"join", left, right, "--on", "k", "--device", "host", "-o", out}
	refused := tested.Require(t, command.ExitNoDevice, args...).Stderr
	require.Contains(t, refused,
		`column "k" of `+left+` is text because of line 5: "n/a"; --csv-null n/a reads it as NULL`)
	require.Contains(t, tested.Require(t, command.ExitNoDevice, append(args, "--how", "full")...).Stderr,
		"is text because of line 5")
	refused = tested.Require(t, command.ExitNoDevice, append(args, "--csv-null", "n/a")...).Stderr
	require.Contains(t, refused, `line 7: "none"; --csv-null none`)
	tested.Require(t, command.ExitDone, append(args, "--csv-null", "n/a", "--csv-null", "none")...)

	require.NoError(t, os.WriteFile(left, []byte("k,x\n1,a\n\"2 b\",c\n"), 0o666))
	refused = tested.Require(t, command.ExitNoDevice, args...).Stderr
	require.Contains(t, refused, `is text because of line 3: "2 b"`)
	require.NotContains(t, refused, "--csv-null", "a quoted text is never NULL")
	require.NoError(t, os.WriteFile(left, []byte("k,x\n1,a\n0001,c\n"), 0o666))
	refused = tested.Require(t, command.ExitNoDevice, args...).Stderr
	require.Contains(t, refused, `is text because of line 3: "0001"`)
	require.NotContains(t, refused, "--csv-null", "a number with zeros is a value")
	require.Equal(t, `'it'\''s'`, shellWord("it's"))
	require.Equal(t, "'a b'", shellWord("a b"))
}

func TestGroupByNamesTheValueThatMadeAColumnText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.csv")
	require.NoError(t, os.WriteFile(path, []byte("k,x\na,1\nb,NA\n"), 0o666))
	refused := tested.Require(t, command.ExitNoDevice, "groupby", path, "--by", "k", "--agg", "count,sum:x", "-o",
		filepath.Join(t.TempDir(), "out.csv"), "--device", "host").Stderr
	require.Contains(t, refused, `column "x" of `+path+` is text because of line 3: "NA"; --csv-null NA reads it as NULL`)
}

func TestJoinCount(t *testing.T) {
	_, args := orders(t, ".parquet")
	o := tested.Require(t, command.ExitDone, append(args, "--count")...)
	require.Equal(t, "3\n", o.Stdout)
	require.Regexp(t, `^3 rows in .* on .+ \(host\)\n$`, o.Stderr)
	require.Empty(t, tested.Require(t, command.ExitDone, append(args, "--count", "--quiet")...).Stderr)
}

func TestJoinThroughPipes(t *testing.T) {
	dir, args := orders(t, ".arrows")
	left, err := os.ReadFile(filepath.Join(dir, "orders.arrows"))
	require.NoError(t, err)
	pipe, writer := io.Pipe()
	go func() {
		_, err := writer.Write(left)
		writer.CloseWithError(err)
	}()
	o := tested.Run(t.Context(), pipe, append([]string{"join", "-"}, append(args[2:], "-o", "-", "-q")...)...)
	require.Equal(t, command.ExitDone, o.Code, o.Stderr)
	_, rows := rowsOf(t, "-", strings.NewReader(o.Stdout))
	require.Equal(t, joined, rows)

	o = tested.Run(t.Context(), strings.NewReader("id,customer\n2,bob\n"),
		append([]string{"join", "-"}, append(args[2:], "-o", "-", "-q", "--left-format", "csv", "--format", "csv",
			"--columns", "customer,part")...)...)
	require.Equal(t, command.ExitDone, o.Code, o.Stderr)
	require.Equal(t, []string{"bob,nail", "bob,nut", "customer,part"}, sorted(strings.Fields(o.Stdout)))

	o = tested.Run(t.Context(), strings.NewReader("id,customer\n"),
		append([]string{"join", "-"}, append(args[2:], "--count")...)...)
	require.Equal(t, command.ExitInputOutput, o.Code)
	require.Equal(t,
		"spirjoin: open standard input: unknown format: the content is neither Arrow IPC nor Parquet; name the format to read CSV: --left-format\n", o.Stderr)
}

func TestJoinEmptyTables(t *testing.T) {
	dir := t.TempDir()
	empty := tableFile(t, filepath.Join(dir, "empty.parquet"), ints("k"), texts("x"))
	full := tableFile(t, filepath.Join(dir, "full.parquet"), ints("k", 1, 2), texts("y", "a", "b"))
	for i, pair := range [][2]string{{empty, full}, {full, empty}, {empty, empty}} {
		args := []string{"join", pair[0], pair[1], "--on", "k", "--device", "host"}
		names, rows := joinedBy(t, append(args, "--suffix", "_r")...)
		require.Len(t, names, 3, i)
		require.Empty(t, rows)
		require.Equal(t, "0\n", tested.Require(t, command.ExitDone, append(args, "--count")...).Stdout)
	}
}

// A CSV file with only a header, or without a value in the key, has columns of text, but a key of the type of the other
// one; its keys match nothing.
func TestJoinCSVWithoutValues(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	header, nulls := write("header.csv", "k,x\n"), write("nulls.csv", "k,x\n,\n")
	letters := tableFile(t, filepath.Join(dir, "letters.parquet"), texts("k", "a", "b"), ints("y", 5, 6))
	for _, c := range []struct {
		full string
		rows []string
		key  arrow.DataType
	}{
		{write("numbers.csv", "k,y\n1,5\n2,6\n"), []string{"1|(null)|5", "2|(null)|6"}, arrow.PrimitiveTypes.Int64},
		{write("dates.csv", "k,y\n2024-01-01,5\n"), []string{"2024-01-01|(null)|5"}, arrow.FixedWidthTypes.Date32},
		{letters, []string{"a|(null)|5", "b|(null)|6"}, arrow.BinaryTypes.String},
	} {
		for _, how := range []string{"inner", "left", "right", "full", "semi", "anti"} {
			for _, empty := range []string{header, nulls} {
				var want []string
				if empty == nulls {
					want = append(want, map[string][]string{"left": {"(null)|(null)|(null)"}, "full": {"(null)|(null)|(null)"},
						"anti": {"(null)|(null)"}}[how]...)
				}
				if how == "right" || how == "full" {
					want = append(want, c.rows...)
				}
				out := filepath.Join(t.TempDir(), "out.parquet")
				tested.Require(t, command.ExitDone, "join", empty, c.full, "--on", "k", "--device", "host", "--how", how, "-o", out)
				_, rows := rowsOf(t, out, nil)
				require.Equal(t, want, rows, "%s, %s and %s", how, empty, c.full)
				r, err := tableio.Open(t.Context(), out, tableio.ReadOptions{})
				require.NoError(t, err)
				for i, dt := range []arrow.DataType{c.key, arrow.BinaryTypes.String} {
					require.True(t, arrow.TypeEqual(dt, r.Schema().Field(i).Type), "%s: %s", how, r.Schema())
				}
				require.NoError(t, r.Close())
			}
		}
	}
}

// The writer of Parquet holds a row group in memory, so that a limit of memory must make them smaller.
func TestJoinMemoryLimitBoundsRowGroups(t *testing.T) {
	dir := t.TempDir()
	keys := make([]int64, 600_000)
	for i := range keys {
		keys[i] = int64(i)
	}
	table := tableFile(t, filepath.Join(dir, "t.parquet"), ints("k", keys...))
	out := filepath.Join(dir, "out.parquet")
	for limit, groups := range map[string]int{"64MiB": 10, "4GiB": 5} { // of half a mebibyte, and of 131072 rows
		tested.Require(t, command.ExitDone, "join", table, table, "--on", "k", "--device", "host", "-o", out,
			"--memory-limit", limit)
		f, err := file.OpenParquetFile(out, false)
		require.NoError(t, err)
		require.EqualValues(t, len(keys), f.NumRows())
		require.Equal(t, groups, f.NumRowGroups(), limit)
		require.NoError(t, f.Close())
	}
}
