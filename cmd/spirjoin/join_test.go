package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/golden"
)

func sorted(rows []string) []string {
	slices.Sort(rows)
	return rows
}

// requireFiles expects exactly these files in a folder: no output and no temporary file is left.
func requireFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	slices.Sort(names)
	require.Equal(t, names, found)
}

// orders writes two small tables into a new folder and returns it and the arguments that join them on the host.
func orders(t *testing.T, extension string) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	left := tableFile(t, filepath.Join(dir, "orders"+extension), ints("id", 1, 2, 3, 4),
		texts("customer", "ann", "bob", "cid", "dot"))
	right := tableFile(t, filepath.Join(dir, "items"+extension), ints("order_id", 2, 4, 2, 5),
		texts("part", "nut", "bolt", "nail", "cog"), ints("id", 10, 11, 12, 13))
	return dir, []string{"join", left, right, "--on", "id=order_id", "--device", "host"}
}

var joined = []string{"2|bob|nail|12", "2|bob|nut|10", "4|dot|bolt|11"}

func TestJoinFormats(t *testing.T) {
	for _, extension := range []string{".parquet", ".csv", ".arrow", ".arrows", ".tsv"} {
		for _, to := range []string{".parquet", ".csv", ".arrow", ".arrows"} {
			dir, args := orders(t, extension)
			out := filepath.Join(dir, "out"+to)
			o := runProgram(t, exitDone, append(args, "-o", out)...)
			require.Empty(t, o.stdout)
			require.Regexp(t,
				`^3 rows to .*out\`+to+
					` in \d+\.\d\d s \(read \d+\.\d\d, match \d+\.\d\d, output \d+\.\d\d\) by \S+ on .+ \(host\)\n$`,
				o.stderr)
			names, rows := rowsOf(t, out, nil)
			require.Equal(t, []string{"id", "customer", "part", "id_right"}, names)
			require.Equal(t, joined, rows, "%s to %s", extension, to)
		}
	}
}

func TestJoinChoosesColumns(t *testing.T) {
	dir, args := orders(t, ".parquet")
	out := filepath.Join(dir, "out.parquet")
	runProgram(t, exitDone,
		append(args, "-o", out, "--columns", "part,id2", "--columns", "customer", "--suffix", "2")...)
	names, rows := rowsOf(t, out, nil)
	require.Equal(t, []string{"part", "id2", "customer"}, names)
	require.Equal(t, sorted([]string{"nut|10|bob", "nail|12|bob", "bolt|11|dot"}), rows)
}

// A right column keeps its suffix when the left column of the same name is not asked for.
func TestJoinSuffixWithoutTheOtherColumn(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), texts("x", "p"), ints("k", 1), texts("name", "ann"))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), texts("name", "bob"), ints("k", 1))
	out := filepath.Join(dir, "out.parquet")
	runProgram(t, exitDone, "join", left, right, "--on", "k", "--device", "host", "-o", out, "--columns", "name_right")
	names, rows := rowsOf(t, out, nil)
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
		require.Equal(t, c.want, runProgram(t, exitDone, "join", c.left, c.right, "--on", "k", "--device", "host", "-q",
			"-o", "-", "--format", "csv").stdout)
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
		o := runProgram(t, code, append([]string{"join", "--device", "host", "-q", "--deterministic"}, args...)...)
		return o.stdout + o.stderr
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
		require.Equal(t, c.want, run(exitDone, append(rows, c.args...)...), "%q", c.args)
	}
	require.Equal(t, "1\n", run(exitDone, left, keys, "--on", "k", "--how", "not-in", "--count"))
	require.Equal(t, "0\n", run(exitDone, keys, left, "--on", "k", "--how", "not-in", "--count"))
	require.Equal(t, "4\n", run(exitDone, left, none, "--on", "k", "--how", "not-in", "--count"))
	for _, c := range [][]string{
		{`nulls_equal names "b", which is no left key column`, "--on", "k", "--nulls-equal=b"},
		{"a name is empty", "--on", "k", "--nulls-equal=k,,d"},
		{"--nulls-equal: a cross join has no keys", "--how", "cross", "--nulls-equal"},
		{"use anti with nulls_equal", "--on", "k", "--how", "not-in", "--nulls-equal"},
		{"a not-in join takes one key column", "--on", "k,d", "--how", "not-in"},
	} {
		require.Contains(t, run(exitUsage, append([]string{left, right, "--count"}, c[1:]...)...), c[0])
	}
}

func TestJoinOnSeveralColumns(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("a", 1, 1, 2), ints("b,c", 1, 2, 1),
		texts("x", "p", "q", "r"))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("a", 1, 2, 1), ints("d=e", 2, 1, 7),
		texts("y", "s", "t", "u"))
	out := filepath.Join(dir, "out.arrow")
	for _, on := range [][]string{{"--on", `a,b\,c=d\=e`}, {"--on", "a", "--on", `b\,c=d\=e`}} {
		runProgram(t, exitDone,
			append([]string{"join", left, right, "--device", "host", "-o", out, "--columns", "x,y"}, on...)...)
		_, rows := rowsOf(t, out, nil)
		require.Equal(t, []string{"q|s", "r|t"}, rows)
	}
}

func TestJoinCSVOptions(t *testing.T) {
	dir := t.TempDir()
	left, right, out := filepath.Join(dir, "l.csv"), filepath.Join(dir, "r.txt"), filepath.Join(dir, "out.csv")
	require.NoError(t, os.WriteFile(left, []byte("1;x\n-;y\n3;z\n"), 0o666))
	require.NoError(t, os.WriteFile(right, []byte("3;u\n-;v\n"), 0o666))
	runProgram(t, exitDone, "join", left, right, "--on", "column_1", "--device", "host", "-o", out, "--csv-no-header",
		"--csv-delimiter", ";", "--csv-null", "-")
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
	refused := runProgram(t, exitNoDevice, args...).stderr
	require.Contains(t, refused,
		`column "k" of `+left+` is text because of line 5: "n/a"; --csv-null n/a reads it as NULL`)
	refused = runProgram(t, exitNoDevice, append(args, "--csv-null", "n/a")...).stderr
	require.Contains(t, refused, `line 7: "none"; --csv-null none`)
	runProgram(t, exitDone, append(args, "--csv-null", "n/a", "--csv-null", "none")...)

	require.NoError(t, os.WriteFile(left, []byte("k,x\n1,a\n\"2 b\",c\n"), 0o666))
	refused = runProgram(t, exitNoDevice, args...).stderr
	require.Contains(t, refused, `is text because of line 3: "2 b"`)
	require.NotContains(t, refused, "--csv-null", "a quoted text is never NULL")
	require.Equal(t, `'it'\''s'`, shellWord("it's"))
	require.Equal(t, "'a b'", shellWord("a b"))
}

func TestJoinCount(t *testing.T) {
	_, args := orders(t, ".parquet")
	o := runProgram(t, exitDone, append(args, "--count")...)
	require.Equal(t, "3\n", o.stdout)
	require.Regexp(t, `^3 rows in .* on .+ \(host\)\n$`, o.stderr)
	require.Empty(t, runProgram(t, exitDone, append(args, "--count", "--quiet")...).stderr)
}

func TestJoinStats(t *testing.T) {
	dir, args := orders(t, ".parquet")
	out := filepath.Join(dir, "out.parquet")
	read := func(text string) map[string]any {
		var stats map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &stats), text)
		return stats
	}
	o := runProgram(t, exitDone, append(args, "-o", out, "--stats", "json")...)
	require.Empty(t, o.stderr)
	stats := read(o.stdout)
	require.Equal(t, 3.0, stats["output_rows"])
	require.Equal(t, 4.0, stats["left_rows"])
	require.Equal(t, "host", stats["backend"])
	require.Equal(t, "host:cpu", stats["device_id"])
	require.Equal(t, out, stats["output"])
	for _, name := range []string{"read_seconds", "match_seconds", "output_seconds", "write_seconds", "wall_seconds"} {
		require.Positive(t, stats[name], name)
	}
	require.Equal(t, 3.0, read(runProgram(t, exitDone,
		append(args, "--count", "--stats", "json")...).stdout)["output_rows"], "in place of the number")

	require.NotEmpty(t, stats["algorithm"])
	require.Greater(t, len(stats["alternatives"].([]any)), 6)
	for _, name := range []string{"phj-om", "phj-um", "hj", "smj-om", "smj-um"} {
		stats := read(runProgram(t, exitDone, append(args, "-o", out, "--stats", "json", "--algo", name)...).stdout)
		require.Equal(t, name, stats["algorithm"])
		require.Equal(t, 3.0, stats["output_rows"])
		require.NotContains(t, stats, "fallback")
	}
	o = runProgram(t, exitDone, append(args, "-o", out, "--stats", "text", "--algo", "phj-om")...)
	require.Contains(t, o.stdout, "algorithm    phj-om")
	require.Regexp(t, `\n  match +[0-9.]+ [um]?s predicted, +[0-9.]+ [um]?s measured\n`, o.stdout)
	require.Contains(t, o.stderr, " by phj-om on ")

	o = runProgram(t, exitDone, append(args, "-o", "-", "--stats", "json")...)
	require.Equal(t, 3.0, read(o.stderr)["output_rows"], "standard output carries the table")
	_, rows := rowsOf(t, "-", strings.NewReader(o.stdout))
	require.Equal(t, joined, rows)
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
	o := program(t.Context(), pipe, append([]string{"join", "-"}, append(args[2:], "-o", "-", "-q")...)...)
	require.Equal(t, exitDone, o.code, o.stderr)
	_, rows := rowsOf(t, "-", strings.NewReader(o.stdout))
	require.Equal(t, joined, rows)

	o = program(t.Context(), strings.NewReader("id,customer\n2,bob\n"),
		append([]string{"join", "-"}, append(args[2:], "-o", "-", "-q", "--left-format", "csv", "--format", "csv",
			"--columns", "customer,part")...)...)
	require.Equal(t, exitDone, o.code, o.stderr)
	require.Equal(t, []string{"bob,nail", "bob,nut", "customer,part"}, sorted(strings.Fields(o.stdout)))

	o = program(t.Context(), strings.NewReader("id,customer\n"),
		append([]string{"join", "-"}, append(args[2:], "--count")...)...)
	require.Equal(t, exitInputOutput, o.code)
	require.Equal(t,
		"spirjoin: open standard input: unknown format: the content is neither Arrow IPC nor Parquet; name the format to read CSV: --left-format\n", o.stderr)
}

func TestJoinEmptyTables(t *testing.T) {
	dir := t.TempDir()
	empty := tableFile(t, filepath.Join(dir, "empty.parquet"), ints("k"), texts("x"))
	full := tableFile(t, filepath.Join(dir, "full.parquet"), ints("k", 1, 2), texts("y", "a", "b"))
	for i, pair := range [][2]string{{empty, full}, {full, empty}, {empty, empty}} {
		out := filepath.Join(dir, "out.parquet")
		suffix := []string{"--suffix", "_r"}
		runProgram(t, exitDone,
			append([]string{"join", pair[0], pair[1], "--on", "k", "--device", "host", "-o", out}, suffix...)...)
		names, rows := rowsOf(t, out, nil)
		require.Len(t, names, 3, i)
		require.Empty(t, rows)
		require.Equal(t, "0\n",
			runProgram(t, exitDone, "join", pair[0], pair[1], "--on", "k", "--device", "host", "--count").stdout)
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
		runProgram(t, exitDone, "join", table, table, "--on", "k", "--device", "host", "-o", out, "--memory-limit",
			limit)
		f, err := file.OpenParquetFile(out, false)
		require.NoError(t, err)
		require.EqualValues(t, len(keys), f.NumRows())
		require.Equal(t, groups, f.NumRowGroups(), limit)
		require.NoError(t, f.Close())
	}
}

func TestJoinExplain(t *testing.T) {
	dir, args := orders(t, ".parquet")
	args = append(args, "--batch-rows", "1Mi")
	o := runProgram(t, exitDone, append(args, "--explain", "-o", filepath.Join(dir, "out.parquet"))...)
	requireFiles(t, dir, "orders.parquet", "items.parquet")
	require.Empty(t, o.stderr)
	golden.Require(t, "explain.txt", plain(o.stdout))
	golden.Require(t, "explain-count.txt",
		plain(runProgram(t, exitDone, append(args, "--explain", "--count")...).stdout))
}

// plain leaves out of an explanation what differs from machine to machine or follows from rates.
func plain(explanation string) string {
	text := regexp.MustCompile(`(?m)^(device +).* \(host, host\)$`).ReplaceAllString(explanation,
		"${1}DEVICE (host, host)")
	return regexp.MustCompile(`[0-9.]+ [um]?s\b`).ReplaceAllString(text, "TIME")
}

func TestJoinFailures(t *testing.T) {
	dir, args := orders(t, ".parquet")
	left, right := args[1], args[2]
	corrupt, empty, words := filepath.Join(dir, "corrupt.parquet"), filepath.Join(dir, "empty.parquet"),
		filepath.Join(dir, "words.parquet")
	content, err := os.ReadFile(left)
	require.NoError(t, err)
	content[len(content)/2] ^= 0xff
	require.NoError(t, os.WriteFile(corrupt, append(content[:len(content)-20], "garbage at the end.."...), 0o666))
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	tableFile(t, words, texts("id", "one", "two"))
	files := []string{"orders.parquet", "items.parquet", "corrupt.parquet", "empty.parquet", "words.parquet"}
	out := filepath.Join(dir, "out.parquet")
	for _, c := range []struct {
		name string
		code int
		args []string
		want string
	}{
		{"missing file", exitInputOutput, []string{filepath.Join(dir, "none.parquet"), right, "--on", "id"},
			"none.parquet: no such file or directory"},
		{"folder", exitInputOutput, []string{dir, right, "--on", "id"}, "this is a directory"},
		{"corrupt file", exitInputOutput, []string{corrupt, right, "--on", "id"}, "corrupt.parquet: "},
		{"empty file", exitInputOutput, []string{empty, right, "--on", "id"}, "the file is empty"},
		{"no format", exitInputOutput, []string{left, os.DevNull, "--on", "id"},
			"unknown format: neither content nor extension tells it; name one of parquet, csv, arrow, arrow-stream: --right-format"},
		{"wrong format", exitInputOutput, []string{left, right, "--on", "id", "--left-format", "arrow"},
			"orders.parquet: "},
		{"unknown key", exitUsage, []string{left, right, "--on", "id=order_idd"},
			`the right table has no column "order_idd"; did you mean "order_id"?`},
		{"unknown column", exitUsage, []string{left, right, "--on", "id=order_id", "--columns", "custmer"},
			`no column "custmer"; did you mean "customer"?`},
		{"incompatible keys", exitNoDevice, []string{left, words, "--on", "id"}, `key column "id"`},
		{"unknown device", exitNoDevice, []string{left, right, "--on", "id", "--device", "abacus"},
			`nothing fits "abacus"; devices here: `},
		{"too many rows", exitLimit, []string{left, right, "--on", "id=order_id", "--max-output-rows", "2"},
			"3 rows, --max-output-rows allows 2"},
		{"too little device memory", exitLimit, []string{left, right, "--on", "id=order_id", "--device-memory", "1KiB"},
			"raise --device-memory to at least "},
		{"too little host memory", exitLimit, []string{left, right, "--on", "id=order_id", "--memory-limit", "16B"},
			"raise --memory-limit"},
		{"too little host memory for the plan", exitLimit,
			[]string{left, right, "--on", "id=order_id", "--memory-limit", "1MiB"}, "raise --memory-limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := append([]string{"join"}, c.args...)
			if !slices.Contains(full, "--device") {
				full = append(full, "--device", "host")
			}
			o := runProgram(t, c.code, append(full, "-o", out)...)
			require.Contains(t, o.stderr, c.want)
			require.Empty(t, o.stdout)
			requireFiles(t, dir, files...)
		})
	}
}

