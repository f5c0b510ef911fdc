package join_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
)

// TestProgress: a join of tables, and of sources, tells its rows of all rows while it joins and delivers; the share
// that is done grows to 1, the time left ends with 0, and the time elapsed does not begin anew with a phase.
func TestProgress(t *testing.T) {
	left, right := tables(t, 4000, 40_000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 10_000
		runs := map[string]func(join.Spec) (*join.Result, error){
			"tables": func(spec join.Spec) (*join.Result, error) {
				plan, err := engine.Plan(context.Background(), left, right, spec)
				require.NoError(t, err)
				return plan.Run(context.Background())
			},
			"sources": func(spec join.Spec) (*join.Result, error) {
				known, build := sourceOf(right, 3000), sourceOf(left, 1000)
				known.Rows, build.Rows = right.NumRows(), left.NumRows()
				return engine.Stream(context.Background(), build, known, spec)
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
				require.Equal(t, join.Progress{Phase: "output", Rows: last.Rows, Total: rows, Share: 1, Elapsed: elapsed}, last,
					name)
				if output == join.Rows {
					require.Equal(t, rows, last.Rows, name)
				}
			}
		}
	})
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
	wide := join.Source{Schema: schema, Rows: 64 * batches,
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
		result, err := smallEngine(t, device).Stream(context.Background(), join.FromTable(build), wide,
			join.Spec{On: []string{"k"}})
		require.NoError(t, err)
		defer result.Close()
		require.Empty(t, drawAll(t, result, join.Rows))
		require.EqualValues(t, 8, result.Stats().Granules)
	})
}
