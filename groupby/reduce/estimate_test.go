package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// An estimate from a sample is near for keys that are equally frequent, and not much too low for others.
func TestEstimate(t *testing.T) {
	const rows, sample = 1 << 22, samplePieces * pieceRows
	random := rand.New(rand.NewPCG(1, 1))
	for keys := uint64(1); keys <= 1<<20; keys *= 8 {
		for name, zipf := range map[string]*rand.Zipf{"alike": nil, "Zipf": rand.NewZipf(random, 1.01, 1, keys-1)} {
			all, exist := make([]uint64, rows), make(map[uint64]bool)
			for i := range all {
				if all[i] = random.Uint64N(keys); zipf != nil {
					all[i] = zipf.Uint64()
				}
				exist[all[i]] = true
			}
			different, once := countKeys(backend.AsBytes(all[:sample]), 8)
			estimate := estimateGroups(rows, sample, different, once)
			ratio := float64(estimate.likely) / float64(len(exist))
			require.GreaterOrEqual(t, estimate.most, uint64(len(exist)), "%d keys", keys)
			if zipf == nil {
				require.InDelta(t, 1, ratio, 0.1, "%d keys", keys)
			} else {
				require.Greater(t, ratio, 0.25, "%d keys", keys)
				require.Less(t, ratio, 9.0, "%d keys", keys)
			}
			t.Logf("%d keys, %s: %.2f", keys, name, ratio)
		}
	}
	different, once := countKeys(backend.AsBytes([]uint32{0, 7, 7, 1 << 31, 0, 7}), 4)
	require.Equal(t, []uint64{3, 1}, []uint64{different, once})
	require.Equal(t, groupCount{3, 3}, estimateGroups(6, 6, 3, 1), "the sample is all")
	require.EqualValues(t, rows, estimateGroups(rows, sample, sample, sample).most, "no row repeats a key")
}
