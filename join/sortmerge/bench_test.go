package sortmerge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/primitive"
)

// BenchmarkResident joins primary with foreign 32-bit keys that are on the device, and materialises the key and one 4-byte
// payload column of each side there, in one piece: the narrow workload of GFTR 5.2. It reports the device time of each
// stage. SPIRJOIN_BENCH_ROWS is the number of rows on the left, 2^20 by default; the right has twice as many.
func BenchmarkResident(b *testing.B) {
	leftRows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<20)
	random := rand.New(rand.NewPCG(1, 1))
	keys := [2][]uint32{make([]uint32, leftRows), make([]uint32, 2*leftRows)}
	for i := range keys[0] {
		keys[0][i] = uint32(i)
	}
	random.Shuffle(leftRows, func(i, j int) { keys[0][i], keys[0][j] = keys[0][j], keys[0][i] })
	for i := range keys[1] {
		keys[1][i] = uint32(random.IntN(leftRows))
	}
	devicetest.Bench(b, func(device *backend.Device, name string) {
		b.Run(fmt.Sprintf("rows=%dx%d/device=%s", leftRows, 2*leftRows, name), func(b *testing.B) { joinResident(b, device, keys) })
	})
}

func joinResident(b *testing.B, device *backend.Device, keys [2][]uint32) {
	ctx := context.Background()
	ops, err := primitive.New(device, nil)
	require.NoError(b, err)
	allocate := func(rows int) *backend.Buffer {
		buffer, err := device.Allocate(backend.DeviceLocal, uint64(rows)*4, "bench")
		require.NoError(b, err)
		b.Cleanup(buffer.Release)
		return buffer
	}
	var source [2]*backend.Buffer // the key column of each side, which is its payload column too
	for side := range source {
		source[side] = allocate(len(keys[side]))
		point, err := device.Upload(ctx, source[side].All(), backend.AsBytes(keys[side]))
		require.NoError(b, err)
		require.NoError(b, device.Wait(ctx, point))
	}
	rows := len(keys[1])
	ids := [2]*backend.Buffer{allocate(rows), allocate(rows)}
	out := [3]*backend.Buffer{allocate(rows), allocate(rows), allocate(rows)}
	bits := 0
	for 1<<bits < len(keys[0]) {
		bits++
	}
	plan, err := sortmerge.NewPlan(ops.Tuning(), sortmerge.Problem{Rows: [2]uint64{uint64(len(keys[0])), uint64(rows)}, KeyBytes: 4, KeyBits: bits})
	require.NoError(b, err)
	load := func(ctx context.Context, side int, keys, _ backend.Range) error {
		var list backend.List
		list.Copy(keys, source[side].All())
		_, err := device.Submit(ctx, backend.Compute, &list)
		return err
	}
	run := func(profile *backend.Profile) {
		m, err := sortmerge.Match(ctx, ops, plan, load, func(uint64) error { return nil }, profile)
		require.NoError(b, err)
		defer m.Release()
		require.Equal(b, uint64(rows), m.Total)
		list := backend.List{Profile: profile}
		list.Stage("expand")
		require.NoError(b, m.RecordPairs(&list, 0, uint32(rows), ids[0].All(), ids[1].All()))
		list.Stage("gather")
		require.NoError(b, ops.Gather(&list, 4, source[0].All(), ids[0].All(), out[0].All(), uint32(rows)))
		require.NoError(b, ops.Gather(&list, 4, source[0].All(), ids[0].All(), out[1].All(), uint32(rows)))
		require.NoError(b, ops.Gather(&list, 4, source[1].All(), ids[1].All(), out[2].All(), uint32(rows)))
		require.NoError(b, device.Run(ctx, &list))
	}
	for start := time.Now(); time.Since(start) < time.Second; { // until the clock is up
		run(nil)
	}
	b.ResetTimer()
	profile := new(backend.Profile)
	for range b.N {
		run(profile)
	}
	b.StopTimer()
	var sum time.Duration
	for _, s := range profile.Stages() {
		sum += s.Time
		b.ReportMetric(s.Time.Seconds()*1000/float64(b.N), "ms-"+strings.ReplaceAll(s.Stage, " ", "-"))
	}
	b.ReportMetric(sum.Seconds()*1000/float64(b.N), "ms-device")
	left, right := make([]uint32, rows), make([]uint32, rows)
	require.NoError(b, device.Download(ctx, backend.AsBytes(left), out[0].All()))
	require.NoError(b, device.Download(ctx, backend.AsBytes(right), out[2].All()))
	seen := 0
	for i := range left {
		if left[i] != right[i] {
			b.Fatalf("row %d pairs key %d with %d", i, left[i], right[i])
		}
		seen += int(left[i] & 1)
	}
	want := 0
	for _, k := range keys[1] {
		want += int(k & 1)
	}
	require.Equal(b, want, seen)
}
