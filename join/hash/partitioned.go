// Package hash joins two relations that are on one device by hashing. Join is the partitioned hash join: a radix partition of both
// sides by a mix of the key (RT 3.2.1, GFTR 4.3), then a join of each two partitions that belong together in shared memory
// (RT 3.2.2), with payload gathered from partitioned columns or from those of the caller (GFTR 4.1).
package hash

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Options say how to join. Whatever they are, the rows of the output are the same.
type Options struct {
	// Untransformed gathers payload from the caller's columns, by row numbers that were partitioned with the keys (GFUR, phj-um).
	// Otherwise payload columns are partitioned themselves and gathered from there (GFTR, phj-om).
	Untransformed bool
	// Unpartitioned partitions nothing: the side with fewer rows becomes a [Table], which the other probes.
	Unpartitioned bool
	// OneByOne partitions one payload column at a time (GFTR algorithm 1), which takes less memory (GFTR table 2). Otherwise up to
	// three columns of one width move together.
	OneByOne bool
	// Unique promises that no two rows of the side with fewer rows have the same key.
	Unique bool
	// CountFirst counts the output of every unit before any is written. Otherwise output is written as it comes, into room for
	// OutputRows rows, and again where there is more of it. OutputRows 0 is as many rows as the side with more of them has.
	CountFirst bool
	OutputRows uint64

	force force
}

// force overrides what a plan chooses, to reach its rare paths in tests.
type force struct {
	bits  *int   // that decide the partition
	table uint32 // rows of the build side that shared memory holds
	// Oversized partitions beyond which everything is sorted; 0: as many as usual.
	ranges uint32
}

