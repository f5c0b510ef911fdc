package primitive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
)

// BenchmarkMatch matches unique sorted keys on the left, a third of SPIRJOIN_BENCH_ROWS, with sorted keys on the right
// that each equal one of them, and reports the device time of range search, scan, expansion to pairs, and of a merge of
// the two sides. SPIRJOIN_BENCH_RANGE_SEARCH, _RANGE_EXPAND and _MERGE hold configurations to compare. The results of
// the last run are verified.
func BenchmarkMatch(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
	left, right := make([]uint64, rows/3), make([]uint64, rows-rows/3)
	for i := range left {
		left[i] = 5 * uint64(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range right {
		right[i] = left[random.IntN(len(left))]
	}
	slices.Sort(right)
	devicetest.Bench(b, func(device *backend.Device, name string) {
		tunings := map[string]primitive.Tuning{}
		for variable, tuned := range map[string]string{"SPIRJOIN_BENCH_RANGE_SEARCH": "range_search",
			"SPIRJOIN_BENCH_RANGE_EXPAND": "range_expand", "SPIRJOIN_BENCH_MERGE": "merge"} {
			for text, tuning := range benchTunings(b, variable, tuned) {
				if tuning != nil {
					text = tuned + ":" + text
				}
				tunings[text] = tuning
			}
		}
		for _, tuning := range sortedKeys(tunings) {
			for _, keyBytes := range []int{4, 8} {
				b.Run(fmt.Sprintf("rows=%d/key=%d/tuning=%s/device=%s", rows, keyBytes*8, tuning, name),
					func(b *testing.B) {
						if keyBytes == 4 {
							benchMatch(b, device, narrowed(left), narrowed(right), keyBytes, tunings[tuning])
						} else {
							benchMatch(b, device, left, right, keyBytes, tunings[tuning])
						}
					})
			}
		}
	})
}

func benchMatch[K uint32 | uint64](b *testing.B, device *backend.Device, left, right []K, keyBytes int,
	tuning primitive.Tuning) {
	ctx := context.Background()
	ops, err := primitive.New(device, tuning)
	require.NoError(b, err)
	allocate, release := allocator(b, device)
	defer release()
	upload := func(column []byte) backend.Range {
		to := allocate(uint64(len(column)))
		point, err := device.Upload(ctx, to, column)
		require.NoError(b, err)
		require.NoError(b, point.Wait(ctx))
		return to
	}
	n, pairs := uint64(len(left)), uint64(len(right)) // every right row has one match
	search, err := primitive.PlanRangeSearch(ops.Tuning(), n, pairs, keyBytes)
	require.NoError(b, err)
	scan, err := primitive.PlanScan(ops.Tuning(), n, 32, 64, true)
	require.NoError(b, err)
	mergePlan, err := primitive.PlanMerge(ops.Tuning(), n, pairs, keyBytes, 32)
	require.NoError(b, err)
	ids := make([]uint32, max(n, pairs))
	for i := range ids {
		ids[i] = uint32(i)
	}
	leftKeys, rightKeys := upload(backend.AsBytes(left)), upload(backend.AsBytes(right))
	leftIDs, rightIDs := upload(backend.AsBytes(ids[:n])), upload(backend.AsBytes(ids[:pairs]))
	begins, counts, offsets := allocate(n*4), allocate(n*4), allocate((n+1)*8)
	scratch := allocate(max(search.ScratchBytes, scan.ScratchBytes, mergePlan.ScratchBytes))
	leftOut, rightOut := allocate(pairs*4), allocate(pairs*4)
	merged := primitive.KeyedColumns{Keys: allocate((n + pairs) * uint64(keyBytes)), Payload: allocate((n + pairs) * 4)}
	ranges := primitive.Ranges{LeftRows: n, Offsets: offsets, Begins: begins, LeftIDs: leftIDs, RightIDs: rightIDs}
	record := func() (list backend.List) {
		require.NoError(b, ops.RangeSearch(&list, search, leftKeys, rightKeys, begins, counts, scratch))
		require.NoError(b, ops.Scan(&list, scan, counts, offsets, scratch))
		require.NoError(b, ops.Expand(&list, ranges, 0, uint32(pairs), leftOut, rightOut))
		require.NoError(b, ops.Merge(&list, mergePlan, primitive.KeyedColumns{Keys: leftKeys, Payload: leftIDs},
			primitive.KeyedColumns{Keys: rightKeys, Payload: rightIDs}, merged, scratch))
		return byKernel(list)
	}
	for start := time.Now(); time.Since(start) < time.Second; { // an idle GPU runs at a fraction of its clock
		list := record()
		require.NoError(b, device.Run(ctx, &list))
	}
	times := map[string][]time.Duration{}
	for b.Loop() {
		list := record()
		list.Profile = new(backend.Profile)
		require.NoError(b, device.Run(ctx, &list))
		for _, s := range list.Profile.Stages() {
			times[s.Stage] = append(times[s.Stage], s.Time)
		}
	}
	for kernel, all := range times {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2].Seconds()*1000, "ms-"+kernel)
	}

	download := func(from backend.Range) []byte {
		to := make([]byte, from.SizeBytes)
		require.NoError(b, device.Download(ctx, to, from))
		return to
	}
	l, r := backend.Words(download(leftOut)), backend.Words(download(rightOut))
	for i := range r {
		if r[i] != uint32(i) || left[l[i]] != right[i] {
			b.Fatalf("pair %d is (%d, %d)", i, l[i], r[i])
		}
	}
	want := slices.Concat(left, right)
	slices.Sort(want)
	require.Equal(b, backend.AsBytes(want), download(merged.Keys))
}
