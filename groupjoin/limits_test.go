package groupjoin_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// longs is a table of columns of numbers.
func longs(t testing.TB, rows int, columns map[string]func(row int) int64) arrow.Table {
	var fields []arrow.Field
	var arrays []arrow.Array
	for name, number := range columns {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for row := range rows {
			b.Append(number(row))
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
		arrays = append(arrays, b.NewArray())
	}
	schema := arrow.NewSchema(fields, nil)
	batch := array.NewRecordBatch(schema, arrays, int64(rows))
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	for _, a := range arrays {
		a.Release()
	}
	batch.Release()
	t.Cleanup(table.Release)
	return table
}

// onHost is the host backend.
func onHost(t *testing.T) *backend.Device {
	devicetest.HostTest(t)
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// TestMemoryLimit: the rows of a join that would take many times the limit are grouped below it, of tables and of
// streams, and all memory is returned.
func TestMemoryLimit(t *testing.T) {
	const rows, keys, limitBytes = 12_000, 40, 24 << 20
	left := longs(t, rows, map[string]func(int) int64{"k": func(row int) int64 { return int64(row % keys) },
		"a": func(row int) int64 { return int64(row % 7) }})
	right := longs(t, rows, map[string]func(int) int64{"k": func(row int) int64 { return int64(row % keys) },
		"b": func(row int) int64 { return int64(row) }})
	const joined = rows * rows / keys // of 16 bytes, twice the limit and more
	require.Greater(t, joined*16, 2*limitBytes)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, limitBytes)
		free := e.Join.Budget().Free().Host
		spec := groupby.Spec{By: []string{"a"}, Aggregates: aggregates("sum:b", "count")}
		l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), join.Spec{On: []string{"k"}}, spec)
		require.NoError(t, err)
		for _, sources := range [][2]source.Source{{source.FromTable(left), source.FromTable(right)},
			{unknown(left), unknown(right)}} {
			batches, stats, err := run(t.Context(), e, l, sources[0], sources[1])
			require.NoError(t, err)
			require.EqualValues(t, joined, stats.GroupBy.Rows)
			total := int64(0)
			for _, b := range batches {
				for _, n := range b.Column(2).(*array.Int64).Int64Values() {
					total += n
				}
			}
			require.EqualValues(t, joined, total)
		}
		require.LessOrEqual(t, e.Join.Budget().Most().Host, uint64(limitBytes))
		require.Equal(t, free, e.Join.Budget().Free().Host)

		tiny := open(t, device, 1<<10)
		_, _, err = run(t.Context(), tiny, l, source.FromTable(left), source.FromTable(right))
		require.True(t, backend.OutOfMemory(err), "%v", err)
	})
}

// TestManyGroups: groups that memory has no room for are divided, if there is a folder for them.
func TestManyGroups(t *testing.T) {
	devicetest.SkipRace(t)
	const rows, limitBytes = 400_000, 24 << 20
	left := longs(t, rows, map[string]func(int) int64{"k": func(row int) int64 { return int64(row) * 7919 % rows }})
	right := longs(t, rows, map[string]func(int) int64{"k": func(row int) int64 { return int64(row) },
		"a": func(row int) int64 { return int64(row) }})
	l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), join.Spec{On: []string{"k"}},
		groupby.Spec{By: []string{"a"}, Aggregates: aggregates("sum:k", "avg:k", "count")})
	require.NoError(t, err)
	device := onHost(t)
	_, _, err = run(t.Context(), open(t, device, limitBytes), l, source.FromTable(left), source.FromTable(right))
	require.ErrorIs(t, err, backend.ErrHostMemory)
	e := open(t, device, limitBytes)
	e.Groups.TempDir = t.TempDir()
	e.Join.Spill(e.Groups.TempDir, 1<<30)
	batches, stats, err := run(t.Context(), e, l, source.FromTable(left), source.FromTable(right))
	require.NoError(t, err)
	require.EqualValues(t, rows, stats.GroupBy.Groups)
	total := int64(0)
	for _, b := range batches {
		for _, sum := range b.Column(1).(*array.Int64).Int64Values() {
			total += sum
		}
	}
	require.EqualValues(t, rows*(rows-1)/2, total)
	require.LessOrEqual(t, e.Join.Budget().Most().Host, uint64(limitBytes))
}