func TestJoinUnwritableOutput(t *testing.T) {
	dir, args := orders(t, ".parquet")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.parquet"), 0o777))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	for out, want := range map[string]string{
		filepath.Join(dir, "none", "out.parquet"): "the directory must be writable: no such file or directory",
		filepath.Join(dir, "folder.parquet"):      "this is a directory",
		filepath.Join(dir, "folder"):              "folder: this is a directory; name a file in it",
	} {
		require.Contains(t, runProgram(t, exitInputOutput, append(args, "-o", out)...).stderr, want)
	}
	require.Contains(t, runProgram(t, exitUsage, append(args, "-o", filepath.Join(dir, "out.xml"))...).stderr,
		`the extension ".xml" tells none; use .parquet, .csv, .arrow or .arrows, or name the format: --format`)
	if os.Geteuid() != 0 {
		require.NoError(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o777)
		require.Contains(t, runProgram(t, exitInputOutput,
			append(args, "-o", filepath.Join(dir, "out.parquet"))...).stderr, "permission denied")
	}
	requireFiles(t, dir, "orders.parquet", "items.parquet", "folder.parquet", "folder")
	if _, err := os.Stat("/dev/full"); err == nil {
		o := runProgram(t, exitInputOutput, append(args, "-o", "/dev/full", "--format", "csv")...)
		require.Contains(t, o.stderr, "/dev/full: no space left on device")
	}
}

