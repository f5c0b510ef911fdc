package engine_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

var errBroken = errors.New("the source broke")

// counted tells how many batches of a source were drawn, and lets it fail, wait or be of another type behind some.
type counted struct {
	source source.Source
	drawn  atomic.Int64
	after  int64
	then   func(ctx context.Context, yield func(arrow.RecordBatch, error) bool)
}

func (c *counted) of() source.Source {
	s := c.source
	s.Batches = func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			for batch, err := range c.source.Batches(ctx) {
				if c.drawn.Add(1) > c.after {
					batch.Release()
					c.then(ctx, yield)
					return
				}
				if !yield(batch, err) {
					return
				}
			}
		}
	}
	return s
}

// TestStreamFaults: a source that fails ends the join with its error wherever that happens, batches of another schema
// too; a cancelled join stops a source that waits. Nothing stays.
func TestStreamFaults(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	fail := func(_ context.Context, yield func(arrow.RecordBatch, error) bool) { yield(nil, errBroken) }
	none := func(_ context.Context, yield func(arrow.RecordBatch, error) bool) { yield(nil, nil) }
	other := func(_ context.Context, yield func(arrow.RecordBatch, error) bool) {
		for batch := range sourceOf(left, 5).Batches(context.Background()) {
			if !yield(batch, nil) {
				return
			}
		}
	}
	run := func(t *testing.T, e *engine.Engine, sources [2]source.Source, spec join.Spec, built bool) error {
		var result *engine.Result
		var err error
		if built {
			b, buildErr := e.Build(context.Background(), left, right.Schema(), 64, spec)
			require.NoError(t, buildErr)
			defer b.Close()
			result, err = b.JoinStream(context.Background(), sources[1])
		} else {
			result, err = e.Stream(context.Background(), sources[0], sources[1], spec)
		}
		if err != nil {
			return err
		}
		defer result.Close()
		for batch, err := range result.Batches(context.Background()) {
			if err != nil {
				return err
			}
			batch.Release()
		}
		return nil
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := smallEngine(t, device)
		e.GranuleRows = 64
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms), 4, 3, 2) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildLeft, BatchRows: 100}
			broken := counted{source: sourceOf(right, 20), after: []int64{0, 1, 10, 25}[c[2]], then: fail}
			want := errBroken
			if c[3] > 0 {
				want, broken.then = backend.ErrInvalidInput, other
			}
			if c[3] == 2 {
				broken.then = none
			}
			sources := [2]source.Source{source.FromTable(left), broken.of()}
			err := run(t, e, sources, spec, c[4] == 1)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "right source after "+text.Plural(broken.drawn.Load()-1, "batch")+": ")
			if c[4] == 0 { // the side that is collected
				sources = [2]source.Source{broken.of(), source.FromTable(right)}
				broken.drawn.Store(0)
				err := run(t, e, [2]source.Source{{Schema: right.Schema(), Rows: -1, Batches: sources[0].Batches},
					sources[1]}, spec, false)
				require.ErrorIs(t, err, want)
			}
		}
		for _, build := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			waiting := counted{source: sourceOf(right, 20), after: 30,
				then: func(ctx context.Context, _ func(arrow.RecordBatch, error) bool) { cancel(); <-ctx.Done() }}
			sources := [2]source.Source{source.FromTable(left), waiting.of()}
			if build {
				sources = [2]source.Source{{Schema: right.Schema(), Rows: 1, Batches: sources[1].Batches}, source.FromTable(right)}
			}
			result, err := e.Stream(ctx, sources[0], sources[1], join.Spec{On: onK, BuildSide: join.BuildLeft})
			if err == nil {
				for batch, drawErr := range result.Batches(context.Background()) {
					if err = drawErr; err == nil {
						batch.Release()
					}
				}
				result.Close()
			}
			require.ErrorIs(t, err, backend.ErrCancelled)
		}
		noMemoryInUse(t, device)
	})
}

