package groupby_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
)

// numbers is a column with one number in each row.
func numbers(name string, dtype arrow.DataType, values ...uint64) column {
	return column{name, dtype, func(row int) uint64 { return values[row] }, nil}
}

func bitsOf(floats ...float64) (bits []uint64) {
	for _, f := range floats {
		bits = append(bits, math.Float64bits(f))
	}
	return bits
}

// TestFloats: both zeros are one key, and all NaN are one; NaN is above all numbers.
func TestFloats(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		inf, nan, negative := math.Inf(1), math.NaN(), math.Copysign(0, -1)
		keys := bitsOf(0, negative, nan, nan, inf, -inf, 1)
		keys[3] ^= 1<<63 | 1
		tab := table(t, 7, numbers("k", arrow.PrimitiveTypes.Float64, keys...),
			numbers("x", arrow.PrimitiveTypes.Float64, bitsOf(nan, 1, inf, -inf, negative, 5, nan)...))
		spec := groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{{Func: groupby.Count},
			{Func: groupby.Min, Column: "x"}, {Func: groupby.Max, Column: "x"}, {Func: groupby.Sum, Column: "x"},
			{Func: groupby.CountDistinct, Column: "x"}}}
		check(t, engine(t, device), tab, spec)
		spec.By = nil
		check(t, engine(t, device), tab, spec)
	})
}

// TestFarMoments: means whose difference squared is beyond all numbers are merged without NaN.
func TestFarMoments(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		const rows = 200
		tab := table(t, rows, column{"k", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 2) }, nil},
			column{"x", arrow.PrimitiveTypes.Float64, func(row int) uint64 { return math.Float64bits(math.Ldexp(1, 900)) }, nil})
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"k"},
			Aggregates: []groupby.Aggregate{{Func: groupby.Var, Column: "x"}}})
		require.NoError(t, err)
		r, err := inParts(engine(t, device), 60).Stream(t.Context(), layout, batchesOf(tab))
		require.NoError(t, err)
		defer r.Close()
		for batch, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			for _, v := range batch.Column(1).(*array.Float64).Float64Values() {
				require.Zero(t, v)
			}
			batch.Release()
		}
	})
}

// TestOverflow: a sum that its type does not hold is an error that names the column, and otherwise exact up to the edges.
func TestOverflow(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) { testOverflow(t, engine(t, device)) })
}

func testOverflow(t *testing.T, e *groupby.Engine) {
	sum := func(tab arrow.Table) error {
		result, err := e.Group(context.Background(), tab,
			groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{{Func: groupby.Sum, Column: "x"}}})
		require.NoError(t, err)
		defer result.Close()
		for batch, err := range result.Batches(context.Background()) {
			if err != nil {
				return err
			}
			oracle.RequireGroups(t, tab, result.Layout, []arrow.RecordBatch{batch})
			batch.Release()
		}
		return nil
	}
	of := func(dtype arrow.DataType, values ...uint64) arrow.Table {
		key := column{"k", arrow.PrimitiveTypes.Int32, func(int) uint64 { return 7 }, nil}
		return table(t, len(values), key, numbers("x", dtype, values...))
	}
	const least, most = 1 << 63, math.MaxInt64
	signed, unsigned := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64
	require.NoError(t, sum(of(signed, most, most, least, least, 2)))
	require.NoError(t, sum(of(unsigned, math.MaxUint64, 0)))
	for _, tab := range []arrow.Table{of(signed, most, 1), of(signed, least, math.MaxUint64), of(unsigned, math.MaxUint64, 1)} {
		err := sum(tab)
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, `column "x"`)
		require.ErrorContains(t, err, "decimal")
	}

	wide := &arrow.Decimal128Type{Precision: 38}
	decimals := func(texts ...string) arrow.Table {
		b := array.NewDecimal128Builder(memory.DefaultAllocator, wide)
		k := array.NewInt32Builder(memory.DefaultAllocator)
		for _, text := range texts {
			v, err := decimal128.FromString(text, 38, 0)
			require.NoError(t, err)
			b.Append(v)
			k.Append(1)
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: wide}}, nil)
		batch := array.NewRecordBatch(schema, []arrow.Array{k.NewArray(), b.NewArray()}, int64(len(texts)))
		return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	}
	nines := "99999999999999999999999999999999999999"
	require.NoError(t, sum(decimals(nines, nines, "-"+nines, "-"+nines, "-5")))
	require.NoError(t, sum(decimals(nines, "0")))
	require.ErrorIs(t, sum(decimals(nines, "1")), backend.ErrLimit)
	require.ErrorIs(t, sum(decimals(nines, nines, nines, nines)), backend.ErrLimit, "beyond 128 bits")
}

