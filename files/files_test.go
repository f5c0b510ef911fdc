package files

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// column is a name and an array.
type column struct {
	name  string
	array arrow.Array
}

func recordOf(columns ...column) arrow.RecordBatch {
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.array.DataType(), Nullable: true}
		arrays[i] = c.array
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(arrays[0].Len()))
}

func ints(name string, values ...int64) column {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return column{name, b.NewArray()}
}

// textFile writes a file of these lines.
func textFile(t *testing.T, name string, lines ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	return path
}

func onHost(t *testing.T, options spirjoin.Options) *spirjoin.Engine {
	t.Helper()
	options.Device = spirjoin.HostDevice
	engine, err := spirjoin.Open(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// Opening a CSV file tells how much of it was read, reading a table how many rows.
func TestHooks(t *testing.T) {
	left, right := textFile(t, "l.csv", "k,a", "1,x", "2,y"), textFile(t, "r.csv", "k,b", "2,z", "2,z", "3,z")
	var last string
	options := For(onHost(t, spirjoin.Options{}))
	options.Hooks = Hooks{
		Opening: func(side relation.Side, path string, done, total int64) {
			last = fmt.Sprint("open ", side, " ", path, " ", done, " ", total)
		},
		Reading: func(side relation.Side, rows, total int64) { last = fmt.Sprint("read ", side, " ", rows, " ", total) },
	}
	p, err := Open(t.Context(), [2]string{left, right}, [2]tableio.ReadOptions{}, options)
	require.NoError(t, err)
	defer p.Close()
	size := len(content(t, right))
	require.Equal(t, fmt.Sprint("open right ", right, " ", size, " ", size), last)
	for side, want := range []string{"read left 2 2", "read right 3 3"} {
		table, err := p.load(t.Context(), side)
		require.NoError(t, err)
		table.Release()
		require.Equal(t, want, last)
	}
	require.Positive(t, p.ReadSeconds())
}

// TestStreamedSide: which side is joined as it is read follows from rows, the named build side, use and limits.
func TestStreamedSide(t *testing.T) {
	short, long := textFile(t, "l.csv", "k", "1", "2"), textFile(t, "r.csv", "k", "2", "2", "3")
	for _, c := range []struct {
		paths  [2]string
		spec   spirjoin.JoinSpec
		use    Use
		limits Options
		least  int64
		want   int // none: -2
	}{
		{paths: [2]string{short, long}, least: 3, want: 1},
		{paths: [2]string{long, short}, least: 3, want: 0},
		{paths: [2]string{short, short}, least: 2, want: 1},
		{paths: [2]string{short, long}, least: 4, want: -2},
		{paths: [2]string{short, long}, least: 4, limits: Options{TempDir: true}, want: 1},
		{paths: [2]string{short, long}, least: 1, spec: spirjoin.JoinSpec{BuildSide: spirjoin.BuildRight}, want: -2},
		{paths: [2]string{short, long}, least: 1, use: ToCount, want: -2},
		{paths: [2]string{short, long}, least: 1, use: ToCount, limits: Options{Limit: NewLimit(1<<30, 0)}, want: 1},
		{paths: [2]string{short, long}, least: 1, use: ToExplain, limits: Options{TempDir: true}, want: 1},
		{paths: [2]string{short, long}, least: 1, use: ToShow, limits: Options{TempDir: true}, want: -2},
	} {
		c.limits.Engine = func() (*spirjoin.Engine, error) { return onHost(t, spirjoin.Options{}), nil }
		c.limits.StreamedRows = c.least
		p, err := Open(t.Context(), c.paths, [2]tableio.ReadOptions{}, c.limits)
		require.NoError(t, err)
		side, ok := p.streamedSide(&c.spec, c.use)
		p.Close()
		if !ok {
			side = -2
		}
		require.Equal(t, c.want, side, "%+v", c)
	}
}

// Files are joined and grouped into a file, under limits as without.
func TestFilesToFile(t *testing.T) {
	left, right := textFile(t, "l.csv", "k,a", "1,10", "2,20", "4,40"), textFile(t, "r.csv", "k,b", "2,5", "4,7", "2,5")
	out := filepath.Join(t.TempDir(), "out.csv")
	limited := spirjoin.Options{MemoryLimitBytes: 256 << 20}
	divides := limited
	divides.TempDir = t.TempDir()
	for _, options := range []spirjoin.Options{{}, limited, divides} {
		spec := spirjoin.JoinSpec{On: []string{"k"}, Order: spirjoin.RightOrder}
		report, err := Join(t.Context(), onHost(t, options), left, right, out, JoinOptions{Spec: spec})
		require.NoError(t, err)
		require.EqualValues(t, 3, report.OutputRows)
		require.Contains(t, report.Plan, "inner join")
		require.Equal(t, "k,a,b\n2,20,5\n4,40,7\n2,20,5\n", content(t, out))

		sum := spirjoin.GroupAggregate{Func: spirjoin.GroupSum, Column: "b", Name: "sum"}
		spec.Order = spirjoin.Unordered
		for _, how := range []spirjoin.JoinHow{spirjoin.Inner, spirjoin.Left} {
			spec.How = how
			stats, err := JoinGroups(t.Context(), onHost(t, options), left, right, out, spirjoin.GroupSpec{
				Aggregates: []spirjoin.GroupAggregate{sum}}, JoinOptions{Spec: spec})
			require.NoError(t, err)
			require.EqualValues(t, 1, stats.GroupBy.Groups)
			require.Equal(t, "sum\n17\n", content(t, out))
		}
		stats, err := Group(t.Context(), onHost(t, options), right, out, GroupOptions{Spec: spirjoin.GroupSpec{
			Aggregates: []spirjoin.GroupAggregate{sum}}})
		require.NoError(t, err)
		require.EqualValues(t, 1, stats.Groups)
		require.Equal(t, "sum\n17\n", content(t, out))
	}
}

// Errors name the file, or the value that made a key text, and leave no file behind.
func TestErrors(t *testing.T) {
	left, right := textFile(t, "l.csv", "k", "1", "n/a"), textFile(t, "r.csv", "k", "2")
	out := filepath.Join(t.TempDir(), "out.csv")
	engine := onHost(t, spirjoin.Options{})
	on := JoinOptions{Spec: spirjoin.JoinSpec{On: []string{"k"}}}
	_, err := Join(t.Context(), engine, left, right, out, on)
	var text *TextError
	require.ErrorAs(t, err, &text)
	require.True(t, text.LooksNull())
	require.ErrorIs(t, err, spirjoin.ErrUnsupported)
	require.ErrorContains(t, err, `column "k" of `+left+` is text because of line 3: "n/a"`)

	_, err = Join(t.Context(), engine, right, right+".none", out, on)
	var side *SideError
	require.ErrorAs(t, err, &side)
	require.Equal(t, relation.Right, side.Side)
	require.ErrorIs(t, err, tableio.ErrInput)
	require.NoFileExists(t, out)

	require.Nil(t, NewLimit(0, 0))
	require.EqualValues(t, math.MaxInt64/2+1, NewLimit(math.MaxUint64, 0).TableBytes)
	require.Zero(t, RowGroupBytes(0))
}
