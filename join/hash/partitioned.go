// Package hash joins two relations that are on one device by hashing. Join is the partitioned hash join: a radix
// partition of both sides by a mix of the key (RT 3.2.1, GFTR 4.3), then a join of each two partitions that belong
// together in shared memory (RT 3.2.2), with payload gathered from partitioned columns or from those of the caller
// (GFTR 4.1).
package hash

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Options say how to join. Whatever they are, the rows of the output are the same.
type Options struct {
	// Untransformed gathers payload from the caller's columns, by row numbers that were partitioned with the keys
	// (GFUR, phj-um). Otherwise payload columns are partitioned themselves and gathered from there (GFTR, phj-om).
	Untransformed bool
	// Unpartitioned partitions nothing: the side with fewer rows becomes a [Table], which the other probes.
	Unpartitioned bool
	// OneByOne partitions one payload column at a time (GFTR algorithm 1), which takes less memory (GFTR table 2).
	// Otherwise up to three columns of one width move together.
	OneByOne bool
	// Unique promises that no two rows of the side with fewer rows have the same key.
	Unique bool
	// CountFirst counts the output of every unit before any is written. Otherwise output is written as it comes, into
	// room for OutputRows rows, and again where there is more of it. OutputRows 0 is as many rows as the side with more
	// of them has.
	CountFirst bool
	OutputRows uint64
	// Approve, if set, sees the number of output rows before memory beyond that for OutputRows is taken; its error ends
	// the join.
	Approve func(rows uint64) error
	// PageRows, 1 to 8, has each invocation take room for output in pages of so many rows, which are compacted
	// afterwards (the direct output buffer of RT 3.2.2). With 0 a workgroup takes room for all rows that it has found,
	// and none stays empty.
	PageRows int

	force force
}

// force overrides what a plan chooses, to reach its rare paths in tests.
type force struct {
	bits  *int   // that decide the partition
	table uint32 // rows of the build side that shared memory holds
	// Oversized partitions beyond which everything is sorted; 0: as many as usual.
	ranges uint32
	wide   bool // keys of 8 bytes move whole
}

// Join joins on equal keys, which are equally wide on both sides. Every pair of rows with equal keys is a row of the
// result, which has the key and all payload columns of both; the order of rows is open. The caller releases the result.
// profile receives the device time of each stage and may be nil.
//
// Errors: backend.ErrInvalidInput, backend.ErrLimit for more rows than one relation can have, those of the device.
func Join(ctx context.Context, lane *exec.Lane, left, right resident.Relation, o Options) (*resident.Result, error) {
	j := &join{lane: lane.Nested(ctx), Options: o}
	defer j.lane.Memory.ReleaseAll()
	j.sides = [2]input{{Input: resident.NewInput(left, "left")}, {Input: resident.NewInput(right, "right")}}
	if right.Rows < left.Rows {
		j.swapped = true
		j.sides[build], j.sides[probe] = j.sides[probe], j.sides[build]
	}
	if err := j.begin(); err != nil {
		return nil, err
	}
	if o.Unpartitioned && j.sides[build].Rows > 0 {
		t, err := Build(ctx, lane, j.sides[build].Relation, o.Unique)
		if err != nil {
			return nil, err
		}
		defer t.Release()
		result, err := t.Probe(ctx, lane, j.sides[probe].Relation, o)
		if err == nil && j.swapped {
			result.Swap()
		}
		return result, err
	}
	rows := uint64(0)
	if j.sides[build].Rows > 0 {
		var err error
		if rows, err = j.match(ctx); errors.Is(err, errNotNarrow) {
			j.lane.Memory.ReleaseAll()
			o.force.wide = true
			return Join(ctx, lane, left, right, o)
		} else if err != nil {
			return nil, err
		}
	}
	return j.result(ctx, rows)
}

// divide partitions both sides and cuts the partitions into units.
func (j *join) divide(ctx context.Context) error {
	if err := j.plan(); err != nil {
		return err
	}
	if err := j.narrow(ctx); err != nil {
		return err
	}
	for s := range j.sides {
		if err := j.transform(ctx, &j.sides[s]); err != nil {
			return err
		}
	}
	if err := j.checkNarrow(ctx); err != nil {
		return err
	}
	if err := j.cut(ctx); err != nil {
		return err
	}
	j.out.Record, j.out.RecordCount, j.out.Invocations = j.recordUnits, j.recordCount, uint64(j.out.Units)*
		uint64(j.config.Workgroup)
	return nil
}

