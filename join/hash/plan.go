package hash

import (
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

const (
	mostBits = 16
	// A unit has up to so many probe rows for each build row, so that building its table costs little.
	probeFactor = 4
	// A build partition of more tables than this is oversized.
	mostTables = 8
)

// Plan is how a join is cut into partitions, and these into units. It depends on the build side, which has fewer rows,
// alone.
type Plan struct {
	Bits      int // of the mix that decide the partition; 0: one partition, and nothing moves
	TableRows int // build rows that a table in shared memory holds
	// A unit has up to ProbeFactor probe rows for each build row. A partition whose build rows fill more than
	// MostTables tables is oversized: its rows are sorted.
	ProbeFactor, MostTables int
	Walk                    bool // units are joined by [kernel.PartitionWalk], for CPU cores

	config kernel.PartitionJoinConfig
}

// NewPlan plans a partitioned join, whose kernel writes payload columns of so many bytes first, of the build side and
// of the probe side; 4 where it writes none. It touches no device.
func NewPlan(t primitive.Tuning, buildRows uint64, keyBytes int, firstBytes [2]int) (p Plan, err error) {
	keyBits := uint32(keyBytes * 8)
	tuned := t.Config("partition_join", backend.Config{
		"key_bits": keyBits, "left_words": uint32(firstBytes[build] / 4), "right_words": uint32(firstBytes[probe] / 4)})
	p.config, p.Walk = kernel.PartitionJoin.With(tuned), tuned["walk"] == 1
	p.config.KeyBits = keyBits
	p.config.Heads = 1 << (bits.Len32(p.config.Heads) - 1) // a power of 2
	p.size(buildRows, p.config.Table)
	return p, nil
}

// size fits the partitions to a table: they fill four fifths of it on average, so that hardly any needs a second one.
func (p *Plan) size(buildRows uint64, tableRows uint32) {
	p.TableRows, p.ProbeFactor, p.MostTables, p.config.Table = int(tableRows), probeFactor, mostTables, tableRows
	for p.Bits = 0; p.Bits < mostBits && buildRows>>p.Bits > uint64(tableRows)*4/5; p.Bits++ {
	}
}
