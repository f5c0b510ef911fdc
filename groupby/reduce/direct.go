package reduce

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// sums reduces a batch, of which all states are sums of integers, in the shared memory of workgroups: by codes as they
// are, or by hash tables. It returns nil if the keys do not suit that.
func (o *Operator) sums(ctx context.Context, lane *exec.Lane, b *batch) (*partial, error) {
	if s, ok := o.denseFor(lane, b); ok {
		return o.direct(ctx, lane, b, s)
	}
	if b.rows < leastHashed && b.groups.likely == 0 && o.plan.force.slots == 0 {
		return nil, nil
	}
	groups, err := o.estimate(ctx, lane, b)
	if err != nil {
		return nil, err
	}
	s, ok := o.hashedFor(lane, b, groups)
	for ok {
		p, err := o.hashedSums(ctx, lane, b, s)
		if p != nil && s.bits == 0 { // its units have the groups of the batch
			p.groups = groups
		}
		if p != nil || err != nil {
			return p, err
		}
		ok, s.bits = s.bits < mostDigit, min(mostDigit, max(onePass, s.bits+moreBits))
	}
	return nil, nil
}

// moreBits partition rows after a table was full: of skewed keys, a sample shows few of the rare ones.
const moreBits = 4

// direct reduces a batch to a partial with unique keys: a sum for each code, whether it exists or not, and then those
// that exist. Rows with more codes than a workgroup has slots are read by a workgroup for each range of slots, or are
// partitioned by the high bits of their codes first.
func (o *Operator) direct(ctx context.Context, lane *exec.Lane, b *batch, s shared) (*partial, error) {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	codes, of := uint64(1)<<o.plan.Facts.KeyBits, units{count: kernel.Groups(s.tile(lane, b.rows), b.rows)}
	p, err := primitive.PlanCompact(lane.Tuning(), codes)
	if err == nil && s.bits > 0 {
		b, of, err = o.partition(ctx, lane, b, &s)
	}
	if err != nil {
		return nil, err
	}
	column, columns := backend.Aligned(codes*8), uint64(0)
	for _, in := range b.inputs {
		columns += uint64(in.columns)
	}
	marks := lane.Memory.New((codes+31)/32*4, "keys that exist").All()
	sums := lane.Memory.New(column*max(1, columns), "sums").All()
	scratch := lane.Memory.New(p.ScratchBytes, "scratch").All()
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	states, at := make([][]backend.Range, len(b.inputs)), uint64(0)
	for i, in := range b.inputs {
		for range in.columns {
			states[i] = append(states[i], sums.Part(at, codes*8))
			at += column
		}
	}
	list := lane.List("group, sum")
	list.Fill(marks, 0)
	list.Fill(sums, 0)
	err = cmp.Or(s.record(list, lane, b, b.keys, of, backend.Range{}, marks, states),
		lane.CompactOffsets(list, p, marks, scratch))
	if err != nil {
		return nil, err
	}
	var found [8]byte
	count := backend.Transfer{Device: scratch.Part(p.CountOffset, 8), Host: found[:]}
	if err := lane.Fetch(ctx, list, count); err != nil {
		return nil, err
	}
	to := o.newPartial(ctx, binary.LittleEndian.Uint64(found[:]))
	to.unique = true
	return to.fill(ctx, lane, "group, sum", func(list *backend.List) error {
		err := lane.Compact(list, p, 4, marks, backend.Range{}, to.keys, scratch)
		for i := range to.states {
			for c, state := range to.states[i] {
				err = cmp.Or(err, lane.Compact(list, p, 8, marks, states[i][c], state, scratch))
			}
		}
		return err
	})
}