// match partitions both sides, joins partitions that belong together, and returns the number of output rows.
func (j *join) match(ctx context.Context) (rows uint64, err error) {
	if err := j.divide(ctx); err != nil {
		return 0, err
	}
	if j.oversized == 0 {
		return j.out.Write(ctx)
	}
	if j.Approve != nil { // before there are pairs of peeled rows
		if rows, err = j.countUnits(ctx); err == nil {
			err = j.Approve(rows)
		}
		if err != nil {
			return 0, err
		}
		j.out.Approve = nil
	}
	if j.out.Peeled, err = j.peel(ctx); err != nil {
		return 0, err
	}
	defer func() { j.lane.Memory.Release(j.peeled[:]...) }()
	if rows, err = j.out.Write(ctx); err != nil {
		return 0, err
	}
	return rows, j.expandPeeled(ctx)
}

// The sides as a hash join sees them.
const (
	build = 0 // whose rows go into hash tables: the side with fewer of them
	probe = 1
)

// join is a join under way.
type join struct {
	Options
	lane    *exec.Lane
	swapped bool // the build side is the right one
	sides   [2]input

	counting bool // only the number of output rows is wanted

	bits      int // that decide the partition; 0: one partition, the relation as it is
	config    kernel.PartitionJoinConfig
	walk      bool   // as [Plan] says
	probeRows uint32 // of a unit, at most; of the build side it has at most as many as the table has room for

	units     *backend.Buffer
	high      uint32             // where only low words of keys move: the high word of all
	oversized uint32             // partitions with too many build rows for units
	peeled    [2]*backend.Buffer // of every output row of those: its row of each side
	round     int                // 1 in the join of the rows of oversized partitions
	out       resident.Output
}

// input is one relation and what becomes of it.
type input struct {
	resident.Input
	starts backend.Range // of the partitions, and where the last one ends
}

// begin readies a join of two sides, of which the build side is the left one of its kernels.
func (j *join) begin() error {
	for _, s := range j.sides {
		if err := s.Check("hash join"); err != nil {
			return err
		}
	}
	if l, r := j.sides[build].Keys.Bytes, j.sides[probe].Keys.Bytes; l != r {
		return &backend.OpError{Op: "hash join", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("keys of %d and of %d bytes", l, r)}
	}
	if j.PageRows < 0 || j.PageRows > mostPageRows {
		return &backend.OpError{Op: "hash join", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("pages of %d rows, allowed are 0 to %d", j.PageRows, mostPageRows)}
	}
	j.out = resident.Output{Lane: j.lane, Inputs: [2]*resident.Input{&j.sides[build].Input, &j.sides[probe].Input},
		CountFirst: j.CountFirst, Room: j.OutputRows, Approve: j.Approve, PageRows: uint32(j.PageRows)}
	if j.out.Room == 0 {
		j.out.Room = j.sides[probe].Rows
	}
	return nil
}

// seeds are those of the mixes whose low bits decide the partition, round by round.
var seeds = [...]uint32{0x5bd1e995, 0x2545f491}

const (
	// Of output, that an invocation takes at a time (RT 4.2.5).
	mostPageRows = 8
	// lavapipe ends all loops of an invocation after 65,535 trips.
	mostTrips = 65_000
)

// plan chooses the number of partitions and the size of units.
func (j *join) plan() error {
	first := [2]int{4, 4}
	for s := range first {
		if len(j.sides[s].Payload) > 0 && !j.Untransformed {
			first[s] = j.sides[s].Payload[0].Bytes
		}
	}
	p, err := NewPlan(j.lane.Tuning(), j.sides[build].Rows, j.sides[build].MovedKeyBytes(), first)
	if err != nil {
		return err
	}
	if j.force.table > 0 {
		p.size(j.sides[build].Rows, j.force.table)
	}
	most := math.MaxInt // rows of an invocation in all batches of a unit
	if info := j.lane.Device().Info(); info.Type == backend.Software {
		// Where the keys of a table all collide, each probe row walks a chain of all its rows twice. Where neighbours
		// write together, it waits in every step for the one that walks furthest.
		walks := 2
		if p.Walk {
			p.config.Items = kernel.WalkedRows
		} else {
			walks *= int(info.SubgroupSize) + 1
		}
		if table := mostTrips/(walks*int(p.config.Items)) - 1; table < p.TableRows {
			p.size(j.sides[build].Rows, uint32(max(1, table)))
		}
		most = mostTrips / (walks * (p.TableRows + 1))
	}
	if j.force.bits != nil {
		p.Bits = *j.force.bits
	}
	if j.widened() == 1 {
		p.Bits = max(1, p.Bits)
	}
	j.bits, j.config, j.walk = p.Bits, p.config, p.Walk
	batch := kernel.TileRows(j.config)
	batches := min(p.ProbeFactor*p.TableRows/int(batch), most/int(j.config.Items))
	j.probeRows = batch * uint32(max(1, batches))
	return nil
}

