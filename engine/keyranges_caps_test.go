package engine_test

import (
	"math/bits"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/task"
)

// TestKeyRangesSmallCaps: whatever the cap of device memory, a join by the strategy hmg is either refused or runs to
// the end, in every way and by every sort.
func TestKeyRangesSmallCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 2_000, 3_000)
	spec := join.Spec{LeftOn: onKeys.LeftOn, RightOn: onKeys.RightOn, Output: join.Count, Strategy: join.StrategyHMG}
	layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
	require.NoError(t, err)
	want := len(oracle.Join(left, right, layout.Spec))
	ran, refused := 0, 0
	for size := 2; size <= 3; size++ {
		for capBytes := uint64(8 << 20); capBytes > 1<<14; capBytes /= 4 {
			for turn, cut := range []task.KeyRanges{{}, {Way: task.RangesMerge, Sort: hmg.SortMerge},
				{Way: task.RangesRoundTrip}, {Way: task.RangesMerge, Sort: hmg.SortMergeOnce}, {Way: task.RangesSegments}} {
				if !devicetest.Turn(turn+size+bits.Len64(capBytes), 3) {
					continue
				}
				of := host.New(host.Options{Discrete: true})
				var ops []*primitive.Ops
				for range size {
					driver, err := of.Open("host:cpu")
					require.NoError(t, err)
					device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
					defer func() { require.NoError(t, device.Close()) }()
					ops = append(ops, jointest.Lane(t, device, small).Ops)
				}
				joins := rangesOn(ops, memory.DefaultAllocator)
				joins.ByRange = cut
				rows, err := drain(t.Context(), joins, left, right, spec)
				if err != nil {
					require.ErrorIs(t, err, backend.ErrDeviceMemory, "%d devices, %d bytes, %+v", size, capBytes, cut)
					require.NotContains(t, err.Error(), "rank", "%d devices, %d bytes, %+v", size, capBytes, cut)
					require.ErrorContains(t, err, "raise", "%d devices, %d bytes, %+v", size, capBytes, cut)
					refused++
				} else {
					require.EqualValues(t, want, rows)
					ran++
				}
				joins.Close()
			}
		}
	}
	require.Positive(t, ran)
	require.Positive(t, refused)
}
