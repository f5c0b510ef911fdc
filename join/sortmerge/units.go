package sortmerge

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// granule is the join of a sorted granule of the probe side with the build side.
type granule struct {
	*merge
	lane *exec.Lane // its memory is the granule's
	// The sides as a merge join sees them: pieces of the side with fewer rows, the left one of its kernels, lie in
	// shared memory; the rows of the other are cut into tiles.
	few, many *side
	units     *backend.Buffer // of work
	number    uint32          // of units
	pairs     uint64          // where keys are frequent on both sides; 0: not counted
}

// join puts all pairs, and marks the rows that are in one.
func (m *merge) join(ctx context.Context, lane *exec.Lane, probe *side, sink operator.Sink) error {
	g := &granule{merge: m, lane: lane, few: m.build, many: probe}
	if probe.Rows < m.build.Rows {
		g.few, g.many = probe, m.build
	}
	if g.few.Rows == 0 {
		return nil
	}
	if err := g.cut(ctx); err != nil || g.number == 0 {
		return err
	}
	sides := [2]*side{operator.Build: m.build, operator.Probe: probe}
	out := operator.Units{Lane: lane, Inputs: [2]*operator.Input{&m.build.Input, &probe.Input}, Want: &m.want,
		Number: g.number, CountFirst: m.countFirst || m.facts.CountsFirst(), Room: m.facts.Room(),
		Record: g.record, RecordCount: g.recordCount,
		Move: func(ctx context.Context, side int) error { return m.sort(ctx, sides[side]) }}
	out.Large = func(ctx context.Context, unit uint32, sink operator.Sink) error {
		return ranges.JoinUnit(ctx, lane, g.units.Range(uint64(unit)*16, 16), g.few.number,
			&operator.Places{Lane: lane, Inputs: out.Inputs, Keys: m.want.Keys, Counted: true, Sink: sink})
	}
	if g.pairs > 0 {
		if err := sink.Count(ctx, g.pairs); err != nil {
			return err
		}
		out.Counted, out.Room = true, max(out.Room, g.pairs)
		out.CountFirst = out.CountFirst || m.facts.Window > 0 && g.pairs > m.facts.Window
	}
	if err := g.mark(ctx); err != nil {
		return err
	}
	return out.Write(ctx, sink)
}

