package auto_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/auto"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
)

// TestJoin joins by the plan, and by every alternative of it.
func TestJoin(t *testing.T) {
	names := slices.Sorted(maps.Keys(jointest.Workloads))
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		taken := make(map[plan.Algorithm]bool)
		for _, c := range devicetest.Combinations(t, len(jointest.Sizes), len(jointest.Payloads), len(names), 2) {
			size, payload, keyBytes := jointest.Sizes[c[0]], jointest.Payloads[c[1]], 4+4*c[3]
			left, right := &jointest.Relation{KeyBytes: keyBytes, Payload: payload[0]},
				&jointest.Relation{KeyBytes: keyBytes, Payload: payload[1]}
			left.Keys, right.Keys = jointest.Workloads[names[c[2]]].Draw(
				rand.New(rand.NewPCG(uint64(c[0]), uint64(c[2]))), size[0], size[1], keyBytes*8)
			describe := fmt.Sprintf("%s %v, keys of %d bytes, payload %v", names[c[2]], size, keyBytes, payload)
			jointest.Check(t, ops, left, right, describe,
				func(left, right resident.Relation) (*resident.Result, error) {
					f, err := auto.Facts(context.Background(), exec.NewLane(context.Background(), ops, nil), left,
						right)
					require.NoError(t, err)
					rates, err := plan.RatesFor(device.Info())
					require.NoError(t, err)
					all, err := plan.Choose(f, rates, ops.Tuning(), auto.LimitsOf(device))
					require.NoError(t, err)
					for _, a := range all[1:] {
						if a.Reject != nil {
							continue
						}
						r, err := auto.Run(context.Background(), exec.NewLane(context.Background(), ops, nil), &a, left,
							right, auto.Options{Room: f.Room()})
						require.NoError(t, err, "%s: %s", describe, a.Name())
						r.Release()
					}
					r, a, err := auto.Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left,
						right)
					taken[a.Algorithm] = true
					if err == nil {
						require.Equal(t, all[0].Algorithm, a.Algorithm)
						delta := 0.0 // samples of few rows are all rows
						if max(left.Rows, right.Rows) > plan.SampleRows {
							delta = 0.1 * float64(r.Rows)
						}
						require.InDelta(t, r.Rows, f.OutputRows, delta, describe)
					}
					return r, err
				})
		}
		require.Greater(t, len(taken), 1, "one algorithm is not best for all")
	})
}

// TestFacts compares what samples of large sides tell with what is true.
func TestFacts(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		const build, probe = 400_000, 500_000
		memory := exec.NewScope(context.Background(), device, nil)
		defer memory.ReleaseAll()
		relation := func(rows int, key func(i int) uint32) resident.Relation {
			keys := make([]uint32, rows)
			for i := range keys {
				keys[i] = key(i)
			}
			b := memory.New(uint64(rows)*4, "keys")
			require.NoError(t, memory.Err())
			point, err := device.Upload(context.Background(), b.All(), backend.AsBytes(keys))
			require.NoError(t, err)
			require.NoError(t, point.Wait(context.Background()))
			return resident.Relation{Rows: uint64(rows), Keys: resident.Column{Data: b.All(), Bytes: 4}}
		}
		primary := relation(build, func(i int) uint32 { return uint32(i) * 7919 % 524_287 })
		random := rand.New(rand.NewPCG(1, 1))
		foreign := relation(probe, func(i int) uint32 {
			if random.IntN(20) == 0 {
				return 7919
			}
			return random.Uint32N(524_287)
		})
		f, err := auto.Facts(context.Background(), exec.NewLane(context.Background(), ops, nil), foreign, primary)
		require.NoError(t, err)
		match := 0.05 + 0.95*build/524_287
		require.InDelta(t, match, f.MatchRatio, 0.1)
		require.InDelta(t, match*probe, float64(f.OutputRows), 0.1*probe)
		require.InDelta(t, 0.05, f.Hottest[0], 0.01)
		require.True(t, f.Unique)
		require.Equal(t, 19, f.KeyBits)
	})
}

// TestNoneFits: the error names the least need.
func TestNoneFits(t *testing.T) {
	b := host.New(host.Options{})
	driver, err := b.Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: 3 << 20})
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	memory := exec.NewScope(context.Background(), device, nil)
	relation := func(rows uint64) resident.Relation {
		return resident.Relation{Rows: rows, Keys: resident.Column{Data: memory.New(rows*4, "keys").All(), Bytes: 4}}
	}
	_, _, err = auto.Join(context.Background(), exec.NewLane(context.Background(), ops, nil), relation(200_000),
		relation(400_000))
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	require.ErrorContains(t, err, "raise device_memory to at least")
	memory.ReleaseAll()
	require.NoError(t, device.Close())
	require.NoError(t, b.Close())
}
