package resident

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Output is the output of a join under way, which a kernel writes that joins unit by unit (include/join_output.glsl): the key, and of
// each side two payload columns that are moved. Where a side has more of them, or none is moved, the kernel writes the row
// to gather others by in place of the last.
type Output struct {
	Ops     *primitive.Ops
	Profile *backend.Profile // may be nil
	Memory  *Memory
	Sides   [2]*Side // left and right as the kernel calls them
	Units   uint32
	// Peeled rows come first; somebody else writes them.
	Peeled uint64
	// CountFirst counts the output of every unit before any is written, and every unit then writes where it belongs. Otherwise output
	// is written as it comes, into room for Room rows, and again where there are more.
	CountFirst bool
	Room       uint64
	// Approve, if set, sees the number of rows before memory beyond that for Room is taken for them; its error ends the join.
	Approve func(rows uint64) error
	// PageRows, 1 to 8, has each of Invocations take the room that it writes to in pages of so many rows (RT 3.2.2); what stays empty
	// of them is compacted. With 0 workgroups take what they need, and nothing stays empty.
	PageRows    uint32
	Invocations uint64
	// Record records the kernel, over all units. It adds to the columns the keys of both sides.
	Record func(list *backend.List, to Target) error
	// RecordCount records the kernel that counts the output of each unit, 32 bits.
	RecordCount func(list *backend.List, counts backend.Range) error

	NoKeys bool // the output has payload columns alone
	Keys   *backend.Buffer
	rows   uint64 // for which there is room
}

// Target is where and in what form a kernel writes its output.
type Target struct {
	Config   kernel.OutputConfig
	PageRows uint32 // 0: no pages
	Columns  kernel.JoinColumns[backend.Range]
	Rows     kernel.JoinRows
}

// Write makes the output and returns the number of its rows, peeled ones included.
//
// Errors: backend.ErrLimit for more rows than one relation can have, those of the device.
func (o *Output) Write(ctx context.Context) (rows uint64, err error) {
	if o.Units == 0 {
		if err := o.approve(o.Peeled); err != nil {
			return 0, err
		}
		return o.Peeled, o.allocate(o.Peeled)
	}
	if !o.CountFirst {
		room, empty := o.Peeled+o.Room, uint64(0)
		if o.PageRows > 1 {
			empty = o.Invocations * uint64(o.PageRows-1)
		}
		// Once more with as much room as is needed; the third time is for drivers that let a workgroup starve.
		for try := 0; try < 3 && room+empty <= 1<<31; try++ {
			rows, complete, err := o.reserve(ctx, room+empty)
			if err == nil {
				err = o.approve(rows)
			}
			if err != nil || complete {
				return rows, err
			}
			room = rows
		}
	}
	return o.countFirst(ctx)
}

func (o *Output) approve(rows uint64) error {
	if o.Approve == nil {
		return nil
	}
	return o.Approve(rows)
}

// reserve writes output as it comes into room rows. It is complete where the rows that there are found room.
func (o *Output) reserve(ctx context.Context, room uint64) (rows uint64, complete bool, err error) {
	temporary := Memory{Context: ctx, Device: o.Ops.Device()}
	defer temporary.ReleaseAll()
	placesBytes := uint64(12)
	if o.PageRows > 0 {
		placesBytes = kernel.BitmapWord*4 + (room+31)/32*4
	}
	places := temporary.New(placesBytes, "output cursor")
	if temporary.Err != nil {
		return 0, false, temporary.Err
	}
	if err := o.allocate(room); err != nil {
		return 0, false, err
	}
	list := backend.List{Profile: o.Profile}
	list.Stage("match")
	list.Fill(places.Range(0, 12), 0)
	if o.PageRows > 0 {
		list.Fill(places.Range(kernel.BitmapWord*4, placesBytes-kernel.BitmapWord*4), ^uint32(0))
	}
	if err := o.record(&list, kernel.Reserving, o.PageRows, places.All()); err != nil {
		return 0, false, err
	}
	if _, err := o.Ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return 0, false, err
	}
	var state [12]byte
	if err := o.Ops.Device().Download(ctx, state[:], places.Range(0, 12)); err != nil {
		return 0, false, err
	}
	taken, counted := uint64(binary.LittleEndian.Uint32(state[:])), binary.LittleEndian.Uint64(state[4:])
	rows = o.Peeled + counted
	if o.PageRows == 0 {
		return rows, counted <= room-o.Peeled && counted == taken, nil
	}
	if taken > room-o.Peeled {
		return rows, false, nil
	}
	if taken > counted {
		err = o.compact(ctx, o.Peeled+taken, rows, places.Range(kernel.BitmapWord*4, (o.Peeled+taken+31)/32*4))
	}
	return rows, true, err
}

