package planner

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// A sample has about SampleRows rows of the probe side, drawn one by one, and about ScanRows of the build side, drawn
// in blocks of BlockRows neighbours, or all rows if there are fewer. The former are looked up among the latter.
const (
	SampleRows = 1 << 13
	BlockRows  = 64
)

// ScanRows is a sixteenth of the build side, so that a sample takes little of the time of a small join, within bounds.
func ScanRows(buildRows uint64) uint64 { return min(max(1<<13, buildRows/16), 1<<18) }

// Of the sampled build rows some are looked at for hot keys, and all rows of some keys for how often keys repeat: of all
// keys where they are few, down to one in mostThin.
const (
	seenRows = 1 << 13
	fewKeys  = 1 << 8
	mostThin = 1 << 4
)

// Sample fills in the facts about keys from the keys of sampled rows of both sides. The samples are in row order,
// grouped by the drawn blocks ([relation.Blocks]). f.Rows must be set.
//
// A sampled probe row meets scanned/rows of the build rows that it matches, so the estimates become rough with many
// more build rows than ScanRows: with 2^27 build rows, 16 of 2^13 sampled rows are expected to meet one if all match.
//
// The rows of a key may be neighbours, of which a block has all or none, or anywhere in the table. Expectations are
// therefore derived from the blocks that have the key, the sampling units of a cluster sample.
func Sample(f *operator.Facts, probe, build [][]uint64) {
	f.OutputRows, f.MostRows, f.Unique, f.MatchRatio, f.BuildRatio, f.Repeats = 0, 0, false, 0, 0, 0
	f.Hottest, f.Distinct, f.Sorted = [2]float64{}, 0, [2]bool{}
	rows := [2]float64{float64(f.Rows[operator.Build]), float64(f.Rows[operator.Probe])}
	scan := number(build)
	if number(probe) == 0 || scan == 0 {
		return
	}
	f.Sorted = [2]bool{operator.Build: sorted(build), operator.Probe: sorted(probe)}
	var counts, seen, repeated *keyCounts
	var both sync.WaitGroup
	both.Go(func() {
		counts = count(probe, rows[operator.Probe], 1)
		counts.lookUp(build)
	})
	both.Go(func() {
		seen = count(some(build, seenRows), rows[operator.Build], 1)
		repeated = count(build, rows[operator.Build], min(mostThin, max(1, len(seen.keys)/fewKeys)))
	})
	both.Wait()
	scanned := min(1, scan/rows[operator.Build])
	pairs, matched, blocksMet, keysMet, variance, most := 0.0, 0.0, 0.0, 0.0, 0.0, uint32(0)
	for i := range counts.keys {
		key := &counts.keys[i]
		if key.met > 0 {
			n, h := float64(key.rows), float64(key.met)
			pairs += n * h
			matched += n
			blocksMet += n * float64(key.metBlocks)
			keysMet++
			variance += n * h * (n + h - 1)
			most = max(most, key.met)
		}
	}
	for i := range repeated.keys {
		key := &repeated.keys[i]
		most = max(most, key.rows)
	}
	f.Unique = most <= 1
	distinct := [2]float64{operator.Build: repeated.distinct(), operator.Probe: counts.distinct()}
	if f.Distinct = rows[operator.Build] / distinct[operator.Build]; f.Unique {
		f.Distinct = 1
	}
	found := found(blocksMet/max(1, matched), f.Distinct/repeated.crowd(), scanned)
	f.MatchRatio = min(1, matched/counts.rows/found)
	met := keysMet / float64(len(counts.keys)) / found // of the distinct keys of the probe side
	f.BuildRatio = min(1, min(1, met)*distinct[operator.Probe]*f.Distinct/rows[operator.Build])
	if f.OutputRows = uint64(rows[operator.Probe] * pairs / counts.rows / scanned); f.Unique {
		f.OutputRows = uint64(rows[operator.Probe] * f.MatchRatio)
	}
	few := 3*math.Sqrt(variance) + 3*max(1, pairs/max(1, matched)) // more pairs could well have been sampled
	f.MostRows = uint64(rows[operator.Probe] * (pairs + few) / counts.rows / scanned)
	f.Repeats = 1 - float64(len(counts.keys))/counts.rows
	f.Hottest = [2]float64{operator.Build: seen.hottest(), operator.Probe: counts.hottest()}
}

