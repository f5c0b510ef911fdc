package sortmerge

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// cut cuts the sorted sides into units of work (RT 3.3.2): a tile of rows of the side with many against each piece of
// the rows of the other that the keys of the tile can meet. Pieces are as long as shared memory allows. A side is met
// once, but for keys that go on from one tile to the next; those that are frequent on both sides make as many units as
// they make output.
func (j *join) cut(ctx context.Context) error {
	left, right := &j.sides[few], &j.sides[many]
	keyBits := uint32(left.Keys.Bytes * 8)
	tuned := j.lane.Tuning().Config("merge_join", backend.Config{"key_bits": keyBits})
	j.config, j.walk = kernel.MergeJoin.With(tuned), tuned["walk"] == 1
	j.config.KeyBits = keyBits
	tileRows, pieceRows, tiles := kernel.TileRows(j.config), j.config.Table, uint64(kernel.Tiles(j.config, right.Rows))
	scan, err := primitive.PlanScan(j.lane.Tuning(), tiles, 32, 32, true)
	if err != nil {
		return err
	}
	sum, err := primitive.PlanReduce(j.lane.Tuning(), kernel.ReduceSum, tiles, 32, 64)
	if err != nil {
		return err
	}
	unitsConfig, piecesConfig := kernel.MergeUnits.With(nil), kernel.PartitionPieces.With(nil)
	unitsConfig.KeyBits = keyBits
	count, err := kernel.MergeUnits.On(j.lane.Device(), unitsConfig)
	if err != nil {
		return err
	}
	pieces, err := kernel.PartitionPieces.On(j.lane.Device(), piecesConfig)
	if err != nil {
		return err
	}
	temporary := j.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	leftBounds, rightBounds := temporary.New(tiles*8, "bounds of tiles, "+left.Name),
		temporary.New(tiles*8, "bounds of tiles, "+right.Name)
	counts, offsets := temporary.New(tiles*4, "units of tiles"), temporary.New(tiles*4+4, "units before tiles")
	scanScratch, sumScratch := temporary.New(scan.ScratchBytes, "scan scratch"),
		temporary.New(sum.ScratchBytes, "sum of units")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := j.lane.List("cut")
	count.Dispatch(list, kernel.Groups(unitsConfig, tiles), kernel.MergeUnitsArgs{
		LeftKeys: left.Ordered, RightKeys: right.Ordered, LeftBounds: leftBounds.All(), RightBounds: rightBounds.All(),
		Counts:   counts.All(),
		LeftRows: uint32(left.Rows), RightRows: uint32(right.Rows), Tiles: uint32(tiles), TileRows: tileRows,
		PieceRows: pieceRows,
	})
	if err := j.lane.Reduce(list, sum, counts.All(), sumScratch.All()); err != nil {
		return err
	}
	if err := j.lane.Scan(list, scan, counts.All(), offsets.All(), scanScratch.All()); err != nil {
		return err
	}
	if err := j.lane.Submit(ctx, list); err != nil {
		return err
	}
	var found [8]byte
	if err := j.lane.Download(ctx, found[:], sumScratch.Range(sum.ResultOffset, 8)); err != nil {
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
	j.units = j.lane.Memory.New(units*16, "units")
	if err := j.lane.Memory.Err(); err != nil {
		return err
	}
	list = j.lane.List("cut")
	pieces.Dispatch(list, kernel.Groups(piecesConfig, units), kernel.PartitionPiecesArgs{
		Offsets: offsets.All(), LeftStarts: leftBounds.All(), RightStarts: rightBounds.All(), Units: j.units.All(),
		Count: uint32(units), Partitions: uint32(tiles), LeftRows: pieceRows, RightRows: tileRows, Stride: 2,
	})
	return j.lane.Submit(ctx, list)
}

// countHot counts the output by range search (HMG 3.3.3), which takes no longer for keys that are frequent on both
// sides: it may be more than there can be, and takes room for what there is. Where it is not too much, units fit 32
// bits by far.
func (j *join) countHot(ctx context.Context) error {
	few, many := &j.sides[few], &j.sides[many]
	rows, err := ranges.Count(ctx, j.lane, few.Keys.Bytes, few.Ordered, many.Ordered)
	if err != nil {
		return err
	}
	if err := resident.CheckRows(rows); err != nil {
		return err
	}
	j.out.Room = max(j.out.Room, rows)
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
	k, err := mergeJoin.On(j.lane.Device(), config)
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
	k, err := kernel.MergeCount.On(j.lane.Device(), kernel.MergeCountConfig{
		KeyBits: j.config.KeyBits, Tile: j.config.Tile, Table: j.config.Table})
	if err != nil {
		return err
	}
	k.Dispatch(list, j.out.Units, kernel.MergeCountArgs{
		Units: j.units.All(), LeftKeys: j.sides[few].Ordered, RightKeys: j.sides[many].Ordered, Counts: counts})
	return nil
}