// compact keeps the rows of the output whose bits are set, kept of all.
func (o *Output) compact(ctx context.Context, all, kept uint64, bits backend.Range) error {
	temporary := Memory{Context: ctx, Device: o.Ops.Device()}
	defer temporary.ReleaseAll()
	p, err := primitive.PlanCompact(o.Ops.Tuning(), all)
	if err != nil {
		return err
	}
	scratch := temporary.New(p.ScratchBytes, "scratch")
	if temporary.Err != nil {
		return temporary.Err
	}
	list := backend.List{Profile: o.Profile}
	list.Stage("compact")
	if err := o.Ops.CompactOffsets(&list, p, bits, scratch.All()); err != nil {
		return err
	}
	if _, err := o.Ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return err
	}
	one := func(column **backend.Buffer, bytes int) error { // so that only one column is there twice
		from := *column
		to := o.Memory.New(kept*uint64(bytes), from.Label())
		if o.Memory.Err != nil {
			return o.Memory.Err
		}
		list := backend.List{Profile: o.Profile}
		list.Stage("compact")
		if err := o.Ops.Compact(&list, p, bytes, bits, from.Range(0, all*uint64(bytes)), to.All(), scratch.All()); err != nil {
			return err
		}
		if _, err := o.Ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
			return err
		}
		o.Memory.Release(from)
		*column = to
		return nil
	}
	if !o.NoKeys {
		if err := one(&o.Keys, o.Sides[0].Keys.Bytes); err != nil {
			return err
		}
	}
	for _, s := range o.Sides {
		for _, c := range s.written() {
			if err := one(&s.Out[c], s.Payload[c].Bytes); err != nil {
				return err
			}
		}
		if s.Numbers != nil {
			if err := one(&s.Numbers, 4); err != nil {
				return err
			}
		}
	}
	return nil
}

// countFirst counts the output of each unit, and then writes it where it belongs.
func (o *Output) countFirst(ctx context.Context) (rows uint64, err error) {
	temporary := Memory{Context: ctx, Device: o.Ops.Device()}
	defer temporary.ReleaseAll()
	offsets, total, err := o.count(ctx, &temporary)
	if err != nil {
		return 0, err
	}
	rows = o.Peeled + total
	if rows > primitive.MaxRows {
		return 0, TooManyRows(rows)
	}
	if err := o.approve(rows); err != nil {
		return 0, err
	}
	if err := o.allocate(rows); err != nil || total == 0 {
		return rows, err
	}
	list := backend.List{Profile: o.Profile}
	list.Stage("match")
	if err := o.record(&list, kernel.AtOffsets, 0, offsets); err != nil {
		return 0, err
	}
	_, err = o.Ops.Device().Submit(ctx, backend.Compute, &list)
	return rows, err
}

// Count returns the number of rows that units make, and writes nothing.
func (o *Output) Count(ctx context.Context) (rows uint64, err error) {
	if o.Units == 0 {
		return 0, nil
	}
	temporary := Memory{Context: ctx, Device: o.Ops.Device()}
	defer temporary.ReleaseAll()
	_, rows, err = o.count(ctx, &temporary)
	return rows, err
}

// count returns where the output of each unit begins, 64-bit rows, and the number of all rows.
func (o *Output) count(ctx context.Context, temporary *Memory) (offsets backend.Range, rows uint64, err error) {
	units := uint64(o.Units)
	scan, err := primitive.PlanScan(o.Ops.Tuning(), units, 32, 64, true)
	if err != nil {
		return offsets, 0, err
	}
	counts, sums := temporary.New(units*4, "output counts"), temporary.New(units*8+8, "output offsets")
	scratch := temporary.New(scan.ScratchBytes, "scan scratch")
	if temporary.Err != nil {
		return offsets, 0, temporary.Err
	}
	list := backend.List{Profile: o.Profile}
	list.Stage("count")
	if err := o.RecordCount(&list, counts.All()); err != nil {
		return offsets, 0, err
	}
	if err := o.Ops.Scan(&list, scan, counts.All(), sums.All(), scratch.All()); err != nil {
		return offsets, 0, err
	}
	if _, err := o.Ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return offsets, 0, err
	}
	var total [8]byte
	if err := o.Ops.Device().Download(ctx, total[:], sums.Range(units*8, 8)); err != nil {
		return offsets, 0, err
	}
	return sums.All(), binary.LittleEndian.Uint64(total[:]), nil
}

