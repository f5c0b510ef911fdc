package hash

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
)

// Partitioned is the partitioned hash join as a plan.
type Partitioned struct {
	Untransformed, OneByOne, CountFirst bool
	PageRows                            int
	force                               force
}

// Name is the name in GFTR 5.1.
func (a Partitioned) Name() string {
	name := "phj-om"
	if a.Untransformed {
		name = "phj-um"
	}
	if a.OneByOne {
		name += " one by one"
	}
	return name
}

// Plan cuts the join into partitions and units.
func (a Partitioned) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	s := a.shape(f, want)
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want, Detail: s}
	return p, a.cost(p, &s)
}

// Open is that of another tree.
func (a Partitioned) Open(context.Context, *exec.Lane, *operator.Plan) operator.Operator { return nil }

// Unpartitioned is the hash join without partitions as a plan.
type Unpartitioned struct{}

// Name is "hj".
func (Unpartitioned) Name() string { return "hj" }

// Plan sizes the table.
func (a Unpartitioned) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	return p, a.cost(p)
}

// Open is that of another tree.
func (Unpartitioned) Open(context.Context, *exec.Lane, *operator.Plan) operator.Operator { return nil }

func slots(rows uint64) uint64 {
	slots := uint64(2)
	for slots < 2*rows {
		slots *= 2
	}
	return slots
}

type shape struct {
	bits      int
	tableRows uint32
	probeRows uint32
	walk      bool
	narrow    bool
	config    kernel.PartitionJoinConfig
}

func (a Partitioned) shape(f *operator.Facts, want operator.Want) shape {
	first := [2]int{4, 4}
	for side, payload := range f.Payload {
		if len(payload) > 0 && !a.Untransformed && !want.Count {
			first[side] = payload[0]
		}
	}
	wide := a.shapeOf(f, f.KeyBytes, first)
	if !f.Narrow || f.KeyBytes == 4 || wide.bits == 0 {
		return wide
	}
	s := a.shapeOf(f, 4, first)
	s.narrow, s.bits = true, max(1, s.bits)
	return s
}

func (a Partitioned) shapeOf(f *operator.Facts, keyBytes int, first [2]int) (s shape) {
	keyBits := uint32(keyBytes * 8)
	tuned := f.Tuning.Config("partition_join", backend.Config{"key_bits": keyBits,
		"left_words": uint32(first[operator.Build] / 4), "right_words": uint32(first[operator.Probe] / 4)})
	s.config, s.walk = kernel.PartitionJoin.With(tuned), tuned["walk"] == 1
	s.config.KeyBits = keyBits
	s.config.Heads = 1 << (bits.Len32(s.config.Heads) - 1)
	build := f.Rows[operator.Build]
	s.size(build, s.config.Table)
	return s
}

func (s *shape) size(buildRows uint64, tableRows uint32) {
	s.tableRows, s.config.Table = tableRows, tableRows
	for s.bits = 0; s.bits < mostBits && buildRows>>s.bits > uint64(tableRows)*4/5; s.bits++ {
	}
}

func (s *shape) oversizedRows() uint32 { return mostTables * s.tableRows }
