package engine_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
)

// TestGuess: joins that begin by a guessed range of keys have the rows that are there, also where a key is outside it:
// then keys are measured, and the join begins again.
func TestGuess(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 1 << 16
	begun := map[bool]int{}
	devicetest.ForEachGroup(t, 2, func(t *testing.T, devices []*backend.Device) {
		for _, n := range []int{1, 2} {
			for _, outlier := range []int{-1, rows / 5, rows / 3, rows / 2} {
				build := keyed(t, "k", rows, func(i int) int64 {
					if i == outlier {
						return 1 << 40
					}
					return int64(i) * 7919 % rows
				})
				probe := keyed(t, "k", rows, func(i int) int64 {
					if i == 7 {
						return 1 << 41 // not the outlier either, although both are outside the range
					}
					return int64(i)
				})
				want := int64(rows)*(rows-1)/2 - 7
				if outlier >= 0 {
					want -= int64(outlier) * 7919 % rows
				}
				allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
				engine := severalEngine(t, devices[:n], allocator, 0)
				engine.Guess, engine.Trace = true, exec.NewTrace()
				plan, err := engine.Plan(t.Context(), build, probe, join.Spec{On: onK, BuildSide: join.BuildLeft})
				require.NoError(t, err)
				result, err := plan.Run(t.Context())
				require.NoError(t, err)
				got := int64(0)
				for batch, err := range result.Batches(t.Context()) {
					require.NoError(t, err)
					for _, key := range batch.Column(0).(*array.Int64).Int64Values() {
						got += key
					}
					batch.Release()
				}
				require.Equal(t, want, got)
				result.Close()
				engine.Close()
				allocator.AssertSize(t, 0)
				var written bytes.Buffer
				require.NoError(t, engine.Trace.Write(&written))
				again := bytes.Count(written.Bytes(), []byte(`"measure keys"`)) > n // once, and once more for a stream
				begun[again]++
				if outlier < 0 {
					require.False(t, again)
				}
			}
		}
	})
	require.Positive(t, begun[true])
	require.Positive(t, begun[false])
}
