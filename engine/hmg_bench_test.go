package engine_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
)

// BenchmarkHMG joins 2^22 rows with unique keys with as many that refer to them (SPIRJOIN_HMG_ROWS, a power of two), on
// logical devices of each backend: in place and in one chunkset by each way to sort, in several by segments and by a
// merge, and both sides in order already. MB/s counts 12 bytes a row of both sides; cpu-s is the CPU time of a join.
func BenchmarkHMG(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_HMG_ROWS", 1<<22)
	shuffled := keyed(b, "k", rows, func(i int) int64 { return int64(uint32(i)*2654435761) % int64(rows) })
	ordered := keyed(b, "k", rows, func(i int) int64 { return int64(i) })
	for _, devices := range []int{1, 2, 4} {
		for sort := hmg.SortRadix; sort <= hmg.SortAlone; sort++ {
			if devices == 1 || sort != hmg.SortAlone {
				benchmarkHMG(b, shuffled, devices, 0, hmg.Config{Sort: sort}, "in-place-"+sort.String())
			}
			benchmarkHMG(b, shuffled, devices, 1, hmg.Config{Sort: sort, Within: hmg.WithinRoundTrip}, sort.String())
		}
		for _, sets := range []uint64{4, 16} {
			benchmarkHMG(b, shuffled, devices, sets, hmg.Config{}, "segments")
			for _, sort := range []hmg.Sorting{hmg.SortRadix, hmg.SortAlone} {
				benchmarkHMG(b, shuffled, devices, sets, hmg.Config{Sort: sort, Beyond: hmg.BeyondMerge}, "merge-"+sort.String())
			}
		}
		benchmarkHMG(b, ordered, devices, 1, hmg.Config{}, "presorted")
	}
}

func benchmarkHMG(b *testing.B, table arrow.Table, devices int, sets uint64, cut hmg.Config, name string) {
	run := func(b *testing.B, group []*backend.Device, device string) {
		var ops []*primitive.Ops
		for _, d := range group {
			o, err := primitive.New(d, nil)
			require.NoError(b, err)
			ops = append(ops, o)
		}
		h := hmgOn(ops, &offheap.Shared)
		defer h.Engine.Close()
		h.Cut = cut
		if n := sets * uint64(devices); n > 0 {
			h.Cut.ChunkRows = (uint64(table.NumRows()) + n - 1) / n
		}
		for _, output := range []join.Output{join.Count, join.Pairs} {
			b.Run(fmt.Sprintf("%s/output=%s", device, output), func(b *testing.B) {
				b.SetBytes(24 * table.NumRows())
				before := cputime.Now()
				for b.Loop() {
					drawHMG(b, h, table, table, output)
				}
				b.ReportMetric((cputime.Now()-before).Seconds()/float64(b.N), "cpu-s")
			})
		}
	}
	b.Run(fmt.Sprintf("devices=%d/chunksets=%d/%s", devices, sets, name), func(b *testing.B) {
		devicetest.BenchGroup(b, devices, func(group []*backend.Device, device string) { run(b, group, device) })
	})
}

func drawHMG(b *testing.B, h *engine.HMG, left, right arrow.Table, output join.Output) {
	r, err := h.Join(b.Context(), left, right, join.Spec{On: onK, Output: output})
	require.NoError(b, err)
	defer r.Close()
	if output == join.Pairs {
		for _, err := range r.Pairs(b.Context()) {
			require.NoError(b, err)
		}
	}
	require.EqualValues(b, left.NumRows(), r.Rows())
}
