package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// An estimate from a sample is near for keys that are equally frequent, also if their rows lie side by side, and not
// much too low for others.
func TestEstimate(t *testing.T) {
	devicetest.HostTest(t)
	const rows, sample = 1 << 22, samplePieces * pieceRows
	for keys := uint64(1); keys <= 1<<20; keys *= 8 {
		for _, kind := range []string{"alike", "Zipf", "side by side"} {
			random := rand.New(rand.NewPCG(keys, 1))
			zipf := rand.NewZipf(random, 1.01, 1, keys-1)
			all, exist := make([]uint64, rows), make(map[uint64]bool)
			for i := range all {
				switch all[i] = random.Uint64N(keys); {
				case kind == "Zipf":
					all[i] = zipf.Uint64()
				case kind == "side by side" && i%4 > 0:
					all[i] = all[i-1]
				}
				exist[all[i]] = true
			}
			runs, different, once := countKeys(backend.AsBytes(all[:sample]), 8)
			estimate := estimateGroups(rows/sample*runs, runs, different, once)
			ratio, most := float64(estimate.likely)/float64(len(exist)), float64(estimate.most)/float64(len(exist))
			if kind == "Zipf" {
				require.Greater(t, ratio, 0.25, "%d keys", keys)
				require.Less(t, ratio, 9.0, "%d keys", keys)
			} else {
				require.InDelta(t, 1, ratio, 0.3, "%d keys, %s", keys, kind)
			}
			require.GreaterOrEqual(t, most, 1.0, "%d keys, %s", keys, kind)
			t.Logf("%d keys, %s: %.2f, %.2f", keys, kind, ratio, most)
		}
	}
	runs, different, once := countKeys(backend.AsBytes([]uint32{0, 7, 7, 1 << 31, 0, 7}), 4)
	require.Equal(t, []uint64{5, 3, 1}, []uint64{runs, different, once})
	require.Equal(t, groupCount{3, 3}, estimateGroups(6, 6, 3, 1), "the sample is all")
	require.EqualValues(t, rows, estimateGroups(rows, sample, sample, sample).most, "no row repeats a key")
}