// A compression that the format does not have is wrong use, and leaves no file.
func TestJoinUnknownCompression(t *testing.T) {
	dir, args := orders(t, ".parquet")
	for _, c := range []struct{ out, compression, want string }{
		{"out.parquet", "gzipp", `compression "gzipp" is unknown for Parquet: choose snappy, zstd, lz4 or none`},
		{"out.arrow", "snappy", `compression "snappy" is unknown for Arrow IPC: choose zstd, lz4 or none`},
		{"out.csv", "zstd", `compression "zstd" is unknown for CSV: choose none`},
	} {
		o := runProgram(t, exitUsage, append(args, "-o", filepath.Join(dir, c.out), "--compression", c.compression)...)
		require.Contains(t, o.stderr, c.want)
	}
	requireFiles(t, dir, "orders.parquet", "items.parquet")
}

func TestJoinToFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	_, args := orders(t, ".parquet")
	for _, more := range [][]string{{"-o", "-"}, {"--count"}, {"--explain"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), append([]string{"spirjoin", "-q"}[:1],
			append(slices.Clone(args), append(more, "-q")...)...), nil, full, &stderr)
		require.Equal(t, exitInputOutput, code, more)
		require.Contains(t, stderr.String(), "standard output: no space left on device")
	}
}

// Whatever the phase in which ctx ends: exit code 130, one line, no file.
func TestJoinCancelledInEveryPhase(t *testing.T) {
	for i, goal := range []string{"file", "count", "preview", "stream", "file"} {
		dir, args := orders(t, ".parquet")
		algorithm := []string{"smj-um", "smj-um", "phj-om", "phj-om", "phj-om"}[i]
		args = append(args, "--algo", algorithm)
		switch goal {
		case "file":
			args = append(args, "-o", filepath.Join(dir, "out.parquet"))
		case "count":
			args = append(args, "--count")
		case "stream":
			args = append(args, "-o", "-", "--format", "csv")
		}
		attempt := func(ctx context.Context, onPhase func(string)) outcome {
			var stdout, stderr bytes.Buffer
			s := onTerminal(&stdout, &stderr)
			s.stderrColumns, s.onPhase = 0, onPhase
			code := s.run(ctx, append([]string{"spirjoin"}, args...))
			return outcome{code, stdout.String(), stderr.String()}
		}
		var phases []string
		o := attempt(t.Context(), func(phase string) { phases = append(phases, phase) })
		require.Equal(t, exitDone, o.code, o.stderr)
		require.Subset(t, phases, []string{"open device", "read left", "read right", "plan"})
		require.Subset(t, phases, []string{"load left", "load right", "join"})
		if goal == "file" || goal == "stream" {
			require.Contains(t, phases, "finish")
		}
		_ = os.Remove(filepath.Join(dir, "out.parquet"))
		for _, phase := range phases {
			if phase == "output" { // reported when the last rows were delivered already
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			o := attempt(ctx, func(p string) {
				if p == phase {
					cancel()
				}
			})
			cancel()
			require.Equal(t, exitInterrupted, o.code, "%s, %s: %s", goal, phase, o.stderr)
			require.Equal(t, "spirjoin: interrupted\n", o.stderr, "%s, %s", goal, phase)
			requireFiles(t, dir, "orders.parquet", "items.parquet")
		}
	}
}

func TestJoinCancelledWhileAPipeGivesNothing(t *testing.T) {
	_, args := orders(t, ".parquet")
	pipe, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	o := program(ctx, pipe, append([]string{"join", "-"}, append(args[2:], "--count")...)...)
	require.Equal(t, exitInterrupted, o.code)
	require.Equal(t, "spirjoin: interrupted\n", o.stderr)
}

func TestJoinPreview(t *testing.T) {
	dir, args := orders(t, ".parquet")
	show := func(args []string) string {
		var stdout, stderr bytes.Buffer
		s := onTerminal(&stdout, &stderr)
		require.Equal(t, exitDone, s.run(t.Context(), append([]string{"spirjoin"}, args...)), stderr.String())
		return stdout.String()
	}
	text := show(args)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	require.Len(t, lines, 5, text)
	require.Equal(t, "id  customer  part  id_right", lines[0])
	require.Equal(t, []string{" 2  bob       nail        12", " 2  bob       nut         10",
		" 4  dot       bolt        11"}, sorted(lines[1:4]))
	require.Equal(t, "3 rows", lines[4])

	many, wide := make([]int64, 40), []column{}
	for i := range 12 {
		wide = append(wide, ints("a_rather_long_name_"+string(rune('a'+i)), many...))
	}
	table := tableFile(t, filepath.Join(dir, "wide.parquet"),
		append(wide, texts("t", slices.Repeat([]string{"a\x1b[31m\n" + strings.Repeat("long ", 20)}, 40)...))...)
	text = show([]string{"join", table, table, "--on", wide[0].name, "--device", "host", "--columns",
		"t,a_rather_long_name_a,a_rather_long_name_b,a_rather_long_name_c,a_rather_long_name_d"})
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len([]rune(line)), 101, line)
		require.NotContains(t, line, "\x1b")
	}
	require.Contains(t, show([]string{"join", args[1], args[2], "--on", "id=id", "--device", "host"}), "\n0 rows\n")
	one := tableFile(t, filepath.Join(dir, "one.parquet"), ints("id", 4))
	require.Contains(t, show([]string{"join", one, args[1], "--on", "id", "--device", "host"}), "\n1 row\n")
	require.Regexp(t, `^1 row in `,
		runProgram(t, exitDone, "join", one, args[1], "--on", "id", "--device", "host", "--count").stderr)
	require.Contains(t, text, "20 of 1,600 rows; --output FILE writes them all\n")
	require.Contains(t, text, "2 more columns: a_rather_long_name_c, a_rather_long_name_d\n")
}