// errNotNarrow says that keys looked narrow and are not.
var errNotNarrow = errors.New("keys differ in their high words")

// narrow has only the low words of 8-byte keys moved where the high words are all the same, as those of numbers of rows
// are. The first and the last rows tell whether to try; the pass that counts digits looks at every key.
func (j *join) narrow(ctx context.Context) error {
	if j.bits == 0 || j.force.wide || j.sides[build].Keys.Bytes == 4 {
		return nil
	}
	words := j.lane.Memory.New(5*4, "high words")
	if err := j.lane.Memory.Err(); err != nil {
		return err
	}
	b, p := &j.sides[build], &j.sides[probe]
	list := new(backend.List)
	list.Copy(words.Range(0, 4), part(b.Keys.Data, 4, 4))
	list.Fill(words.Range(4, 4), 0) // for the pass that counts
	list.Copy(words.Range(8, 4), part(b.Keys.Data, b.Rows*8-4, 4))
	list.Copy(words.Range(12, 4), part(p.Keys.Data, 4, 4))
	list.Copy(words.Range(16, 4), part(p.Keys.Data, p.Rows*8-4, 4))
	if err := j.lane.Submit(ctx, list); err != nil {
		return err
	}
	var found [5]uint32
	if err := j.lane.Download(ctx, backend.AsBytes(found[:]), words.All()); err != nil {
		return err
	}
	j.high = found[0]
	if found != [5]uint32{j.high, 0, j.high, j.high, j.high} {
		return nil
	}
	for i := range j.sides {
		j.sides[i].High = words.Range(0, 8)
	}
	return j.plan()
}

// checkNarrow returns errNotNarrow where partitions moved low words of keys whose high words differ.
func (j *join) checkNarrow(ctx context.Context) error {
	high := j.sides[build].High
	if high.Buffer == nil {
		return nil
	}
	var differing [4]byte
	if err := j.lane.Download(ctx, differing[:], part(high, 4, 4)); err != nil {
		return err
	}
	if differing != [4]byte{} {
		return errNotNarrow
	}
	return nil
}

// widened is the constant of kernels that write keys: 1 where only low words of them moved.
func (j *join) widened() uint32 {
	if j.sides[build].High.Buffer != nil {
		return 1
	}
	return 0
}

// transform partitions the keys of a side together with the first payload columns or, with Untransformed, with row
// numbers.
func (j *join) transform(ctx context.Context, s *input) error {
	partitions := uint64(1) << j.bits
	starts := j.lane.Memory.New((partitions+1)*4, s.Name+" partitions")
	if err := j.lane.Memory.Err(); err != nil {
		return err
	}
	s.starts = starts.All()
	if j.bits > 0 {
		return j.partition(ctx, s, s.starts)
	}
	s.Ordered = s.Keys.Data
	for c, column := range s.Payload {
		s.Moved[c] = column.Data
	}
	list := new(backend.List)
	list.Fill(starts.Range(0, 4), 0)
	list.Fill(starts.Range(4, 4), uint32(s.Rows))
	return j.lane.Submit(ctx, list)
}

// partition moves the keys of a side with the next payload columns, or with row numbers.
func (j *join) partition(ctx context.Context, s *input, starts backend.Range) error {
	move := resident.Move{Stage: "partition", RowNumbers: j.Untransformed, OneByOne: j.OneByOne}
	move.Plan = func(layout primitive.Layout) (t resident.Transformation, err error) {
		p, err := primitive.PlanPartition(j.lane.Tuning(),
			primitive.Partition{Layout: layout, Bits: j.bits, Mixed: true, Seed: seeds[j.round]})
		t.Passes, t.ScratchBytes = 2-p.Result(), p.ScratchBytes
		t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns,
			buffers [2]primitive.Columns) error {
			return j.lane.Partition(list, p, starts, scratch, source, buffers)
		}
		return t, err
	}
	return s.Transform(ctx, j.lane, move)
}