// number counts the rows of a sample.
func number(sample [][]uint64) (rows float64) {
	for _, block := range sample {
		rows += float64(len(block))
	}
	return rows
}

// sorted says whether the rows of a sample ascend.
func sorted(sample [][]uint64) bool {
	last := uint64(0)
	for _, block := range sample {
		for _, key := range block {
			if key < last {
				return false
			}
			last = key
		}
	}
	return true
}

// some draws blocks of a sample with about rows rows.
func some(sample [][]uint64, rows uint64) (drawn [][]uint64) {
	share := float64(rows) / number(sample)
	for i := range relation.Blocks(uint64(len(sample)), uint64(share*float64(len(sample))), 1) {
		drawn = append(drawn, sample[i])
	}
	return drawn
}

// keyCounts says what keys a sample has.
type keyCounts struct {
	keys        []sampledKey
	slots       []uint32 // a hash table with linear probing: numbers of keys, from 1; 0 where it is free
	rows, units float64  // of the sample: rows and blocks
	share       float64  // of all rows that the sample has
	all, thin   float64  // rows of the table
}

// sampledKey says how often a key is in a sample, and how often it was met among other keys.
type sampledKey struct {
	value        uint64
	rows, blocks uint32
	squares      uint64 // of the rows in each block
	last, inLast uint32 // block, from 1, and the rows it has
	// Rows and blocks of the other sample with the key.
	met, metBlocks uint32
}

// count counts one in thin of the keys of a sample of a table with all rows, whichever these are.
func count(sample [][]uint64, all float64, thin int) *keyCounts {
	c := &keyCounts{units: float64(len(sample)), rows: number(sample), all: all, thin: float64(thin)}
	expected := int(c.rows) / thin
	c.keys, c.slots = make([]sampledKey, 0, expected+expected/16), make([]uint32, 2<<bits.Len(uint(expected)))
	c.share = min(1, c.rows/all)
	among := uint64(mixes / thin)
	for i, block := range sample {
		for _, value := range block {
			if thin > 1 && mix(value) >= among {
				continue
			}
			slot := c.slot(value)
			if *slot == 0 {
				if c.keys = append(c.keys, sampledKey{value: value}); 2*len(c.keys) > len(c.slots) {
					c.grow()
					slot = c.slot(value)
				}
				*slot = uint32(len(c.keys))
			}
			key := &c.keys[*slot-1]
			if key.last != uint32(i)+1 {
				key.last, key.inLast = uint32(i)+1, 0
				key.blocks++
			}
			key.squares += uint64(2*key.inLast + 1)
			key.inLast++
			key.rows++
		}
	}
	return c
}

// slot returns the slot that has the number of a key, or would have it.
func (c *keyCounts) slot(value uint64) *uint32 {
	mask := uint64(len(c.slots) - 1)
	for at := spread(value) >> 20 & mask; ; at = (at + 1) & mask {
		if slot := &c.slots[at]; *slot == 0 || c.keys[*slot-1].value == value {
			return slot
		}
	}
}

// grow doubles the hash table, for all keys but the last.
func (c *keyCounts) grow() {
	c.slots = make([]uint32, 2*len(c.slots))
	for i := range c.keys[:len(c.keys)-1] {
		*c.slot(c.keys[i].value) = uint32(i) + 1
	}
}

// parts is the maximum number of parts of a sample that are searched at once.
const parts = 8