func TestJoinRefusesBinaryOnATerminal(t *testing.T) {
	_, args := orders(t, ".parquet")
	var stdout, stderr bytes.Buffer
	s := onTerminal(&stdout, &stderr)
	require.Equal(t, exitUsage, s.run(t.Context(), append([]string{"spirjoin"}, append(args, "-o", "-")...)))
	require.Contains(t, stderr.String(), "standard output is a terminal")
	require.Empty(t, stdout.String())
}

// The progress bar leaves an empty line behind.
func TestJoinProgressOnATerminal(t *testing.T) {
	dir, args := orders(t, ".parquet")
	var stdout, stderr bytes.Buffer
	s := onTerminal(&stdout, &stderr)
	require.Equal(t, exitDone, s.run(t.Context(),
		append([]string{"spirjoin"}, append(args, "-o", filepath.Join(dir, "out.csv"))...)), stderr.String())
	lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\r")
	require.Regexp(t, `^3 rows to `, lines[len(lines)-1])
	for _, line := range lines {
		require.NotContains(t, line, "\x1b", "no colours")
	}
	quiet := onTerminal(&stdout, &stderr)
	stderr.Reset()
	require.Equal(t, exitDone, quiet.run(t.Context(),
		append([]string{"spirjoin"}, append(args, "-q", "-o", filepath.Join(dir, "out.csv"))...)))
	require.Empty(t, stderr.String())
}