// cut cuts the sorted sides into units of work (RT 3.3.2): a tile of rows of the side with many against each piece of
// the rows of the other that the keys of the tile can meet. Pieces are as long as shared memory allows. A side is met
// once, but for keys that go on from one tile to the next; those that are frequent on both sides make as many units as
// they make output.
func (g *granule) cut(ctx context.Context) error {
	few, many, lane := g.few, g.many, g.lane
	tileRows, pieceRows := kernel.TileRows(g.config), g.config.Table
	tiles := uint64(kernel.Tiles(g.config, many.Rows))
	sum, err := primitive.PlanReduce(lane.Tuning(), kernel.ReduceSum, tiles, 32, 64)
	if err != nil {
		return err
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	fewBounds, manyBounds := temporary.New(tiles*8, "bounds of tiles, "+few.Name),
		temporary.New(tiles*8, "bounds of tiles, "+many.Name)
	counts, offsets := temporary.New(tiles*4, "units of tiles"), temporary.New(tiles*4+4, "units before tiles")
	scratch := temporary.New(sum.ScratchBytes, "sum of units")
	if err := temporary.Err(); err != nil {
		return err
	}
	list, unitsConfig := lane.List("cut"), kernel.MergeUnits.With(nil)
	unitsConfig.KeyBits = g.config.KeyBits
	err = cmp.Or(kernel.MergeUnits.RecordRows(list, lane.Device(), unitsConfig, tiles,
		kernel.MergeUnitsArgs{LeftKeys: few.Ordered, RightKeys: many.Ordered, LeftBounds: fewBounds.All(),
			RightBounds: manyBounds.All(), Counts: counts.All(), LeftRows: uint32(few.Rows),
			RightRows: uint32(many.Rows), Tiles: uint32(tiles), TileRows: tileRows, PieceRows: pieceRows}),
		lane.Reduce(list, sum, counts.All(), scratch.All()),
		lane.SumCounts(list, temporary, tiles, 32, counts.All(), offsets.All()))
	if err != nil {
		return err
	}
	units, err := lane.FetchNumber(ctx, list, scratch.Range(sum.ResultOffset, 8))
	if err != nil {
		return err
	}
	if units > hotFactor*(tiles+few.Rows/uint64(pieceRows)) {
		if g.pairs, err = ranges.Count(ctx, lane, few.Keys.Bytes, few.Ordered, many.Ordered); err != nil {
			return err
		}
	}
	if units > math.MaxUint32 {
		return &backend.OpError{Op: g.name, Err: backend.ErrLimit, Detail: fmt.Sprintf(
			"keys that are frequent on both sides make %d pairs in %d units of work, the limit is %d; take smj-um",
			g.pairs, units, uint32(math.MaxUint32))}
	}
	if g.number = uint32(units); units == 0 {
		return nil
	}
	g.units, err = operator.NewUnits(ctx, lane, kernel.PartitionPiecesArgs{Offsets: offsets.All(),
		LeftStarts: fewBounds.All(), RightStarts: manyBounds.All(), Count: g.number, Partitions: uint32(tiles),
		LeftRows: pieceRows, RightRows: tileRows, Stride: 2})
	return err
}

// More units than this for each tile and each piece come of keys that are frequent on both sides. Their pairs are
// counted by range search (HMG 3.3.3), which takes no longer for such keys, before anything is written: there may be
// more than the caller allows, and there is room for all of them at once where there can be.
const hotFactor = 2

// mark marks the rows of units that have a partner, where they matter.
func (g *granule) mark(ctx context.Context) error {
	config := kernel.MergeMarkConfig{KeyBits: g.config.KeyBits, Shared: g.config.Shared, Tile: g.config.Tile,
		Table: g.config.Table}
	if g.few.marks.Buffer != nil {
		config.Sides |= kernel.MarkLeft
	}
	if g.many.marks.Buffer != nil {
		config.Sides |= kernel.MarkRight
	}
	if config.Sides == 0 {
		return nil
	}
	return g.lane.Run(ctx, "mark", func(list *backend.List) error {
		return kernel.MergeMark.Record(list, g.lane.Device(), config, g.number, kernel.MergeMarkArgs{Units: g.units.All(),
			LeftKeys: g.few.Ordered, RightKeys: g.many.Ordered, LeftMarks: g.few.marks, RightMarks: g.many.marks})
	})
}

// record records the join of the units from first to end-1.
func (g *granule) record(list *backend.List, first, end uint32, to operator.Target) error {
	if g.few.number == operator.Probe {
		to = swapped(to)
	}
	config := g.config
	config.OutputConfig = to.Config
	k, err := kernel.MergeJoinOn(g.lane.Device(), config, g.walk)
	if err != nil {
		return err
	}
	args := kernel.MergeJoinArgs{Units: g.units.All(), JoinColumns: to.Columns, JoinRows: to.Rows}
	args.LeftKeys, args.RightKeys = g.few.Ordered, g.many.Ordered
	k.DispatchPart(list, first, end, args)
	return nil
}

// swapped is a target whose build side is the right one of the kernel.
func swapped(to operator.Target) operator.Target {
	o, c := &to.Config, &to.Columns
	o.LeftWords, o.RightWords = o.RightWords, o.LeftWords
	o.LeftWords2, o.RightWords2 = o.RightWords2, o.LeftWords2
	c.LeftPayload, c.RightPayload = c.RightPayload, c.LeftPayload
	c.LeftPayload2, c.RightPayload2 = c.RightPayload2, c.LeftPayload2
	c.LeftOut, c.RightOut = c.RightOut, c.LeftOut
	c.LeftOut2, c.RightOut2 = c.RightOut2, c.LeftOut2
	return to
}

// recordCount records the count of the output of each unit.
func (g *granule) recordCount(list *backend.List, counts backend.Range) error {
	config := kernel.MergeCountConfig{KeyBits: g.config.KeyBits, Shared: g.config.Shared, Tile: g.config.Tile,
		Table: g.config.Table}
	return kernel.MergeCount.Record(list, g.lane.Device(), config, g.number, kernel.MergeCountArgs{
		Units: g.units.All(), LeftKeys: g.few.Ordered, RightKeys: g.many.Ordered, Counts: counts})
}