// Join joins on equal keys, which are equally wide on both sides. Every pair of rows with equal keys is a row of the result, which has
// the key and all payload columns of both; the order of rows is open. The caller releases the result. profile receives the device
// time of each stage and may be nil.
//
// Errors: backend.ErrInvalidInput, backend.ErrLimit for more rows than one relation can have, those of the device.
func Join(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, o Options, profile *backend.Profile) (*resident.Result, error) {
	j := &join{ops: ops, Options: o, profile: profile, memory: resident.Memory{Device: ops.Device()}}
	defer j.memory.ReleaseAll()
	j.sides = [2]side{{Side: resident.NewSide(left, "left")}, {Side: resident.NewSide(right, "right")}}
	if right.Rows < left.Rows {
		j.swapped = true
		j.sides[build], j.sides[probe] = j.sides[probe], j.sides[build]
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	if j.sides[build].Rows == 0 {
		return j.result(0), nil
	}
	if o.Unpartitioned {
		t, err := Build(ctx, ops, j.sides[build].Relation, o.Unique, profile)
		if err != nil {
			return nil, err
		}
		defer t.Release()
		result, err := t.Probe(ctx, j.sides[probe].Relation, o, profile)
		if err == nil && j.swapped {
			result.Payload[resident.Left], result.Payload[resident.Right] = result.Payload[resident.Right], result.Payload[resident.Left]
		}
		return result, err
	}
	if err := j.plan(); err != nil {
		return nil, err
	}
	j.record = j.recordUnits
	for s := range j.sides {
		if err := j.transform(ctx, &j.sides[s]); err != nil {
			return nil, err
		}
	}
	if err := j.cut(ctx); err != nil {
		return nil, err
	}
	rows, err := j.match(ctx)
	if err != nil {
		return nil, err
	}
	return j.materialize(ctx, rows)
}

// The sides as a hash join sees them.
const (
	build = 0 // whose rows go into hash tables: the side with fewer of them
	probe = 1
)

// join is a join under way.
type join struct {
	Options
	ops     *primitive.Ops
	profile *backend.Profile
	memory  resident.Memory
	swapped bool // the build side is the right one
	sides   [2]side

	bits      int            // that decide the partition; 0: one partition, the relation as it is
	config    backend.Config // of partition_join
	probeRows uint32         // of a unit, at most; of the build side it has at most as many as the table has room for

	units     *backend.Buffer
	unitCount uint32
	oversized uint32             // partitions with too many build rows for units
	peeled    *sortmerge.Matches // of those; nil where there are none
	keys      *backend.Buffer    // of the result

	// Records the kernel that joins, over all units: output row first of all goes to row 0, and rows of them are wanted.
	record func(list *backend.List, placing uint32, places backend.Range, first, rows uint64) error
}

// side is one relation and what becomes of it.
type side struct {
	resident.Side
	keys   backend.Range   // in the order of partitions
	ids    backend.Range   // with Untransformed: row numbers in that order
	starts backend.Range   // of the partitions, and where the last one ends
	rows   *backend.Buffer // of each row of the output: the row to gather payload from
}

func (j *join) check() error {
	for _, s := range j.sides {
		if err := s.Check("hash join"); err != nil {
			return err
		}
	}
	if l, r := j.sides[0].Keys.Bytes, j.sides[1].Keys.Bytes; l != r {
		return &backend.OpError{Op: "hash join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("keys of %d and of %d bytes", l, r)}
	}
	return nil
}

const (
	seed     = 0x5bd1e995 // of the mix whose low bits decide the partition
	mostBits = 16
	// A unit has up to so many probe rows for each build row, so that building its table costs little.
	probeFactor = 4
	// A build partition of more tables than this is oversized.
	mostTables = 8
)

// plan chooses the number of partitions and the size of units.
func (j *join) plan() error {
	rows := j.sides[build].Rows
	width := backend.Config{"key_bits": uint32(j.sides[build].Keys.Bytes * 8)}
	config := maps.Clone(j.ops.Tuning().Config("partition_join", width))
	maps.Copy(config, width)
	var err error
	if j.config, err = kernel.PartitionJoin.Complete(config); err != nil {
		return err
	}
	if j.force.table > 0 {
		j.config["table"] = j.force.table
	}
	table := uint64(j.config["table"])
	// Partitions fill four fifths of a table on average, so that hardly any needs a second one.
	for j.bits = 0; j.bits < mostBits && rows>>j.bits > table*4/5; j.bits++ {
	}
	if j.force.bits != nil {
		j.bits = *j.force.bits
	}
	j.config["heads"] = 1 << (bits.Len32(j.config["heads"]) - 1) // a power of 2
	batch := kernel.TileRows(j.config)
	j.probeRows = batch * max(1, uint32(probeFactor*table)/batch)
	if j.ops.Device().Info().CPULike() {
		j.probeRows = batch // lavapipe ends all loops of an invocation after 65,535 trips: a batch of keys that all collide takes fewer
	}
	return nil
}

// transform partitions the keys of a side together with the first payload columns or, with Untransformed, with row numbers.
func (j *join) transform(ctx context.Context, s *side) error {
	partitions := uint64(1) << j.bits
	starts := j.memory.New((partitions+1)*4, s.Name+" partitions")
	if j.memory.Err != nil {
		return j.memory.Err
	}
	s.starts = starts.All()
	if j.bits > 0 {
		return j.partition(ctx, s, s.starts)
	}
	s.keys = s.Keys.Data
	for c, column := range s.Payload {
		s.Moved[c] = column.Data
	}
	var list backend.List
	list.Fill(starts.Range(0, 4), 0)
	list.Fill(starts.Range(4, 4), uint32(s.Rows))
	_, err := j.ops.Device().Submit(ctx, backend.Compute, &list)
	return err
}

// partition moves the keys of a side with the next payload columns, or with row numbers. A partition is stable, so that columns that
// move later come into the same order.
func (j *join) partition(ctx context.Context, s *side, starts backend.Range) error {
	group := s.NextGroup(kernel.MaxColumns)
	switch {
	case j.Untransformed:
		group = nil
	case j.OneByOne:
		group = s.NextGroup(1)
	}
	layout, source := s.Columns(group)
	if j.Untransformed {
		layout.Payload, layout.PayloadBytes = primitive.RowNumbers, 4
		source.Payload = make([]backend.Range, 1)
	}
	p, err := primitive.PlanPartition(j.ops.Tuning(), primitive.Partition{Layout: layout, Bits: j.bits, Mixed: true, Seed: seed})
	if err != nil {
		return err
	}
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	memories := [2]*resident.Memory{&temporary, &temporary}
	memories[p.Result()] = &j.memory
	if s.keys.Buffer != nil { // they are there already
		memories[p.Result()] = &temporary
	}
	var buffers [2]primitive.Columns
	for i := range buffers {
		if i == 0 && p.Result() == 1 {
			continue // one pass goes from the source to buffer 1
		}
		buffers[i].Keys = memories[i].New(s.Rows*uint64(s.Keys.Bytes), s.Name+" keys, partitioned").All()
		memory := memories[i]
		if i == p.Result() {
			memory = &j.memory
		}
		for range source.Payload {
			buffers[i].Payload = append(buffers[i].Payload, memory.New(s.Rows*uint64(layout.PayloadBytes), s.Name+" payload, partitioned").All())
		}
	}
	scratch := temporary.New(p.ScratchBytes, "partition scratch").All()
	for _, err := range []error{j.memory.Err, temporary.Err} {
		if err != nil {
			return err
		}
	}
	list := backend.List{Profile: j.profile}
	list.Stage("partition " + s.Name)
	if err := j.ops.Partition(&list, p, starts, scratch, source, buffers); err != nil {
		return err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return err
	}
	moved := buffers[p.Result()]
	if s.keys.Buffer == nil {
		s.keys = moved.Keys
	}
	if j.Untransformed {
		s.ids = moved.Payload[0]
		return nil
	}
	for i, c := range group {
		s.Moved[c] = moved.Payload[i]
	}
	return nil
}

// cut cuts partitions into units: a table full of build rows against up to probeRows probe rows.
func (j *join) cut(ctx context.Context) error {
	partitions := uint64(1) << j.bits
	table := j.config["table"]
	scan, err := primitive.PlanScan(j.ops.Tuning(), partitions, 32, 32, true)
	if err != nil {
		return err
	}
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	counts, scratch := temporary.New(partitions*4, "units of partitions"), temporary.New(scan.ScratchBytes, "scan scratch")
	oversizedAt := (partitions*4 + 4 + backend.ArgAlignmentBytes - 1) / backend.ArgAlignmentBytes * backend.ArgAlignmentBytes
	offsets := temporary.New(oversizedAt+4, "units before partitions") // and the number of oversized partitions
	if temporary.Err != nil {
		return temporary.Err
	}
	count, err := j.ops.Device().Kernel(kernel.PartitionUnits, nil)
	if err != nil {
		return err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("cut")
	oversized := offsets.Range(oversizedAt, 4)
	list.Fill(oversized, 0)
	list.Dispatch(count, kernel.Groups(count.Config, partitions), []backend.Range{j.sides[build].starts, j.sides[probe].starts, counts.All(), oversized},
		uint32(partitions), table, j.probeRows, mostTables*table)
	if err := j.ops.Scan(&list, scan, counts.All(), offsets.Range(0, partitions*4+4), scratch.All()); err != nil {
		return err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return err
	}
	found := make([]byte, oversizedAt+4-partitions*4)
	if err := j.ops.Device().Download(ctx, found, offsets.Range(partitions*4, uint64(len(found)))); err != nil {
		return err
	}
	j.unitCount = binary.LittleEndian.Uint32(found)
	j.oversized = binary.LittleEndian.Uint32(found[len(found)-4:])
	if j.unitCount == 0 {
		return nil
	}
	j.units = j.memory.New(uint64(j.unitCount)*16, "units")
	if j.memory.Err != nil {
		return j.memory.Err
	}
	pieces, err := j.ops.Device().Kernel(kernel.PartitionPieces, nil)
	if err != nil {
		return err
	}
	list = backend.List{Profile: j.profile}
	list.Stage("cut")
	list.Dispatch(pieces, kernel.Groups(pieces.Config, uint64(j.unitCount)),
		[]backend.Range{offsets.Range(0, partitions*4+4), j.sides[build].starts, j.sides[probe].starts, j.units.All()},
		j.unitCount, uint32(partitions), table, j.probeRows)
	_, err = j.ops.Device().Submit(ctx, backend.Compute, &list)
	return err
}

// match joins all units and returns the number of output rows. The kernel writes the key and of each side one payload column, the
// first that moved; where there are more, it writes row numbers to gather them by, and with Untransformed nothing else. The rows of
// oversized partitions come first.
func (j *join) match(ctx context.Context) (rows uint64, err error) {
	peeled := uint64(0)
	if j.oversized > 0 {
		if err := j.peel(ctx); err != nil {
			return 0, err
		}
		defer j.peeled.Release()
		peeled = j.peeled.Total
	}
	if rows, err = j.matchUnits(ctx, peeled); err != nil || peeled == 0 {
		return rows, err
	}
	return rows, j.expandPeeled(ctx)
}

// matchUnits makes room for all output, writes what comes of units behind the peeled rows, and returns the number of both.
func (j *join) matchUnits(ctx context.Context, peeled uint64) (rows uint64, err error) {
	if j.unitCount == 0 {
		return peeled, j.allocate(peeled)
	}
	if !j.CountFirst {
		room := j.OutputRows
		if room == 0 {
			room = j.sides[probe].Rows
		}
		room += peeled
		// Once more with as much room as is needed; the third time is for drivers that let a workgroup starve.
		for try := 0; try < 3 && room <= 1<<31; try++ {
			rows, complete, err := j.reserve(ctx, peeled, room)
			if err != nil || complete {
				return rows, err
			}
			room = rows
		}
	}
	return j.countFirst(ctx, peeled)
}

// reserve writes output as it comes into room rows. It is complete where the rows that there are found room.
func (j *join) reserve(ctx context.Context, peeled, room uint64) (rows uint64, complete bool, err error) {
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	cursor := temporary.New(12, "output cursor")
	if temporary.Err != nil {
		return 0, false, temporary.Err
	}
	if err := j.allocate(room); err != nil {
		return 0, false, err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("match")
	list.Fill(cursor.Range(0, 4), uint32(peeled))
	list.Fill(cursor.Range(4, 8), 0)
	if err := j.record(&list, kernel.Reserving, cursor.All(), 0, room); err != nil {
		return 0, false, err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return 0, false, err
	}
	var state [12]byte
	if err := j.ops.Device().Download(ctx, state[:], cursor.All()); err != nil {
		return 0, false, err
	}
	reserved := uint64(binary.LittleEndian.Uint32(state[:]))
	rows = peeled + binary.LittleEndian.Uint64(state[4:])
	return rows, rows <= room && rows == reserved, nil
}

// countFirst counts the output of each unit, and then writes it where it belongs.
func (j *join) countFirst(ctx context.Context, peeled uint64) (rows uint64, err error) {
	scan, err := primitive.PlanScan(j.ops.Tuning(), uint64(j.unitCount), 32, 64, true)
	if err != nil {
		return 0, err
	}
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	counts, offsets := temporary.New(uint64(j.unitCount)*4, "output counts"), temporary.New(uint64(j.unitCount)*8+8, "output offsets")
	scratch := temporary.New(scan.ScratchBytes, "scan scratch")
	if temporary.Err != nil {
		return 0, temporary.Err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("count")
	if err := j.record(&list, kernel.Counting, counts.All(), 0, 0); err != nil {
		return 0, err
	}
	if err := j.ops.Scan(&list, scan, counts.All(), offsets.All(), scratch.All()); err != nil {
		return 0, err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return 0, err
	}
	var total [8]byte
	if err := j.ops.Device().Download(ctx, total[:], offsets.Range(uint64(j.unitCount)*8, 8)); err != nil {
		return 0, err
	}
	rows = peeled + binary.LittleEndian.Uint64(total[:])
	if rows > primitive.MaxRows {
		return 0, tooManyRows(rows)
	}
	if err := j.allocate(rows); err != nil || rows == peeled {
		return rows, err
	}
	list = backend.List{Profile: j.profile}
	list.Stage("match")
	if err := j.record(&list, kernel.AtOffsets, offsets.All(), -peeled, rows); err != nil {
		return 0, err
	}
	_, err = j.ops.Device().Submit(ctx, backend.Compute, &list)
	return rows, err
}

// allocate makes room for the output of the kernel, in place of what there was.
func (j *join) allocate(rows uint64) error {
	j.memory.Release(j.keys)
	for s := range j.sides {
		s := &j.sides[s]
		j.memory.Release(s.rows)
		j.memory.Release(s.Out...)
		clear(s.Out)
		s.rows = nil
	}
	j.keys = j.memory.New(rows*uint64(j.sides[build].Keys.Bytes), "output keys")
	for s := range j.sides {
		s := &j.sides[s]
		first := s.First()
		if first >= 0 {
			s.Out[first] = j.memory.New(rows*uint64(s.Payload[first].Bytes), "output "+s.Name)
		}
		if len(s.Payload) > 1 || first < 0 && len(s.Payload) > 0 {
			s.rows = j.memory.New(rows*4, "output row numbers, "+s.Name)
		}
	}
	return j.memory.Err
}

// outputs are what a kernel that joins writes, and the payload that it reads for it.
type outputs struct {
	words        [2]uint32 // of a payload value
	payload, out [2]backend.Range
	keys         backend.Range
	numbers      [2]backend.Range
}

func (j *join) outputs() (o outputs) {
	o.keys = j.keys.All()
	for i := range j.sides {
		s := &j.sides[i]
		o.words[i], o.numbers[i] = 1, s.rows.All()
		if c := s.First(); c >= 0 {
			o.words[i], o.payload[i], o.out[i] = uint32(s.Payload[c].Bytes/4), s.Moved[c], s.Out[c].All()
		} else if s.ids.Buffer != nil {
			o.payload[i], o.out[i], o.numbers[i] = s.ids, s.rows.All(), backend.Range{}
		}
	}
	return o
}

// args are the arguments of a kernel that joins.
func (o *outputs) args(units, buildKeys, probeKeys, places backend.Range) []backend.Range {
	return []backend.Range{units, buildKeys, probeKeys, o.payload[build], o.payload[probe], places,
		o.keys, o.out[build], o.out[probe], o.numbers[build], o.numbers[probe]}
}

// recordUnits records partition_join over all units; output row first of all goes to row 0.
func (j *join) recordUnits(list *backend.List, placing uint32, places backend.Range, first, rows uint64) error {
	out := j.outputs()
	config := maps.Clone(j.config)
	config["placing"], config["left_words"], config["right_words"] = placing, out.words[build], out.words[probe]
	if j.bits > 0 {
		config["mixed"] = 1
	}
	if j.Unique {
		config["unique"] = 1
	}
	k, err := j.ops.Device().Kernel(kernel.PartitionJoin, config)
	if err != nil {
		return err
	}
	list.Dispatch(k, j.unitCount, out.args(j.units.All(), j.sides[build].keys, j.sides[probe].keys, places),
		uint32(first), uint32(first>>32), uint32(rows), uint32(j.bits), seed)
	return nil
}

// materialize makes the payload columns that the kernel did not write.
func (j *join) materialize(ctx context.Context, rows uint64) (*resident.Result, error) {
	for i := range j.sides {
		s := &j.sides[i]
		j.memory.Release(s.keys.Buffer, s.starts.Buffer)
		if s.rows == nil {
			continue
		}
		err := s.Materialize(ctx, j.ops, &j.memory, j.profile, s.rows.Range(0, rows*4), rows, j.Untransformed && j.bits > 0,
			func() error { return j.partition(ctx, s, backend.Range{}) })
		if err != nil {
			return nil, err
		}
	}
	return j.result(rows), nil
}

// result hands the output over.
func (j *join) result(rows uint64) *resident.Result {
	r := &resident.Result{Rows: rows, Keys: j.keys}
	j.memory.Keep(j.keys)
	for i := range j.sides {
		of := i
		if j.swapped {
			of = 1 - i
		}
		r.Payload[of] = j.sides[i].Out
		j.memory.Keep(j.sides[i].Out...)
	}
	return r
}
