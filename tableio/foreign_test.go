package tableio

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

const (
	foreignFolder = "testdata/foreign"
	foreignRows   = 6 // at the beginning of a file, that its line shows
)

// TestForeign reads files that other programs wrote. Each line of the list in their folder names a file, perhaps with
// the columns to read, and the result: columns with their types and the first rows, or the refusal. The values are
// those that another reader gives. A file without a line fails, and a line without a file; so does one without an
// origin, and one of the content of another.
func TestForeign(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(foreignFolder, "list.txt"))
	require.NoError(t, err)
	listed := map[string]bool{"list.txt": true, "origins.txt": true}
	for line := range strings.Lines(string(list)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		what, want, ok := strings.Cut(line, ": ")
		require.True(t, ok, "a line without a colon: %s", line)
		name, columns, _ := strings.Cut(what, " ")
		listed[name] = true
		t.Run(what, func(t *testing.T) {
			var chosen []string // nil: all
			if columns != "" {
				chosen = strings.Fields(columns)
			}
			require.Equal(t, want, foreignText(t, filepath.Join(foreignFolder, name), chosen))
		})
	}
	origins, err := os.ReadFile(filepath.Join(foreignFolder, "origins.txt"))
	require.NoError(t, err)
	files, err := os.ReadDir(foreignFolder)
	require.NoError(t, err)
	same := make(map[string]string)
	for _, file := range files {
		name := file.Name()
		require.True(t, listed[name], "%s has no line in list.txt", name)
		content, err := os.ReadFile(filepath.Join(foreignFolder, name))
		require.NoError(t, err)
		require.Empty(t, same[string(content)], "the content of %s", name)
		same[string(content)] = name
		if !strings.HasSuffix(name, ".txt") {
			require.Regexp(t, `(?m)^`+regexp.QuoteMeta(name)+`: .+; .+$`, string(origins), "origin and licence")
		}
	}
	require.Equal(t, len(files)-2, strings.Count(string(origins), "\n")-2, "a line of origins.txt has no file")
}

// foreignText reads columns of a file, or all of them, together and each alone, and describes the result in a line.
func foreignText(t *testing.T, path string, columns []string) string {
	refused := func(err error) string {
		require.ErrorIs(t, err, ErrInput)
		return "refused: " + strings.ReplaceAll(err.Error(), path, filepath.Base(path))
	}
	reader, err := Open(t.Context(), path, ReadOptions{})
	if err != nil {
		return refused(err)
	}
	defer func() { require.NoError(t, reader.Close()) }()
	table, err := reader.Read(t.Context(), columns)
	if err != nil {
		return refused(err)
	}
	defer table.Release()
	for i, field := range table.Schema().Fields() { // a column alone has the same values
		alone, err := reader.Read(t.Context(), []string{field.Name})
		require.NoError(t, err, field.Name)
		require.True(t, array.ChunkedEqual(table.Column(i).Data(), alone.Column(0).Data()), field.Name)
		alone.Release()
	}

	var text strings.Builder
	for i, field := range table.Schema().Fields() {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%q %s", field.Name, field.Type)
	}
	fmt.Fprintf(&text, "; %d rows:", table.NumRows())
	for row := range min(table.NumRows(), foreignRows) {
		cells := make([]string, table.NumCols())
		for i := range cells {
			cells[i] = chunkedText(table.Column(i).Data(), row)
		}
		fmt.Fprintf(&text, " (%s)", strings.Join(cells, ", "))
	}
	return text.String()
}

// chunkedText formats the value of a column in a row.
func chunkedText(column *arrow.Chunked, row int64) string {
	for _, chunk := range column.Chunks() {
		if row < int64(chunk.Len()) {
			return chunk.ValueStr(int(row))
		}
		row -= int64(chunk.Len())
	}
	panic("no such row")
}
