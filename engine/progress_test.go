package engine_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/source"
)

// TestProgress: a join of tables, and of sources, tells its rows of all rows while it joins and delivers; the share
// that is done grows to 1, the time left ends with 0, and the time elapsed does not begin anew with a phase.
func TestProgress(t *testing.T) {
	left, right := tables(t, 4000, 40_000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := smallEngine(t, device)
		e.GranuleRows = 10_000
		runs := map[string]func(join.Spec) (*engine.Result, error){
			"tables": func(spec join.Spec) (*engine.Result, error) {
				plan, err := e.Plan(context.Background(), left, right, spec)
				require.NoError(t, err)
				return plan.Run(context.Background())
			},
			"sources": func(spec join.Spec) (*engine.Result, error) {
				known, build := sourceOf(right, 3000), sourceOf(left, 1000)
				known.Rows, build.Rows = right.NumRows(), left.NumRows()
				return e.Stream(context.Background(), build, known, spec)
			},
		}
		for name, run := range runs {
			for _, output := range []join.Output{join.Rows, join.Count} {
				var states []join.Progress
				spec := onKeys
				spec.BatchRows, spec.Output = 1<<10, output
				spec.Progress = func(at join.Progress) { states = append(states, at) }
				result, err := run(spec)
				require.NoError(t, err, name)
				rows := uint64(0)
				for _, batch := range drawAll(t, result, output) {
					rows += uint64(batch.NumRows())
					batch.Release()
				}
				if output == join.Count {
					rows = result.Rows()
				}
				result.Close()

				require.Positive(t, rows)
				elapsed, joined := time.Duration(0), make(map[uint64]bool)
				for _, s := range states {
					require.GreaterOrEqual(t, s.Elapsed, elapsed, "%s: %+v", name, s)
					elapsed = s.Elapsed
					if s.Phase == "join" {
						require.EqualValues(t, 40_000, s.Total, "%s: %+v", name, s)
						joined[s.Rows] = true
					}
				}
				require.GreaterOrEqual(t, len(joined), 5, "%s: part by part: %v", name, joined)
				last := states[len(states)-1]
				want := join.Progress{Phase: "output", Total: rows, Share: 1, Elapsed: elapsed}
				if output == join.Rows {
					want.Rows, want.Drawn, want.Output = rows, rows, rows
				}
				require.Equal(t, want, last, name)
			}
		}
	})
}

// statesOf runs a join to its end and returns what it reported in the phase "join".
func statesOf(t *testing.T, engine *engine.Engine, left, right arrow.Table, spec join.Spec) (states []join.Progress) {
	spec.Progress = func(at join.Progress) {
		if at.Phase == "join" {
			states = append(states, at)
		}
	}
	plan, err := engine.Plan(context.Background(), left, right, spec)
	require.NoError(t, err)
	result, err := plan.Run(context.Background())
	require.NoError(t, err)
	defer result.Close()
	if spec.Output == join.Pairs {
		for _, err := range result.Pairs(context.Background()) {
			require.NoError(t, err)
		}
	} else {
		for _, batch := range drawAll(t, result, spec.Output) {
			batch.Release()
		}
	}
	require.EqualValues(t, 1, result.Stats().Granules)
	return states
}

// distinct is how many different numbers there are.
func distinct(states []join.Progress, number func(join.Progress) uint64) int {
	all := make(map[uint64]bool)
	for _, s := range states {
		all[number(s)] = true
	}
	return len(all)
}

func joinedRows(s join.Progress) uint64 { return s.Rows }
func drawnRows(s join.Progress) uint64  { return s.Drawn }

// TestProgressInAGranule: where rows of few keys make many more rows of output, which fill several windows, the rows
// that are joined and drawn move within the one granule, by every algorithm; the number of all output rows is known
// from its count on, and there is time left until all is joined. Texts are candidates first, which a filter tests.
func TestProgressInAGranule(t *testing.T) {
	devicetest.ShortOnHost(t)
	numbers := func(i int) int64 { return int64(i % 4) }
	left, right := keyed(t, "k0", 400, numbers), keyed(t, "k0", 1200, numbers)
	texts := func(row, _ int) *string {
		text := fmt.Sprintf("a text longer than a code, %d", row%160)
		return &text
	}
	types := []arrow.DataType{arrow.BinaryTypes.String}
	leftTexts, rightTexts := spread(t, 400, types, texts), spread(t, 1200, types, texts)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, algorithm := range algorithms {
			engine := smallEngine(t, device)
			spec := join.Spec{On: []string{"k0"}, Algorithm: algorithm, BatchRows: 1 << 10, BuildSide: join.BuildLeft}
			engine.WindowRows = 10_000
			states := statesOf(t, engine, left, right, spec)
			require.GreaterOrEqual(t, distinct(states, joinedRows), 10, "%s: %+v", algorithm, states)
			require.GreaterOrEqual(t, distinct(states, drawnRows), 50, "%s: %+v", algorithm, states)
			for _, s := range states {
				require.LessOrEqual(t, s.Rows, s.Total)
				require.NotZero(t, s.Left, "%s: %+v", algorithm, s)
				if s.Rows > 0 {
					require.EqualValues(t, 400*1200/4, s.Output, "%s: %+v", algorithm, s)
				}
			}
			engine.WindowRows, spec.BatchRows = 250, 64
			states = statesOf(t, engine, leftTexts, rightTexts, spec)
			require.GreaterOrEqual(t, distinct(states, joinedRows), 10, "%s, texts: %+v", algorithm, states)
			require.GreaterOrEqual(t, distinct(states, drawnRows), 20, "%s, texts: %+v", algorithm, states)
			last := states[len(states)-1]
			require.EqualValues(t, 80*3*8+80*2*7, last.Output, "%s, texts: %+v", algorithm, last)
		}
	})
}