// allocate makes room for the output of the kernel, in place of what there was.
func (o *Output) allocate(rows uint64) error {
	o.Memory.Release(o.Keys)
	o.rows = rows
	if !o.NoKeys {
		o.Keys = o.Memory.New(rows*uint64(o.Sides[0].Keys.Bytes), "output keys")
	}
	for _, s := range o.Sides {
		o.Memory.Release(s.Numbers)
		o.Memory.Release(s.Out...)
		clear(s.Out)
		s.Numbers = nil
		written := s.written()
		for _, c := range written {
			s.Out[c] = o.Memory.New(rows*uint64(s.Payload[c].Bytes), "output "+s.Name)
		}
		if len(written) < len(s.Payload) {
			s.Numbers = o.Memory.New(rows*4, "output row numbers, "+s.Name)
		}
	}
	return o.Memory.Err
}

// written are the payload columns that the kernel writes: those that are moved, two of all or one of more.
func (s *Side) written() (columns []int) {
	for c := range s.Moved {
		if s.Moved[c].Buffer != nil {
			columns = append(columns, c)
		}
	}
	if len(columns) == len(s.Payload) && len(columns) <= 2 {
		return columns
	}
	return columns[:min(1, len(columns))]
}

// OutputColumn is a column of the output that is written row by row: Out[i] gets From of the row that makes row i, its number where From
// is absent.
type OutputColumn struct {
	From  backend.Range
	Out   *backend.Buffer
	Bytes int
}

// Columns are the payload columns of a side that the kernel writes, two at most.
func (s *Side) Columns() (columns []OutputColumn) {
	for _, c := range s.written() {
		columns = append(columns, OutputColumn{s.Moved[c], s.Out[c], s.Payload[c].Bytes})
	}
	if s.Numbers != nil {
		columns = append(columns, OutputColumn{s.IDs, s.Numbers, 4})
	}
	return columns
}

// record records the kernel for what there is room for.
func (o *Output) record(list *backend.List, placing, pageRows uint32, places backend.Range) error {
	to := Target{
		Config:   kernel.OutputConfig{Placing: placing, LeftWords: 1, RightWords: 1},
		PageRows: pageRows,
		Columns:  kernel.JoinColumns[backend.Range]{Places: places, KeysOut: o.Keys.All()},
		Rows:     kernel.JoinRows{FirstRow: uint32(o.Peeled), OutRows: uint32(o.rows - o.Peeled)},
	}
	config, c := &to.Config, &to.Columns
	first := [2]kernelColumn{{&config.LeftWords, &c.LeftPayload, &c.LeftOut}, {&config.RightWords, &c.RightPayload, &c.RightOut}}
	second := [2]kernelColumn{{&config.LeftWords2, &c.LeftPayload2, &c.LeftOut2}, {&config.RightWords2, &c.RightPayload2, &c.RightOut2}}
	for i, s := range o.Sides {
		for n, column := range s.Columns() {
			k := [2]kernelColumn{first[i], second[i]}[n]
			*k.words, *k.from, *k.out = uint32(column.Bytes/4), column.From, column.Out.All()
		}
	}
	return o.Record(list, to)
}

// kernelColumn is a payload column as the kernel knows it.
type kernelColumn struct {
	words     *uint32
	from, out *backend.Range
}

// Result makes the payload columns that the kernel did not write, and hands the output over; the sides are those of the result.
// untransformed says that row numbers are those of the caller's columns, transform moves columns that are not moved.
func (o *Output) Result(ctx context.Context, rows uint64, untransformed bool, transform func(side int) error) (*Result, error) {
	r := &Result{Rows: rows, Keys: o.Keys}
	for _, s := range o.Sides {
		o.Memory.Release(s.Ordered.Buffer)
		s.releaseMoved(o.Memory)
	}
	for i, s := range o.Sides {
		if s.Numbers != nil {
			if err := s.Materialize(ctx, o.Ops, o.Memory, o.Profile, s.Numbers.Range(0, rows*4), rows, untransformed, func() error { return transform(i) }); err != nil {
				return nil, err
			}
			o.Memory.Release(s.Numbers)
		}
	}
	o.Memory.Keep(r.Keys)
	for i, s := range o.Sides {
		r.Payload[i] = s.Out
		o.Memory.Keep(s.Out...)
	}
	return r, nil
}

// TooManyRows is the error of a join with more output than one relation can have.
func TooManyRows(rows uint64) error {
	return &backend.OpError{Op: "join", Err: backend.ErrLimit, Detail: fmt.Sprintf("%d output rows, the limit is %d", rows, uint64(primitive.MaxRows))}
}