// lookUp counts how often the keys occur in another sample. A filter of one bit per hash rejects most of the other
// keys.
func (c *keyCounts) lookUp(others [][]uint64) {
	var filter [1 << 14]uint64
	for i := range c.keys {
		h := mix(c.keys[i].value)
		filter[h>>6] |= 1 << (h & 63)
	}
	cores := uint64(min(parts, runtime.GOMAXPROCS(0)))
	var wait sync.WaitGroup
	for part := range cores {
		from, to := uint64(len(others))*part/cores, uint64(len(others))*(part+1)/cores
		wait.Go(func() {
			last := make([]uint32, len(c.keys)) // block with each key, from 1
			for i, block := range others[from:to] {
				for _, value := range block {
					if h := mix(value); filter[h>>6]>>(h&63)&1 == 0 {
						continue
					}
					slot := c.slot(value)
					if *slot == 0 {
						continue
					}
					key := &c.keys[*slot-1]
					atomic.AddUint32(&key.met, 1)
					if last[*slot-1] != uint32(i)+1 {
						last[*slot-1] = uint32(i) + 1
						atomic.AddUint32(&key.metBlocks, 1)
					}
				}
			}
		})
	}
	wait.Wait()
}

// spread hashes a key.
func spread(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	return hi ^ lo
}

const mixes = 1 << 20

// mix spreads a key over as many numbers.
func mix(key uint64) uint64 { return spread(key) >> 44 }

// crowd is the average number of rows with the same key in a block.
func (c *keyCounts) crowd() float64 {
	rows, blocks := 0.0, 0.0
	for i := range c.keys {
		key := &c.keys[i]
		rows += float64(key.rows)
		blocks += float64(key.blocks)
	}
	return max(1, rows) / max(1, blocks)
}

// distinct estimates the number of different keys of the table from those that one and two blocks of the sample have
// (Chao's estimator of incidence without replacement: Chao and Lin 2012). Of unique keys it is the rows, of keys that are
// equally frequent their number; where they are not it is less than that.
func (c *keyCounts) distinct() float64 {
	once, twice := 0.0, 0.0
	for i := range c.keys {
		key := &c.keys[i]
		switch key.blocks {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	all := float64(len(c.keys))
	if once > 0 && c.share < 1 {
		all += once * once / (2*twice + c.share/(1-c.share)*once)
	}
	return max(1, min(all*c.thin, c.all))
}

// found is the share of the matching probe rows whose key is in a sampled block. Found keys are in met sampled blocks
// on average, and a key is in at least keyBlocks blocks of the table. It is 1-(1-share)^blocks, for the number of
// blocks that gives met.
func found(met, keyBlocks, share float64) float64 {
	if share == 1 {
		return 1
	}
	of := func(blocks float64) float64 { return -math.Expm1(blocks * math.Log1p(-share)) }
	low, high := 1.0, 1+met/share
	for range 60 {
		if blocks := (low + high) / 2; share*blocks/of(blocks) < met {
			low = blocks
		} else {
			high = blocks
		}
	}
	return of(max(low, keyBlocks))
}

// hottest is a lower bound on the share of the most frequent key (95%): 0 where no key was sampled twice. That any of
// many keys is there k times by chance is much more likely than that one of them is: of s/x keys with x expected rows
// each, by Chernoff, at most s/x exp(k - x) (x/k)^k. Rows of a key that crowd in few blocks say less than as many rows
// drawn one by one: both they and the sample count for less by as much as the key's rows a block vary more than those
// would (the design effect of a cluster sample).
func (c *keyCounts) hottest() (share float64) {
	most, least := 0.0, math.Inf(1) // rows of a key, and their effect
	for i := range c.keys {
		key := &c.keys[i]
		k := float64(key.rows)
		if k <= 1 || k/c.rows <= share {
			continue
		}
		if c.share == 1 {
			share = k / c.rows
			continue
		}
		effect := max(1, (float64(key.squares)-k*k/c.units)/k)
		if k > most || effect < least { // otherwise the bound is no higher than one before
			most, least = k, effect
			share = max(share, leastShare(k/effect, c.rows/effect))
		}
	}
	return share
}

// leastShare is the bound for a key that k of the sampled rows have.
func leastShare(k, sampled float64) float64 {
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
