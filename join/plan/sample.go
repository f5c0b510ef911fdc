package plan

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// SampleRows and ScanRows are the rows of a sample: of the probe side, and of the build side, among which the former are looked up.
const (
	SampleRows = 1 << 13
	ScanRows   = 1 << 18
)

// Sample fills in what the facts say about the keys, from those of some rows of either side: OutputRows, MostRows, MatchRatio, Unique,
// Repeats, Hottest, Sorted. The rows of the probe side, about SampleRows, are spread over it, in its order; those of the build side, about ScanRows
// or all there are, may be runs.
//
// A sampled probe row meets scanned/rows of the build rows that it matches, so that with many more build rows than ScanRows the figures
// become rough: of 2^27 build rows 16 of 2^13 sampled rows are expected to meet one where all match.
func (f *Facts) Sample(probe, build []uint64) {
	f.MatchRatio, f.Repeats, f.OutputRows, f.MostRows, f.Unique = 0, 0, 0, 0, false
	if len(probe) == 0 || len(build) == 0 {
		return
	}
	counts := make(map[uint64]uint32, len(probe))
	var filter [1 << 14]uint64 // most build rows match no sampled row: a bit tells
	for _, key := range probe {
		counts[key]++
		h := mix(key)
		filter[h>>6] |= 1 << (h & 63)
	}
	hits, seen := make(map[uint64]uint32), make(map[uint64]uint32)
	for _, key := range candidates(build, &filter) {
		if counts[key] > 0 {
			hits[key]++
		}
	}
	stride := max(1, len(build)/SampleRows)
	for i := 0; i < len(build); i += stride {
		seen[build[i]]++
	}
	f.Sorted[f.Build()], f.Sorted[1-f.Build()] = slices.IsSorted(build), slices.IsSorted(probe)
	side, sampled := f.Build(), float64(len(probe))
	scanned := float64(len(build)) / float64(f.Rows[side])
	pairs, matched := 0.0, 0.0
	most := uint32(0)
	for key, n := range hits {
		pairs += float64(n) * float64(counts[key])
		matched += float64(counts[key])
		most = max(most, n)
	}
	for _, n := range seen {
		most = max(most, n)
	}
	f.Unique = most <= 1
	f.MatchRatio = min(1, matched/sampled/scanned)
	rows := float64(f.Rows[1-side])
	if f.OutputRows = uint64(rows * pairs / sampled / scanned); f.Unique {
		f.OutputRows = uint64(rows * f.MatchRatio)
	}
	few := 3*math.Sqrt(matched) + 3 // more matches could well have been sampled
	f.MostRows = uint64(rows * (pairs + few*max(1, pairs/max(1, matched))) / sampled / scanned)
	f.Repeats = 1 - float64(len(counts))/sampled
	f.Hottest[1-side] = hottest(counts, len(probe))
	f.Hottest[side] = hottest(seen, (len(build)+stride-1)/stride)
}

// candidates are the keys whose bit is set in the filter.
func candidates(keys []uint64, filter *[1 << 14]uint64) []uint64 {
	part := max(1<<14, (len(keys)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	found := make([][]uint64, (len(keys)+part-1)/part)
	var wait sync.WaitGroup
	for i := range found {
		wait.Go(func() {
			for _, key := range keys[i*part : min(len(keys), (i+1)*part)] {
				if h := mix(key); filter[h>>6]>>(h&63)&1 == 1 {
					found[i] = append(found[i], key)
				}
			}
		})
	}
	wait.Wait()
	return slices.Concat(found...)
}

// hottest is the share of the most frequent key in a sample; 0 for a key that is there twice at most, which may be by chance.
func hottest(counts map[uint64]uint32, sampled int) float64 {
	most := uint32(0)
	for _, n := range counts {
		most = max(most, n)
	}
	if most <= 2 {
		return 0
	}
	return float64(most) / float64(sampled)
}

// mix spreads a key over 20 bits.
func mix(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	return (hi ^ lo) >> 44
}
