package sortmerge

import (
	"context"
	"encoding/binary"
	"maps"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// cut cuts the sorted sides into units of work (RT 3.3.2): a tile of rows of the side with many against each piece of the rows of the
// other that the keys of the tile can meet. Pieces are as long as shared memory allows. A side is met once, but for keys that go on
// from one tile to the next; those that are frequent on both sides make as many units as they make output.
func (j *join) cut(ctx context.Context) error {
	left, right := &j.sides[few], &j.sides[many]
	width := backend.Config{"key_bits": uint32(left.Keys.Bytes * 8)}
	config := maps.Clone(j.lane.Tuning().Config("merge_join", width))
	maps.Copy(config, width)
	var err error
	if j.config, err = kernel.MergeJoin.Complete(config); err != nil {
		return err
	}
	tileRows, pieceRows, tiles := kernel.TileRows(j.config), j.config["table"], uint64(kernel.Tiles(j.config, right.Rows))
	scan, err := primitive.PlanScan(j.lane.Tuning(), tiles, 32, 32, true)
	if err != nil {
		return err
	}
	sum, err := primitive.PlanReduce(j.lane.Tuning(), kernel.ReduceSum, tiles, 32, 64)
	if err != nil {
		return err
	}
	count, err := j.lane.Device().Kernel(kernel.MergeUnits, width)
	if err != nil {
		return err
	}
	pieces, err := j.lane.Device().Kernel(kernel.PartitionPieces, nil)
	if err != nil {
		return err
	}
	temporary := j.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	leftBounds, rightBounds := temporary.New(tiles*8, "bounds of tiles, "+left.Name), temporary.New(tiles*8, "bounds of tiles, "+right.Name)
	counts, offsets := temporary.New(tiles*4, "units of tiles"), temporary.New(tiles*4+4, "units before tiles")
	scanScratch, sumScratch := temporary.New(scan.ScratchBytes, "scan scratch"), temporary.New(sum.ScratchBytes, "sum of units")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := j.lane.List("cut")
	list.Dispatch(count, kernel.Groups(count.Config, tiles), []backend.Range{left.Ordered, right.Ordered, leftBounds.All(), rightBounds.All(), counts.All()},
		uint32(left.Rows), uint32(right.Rows), uint32(tiles), tileRows, pieceRows)
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
	list.Dispatch(pieces, kernel.Groups(pieces.Config, units), []backend.Range{offsets.All(), leftBounds.All(), rightBounds.All(), j.units.All()},
		uint32(units), uint32(tiles), pieceRows, tileRows, 2)
	return j.lane.Submit(ctx, list)
}

// More units than this for each tile and each piece come of keys that are frequent on both sides.
const hotFactor = 2

// countHot counts the output by range search (HMG 3.3.3), which takes no longer for keys that are frequent on both sides: it may be
// more than there can be, and takes room for what there is. Where it is not too much, units fit 32 bits by far.
func (j *join) countHot(ctx context.Context) error {
	few, many := &j.sides[few], &j.sides[many]
	rows, err := ranges.Count(ctx, j.lane, few.Keys.Bytes, few.Ordered, many.Ordered)
	if err != nil {
		return err
	}
	if rows > primitive.MaxRows {
		return resident.TooManyRows(rows)
	}
	j.out.Room = max(j.out.Room, rows)
	return nil
}

// record records merge_join over all units.
func (j *join) record(list *backend.List, output backend.Config, args []backend.Range, first, room uint32) error {
	config := maps.Clone(j.config)
	maps.Copy(config, output)
	k, err := j.lane.Device().Kernel(kernel.MergeJoin, config)
	if err != nil {
		return err
	}
	list.Dispatch(k, j.out.Units, append([]backend.Range{j.units.All(), j.sides[few].Ordered, j.sides[many].Ordered}, args...), first, room)
	return nil
}