// cut cuts partitions into units: a table full of build rows against up to probeRows probe rows.
func (j *join) cut(ctx context.Context) error {
	partitions := uint64(1) << j.bits
	table := j.config.Table
	scan, err := primitive.PlanScan(j.lane.Tuning(), partitions, 32, 32, true)
	if err != nil {
		return err
	}
	temporary := j.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	counts, scratch := temporary.New(partitions*4, "units of partitions"),
		temporary.New(scan.ScratchBytes, "scan scratch")
	oversizedAt := backend.Aligned(partitions*4 + 4)
	offsets := temporary.New(oversizedAt+4, "units before partitions") // and the number of oversized partitions
	if err := temporary.Err(); err != nil {
		return err
	}
	unitsConfig := kernel.PartitionUnits.With(nil)
	count, err := kernel.PartitionUnits.On(j.lane.Device(), unitsConfig)
	if err != nil {
		return err
	}
	list := j.lane.List("cut")
	oversized := offsets.Range(oversizedAt, 4)
	list.Fill(oversized, 0)
	count.Dispatch(list, kernel.Groups(unitsConfig, partitions), kernel.PartitionUnitsArgs{
		LeftStarts: j.sides[build].starts, RightStarts: j.sides[probe].starts, Counts: counts.All(),
		Oversized:  oversized,
		Partitions: uint32(partitions), LeftRows: table, RightRows: j.probeRows, MostLeft: mostTables * table,
	})
	if err := j.lane.Scan(list, scan, counts.All(), offsets.Range(0, partitions*4+4), scratch.All()); err != nil {
		return err
	}
	if err := j.lane.Submit(ctx, list); err != nil {
		return err
	}
	found := make([]byte, oversizedAt+4-partitions*4)
	if err := j.lane.Download(ctx, found, offsets.Range(partitions*4, uint64(len(found)))); err != nil {
		return err
	}
	j.out.Units = binary.LittleEndian.Uint32(found)
	j.oversized = binary.LittleEndian.Uint32(found[len(found)-4:])
	if j.out.Units == 0 {
		return nil
	}
	j.units = j.lane.Memory.New(uint64(j.out.Units)*16, "units")
	if err := j.lane.Memory.Err(); err != nil {
		return err
	}
	piecesConfig := kernel.PartitionPieces.With(nil)
	pieces, err := kernel.PartitionPieces.On(j.lane.Device(), piecesConfig)
	if err != nil {
		return err
	}
	list = j.lane.List("cut")
	pieces.Dispatch(list, kernel.Groups(piecesConfig, uint64(j.out.Units)), kernel.PartitionPiecesArgs{
		Offsets: offsets.Range(0, partitions*4+4), LeftStarts: j.sides[build].starts,
		RightStarts: j.sides[probe].starts, Units: j.units.All(),
		Count: j.out.Units, Partitions: uint32(partitions), LeftRows: table, RightRows: j.probeRows, Stride: 1,
	})
	return j.lane.Submit(ctx, list)
}

// recordUnits records the join of all units.
func (j *join) recordUnits(list *backend.List, to resident.Target) error {
	config := j.unitConfig()
	config.OutputConfig, config.Seed, config.Widened = to.Config, seeds[j.round], j.widened()
	if to.PageRows > 0 {
		config.Paged, config.PageRows = 1, to.PageRows
	}
	partitionJoin := kernel.PartitionJoin
	if j.walk {
		partitionJoin = kernel.PartitionWalk
	}
	k, err := partitionJoin.On(j.lane.Device(), config)
	if err != nil {
		return err
	}
	args := kernel.PartitionJoinArgs{Units: j.units.All(), JoinColumns: to.Columns, JoinRows: to.Rows,
		Shift: uint32(j.bits), High: j.high}
	args.LeftKeys, args.RightKeys = j.sides[build].Ordered, j.sides[probe].Ordered
	k.Dispatch(list, j.out.Units, args)
	return nil
}

// recordCount records the count of the output of each unit.
func (j *join) recordCount(list *backend.List, counts backend.Range) error {
	c := j.unitConfig()
	k, err := kernel.PartitionCount.On(j.lane.Device(), kernel.PartitionCountConfig{
		KeyBits: c.KeyBits, Tile: c.Tile, Mixed: c.Mixed, Table: c.Table, Heads: c.Heads, Unique: c.Unique,
		Decided: c.Decided})
	if err != nil {
		return err
	}
	k.Dispatch(list, j.out.Units, kernel.PartitionCountArgs{
		Units: j.units.All(), LeftKeys: j.sides[build].Ordered, RightKeys: j.sides[probe].Ordered, Counts: counts,
		Shift: uint32(j.bits)})
	return nil
}

// unitConfig is the configuration of kernels that look units up, without their output.
func (j *join) unitConfig() kernel.PartitionJoinConfig {
	config := j.config
	if j.bits > 0 {
		config.Mixed = 1
		if j.sides[build].MovedKeyBytes() == 4 && uint64(config.Heads)<<j.bits >= 1<<16 {
			config.Decided = 1
		}
	}
	if j.Unique {
		config.Unique = 1
	}
	return config
}

// result makes the payload columns that the kernel did not write, and hands the output over.
func (j *join) result(ctx context.Context, rows uint64) (*resident.Result, error) {
	r, err := j.out.Result(ctx, rows, j.Untransformed && j.bits > 0,
		func(s int) error { return j.partition(ctx, &j.sides[s], backend.Range{}) })
	if err == nil && j.swapped {
		r.Swap()
	}
	return r, err
}