// TestProgressOfManyRows: windows of an output that does not fit in one are no larger than it takes to be fast.
func TestProgressOfManyRows(t *testing.T) {
	devicetest.HostTest(t)
	if testing.Short() {
		t.Skip("makes 100 million rows")
	}
	one := func(int) int64 { return 1 }
	left, right := keyed(t, "k", 10_000, one), keyed(t, "k", 10_000, one)
	for _, algorithm := range []string{"smj-om", "smj-um"} {
		device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
		engine := smallEngine(t, device)
		engine.WindowRows = 80_000_000
		states := statesOf(t, engine, left, right, join.Spec{On: onK, Algorithm: algorithm, Output: join.Pairs})
		for i := range states[1:] {
			step := states[i+1].Rows - states[i].Rows
			require.LessOrEqual(t, step, uint64(10_000*operator.WindowRows/100_000_000+1), "%s: %+v", algorithm, states)
		}
		require.NoError(t, done())
	}
}

// TestProgressOfValidation: the check of a side tells its rows, of all.
func TestProgressOfValidation(t *testing.T) {
	devicetest.HostTest(t)
	unique, repeated := keyed(t, "k", 30_000, primary), keyed(t, "k", 1000, func(i int) int64 { return int64(i % 999) })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	var states []join.Progress
	spec := join.Spec{On: onK, Validate: join.OneToMany, Output: join.Count}
	spec.Progress = func(at join.Progress) { states = append(states, at) }
	_, err := drain(context.Background(), smallEngine(t, device), unique, repeated, spec)
	require.NoError(t, err)
	var rows []uint64
	for _, s := range states {
		if s.Phase == "validate left" {
			require.EqualValues(t, 30_000, s.Total)
			require.Negative(t, s.Left, "the plan says nothing of it")
			rows = append(rows, s.Rows)
		}
	}
	require.Equal(t, []uint64{0, 5000, 25_000, 30_000}, rows)
	require.NoError(t, done())
}

// TestPartsOfWideRows: parts of a probe side of wide rows have fewer of them, so that the memory for parts does not grow
// with the rows of the build side alone. No row has a match.
func TestPartsOfWideRows(t *testing.T) {
	keys := func(first int64, n int) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		for i := range n {
			b.Append(first + 2*int64(i))
		}
		return b.NewArray()
	}
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	defer texts.Release()
	for range 64 {
		texts.Append(strings.Repeat("x", 64<<10))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{keys(1, 64), texts.NewArray()}, 64)
	defer batch.Release()
	build := array.NewTableFromRecords(arrow.NewSchema(schema.Fields()[:1], nil), []arrow.RecordBatch{
		array.NewRecordBatch(arrow.NewSchema(schema.Fields()[:1], nil), []arrow.Array{keys(0, 1000)}, 1000)})
	defer build.Release()
	const batches = 64 // that share their memory, 256 MiB by their sizes
	wide := source.Source{Schema: schema, Rows: 64 * batches,
		Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				for range batches {
					if batch.Retain(); !yield(batch, nil) {
						return
					}
				}
			}
		}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		result, err := smallEngine(t, device).Stream(context.Background(), source.FromTable(build), wide,
			join.Spec{On: []string{"k"}})
		require.NoError(t, err)
		defer result.Close()
		require.Empty(t, drawAll(t, result, join.Rows))
		require.EqualValues(t, 8, result.Stats().Granules)
	})
}

// TestProgressOfParts: the share, the time left and the output rows refer to the whole join, not to one of its parts.
func TestProgressOfParts(t *testing.T) {
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	devicetest.HostTest(t)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	for _, how := range []join.How{join.Inner, join.Full, join.Cross} {
		engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, memory.DefaultAllocator, 0)
		engine.Spill(t.TempDir(), math.MaxUint64)
		engine.DivideBytes = 1 << 10
		spec := join.Spec{How: how, On: onK}
		if how == join.Cross {
			spec.On = nil
		}
		divided, shares, last := uint64(0), []float64{0}, join.Progress{}
		spec.Progress = func(at join.Progress) {
			if at.Phase == "divide both" {
				require.EqualValues(t, 800, at.Total)
				divided = at.Rows
			}
			if !strings.Contains(at.Phase, ", part ") && !strings.Contains(at.Phase, ", block ") {
				return
			}
			require.GreaterOrEqual(t, at.Share, shares[len(shares)-1]-0.02, "%v", at) // estimates of a part may change
			require.GreaterOrEqual(t, at.Drawn, last.Drawn)
			require.Equal(t, at.Share > 0, at.Left >= 0)
			require.True(t, at.Share > 0 || at.Total == 0)
			require.GreaterOrEqual(t, at.Elapsed, last.Elapsed)
			shares, last = append(shares, at.Share), at
		}
		sources := [2]source.Source{sourceOf(tables[0], 33), sourceOf(tables[1], 70)}
		for side := range sources {
			sources[side].Rows = tables[side].NumRows()
		}
		result, err := engine.Stream(t.Context(), sources[0], sources[1], spec)
		require.NoError(t, err)
		rows := uint64(0)
		for batch, err := range result.Batches(t.Context()) {
			require.NoError(t, err)
			rows += uint64(batch.NumRows())
			batch.Release()
		}
		result.Close()
		require.EqualValues(t, 800, divided)
		require.Greater(t, distinctShares(shares), 4)
		require.InDelta(t, 1, last.Share, 1e-9)
		require.Zero(t, last.Left)
		require.Equal(t, rows, last.Drawn)
		require.Equal(t, rows, last.Output)
	}
	require.NoError(t, done())
}

func distinctShares(shares []float64) int {
	slices.Sort(shares)
	return len(slices.Compact(shares))
}
