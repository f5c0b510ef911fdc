package hash

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
)

// cut cuts partitions into units: a table full of build rows against up to probeRows probe rows.
func (p *probing) cut(ctx context.Context) error {
	partitions := uint64(1) << p.bits
	temporary := p.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	counts, oversizedAt := temporary.New(partitions*4, "units of partitions"), backend.Aligned(partitions*4+4)
	offsets := temporary.New(oversizedAt+4, "units before partitions") // and the number of oversized partitions
	if err := temporary.Err(); err != nil {
		return err
	}
	list, before, oversized := p.lane.List("cut"), offsets.Range(0, partitions*4+4), offsets.Range(oversizedAt, 4)
	list.Fill(oversized, 0)
	err := cmp.Or(kernel.PartitionUnits.RecordRows(list, p.lane.Device(), kernel.PartitionUnits.With(nil), partitions,
		kernel.PartitionUnitsArgs{LeftStarts: p.build.starts, RightStarts: p.probe.starts, Counts: counts.All(),
			Oversized: oversized, Partitions: uint32(partitions), LeftRows: p.tableRows, RightRows: p.probeRows,
			MostLeft: p.oversizedBuild()}),
		p.lane.SumCounts(list, temporary, partitions, 32, counts.All(), before))
	if err != nil {
		return err
	}
	found := make([]byte, oversizedAt+4-partitions*4)
	at := offsets.Range(partitions*4, uint64(len(found)))
	if err := p.fetch(ctx, list, backend.Transfer{Device: at, Host: found}); err != nil {
		return err
	}
	p.oversized = binary.LittleEndian.Uint32(found[len(found)-4:])
	p.join(binary.LittleEndian.Uint32(found))
	if p.units.Number == 0 {
		return nil
	}
	p.unitTable, err = operator.NewUnits(ctx, p.lane, kernel.PartitionPiecesArgs{Offsets: before,
		LeftStarts: p.build.starts, RightStarts: p.probe.starts, Count: p.units.Number, Partitions: uint32(partitions),
		LeftRows: p.tableRows, RightRows: p.probeRows, Stride: 1})
	return err
}

// join readies the output of units.
func (p *probing) join(units uint32) {
	p.units = operator.Units{
		Lane: p.lane, Inputs: [2]*operator.Input{&p.build.Input, &p.probe.Input}, Want: &p.plan.Want,
		Number: units, CountFirst: p.countsFirst(&p.plan.Facts), Room: p.plan.Facts.Room(),
		PageRows:    uint32(p.PageRows),
		Invocations: uint64(units) * uint64(p.config.Workgroup), Record: p.recordUnits, RecordCount: p.recordCount,
		Large:         p.large,
		Untransformed: p.Untransformed && p.bits > 0,
		Move: func(ctx context.Context, side int) error {
			return p.move(ctx, [2]*input{&p.build, &p.probe}[side], backend.Range{})
		},
	}
}

// recordUnits records the join of units.
func (p *probing) recordUnits(list *backend.List, first, end uint32, to operator.Target) error {
	config := p.config
	config.OutputConfig, config.Seed = to.Config, partitionSeed
	if p.narrow { // only low words moved
		config.Widened = 1
	}
	if to.PageRows > 0 {
		config.Paged, config.PageRows = 1, to.PageRows
	}
	if to.Sides != 0 {
		config.Marked, config.Sides = 1, to.Sides
	}
	k, err := kernel.PartitionJoinOn(p.lane.Device(), config, p.walk)
	if err != nil {
		return err
	}
	args := kernel.PartitionJoinArgs{Units: p.unitTable.All(), JoinColumns: to.Columns, JoinRows: to.Rows,
		Shift: uint32(p.bits), High: p.build.HighWord}
	args.LeftKeys, args.RightKeys = p.build.Ordered, p.probe.Ordered
	k.DispatchPart(list, first, end, args)
	return nil
}

// recordCount records the count of the output of each unit. Where pairs are made afterwards, or keys are unique as far
// as is known, nothing is gained by a look at each key of the build side only once.
func (p *probing) recordCount(list *backend.List, counts backend.Range) error {
	c, distinct := &p.config, uint32(1)
	if !p.plan.Want.Count || p.plan.Facts.Unique {
		distinct = 0
	}
	config := kernel.PartitionCountConfig{KeyBits: c.KeyBits, Shared: c.Shared, Tile: c.Tile, Mixed: c.Mixed,
		Table: c.Table, Heads: c.Heads, Unique: c.Unique, Decided: c.Decided, Distinct: distinct}
	return kernel.PartitionCount.Record(list, p.lane.Device(), config, p.units.Number, kernel.PartitionCountArgs{
		Units: p.unitTable.All(), LeftKeys: p.build.Ordered, RightKeys: p.probe.Ordered, Counts: counts,
		Shift: uint32(p.bits)})
}
