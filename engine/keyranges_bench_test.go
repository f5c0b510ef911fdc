package engine_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/task"
)

// BenchmarkHMG joins 2^22 rows with unique keys with as many that refer to them (SPIRJOIN_HMG_ROWS, a power of two), on
// logical devices of each backend: in place, in one chunkset by each way to sort, in several by segments and by a
// merge, and both sides in order already. MB/s counts 12 bytes a row of both sides; cpu-s is the CPU time of a join.
func BenchmarkHMG(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_HMG_ROWS", 1<<22)
	shuffled := keyed(b, "k", rows, func(i int) int64 { return int64(uint32(i)*2654435761) % int64(rows) })
	ordered := keyed(b, "k", rows, func(i int) int64 { return int64(i) })
	for _, devices := range []int{1, 2, 4} {
		benchmarkHMG(b, shuffled, devices, 0, task.KeyRanges{}, "in-place")
		for sort := hmg.SortRadix; sort <= hmg.SortAlone; sort++ {
			benchmarkHMG(b, shuffled, devices, 1, task.KeyRanges{Sort: sort, Way: task.RangesRoundTrip}, sort.String())
		}
		for _, sets := range []uint64{4, 16} {
			benchmarkHMG(b, shuffled, devices, sets, task.KeyRanges{Way: task.RangesSegments}, "segments")
			for _, sort := range []hmg.Sorting{hmg.SortRadix, hmg.SortAlone} {
				benchmarkHMG(b, shuffled, devices, sets, task.KeyRanges{Sort: sort, Way: task.RangesMerge}, "merge-"+sort.String())
			}
		}
		benchmarkHMG(b, ordered, devices, 1, task.KeyRanges{Way: task.RangesSegments}, "presorted")
	}
}

func benchmarkHMG(b *testing.B, table arrow.Table, devices int, sets uint64, cut task.KeyRanges, name string) {
	run := func(b *testing.B, group []*backend.Device, device string) {
		var ops []*primitive.Ops
		for _, d := range group {
			o, err := primitive.New(d, nil)
			require.NoError(b, err)
			ops = append(ops, o)
		}
		joins := rangesOn(ops, &offheap.Shared)
		defer joins.Close()
		joins.ByRange = cut
		if n := sets * uint64(devices); n > 0 {
			joins.ByRange.ChunkRows = (uint64(table.NumRows()) + n - 1) / n
		}
		if cut.Way == task.RangesSegments {
			joins.ByRange.TaskRows = joins.ByRange.ChunkRows
		}
		for _, output := range []join.Output{join.Count, join.Pairs} {
			b.Run(fmt.Sprintf("%s/output=%s", device, output), func(b *testing.B) {
				b.SetBytes(24 * table.NumRows())
				before := cputime.Now()
				for b.Loop() {
					plan, err := joins.Plan(b.Context(), table, table,
						join.Spec{On: onK, Output: output, Strategy: join.StrategyHMG})
					require.NoError(b, err)
					r, err := plan.Run(b.Context())
					require.NoError(b, err)
					if output == join.Pairs {
						for _, err := range r.Pairs(b.Context()) {
							require.NoError(b, err)
						}
					}
					require.EqualValues(b, table.NumRows(), r.Rows())
					r.Close()
				}
				b.ReportMetric((cputime.Now()-before).Seconds()/float64(b.N), "cpu-s")
			})
		}
	}
	b.Run(fmt.Sprintf("devices=%d/chunksets=%d/%s", devices, sets, name), func(b *testing.B) {
		devicetest.BenchGroup(b, devices, func(group []*backend.Device, device string) { run(b, group, device) })
	})
}
