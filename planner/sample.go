package planner

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/operator"
)

// SampleRows and ScanRows are the rows of a sample: of the probe side, and of the build side, among which the former
// are looked up.
const (
	SampleRows = 1 << 13
	ScanRows   = 1 << 18
)

// seenRows are those of the sampled build rows that are looked at for repeated keys.
const seenRows = 1 << 14

// Position is the row of a sample of some among rows rows that stands for number i of it: a random one of rows/some
// neighbours, so that positions ascend, none is there twice, and no period of the keys hides in them.
func Position(i, some, rows uint64) uint64 {
	if some >= rows {
		return i
	}
	first, _ := divide(i, rows, some)
	next, _ := divide(i+1, rows, some)
	hi, lo := bits.Mul64(i^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	offset, _ := bits.Mul64((hi^lo)*0x2545f4914f6cdd1d, next-first)
	return first + offset
}

// divide returns i*rows/some.
func divide(i, rows, some uint64) (quotient, rest uint64) {
	hi, lo := bits.Mul64(i, rows)
	return bits.Div64(hi, lo, some)
}

// Sample fills in what facts say about the keys, from those of some rows of either side, in the order of their rows:
// about SampleRows of the probe side and ScanRows of the build side, or all that there are. Every row must have the
// same chance to be sampled whatever the others ([Position]). Rows has to be known.
//
// A sampled probe row meets scanned/rows of the build rows that it matches, so that with many more build rows than
// ScanRows the figures become rough: of 2^27 build rows 16 of 2^13 sampled rows are expected to meet one where all
// match.
func Sample(f *operator.Facts, probe, build []uint64) {
	f.OutputRows, f.MostRows, f.Unique, f.MatchRatio, f.BuildRatio, f.Repeats = 0, 0, false, 0, 0, 0
	f.Hottest, f.Distinct, f.Sorted = [2]float64{}, 0, [2]bool{}
	if len(probe) == 0 || len(build) == 0 {
		return
	}
	f.Sorted = [2]bool{operator.Build: slices.IsSorted(build), operator.Probe: slices.IsSorted(probe)}
	seenOf := min(seenRows, len(build))
	counts, seen := count(probe, len(probe)), count(build, seenOf)
	rows := [2]float64{float64(f.Rows[operator.Build]), float64(f.Rows[operator.Probe])}
	sampled, scanned := float64(len(probe)), min(1, float64(len(build))/rows[operator.Build])

	lookUp(counts, build)
	pairs, matched, keysMet, variance, most := 0.0, 0.0, 0.0, 0.0, uint32(0)
	for _, key := range counts {
		if key.met > 0 {
			n, h := float64(key.rows), float64(key.met)
			pairs += n * h
			matched += n
			keysMet++
			variance += n * h * (n + h - 1)
			most = max(most, key.met)
		}
	}
	for _, key := range seen {
		most = max(most, key.rows)
	}
	f.Unique = most <= 1
	distinct := [2]float64{keys(seen, seenOf, rows[operator.Build]), keys(counts, len(probe), rows[operator.Probe])}
	if f.Distinct = rows[operator.Build] / distinct[operator.Build]; f.Unique {
		f.Distinct = 1
	}
	found := found(pairs/max(1, matched), f.Distinct, scanned)
	f.MatchRatio = min(1, matched/sampled/found)
	met := keysMet / float64(len(counts)) / found // of the distinct keys of the probe side
	f.BuildRatio = min(1, min(1, met)*distinct[operator.Probe]*f.Distinct/rows[operator.Build])
	if f.OutputRows = uint64(rows[operator.Probe] * pairs / sampled / scanned); f.Unique {
		f.OutputRows = uint64(rows[operator.Probe] * f.MatchRatio)
	}
	few := 3*math.Sqrt(variance) + 3*max(1, pairs/max(1, matched)) // more pairs could well have been sampled
	f.MostRows = uint64(rows[operator.Probe] * (pairs + few) / sampled / scanned)
	f.Repeats = 1 - float64(len(counts))/sampled
	f.Hottest = [2]float64{operator.Build: hottest(seen, seenOf, rows[operator.Build]),
		operator.Probe: hottest(counts, len(probe), rows[operator.Probe])}
}

// sampledKey says how often a key is in a sample, and how often it was met among other keys.
type sampledKey struct{ rows, met uint32 }

// count counts some of the keys.
func count(keys []uint64, some int) map[uint64]*sampledKey {
	counts := make(map[uint64]*sampledKey, some)
	for i := range some {
		key := keys[Position(uint64(i), uint64(some), uint64(len(keys)))]
		if counts[key] == nil {
			counts[key] = new(sampledKey)
		}
		counts[key].rows++
	}
	return counts
}

// lookUp counts how often keys are among others, most of which are told apart by a bit.
func lookUp(counts map[uint64]*sampledKey, others []uint64) {
	var filter [1 << 14]uint64
	for key := range counts {
		h := mix(key)
		filter[h>>6] |= 1 << (h & 63)
	}
	part := max(1<<14, (len(others)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for some := range slices.Chunk(others, part) {
		wait.Go(func() {
			for _, key := range some {
				if h := mix(key); filter[h>>6]>>(h&63)&1 == 0 {
					continue
				}
				if found := counts[key]; found != nil {
					atomic.AddUint32(&found.met, 1)
				}
			}
		})
	}
	wait.Wait()
}

// mix spreads a key over 20 bits.
func mix(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	return (hi ^ lo) >> 44
}

// keys estimates the number of different keys among rows rows, of which some were sampled, from those that were seen
// once and twice (Chao's estimator without replacement: Chao and Lin 2012). Of unique keys it is rows, of keys that are
// equally frequent their number; where they are not it is less than that.
func keys(seen map[uint64]*sampledKey, some int, rows float64) float64 {
	once, twice := 0.0, 0.0
	for _, key := range seen {
		switch key.rows {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	share, all := min(1, float64(some)/rows), float64(len(seen))
	if once > 0 && share < 1 {
		all += once * once / (2*twice + share/(1-share)*once)
	}
	return max(1, min(all, rows))
}

// found is the share of the matching probe rows that meet one of the sampled build rows, where those that do meet so
// many on average, and keys have so many rows or more: 1-(1-share)^rows, with the rows for which that many are met.
func found(met, keyRows, share float64) float64 {
	if share == 1 {
		return 1
	}
	of := func(rows float64) float64 { return -math.Expm1(rows * math.Log1p(-share)) }
	low, high := 1.0, 1+met/share
	for range 60 {
		if rows := (low + high) / 2; share*rows/of(rows) < met {
			low = rows
		} else {
			high = rows
		}
	}
	return of(max(low, keyRows))
}

// hottest is a lower bound on the share of the most frequent key (95%): 0 where no key was sampled twice. That any of
// many keys is there k times by chance is much more likely than that one of them is: of s/x keys with x expected rows
// each, by Chernoff, at most s/x exp(k - x) (x/k)^k.
func hottest(counts map[uint64]*sampledKey, some int, rows float64) float64 {
	k := 0.0
	for _, key := range counts {
		k = max(k, float64(key.rows))
	}
	sampled := float64(some)
	switch {
	case k <= 1:
		return 0
	case sampled >= rows:
		return k / sampled
	}
	low, high := 0.0, k
	for range 60 {
		if x := (low + high) / 2; math.Log(sampled/x)+k-x+k*math.Log(x/k) < math.Log(0.05) {
			low = x
		} else {
			high = x
		}
	}
	return low / sampled
}