// TestRefused: what cannot be meant is refused before anything runs.
func TestRefused(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.PrimitiveTypes.Int64},
		{Name: "name", Type: arrow.BinaryTypes.String}, {Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)},
		{Name: "twice", Type: arrow.PrimitiveTypes.Int8}, {Name: "twice", Type: arrow.PrimitiveTypes.Int8}}, nil)
	for _, c := range []struct {
		by    string
		agg   groupby.Aggregate
		is    error
		texts []string
	}{
		{"prize", groupby.Aggregate{}, backend.ErrInvalidInput, []string{`"prize"`, `did you mean "price"?`}},
		{"name", groupby.Aggregate{Func: groupby.Sum, Column: "pricee"}, backend.ErrInvalidInput, []string{`"price"`}},
		{"list", groupby.Aggregate{}, backend.ErrUnsupported, []string{`"list"`}},
		{"twice", groupby.Aggregate{}, backend.ErrInvalidInput, []string{"2 columns"}},
		{"price", groupby.Aggregate{Func: groupby.Sum, Column: "name"}, backend.ErrUnsupported, []string{"utf8", `"name"`}},
		{"price", groupby.Aggregate{Func: groupby.Min, Column: "list"}, backend.ErrUnsupported, []string{"list<"}},
		{"price", groupby.Aggregate{Func: groupby.CountDistinct, Column: "list"}, backend.ErrUnsupported, []string{`"list"`}},
		{"price", groupby.Aggregate{Func: groupby.Avg}, backend.ErrInvalidInput, []string{"avg needs a column"}},
		{"price", groupby.Aggregate{Func: groupby.Count, Name: "price"}, backend.ErrInvalidInput, []string{"two output"}},
	} {
		_, err := groupby.NewLayout(schema, groupby.Spec{By: []string{c.by}, Aggregates: []groupby.Aggregate{c.agg}})
		require.ErrorIs(t, err, c.is)
		for _, text := range c.texts {
			require.ErrorContains(t, err, text)
		}
	}
	_, err := groupby.NewLayout(schema, groupby.Spec{})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = groupby.ParseFunc("summ")
	require.ErrorContains(t, err, `did you mean "sum"?`)
}

var errSource = errors.New("the source broke")

// TestStreamErrors: an error of the source, a batch of another type and the end of the context end a stream.
func TestStreamErrors(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := engine(t, device)
		tab := table(t, 10, numbers("k", arrow.PrimitiveTypes.Int64, make([]uint64, 10)...))
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"k"}})
		require.NoError(t, err)
		_, err = e.Stream(context.Background(), layout, func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, errSource) }
		})
		require.ErrorIs(t, err, errSource)
		other := table(t, 10, numbers("k", arrow.PrimitiveTypes.Int32, make([]uint64, 10)...))
		_, err = e.Stream(context.Background(), layout, batchesOf(other))
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = e.Stream(ctx, layout, batchesOf(tab))
		require.ErrorIs(t, err, backend.ErrCancelled)
		_, err = e.Stream(context.Background(), layout, nil)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	})
}

// TestSourceFailsWhileGrouped: an error of the source that ends the grouping of a part is the error of the stream.
func TestSourceFailsWhileGrouped(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tab := table(t, 10, numbers("k", arrow.PrimitiveTypes.Int64, make([]uint64, 10)...))
		grouping, failed := make(chan struct{}), make(chan context.Context, 1)
		var once sync.Once
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"k"}, Progress: func(s exec.Status) {
			if s.Phase == "measure keys" {
				once.Do(func() {
					close(grouping)
					<-(<-failed).Done()
				})
			}
		}})
		require.NoError(t, err)
		e := inParts(engine(t, device), 10)
		_, err = e.Stream(t.Context(), layout, func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				for batch := range batchesOf(tab)(ctx) {
					yield(batch, nil)
				}
				<-grouping
				failed <- ctx
				yield(nil, errSource)
			}
		})
		require.ErrorIs(t, err, errSource)
		require.NotErrorIs(t, err, backend.ErrCancelled)
	})
}

