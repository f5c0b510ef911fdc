package join_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
)

// BenchmarkHMG joins 2^22 rows with unique keys with as many that refer to them (SPIRJOIN_HMG_ROWS, a power of two), on
// logical devices of each backend: in one chunkset and in four, by each way to sort, and both sides in order already.
// MB/s counts 12 bytes a row of both sides.
func BenchmarkHMG(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_HMG_ROWS", 1<<22)
	shuffled := keyed(b, "k", rows, func(i int) int64 { return int64(uint32(i)*2654435761) % int64(rows) })
	ordered := keyed(b, "k", rows, func(i int) int64 { return int64(i) })
	for _, devices := range []int{1, 2} {
		for _, sets := range []uint64{1, 4} {
			for sort := hmg.SortRadix; sort <= hmg.SortAlone; sort++ {
				benchmarkHMG(b, shuffled, shuffled, devices, sets, sort, sort.String())
			}
		}
		benchmarkHMG(b, ordered, ordered, devices, 1, hmg.SortRadix, "presorted")
	}
}

func benchmarkHMG(b *testing.B, left, right arrow.Table, devices int, sets uint64, sort hmg.Sorting, name string) {
	run := func(b *testing.B, group []*backend.Device, device string) {
		var ops []*primitive.Ops
		for _, d := range group {
			o, err := primitive.New(d, nil)
			require.NoError(b, err)
			ops = append(ops, o)
		}
		h := join.NewHMG(ops, &offheap.Shared, 0)
		defer h.Close()
		h.Cut.Sort = sort
		h.Cut.ChunkRows = (uint64(left.NumRows()) + sets*uint64(devices) - 1) / (sets * uint64(devices))
		for _, output := range []join.Output{join.Count, join.Pairs} {
			b.Run(fmt.Sprintf("%s/output=%s", device, output), func(b *testing.B) {
				b.SetBytes(12 * (left.NumRows() + right.NumRows()))
				for b.Loop() {
					drawHMG(b, h, left, right, output)
				}
			})
		}
	}
	b.Run(fmt.Sprintf("devices=%d/chunksets=%d/sort=%s", devices, sets, name), func(b *testing.B) {
		devicetest.BenchGroup(b, devices, func(group []*backend.Device, device string) { run(b, group, device) })
	})
}

func drawHMG(b *testing.B, h *join.HMG, left, right arrow.Table, output join.Output) {
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
