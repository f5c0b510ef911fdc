package hash

import (
	"context"
	"encoding/binary"
	"maps"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

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
		} else if s.IDs.Buffer != nil {
			o.payload[i], o.out[i], o.numbers[i] = s.IDs, s.rows.All(), backend.Range{}
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
	list.Dispatch(k, j.unitCount, out.args(j.units.All(), j.sides[build].Ordered, j.sides[probe].Ordered, places),
		uint32(first), uint32(first>>32), uint32(rows), uint32(j.bits), seed)
	return nil
}
