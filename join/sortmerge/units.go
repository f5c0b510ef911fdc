package sortmerge

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// cut cuts the sorted sides into units of work (RT 3.3.2): a tile of rows of the side with many against each piece of
// the rows of the other that the keys of the tile can meet. Pieces are as long as shared memory allows. A side is met
// once, but for keys that go on from one tile to the next; those that are frequent on both sides make as many units as
// they make output.
func (j *join) cut(ctx context.Context) error {
	left, right := &j.sides[few], &j.sides[many]
	keyBits := uint32(left.Keys.Bytes * 8)
	tuned := j.ops.Tuning().Config("merge_join", backend.Config{"key_bits": keyBits})
	j.config, j.walk = kernel.MergeJoin.With(tuned), tuned["walk"] == 1
	j.config.KeyBits = keyBits
	tileRows, pieceRows, tiles := kernel.TileRows(j.config), j.config.Table, uint64(kernel.Tiles(j.config, right.Rows))
	scan, err := primitive.PlanScan(j.ops.Tuning(), tiles, 32, 32, true)
	if err != nil {
		return err
	}
	sum, err := primitive.PlanReduce(j.ops.Tuning(), kernel.ReduceSum, tiles, 32, 64)
	if err != nil {
		return err
	}
	unitsConfig, piecesConfig := kernel.MergeUnits.With(nil), kernel.PartitionPieces.With(nil)
	unitsConfig.KeyBits = keyBits
	count, err := kernel.MergeUnits.On(j.ops.Device(), unitsConfig)
	if err != nil {
		return err
	}
	pieces, err := kernel.PartitionPieces.On(j.ops.Device(), piecesConfig)
	if err != nil {
		return err
	}
	temporary := resident.Memory{Context: ctx, Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	leftBounds, rightBounds := temporary.New(tiles*8, "bounds of tiles, "+left.Name), temporary.New(tiles*8, "bounds of tiles, "+right.Name)
	counts, offsets := temporary.New(tiles*4, "units of tiles"), temporary.New(tiles*4+4, "units before tiles")
	scanScratch, sumScratch := temporary.New(scan.ScratchBytes, "scan scratch"), temporary.New(sum.ScratchBytes, "sum of units")
	if temporary.Err != nil {
		return temporary.Err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("cut")
	count.Dispatch(&list, kernel.Groups(unitsConfig, tiles), kernel.MergeUnitsArgs{
		LeftKeys: left.Ordered, RightKeys: right.Ordered, LeftBounds: leftBounds.All(), RightBounds: rightBounds.All(), Counts: counts.All(),
		LeftRows: uint32(left.Rows), RightRows: uint32(right.Rows), Tiles: uint32(tiles), TileRows: tileRows, PieceRows: pieceRows,
	})
	if err := j.ops.Reduce(&list, sum, counts.All(), sumScratch.All()); err != nil {
		return err
	}
	if err := j.ops.Scan(&list, scan, counts.All(), offsets.All(), scanScratch.All()); err != nil {
		return err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return err
	}
	var found [8]byte
	if err := j.ops.Device().Download(ctx, found[:], sumScratch.Range(sum.ResultOffset, 8)); err != nil {
		return err
	}
	units := binary.LittleEndian.Uint64(found[:])
	if units > hotFactor*(tiles+left.Rows/uint64(pieceRows)) {
		if err := j.countHot(ctx); err != nil {
			return err
		}
	}
	if j.out.Units = uint32(units); units == 0 {
		return nil
	}
	j.units = j.memory.New(units*16, "units")
	if j.memory.Err != nil {
		return j.memory.Err
	}
	list = backend.List{Profile: j.profile}
	list.Stage("cut")
	pieces.Dispatch(&list, kernel.Groups(piecesConfig, units), kernel.PartitionPiecesArgs{
		Offsets: offsets.All(), LeftStarts: leftBounds.All(), RightStarts: rightBounds.All(), Units: j.units.All(),
		Count: uint32(units), Partitions: uint32(tiles), LeftRows: pieceRows, RightRows: tileRows, Stride: 2,
	})
	_, err = j.ops.Device().Submit(ctx, backend.Compute, &list)
	return err
}

// More units than this for each tile and each piece come of keys that are frequent on both sides.
const hotFactor = 2

// countHot counts the output by range search (HMG 3.3.3), which takes no longer for keys that are frequent on both
// sides: it may be more than there can be, and takes room for what there is. Where it is not too much, units fit 32
// bits by far.
func (j *join) countHot(ctx context.Context) error {
	m := &Matches{ops: j.ops, plan: Plan{Problem: Problem{CountOnly: true}}}
	var err error
	if m.plan.search, err = primitive.PlanRangeSearch(j.ops.Tuning(), j.sides[few].Rows, j.sides[many].Rows, j.sides[few].Keys.Bytes); err != nil {
		return err
	}
	if err := m.search(ctx, j.sides[few].Ordered, j.sides[many].Ordered, j.profile); err != nil {
		return err
	}
	if m.Total > primitive.MaxRows {
		return resident.TooManyRows(m.Total)
	}
	j.out.Room = max(j.out.Room, m.Total)
	return nil
}

// record records the join of all units.
func (j *join) record(list *backend.List, to resident.Target) error {
	config := j.config
	config.OutputConfig = to.Config
	mergeJoin := kernel.MergeJoin
	if j.walk {
		mergeJoin = kernel.MergeWalk
	}
	k, err := mergeJoin.On(j.ops.Device(), config)
	if err != nil {
		return err
	}
	args := kernel.MergeJoinArgs{Units: j.units.All(), JoinColumns: to.Columns, JoinRows: to.Rows}
	args.LeftKeys, args.RightKeys = j.sides[few].Ordered, j.sides[many].Ordered
	k.Dispatch(list, j.out.Units, args)
	return nil
}

// recordCount records the count of the output of each unit.
func (j *join) recordCount(list *backend.List, counts backend.Range) error {
	k, err := kernel.MergeCount.On(j.ops.Device(), kernel.MergeLookupConfig{
		KeyBits: j.config.KeyBits, Tile: j.config.Tile, Table: j.config.Table})
	if err != nil {
		return err
	}
	k.Dispatch(list, j.out.Units, kernel.MergeCountArgs{
		Units: j.units.All(), LeftKeys: j.sides[few].Ordered, RightKeys: j.sides[many].Ordered, Counts: counts})
	return nil
}