// TestMemoryLimit: a table beyond the limit is refused; a stream of it is not, unless its groups are too many.
func TestMemoryLimit(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		if !device.Info().InHostMemory() {
			return
		}
		e := inParts(limited(t, device, 3<<20), 1<<16)
		e.GranuleRows = 1 << 12
		rows, free := 1<<19, e.Budget().Free().Host
		tab := table(t, rows, column{"k", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 10) }, nil},
			column{"u", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row) }, nil})
		_, err := e.Group(context.Background(), tab, groupby.Spec{By: []string{"k", "u"}})
		require.ErrorIs(t, err, backend.ErrHostMemory)
		for by, want := range map[string]error{"k": nil, "u": backend.ErrHostMemory} {
			layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{by}})
			require.NoError(t, err)
			r, err := e.Stream(context.Background(), layout, batchesOf(tab))
			require.ErrorIs(t, err, want)
			if err == nil {
				require.EqualValues(t, 10, r.Rows())
				r.Close()
			}
		}
		require.Equal(t, free, e.Budget().Free().Host)
	})
}

// TestDivided: a stream whose groups exceed the memory limit divides them, and their output is the same.
func TestDivided(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := inParts(limited(t, device, 4<<20), 1<<12)
		e.TempDir = t.TempDir()
		free, rows := e.Budget().Free(), devicetest.Short(12_000, 24_000)
		null := func(row int) bool { return row%1000 == 7 }
		tab := table(t, rows,
			column{"k", arrow.BinaryTypes.String, func(row int) uint64 { return uint64(row % 10_500) }, null},
			column{"h", arrow.PrimitiveTypes.Int8, func(row int) uint64 { return uint64(row % 3) }, null},
			column{"x", arrow.PrimitiveTypes.Int64, func(row int) uint64 { return uint64(row % 5) }, nil})
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{By: []string{"h", "k"}, BatchRows: 1000,
			Aggregates: []groupby.Aggregate{{Func: groupby.Count}, {Func: groupby.Sum, Column: "x"},
				{Func: groupby.CountDistinct, Column: "x"}, {Func: groupby.First, Column: "x"},
				{Func: groupby.Var, Column: "x"}, {Func: groupby.Max, Column: "x"}}})
		require.NoError(t, err)
		stream := func() (*groupby.Result, error) { return e.Stream(t.Context(), layout, batchesOf(tab)) }
		r, err := stream()
		require.NoError(t, err)
		var batches []arrow.RecordBatch
		for batch, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			defer batch.Release()
			batches = append(batches, batch)
		}
		require.Contains(t, r.Explain(), "on disk")
		oracle.RequireGroups(t, tab, layout, batches)
		require.EqualValues(t, array.NewTableFromRecords(layout.Schema, batches).NumRows(), r.Rows())
		r.Close()

		r, err = stream()
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err = range r.Batches(ctx) {
			if err != nil {
				break
			}
		}
		require.ErrorIs(t, err, backend.ErrCancelled)
		r.Close()
		require.Equal(t, free, e.Budget().Free(), "nothing is left")
		e.Budget().AllowDisk(1 << 10)
		_, err = stream()
		require.ErrorIs(t, err, backend.ErrDiskSpace)
	})
}

// TestDividedValues: different values that memory has no room for are divided, also if there are no keys.
func TestDividedValues(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		e := inParts(limited(t, device, 1<<20), 1<<11)
		e.TempDir = t.TempDir()
		free, rows := e.Budget().Free(), 16_000
		tab := table(t, rows,
			column{"s", arrow.BinaryTypes.String, func(row int) uint64 { return uint64(row * 7 % 9_000) },
				func(row int) bool { return row%1000 == 7 }},
			column{"x", arrow.PrimitiveTypes.Int64, func(row int) uint64 { return uint64(row % 12_000) }, nil})
		layout, err := groupby.NewLayout(tab.Schema(), groupby.Spec{Aggregates: []groupby.Aggregate{{Func: groupby.Count},
			{Func: groupby.CountDistinct, Column: "s"}, {Func: groupby.Sum, Column: "x"},
			{Func: groupby.CountDistinct, Column: "x"}, {Func: groupby.Max, Column: "s"}}})
		require.NoError(t, err)
		r, err := e.Stream(t.Context(), layout, batchesOf(tab))
		require.NoError(t, err)
		var batches []arrow.RecordBatch
		for batch, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			defer batch.Release()
			batches = append(batches, batch)
		}
		require.Contains(t, r.Explain(), "on disk")
		oracle.RequireGroups(t, tab, layout, batches)
		require.EqualValues(t, 1, r.Rows())
		r.Close()
		require.Equal(t, free, e.Budget().Free(), "nothing is left")
		e.TempDir = ""
		_, err = e.Stream(t.Context(), layout, batchesOf(tab))
		require.ErrorIs(t, err, backend.ErrHostMemory)
	})
}
