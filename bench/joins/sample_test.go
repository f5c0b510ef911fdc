package joins_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// TestSample compares what samples of large sides on a device tell with what is true.
func TestSample(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ctx := context.Background()
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		lane := exec.NewLane(ctx, ops, nil)
		defer lane.Memory.ReleaseAll()
		upload := func(bytes int, data []byte) relation.Values {
			b := lane.Memory.New(uint64(len(data)), "column")
			require.NoError(t, lane.Memory.Err())
			point, err := device.Upload(ctx, b.All(), data)
			require.NoError(t, err)
			require.NoError(t, point.Wait(ctx))
			return relation.Values{Data: b.All(), Bytes: bytes}
		}
		const build, probe, keys = 400_000, 500_000, 524_287
		random := rand.New(rand.NewPCG(1, 1))
		primary, foreign := make([]uint32, build), make([]uint32, probe)
		for i := range primary {
			primary[i] = uint32(i) * 7919 % keys
		}
		for i := range foreign {
			if foreign[i] = random.Uint32N(keys); random.IntN(20) == 0 {
				foreign[i] = 7919
			}
		}
		narrow := &relation.Chunk{Rows: build, Keys: upload(4, backend.AsBytes(primary))}
		other := &relation.Chunk{Rows: probe, Keys: upload(4, backend.AsBytes(foreign))}
		other.Payload = []relation.Values{other.Keys}
		var f operator.Facts
		require.NoError(t, joins.Sample(ctx, lane, narrow, other, &f))
		const match = 0.05 + 0.95*float64(build)/keys
		require.Equal(t, [2]uint64{build, probe}, f.Rows)
		require.Equal(t, [2][]int{nil, {4}}, f.Payload)
		require.InDelta(t, match, f.MatchRatio, 0.1)
		require.InDelta(t, match*probe, float64(f.OutputRows), 0.1*probe)
		require.InDelta(t, 0.05, f.Hottest[operator.Probe], 0.012)
		require.True(t, f.Unique)
		require.Equal(t, 19, f.KeyBits)
		require.NotNil(t, f.Tuning)

		// Small sides are read whole; 8-byte keys may be narrow.
		wide := make([]uint64, 1000)
		for i := range wide {
			wide[i] = 7<<32 | uint64(i/2)
		}
		c := &relation.Chunk{Rows: 1000, Keys: upload(8, backend.AsBytes(wide)), Narrow: true, HighWord: 7}
		require.NoError(t, joins.Sample(ctx, lane, c, c, &f))
		require.True(t, f.Narrow)
		require.EqualValues(t, 2000, f.OutputRows)
		require.Equal(t, 2.0, f.Distinct)
		require.Equal(t, [2]bool{true, true}, f.Sorted)
		require.Equal(t, 9, f.KeyBits)
		high := *c
		high.HighWord = 8
		require.NoError(t, joins.Sample(ctx, lane, c, &high, &f))
		require.False(t, f.Narrow, "of two high words")

		empty := &relation.Chunk{Keys: relation.Values{Bytes: 8}}
		require.NoError(t, joins.Sample(ctx, lane, empty, c, &f))
		require.Zero(t, f.OutputRows)
		c.Rows++
		require.ErrorIs(t, joins.Sample(ctx, lane, c, c, &f), backend.ErrInvalidInput)
	})
}