// TestManyPairs: counts of more pairs than could ever be made are exact, and beyond int64 ErrLimit.
func TestManyPairs(t *testing.T) {
	const rows = 3_000_000
	one := func(int) int64 { return 1 }
	side := longs(t, rows, map[string]func(int) int64{"k": one})
	e := open(t, onHost(t), 0)
	for _, by := range [][]string{{"k"}, nil} {
		l, err := groupjoin.NewLayout(side.Schema(), side.Schema(), join.Spec{On: []string{"k"}},
			groupby.Spec{By: by, Aggregates: aggregates("count")})
		require.NoError(t, err)
		batches, _, err := run(t.Context(), e, l, source.FromTable(side), source.FromTable(side))
		require.NoError(t, err)
		require.EqualValues(t, rows*rows, batches[0].Column(len(by)).(*array.Int64).Value(0))
	}
	require.EqualValues(t, math.MaxInt64, mustProduct(t, math.MaxInt64, 1))
	for _, factors := range [][2]int64{{math.MaxInt64, 2}, {1 << 32, 1 << 31}, {math.MaxInt64, math.MaxInt64}} {
		_, err := groupjoin.Product(factors[0], factors[1])
		require.ErrorIs(t, err, backend.ErrLimit)
	}
}

// TestReasonOfLimit: of groups by key, only a sum of counts is too many joined rows; other limits stay what they are.
func TestReasonOfLimit(t *testing.T) {
	side := longs(t, 1, map[string]func(int) int64{"k": func(int) int64 { return 1 }})
	for aggregate, want := range map[string]string{"count": "2^63-1 joined rows", "sum:k": "the sum of column"} {
		l, err := groupjoin.NewLayout(side.Schema(), side.Schema(), join.Spec{On: []string{"k"}},
			groupby.Spec{By: []string{"k"}, Aggregates: aggregates(aggregate)})
		require.NoError(t, err)
		overflow := groupby.OverflowError{OpError: &backend.OpError{Op: "group by", Err: backend.ErrLimit,
			Detail: "the sum of column"}}
		got := l.ExplainError(fmt.Errorf("group by: %w", overflow))
		require.ErrorIs(t, got, backend.ErrLimit)
		require.ErrorContains(t, got, want)
		require.ErrorIs(t, l.ExplainError(relation.ErrBatchTooLarge), relation.ErrBatchTooLarge)
		var of *backend.OpError
		require.ErrorAs(t, overflow, &of)
	}
}

func mustProduct(t *testing.T, n, m int64) int64 {
	p, err := groupjoin.Product(n, m)
	require.NoError(t, err)
	return p
}

var errSource = errors.New("the source broke")

// TestErrors: an error of a source, the end of the context, a limit of rows, keys that are not unique, and a sum that
// is too large end a group-by of a join, and leave no memory behind.
func TestErrors(t *testing.T) {
	const most = math.MaxInt64
	left := longs(t, 1000, map[string]func(int) int64{"k": func(row int) int64 { return int64(row % 10) },
		"a": func(int) int64 { return most }})
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, 64<<20)
		free := e.Join.Budget().Free().Host
		broken := source.Source{Schema: left.Schema(), Rows: -1,
			Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
				return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, errSource) }
			}}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		byRows, byKey := aggregates("sum:a_right"), aggregates("count")
		for _, aggregates := range [][]groupby.Aggregate{byRows, byKey} {
			of := func(spec join.Spec) *groupjoin.Layout {
				spec.On = []string{"k"}
				l, err := groupjoin.NewLayout(left.Schema(), left.Schema(), spec, groupby.Spec{By: []string{"k"},
					Aggregates: aggregates})
				require.NoError(t, err)
				return l
			}
			_, _, err := run(t.Context(), e, of(join.Spec{}), source.FromTable(left), broken)
			require.ErrorIs(t, err, errSource)
			_, _, err = run(ended, e, of(join.Spec{}), source.FromTable(left), source.FromTable(left))
			require.ErrorIs(t, err, backend.ErrCancelled)
			_, _, err = run(t.Context(), e, of(join.Spec{MaxOutputRows: 100}), source.FromTable(left), source.FromTable(left))
			require.ErrorIs(t, err, backend.ErrLimit)
			_, _, err = run(t.Context(), e, of(join.Spec{Validate: join.OneToMany}), source.FromTable(left),
				source.FromTable(left))
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "unique")
			if _, err := device.Rasterizer(); err != nil {
				drawn, err := groupjoin.NewLayout(left.Schema(), left.Schema(), join.Spec{On: []string{"k"}},
					groupby.Spec{By: []string{"k"}, Aggregates: aggregates, Algorithm: "graphics"})
				require.NoError(t, err)
				_, _, err = run(t.Context(), e, drawn, source.FromTable(left), source.FromTable(left))
				require.ErrorIs(t, err, backend.ErrUnsupported)
			}
			require.Equal(t, free, e.Join.Budget().Free().Host)
		}
		l, err := groupjoin.NewLayout(left.Schema(), left.Schema(), join.Spec{On: []string{"k"}},
			groupby.Spec{By: []string{"k"}, Aggregates: byRows})
		require.NoError(t, err)
		_, _, err = run(t.Context(), e, l, source.FromTable(left), source.FromTable(left))
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, `the sum of column "a_right"`)
		require.Equal(t, free, e.Join.Budget().Free().Host)
	})
}

