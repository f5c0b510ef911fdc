package engine_test

import (
	"context"
	"iter"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// gated is a source of unknown length that yields some batches, says so, and yields the others when it may.
func gated(table arrow.Table, batchRows int64, batches int, reached chan<- struct{}, may <-chan struct{}) source.Source {
	source := sourceOf(table, batchRows)
	all := source.Batches
	source.Batches = func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			n := 0
			for batch, err := range all(ctx) {
				if n++; n == batches+1 {
					close(reached)
					<-may
				}
				if !yield(batch, err) {
					return
				}
			}
			if n <= batches {
				close(reached)
			}
		}
	}
	return source
}

// TestStreamShorter: of two sources of unknown length, the one that ends first is the build side, also while the other
// one is silent or has given more; no row of that one is lost.
func TestStreamShorter(t *testing.T) {
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	spec := withKeys(join.Spec{How: join.Full, BatchRows: 100})
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for side, name := range []string{"left", "right"} {
			for _, before := range []int{0, 1, 7} { // batches of the other side
				at, end, ended := make(chan struct{}), make(chan struct{}), false
				sources := [2]source.Source{}
				sources[1-side] = gated(tables[1-side], 40, before, at, end)
				sources[side] = gated(tables[side], 40, 0, make(chan struct{}), at)
				spec.Progress = func(now exec.Status) {
					if now.Phase != "read both" && !ended {
						close(end)
						ended = true
					}
				}
				result, err := engine.Stream(t.Context(), sources[0], sources[1], spec)
				require.NoError(t, err)
				require.Regexp(t, `\n *build +`+name, result.Explain(), "after %d batches", before)
				rows := int64(0)
				for batch, err := range result.Batches(t.Context()) {
					require.NoError(t, err)
					rows += batch.NumRows()
					batch.Release()
				}
				require.EqualValues(t, tables[0].NumRows(), result.Stats().LeftRows)
				require.EqualValues(t, tables[1].NumRows(), result.Stats().RightRows)
				require.EqualValues(t, result.Rows(), rows)
				result.Close()
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamShorterUnderLimit: where both sources together would take too much of the memory, the left one is the build
// side; the memory of what was read of the other one counts.
func TestStreamShorterUnderLimit(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left := keyed(t, "k", 100_000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 1_000_000, func(i int) int64 { return int64(i) * 7 % 100_000 })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	const limitBytes = 16 << 20
	engine := limitedEngine(t, device, limitBytes)
	at, end := make(chan struct{}), make(chan struct{})
	close(end)
	// The rest of the left one comes when the right one takes most of what both may have.
	slow := gated(left, 10_000, 1, make(chan struct{}), at)
	batches := int(limitBytes / 4 * 3 / 4 / (relation.TableBytes(right) / 100))
	result, err := engine.Stream(t.Context(), slow, gated(right, 10_000, batches, at, end),
		join.Spec{On: onK, BatchRows: 1 << 12})
	require.NoError(t, err)
	require.Regexp(t, `\n *build +left`, result.Explain())
	rows := int64(0)
	for batch, err := range result.Batches(t.Context()) {
		require.NoError(t, err)
		rows += batch.NumRows()
		batch.Release()
	}
	require.EqualValues(t, right.NumRows(), rows)
	require.LessOrEqual(t, engine.Budget().Most().Host, uint64(limitBytes))
	result.Close()
	require.NoError(t, done())
}