// TestPanics: a source that panics ends the join with an error, whichever side it is, and so does a callback in the
// midst of a join. Nothing stays, so that joins that need all memory run afterwards.
func TestPanics(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := limitedEngine(t, device, 64<<20)
		free := e.Budget().Free()
		draw := func(result *engine.Result, err error) error {
			if err != nil {
				return err
			}
			defer result.Close()
			for batch, err := range result.Batches(t.Context()) {
				if err != nil {
					return err
				}
				batch.Release()
			}
			return nil
		}
		stream := func(from source.Source, spec join.Spec) error {
			return draw(e.Stream(t.Context(), source.FromTable(left), from, spec))
		}
		tables := func(_ source.Source, spec join.Spec) error {
			plan, err := e.Plan(t.Context(), left, right, spec)
			require.NoError(t, err)
			return draw(plan.Run(t.Context()))
		}
		for _, side := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
			for _, after := range []int64{0, 3} {
				broken := counted{source: sourceOf(right, 20), after: after,
					then: func(context.Context, func(arrow.RecordBatch, error) bool) { panic(errBroken) }}
				err := stream(broken.of(), join.Spec{On: onK, BuildSide: side})
				require.ErrorIs(t, err, errBroken)
				require.ErrorContains(t, err, "read right: panic: ")
				require.True(t, reflect.DeepEqual(free, e.Budget().Free()))
			}
			for _, phase := range []string{"wait", "load " + side.String(), "join"} {
				for _, run := range []func(source.Source, join.Spec) error{stream, tables} {
					err := run(sourceOf(right, 20), join.Spec{On: onK, BuildSide: side, Progress: func(at join.Progress) {
						if at.Phase == phase {
							panic(errBroken)
						}
					}})
					require.ErrorIs(t, err, errBroken, phase)
					require.True(t, reflect.DeepEqual(free, e.Budget().Free()), phase)
				}
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestEndlessSource: a source that never ends, of rows or of empty batches, on either side, ends with the context.
func TestEndlessSource(t *testing.T) {
	left := keyed(t, "k", 4, func(i int) int64 { return int64(i) })
	reader := array.NewTableReader(left, 4)
	defer reader.Release()
	require.True(t, reader.Next())
	endless := func(rows int64, drawn *int, cancel func()) source.Source {
		return source.Source{Schema: left.Schema(), Rows: -1,
			Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
				return func(yield func(arrow.RecordBatch, error) bool) {
					for *drawn < 10_000 && yield(reader.RecordBatch().NewSlice(0, rows), nil) {
						if *drawn++; *drawn == 1000 {
							cancel()
						}
					}
				}
			}}
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, rows := range []int64{0, 1} {
			for _, side := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
				ctx, cancel := context.WithCancel(t.Context())
				drawn := 0
				from := endless(rows, &drawn, cancel)
				result, err := engine.Stream(ctx, source.FromTable(left), from, join.Spec{On: onK, BuildSide: side})
				if err == nil {
					for batch, drawErr := range result.Batches(t.Context()) {
						if err = drawErr; err == nil {
							batch.Release()
						}
					}
					result.Close()
				}
				require.ErrorIs(t, err, backend.ErrCancelled)
				require.Less(t, drawn, 10_000)
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamStops: a result that is closed stops its source, which is never far ahead of what is drawn.
func TestStreamStops(t *testing.T) {
	left, right := rich(t, 1, 50, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 3000, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 100
		for _, algorithm := range algorithms {
			all := counted{source: sourceOf(right, 50), after: 1 << 40}
			result, err := engine.Stream(context.Background(), source.FromTable(left), all.of(), join.Spec{On: onK, BatchRows: 10,
				How: join.Right, BuildSide: join.BuildLeft, Algorithm: algorithm})
			require.NoError(t, err)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				batch.Release()
				break
			}
			drawn := all.drawn.Load()
			result.Close()
			require.LessOrEqual(t, all.drawn.Load(), drawn+1)
			for _, err := range result.Batches(context.Background()) {
				require.ErrorContains(t, err, "was closed")
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestNothingGiven: a table, reader, schema or source that is missing is an error that says which.
func TestNothingGiven(t *testing.T) {
	table := keyed(t, "k", 4, func(i int) int64 { return int64(i) })
	ctx, spec, none := t.Context(), join.Spec{On: onK}, source.FromTable(nil)
	unread := source.Source{Schema: table.Schema()}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		built, err := engine.Build(ctx, table, table.Schema(), 0, spec)
		require.NoError(t, err)
		defer built.Close()
		for _, c := range []struct {
			missing string
			call    func() error
		}{
			{"the left table", func() error { _, err := engine.Plan(ctx, nil, table, spec); return err }},
			{"the right table", func() error { _, err := engine.Plan(ctx, table, nil, spec); return err }},
			{"the schema of the left source", func() error { _, err := engine.Stream(ctx, none, none, spec); return err }},
			{"the schema of the right source", func() error {
				_, err := engine.Stream(ctx, source.FromTable(table), source.FromReader(nil), spec)
				return err
			}},
			{"Batches of the right source", func() error {
				_, err := engine.Stream(ctx, source.FromTable(table), unread, spec)
				return err
			}},
			{"the schema of the left table", func() error { _, err := join.NewLayout(nil, table.Schema(), spec); return err }},
			{"the left table", func() error { _, err := engine.Build(ctx, nil, table.Schema(), 0, spec); return err }},
			{"the schema of the right table", func() error { _, err := engine.Build(ctx, table, nil, 0, spec); return err }},
			{"the right table", func() error { _, err := built.Join(ctx, nil); return err }},
			{"the schema of the right source", func() error { _, err := built.JoinStream(ctx, none); return err }},
		} {
			err := c.call()
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, c.missing+" is nil")
		}
	})
}
