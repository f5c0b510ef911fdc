package hash

import (
	"math"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
)

const (
	mostBits = 16
	// A unit has up to probeFactor probe rows for each build row, so that building its table costs little.
	probeFactor = 4
	// A build partition of more tables than this is oversized.
	mostTables = 8
	leastUnit  = 64
	// lavapipe ends all loops of an invocation after 65,535 trips.
	mostTrips = 65_000
)

// shape is how a join is cut into partitions, and these into units. It depends on the build side alone.
type shape struct {
	bits      int    // of the mix that decide the partition; 0: one partition, and nothing moves
	tableRows uint32 // build rows that a table in shared memory holds
	probeRows uint32 // of a unit, at most
	walk      bool   // units are joined by [kernel.PartitionWalk], for CPU cores
	narrow    bool   // only low words of keys move
	config    kernel.PartitionJoinConfig
}

// force overrides what a plan chooses, to reach its rare paths in tests.
type force struct {
	bits  *int   // that decide the partition
	table uint32 // rows of the build side that shared memory holds
}

// shape chooses the number of partitions and the size of units. first are the bytes of the payload columns that the
// kernel writes first; 4 where it writes none.
func (a Partitioned) shape(f *operator.Facts, want operator.Want) shape {
	first := [2]int{4, 4}
	for side, payload := range f.Payload {
		if len(payload) > 0 && !a.Untransformed && !want.Count {
			first[side] = payload[0]
		}
	}
	s := a.shapeOf(f, f.KeyBytes, first)
	if f.Narrow && f.KeyBytes == 8 && s.bits > 0 {
		s = a.shapeOf(f, 4, first)
		s.narrow, s.bits = true, max(1, s.bits)
	}
	if s.bits > 0 {
		s.config.Mixed = 1
		if s.config.KeyBits == 32 && uint64(s.config.Heads)<<s.bits >= 1<<16 {
			s.config.Decided = 1
		}
	}
	return s
}

// shapeOf is the shape with keys of keyBytes bytes, except for fields that depend on the final number of partitions.
func (a Partitioned) shapeOf(f *operator.Facts, keyBytes int, first [2]int) (s shape) {
	keyBits := uint32(keyBytes * 8)
	tuned := f.Tuning.Config("partition_join", backend.Config{"key_bits": keyBits,
		"left_words": uint32(first[operator.Build] / 4), "right_words": uint32(first[operator.Probe] / 4)})
	s.config, s.walk = kernel.PartitionJoin.With(tuned), tuned["walk"] == 1
	s.config.KeyBits = keyBits
	s.config.Heads = 1 << (bits.Len32(s.config.Heads) - 1) // a power of 2
	build, window := f.Rows[operator.Build], window(f)
	s.size(build, uint32(min(uint64(s.config.Table), window)))
	if a.force.table > 0 {
		s.size(build, a.force.table)
	}
	batches := probeFactor * s.tableRows / kernel.TileRows(s.config)
	if f.ShortLoops {
		// Where the keys of a table all collide, each probe row walks a chain of all its rows twice. Where neighbours
		// write together, it waits in every step for the one that walks furthest.
		walks := uint32(2)
		if s.walk {
			s.config.Items = kernel.WalkedRows
		} else {
			walks *= uint32(f.SubgroupSize) + 1
		}
		if table := mostTrips/(walks*s.config.Items) - 1; table < s.tableRows {
			s.size(build, max(1, table))
		}
		trips := walks * (s.tableRows + 1) * s.config.Items // of a batch
		if s.config.Shared == 1 {
			trips += kernel.TileRows(s.config)/32 + 4 // ranks are sums over words of the batch
		}
		batches = min(probeFactor*s.tableRows/kernel.TileRows(s.config), mostTrips/trips)
	}
	if a.force.bits != nil {
		s.bits = *a.force.bits
	}
	s.probeRows = uint32(min(uint64(kernel.TileRows(s.config)*max(1, batches)), window))
	if f.Proved {
		s.config.Unique = 1
	}
	return s
}

// window is how many probe rows make half a window of pairs, as far as the average goes. A unit has no more, and tables
// neither, so that it has room in a window. Units of even fewer rows than leastUnit would not be worth their tables.
func window(f *operator.Facts) uint64 {
	if f.Window == 0 {
		return math.MaxUint32
	}
	each := 1 + f.OutputRows/max(1, f.Rows[operator.Probe])
	return max(leastUnit, min(f.Window/(2*each), math.MaxUint32))
}

// size fits the partitions to a table: they fill four fifths of it on average, so that hardly any needs a second one.
func (s *shape) size(buildRows uint64, tableRows uint32) {
	s.tableRows, s.config.Table = tableRows, tableRows
	for s.bits = 0; s.bits < mostBits && buildRows>>s.bits > uint64(tableRows)*4/5; s.bits++ {
	}
}

// oversizedBuild is the number of build rows of a partition from which on it is oversized.
func (s *shape) oversizedBuild() uint32 { return mostTables * s.tableRows }

// movedKeyBytes is the width of keys that move.
func (s *shape) movedKeyBytes(f *operator.Facts) int {
	if s.narrow {
		return 4
	}
	return f.KeyBytes
}

// peeled is the expected number of rows of either side in the partition with the most frequent key of the build side,
// if this partition is oversized; otherwise none. It adds an eighth to the average, so that the partition is seldom
// cut.
func (s *shape) peeled(f *operator.Facts) (rows [2]uint64) {
	for side := range rows {
		all := f.Held(side)
		hot := uint64(f.Hottest[side] * float64(all))
		rows[side] = min(all, (hot+(all-hot)>>s.bits)*9/8)
	}
	if rows[operator.Build] <= uint64(s.oversizedBuild()) {
		return [2]uint64{}
	}
	return rows
}

// peelRows is how many rows of either side are peeled at a time, at least: as many as are expected, for which the plan
// has memory, or else few, for which there is slack.
func (s *shape) peelRows(f *operator.Facts) (rows [2]uint64) {
	expected, build := s.peeled(f), f.Rows[operator.Build]
	if expected[operator.Build] == 0 {
		few := min(pieceRows(build), max(1<<7, build/8))
		return [2]uint64{few, few}
	}
	for side := range rows {
		rows[side] = max(expected[side], pieceRows(build))
	}
	return rows
}

// countsFirst tells whether the output of units is counted before any is written.
func (a Partitioned) countsFirst(f *operator.Facts) bool { return a.CountFirst || f.CountsFirst() }

// marksPairs tells whether rows are marked while pairs are made, without a pass of their own. That takes output that is
// written as it comes, and a single granule.
func (a Partitioned) marksPairs(p *operator.Plan, s *shape) bool {
	return p.Want.Pairs && !p.Want.Count && !s.walk && !p.Facts.Kept() && !a.countsFirst(&p.Facts) && a.PageRows == 0
}