// TestCancel: a join whose rows are being grouped ends with the context.
func TestCancel(t *testing.T) {
	e := open(t, onHost(t), 0)
	side := longs(t, 3_000, map[string]func(int) int64{"k": func(int) int64 { return 1 },
		"a": func(row int) int64 { return int64(row) }})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spec := join.Spec{On: []string{"k"}, BatchRows: 1 << 10, Progress: func(s join.Progress) {
		if s.Phase == "join" {
			cancel()
		}
	}}
	l, err := groupjoin.NewLayout(side.Schema(), side.Schema(), spec,
		groupby.Spec{By: []string{"a"}, Aggregates: aggregates("sum:a_right")})
	require.NoError(t, err)
	_, _, err = run(ctx, e, l, source.FromTable(side), source.FromTable(side))
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestProgress: the group-by reports once the join has nothing more to report, and sides by their names.
func TestProgress(t *testing.T) {
	side := longs(t, 100, map[string]func(int) int64{"k": func(row int) int64 { return int64(row % 5) }})
	e := open(t, onHost(t), 0)
	var mu sync.Mutex
	var phases []string
	note := func(s exec.Status) {
		mu.Lock()
		defer mu.Unlock()
		if len(phases) == 0 || phases[len(phases)-1] != s.Phase {
			phases = append(phases, s.Phase)
		}
	}
	for _, c := range []struct {
		by   string
		call string
		want []string
	}{{"k", "sum:k", []string{"join", "output", "merge groups"}},
		{"k", "count", []string{"group, left", "group, right", "join", "output", "merge groups"}}} {
		phases = nil
		l, err := groupjoin.NewLayout(side.Schema(), side.Schema(), join.Spec{On: []string{"k"}, Progress: note},
			groupby.Spec{By: []string{c.by}, Aggregates: aggregates(c.call), Progress: note})
		require.NoError(t, err)
		_, _, err = run(t.Context(), e, l, source.FromTable(side), source.FromTable(side))
		require.NoError(t, err)
		require.Subset(t, phases, c.want)
		require.Equal(t, "merge groups", phases[len(phases)-1])
	}
}

// TestRefused: what schemas alone rule out is refused with the name that was meant.
func TestRefused(t *testing.T) {
	left := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "price", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	for _, c := range []struct {
		spec  join.Spec
		by    string
		agg   string
		is    error
		texts []string
	}{
		{join.Spec{}, "prize", "count", backend.ErrInvalidInput, []string{`no column "prize"`, `"price"`}},
		{join.Spec{}, "k", "sum:pricee", backend.ErrInvalidInput, []string{`no column "pricee"`}},
		{join.Spec{}, "k", "sum:name_right", backend.ErrUnsupported, []string{`"name_right"`, "utf8"}},
		{join.Spec{How: join.Semi}, "price_right", "count", backend.ErrInvalidInput, []string{`no column "price_right"`}},
		{join.Spec{Columns: []string{"k"}}, "k", "count", backend.ErrInvalidInput, []string{"leave out columns"}},
		{join.Spec{Output: join.Count}, "k", "count", backend.ErrInvalidInput, []string{"leave out columns and output"}},
	} {
		c.spec.On = []string{"k"}
		_, err := groupjoin.NewLayout(left, left, c.spec, groupby.Spec{By: []string{c.by}, Aggregates: aggregates(c.agg)})
		require.ErrorIs(t, err, c.is)
		for _, text := range c.texts {
			require.ErrorContains(t, err, text)
		}
	}
	_, err := groupjoin.NewLayout(left, left, join.Spec{On: []string{"k"}}, groupby.Spec{})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}
