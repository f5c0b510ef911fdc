package spirjoin

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exec"
)

// TestBuildSideAmongWaitingJoins: joins with a build side that stays go on while nothing is free and others wait, who
// go on when it is closed, or end with their context.
func TestBuildSideAmongWaitingJoins(t *testing.T) {
	left, right := budgetTables(t, 5000, 20_000)
	spec := JoinSpec{On: []string{"k"}, BatchRows: 1 << 10}
	onEachDevice(t, 1<<30, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		e := open(1 << 40)
		result, err := e.Join(t.Context(), left, right, spec)
		want, err := draw(t.Context(), result, err)
		require.NoError(t, err)
		built, err := e.BuildSide(t.Context(), left, right.Schema(), 1<<14, spec)
		require.NoError(t, err)
		built.Close()

		e = open(e.join.Budget().Most().Host)
		built, err = e.BuildSide(t.Context(), left, right.Schema(), 1<<14, spec)
		require.NoError(t, err)
		defer built.Close()
		rest, err := e.join.Budget().Acquire(t.Context(), exec.Need{Host: e.join.Budget().Free().Host})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var waiting, cancelled sync.WaitGroup
		for range 8 {
			waiting.Go(func() {
				result, err := e.Join(t.Context(), left, right, spec)
				if sum, err := draw(t.Context(), result, err); err != nil || sum != want {
					t.Errorf("%v, %d instead of %d", err, sum, want)
				}
			})
		}
		cancelled.Go(func() {
			_, err := e.Join(ctx, left, right, spec)
			if !errors.Is(err, ErrCancelled) {
				t.Errorf("%v, not cancelled", err)
			}
		})
		for range 2 {
			result, err := built.Join(t.Context(), right)
			sum, err := draw(t.Context(), result, err)
			require.NoError(t, err)
			require.Equal(t, want, sum)
			reader := array.NewTableReader(right, 700)
			result, err = built.JoinStream(t.Context(), FromReader(reader))
			sum, err = draw(t.Context(), result, err)
			reader.Release()
			require.NoError(t, err)
			require.Equal(t, want, sum)
		}
		cancel()
		cancelled.Wait()
		require.Zero(t, e.join.Budget().Free().Host, "what probes took was given back, and nobody came in between")
		rest.Release()
		built.Close()
		waiting.Wait()
	})
}

// TestBuildSideLeavesRoomForSources: what a build side holds of a cap that is short leaves room for the batches of the
// sources that are joined with it, however large its own batches of output could be, and granules are as small as the
// cap wants them.
func TestBuildSideLeavesRoomForSources(t *testing.T) {
	left, right := budgetTables(t, 50, 1000)
	onEachDevice(t, 64<<20, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		for _, hostBytes := range []uint64{16 << 20, 64 << 20} {
			e, spec := open(hostBytes), JoinSpec{On: []string{"k"}}
			result, err := e.Join(t.Context(), left, right, spec)
			want, err := draw(t.Context(), result, err)
			require.NoError(t, err)
			built, err := e.BuildSide(t.Context(), left, right.Schema(), 0, spec)
			require.NoError(t, err)
			reader := array.NewTableReader(right, 700)
			result, err = built.JoinStream(t.Context(), FromReader(reader))
			sum, err := draw(t.Context(), result, err)
			require.NoError(t, err)
			require.Equal(t, want, sum)
			reader.Release()
			built.Close()
		}
	})
}

// TestStreamOfJoin: the source of a stream may be a join on the same engine that begins when the stream reads it, under
// a cap that is enough for both.
func TestStreamOfJoin(t *testing.T) {
	left, right := budgetTables(t, 5000, 20_000)
	onEachDevice(t, 1<<30, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		of := JoinSpec{On: []string{"k"}, How: RightSemi}
		layout, err := NewJoinLayout(left.Schema(), right.Schema(), of)
		require.NoError(t, err)
		spec := JoinSpec{On: []string{"k"}, BuildSide: BuildLeft}
		e := open(64 << 20)
		result, err := e.Join(t.Context(), left, right, spec)
		want, err := draw(t.Context(), result, err)
		require.NoError(t, err)
		for _, inner := range []func(context.Context) (*JoinResult, error){
			func(ctx context.Context) (*JoinResult, error) { return e.Join(ctx, left, right, of) },
			func(ctx context.Context) (*JoinResult, error) {
				return e.JoinStream(ctx, FromTable(left), FromTable(right), of)
			},
		} {
			source := Source{Schema: layout.Schema, Rows: -1,
				Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
					result, err := inner(ctx)
					if err != nil {
						return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
					}
					return func(yield func(arrow.RecordBatch, error) bool) {
						defer result.Close()
						result.Batches(ctx)(yield)
					}
				}}
			result, err := e.JoinStream(t.Context(), FromTable(left), source, spec)
			sum, err := draw(t.Context(), result, err)
			require.NoError(t, err)
			require.Equal(t, want, sum)
		}
	})
}
