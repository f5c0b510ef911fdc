package resident

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Output is the output of a join under way, which a kernel writes that joins unit by unit (include/join_output.glsl):
// the key, and of each side two payload columns that are moved. Where a side has more of them, or none is moved, the
// kernel writes the row to gather others by in place of the last.
type Output struct {
	Lane   *exec.Lane
	Inputs [2]*Input // left and right as the kernel calls them
	Units  uint32
	// Peeled rows come first; somebody else writes them.
	Peeled uint64
	// CountFirst counts the output of every unit before any is written, and every unit then writes where it belongs.
	// Otherwise output is written as it comes, into room for Room rows, and again where there are more.
	CountFirst bool
	Room       uint64
	// Approve, if set, sees the number of rows before memory beyond that for Room is taken for them; its error ends the
	// join.
	Approve func(rows uint64) error
	// PageRows, 1 to 8, has each of Invocations take the room that it writes to in pages of so many rows (RT 3.2.2);
	// what stays empty of them is compacted. With 0 workgroups take what they need, and nothing stays empty.
	PageRows    uint32
	Invocations uint64
	// Record records the kernel, over all units. It adds to the columns the keys of both sides.
	Record func(list *backend.List, to Target) error
	// RecordCount records the kernel that counts the output of each unit, 64 bits.
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
	temporary := o.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	placesBytes := uint64(12)
	if o.PageRows > 0 {
		placesBytes = kernel.BitmapWord*4 + (room+31)/32*4
	}
	places := temporary.New(placesBytes, "output cursor")
	if err := temporary.Err(); err != nil {
		return 0, false, err
	}
	if err := o.allocate(room); err != nil {
		return 0, false, err
	}
	list := o.Lane.List("match")
	list.Fill(places.Range(0, 12), 0)
	if o.PageRows > 0 {
		list.Fill(places.Range(kernel.BitmapWord*4, placesBytes-kernel.BitmapWord*4), ^uint32(0))
	}
	if err := o.record(list, kernel.Reserving, o.PageRows, places.All()); err != nil {
		return 0, false, err
	}
	if err := o.Lane.Submit(ctx, list); err != nil {
		return 0, false, err
	}
	var state [12]byte
	if err := o.Lane.Download(ctx, state[:], places.Range(0, 12)); err != nil {
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
	temporary := o.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	p, err := primitive.PlanCompact(o.Lane.Tuning(), all)
	if err != nil {
		return err
	}
	scratch := temporary.New(p.ScratchBytes, "scratch")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := o.Lane.List("compact")
	if err := o.Lane.CompactOffsets(list, p, bits, scratch.All()); err != nil {
		return err
	}
	if err := o.Lane.Submit(ctx, list); err != nil {
		return err
	}
	one := func(column **backend.Buffer, bytes int) error { // so that only one column is there twice
		from := *column
		to := o.Lane.Memory.New(kept*uint64(bytes), from.Label())
		if err := o.Lane.Memory.Err(); err != nil {
			return err
		}
		list := o.Lane.List("compact")
		if err := o.Lane.Compact(list, p, bytes, bits, from.Range(0, all*uint64(bytes)), to.All(),
			scratch.All()); err != nil {
			return err
		}
		if err := o.Lane.Submit(ctx, list); err != nil {
			return err
		}
		o.Lane.Memory.Release(from)
		*column = to
		return nil
	}
	if !o.NoKeys {
		if err := one(&o.Keys, o.Inputs[0].Keys.Bytes); err != nil {
			return err
		}
	}
	for _, s := range o.Inputs {
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
	temporary := o.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	offsets, total, err := o.count(ctx, temporary)
	if err != nil {
		return 0, err
	}
	rows = o.Peeled + total
	if err := CheckRows(rows); err != nil {
		return 0, err
	}
	if err := o.approve(rows); err != nil {
		return 0, err
	}
	if err := o.allocate(rows); err != nil || total == 0 {
		return rows, err
	}
	list := o.Lane.List("match")
	if err := o.record(list, kernel.AtOffsets, 0, offsets); err != nil {
		return 0, err
	}
	return rows, o.Lane.Submit(ctx, list)
}

// Count returns the number of rows that units make, and writes nothing.
func (o *Output) Count(ctx context.Context) (rows uint64, err error) {
	if o.Units == 0 {
		return 0, nil
	}
	temporary := o.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	_, rows, err = o.count(ctx, temporary)
	return rows, err
}

// count returns where the output of each unit begins, 64-bit rows, and the number of all rows.
func (o *Output) count(ctx context.Context, temporary *exec.Scope) (offsets backend.Range, rows uint64, err error) {
	units := uint64(o.Units)
	scan, err := primitive.PlanScan(o.Lane.Tuning(), units, 64, 64, true)
	if err != nil {
		return offsets, 0, err
	}
	counts, sums := temporary.New(units*8, "output counts"), temporary.New(units*8+8, "output offsets")
	scratch := temporary.New(scan.ScratchBytes, "scan scratch")
	if err := temporary.Err(); err != nil {
		return offsets, 0, err
	}
	list := o.Lane.List("count")
	if err := o.RecordCount(list, counts.All()); err != nil {
		return offsets, 0, err
	}
	if err := o.Lane.Scan(list, scan, counts.All(), sums.All(), scratch.All()); err != nil {
		return offsets, 0, err
	}
	if err := o.Lane.Submit(ctx, list); err != nil {
		return offsets, 0, err
	}
	var total [8]byte
	if err := o.Lane.Download(ctx, total[:], sums.Range(units*8, 8)); err != nil {
		return offsets, 0, err
	}
	return sums.All(), binary.LittleEndian.Uint64(total[:]), nil
}

// allocate makes room for the output of the kernel, in place of what there was.
func (o *Output) allocate(rows uint64) error {
	o.Lane.Memory.Release(o.Keys)
	o.rows = rows
	if !o.NoKeys {
		o.Keys = o.Lane.Memory.New(rows*uint64(o.Inputs[0].Keys.Bytes), "output keys")
	}
	for _, s := range o.Inputs {
		o.Lane.Memory.Release(s.Numbers)
		o.Lane.Memory.Release(s.Out...)
		clear(s.Out)
		s.Numbers = nil
		written := s.written()
		for _, c := range written {
			s.Out[c] = o.Lane.Memory.New(rows*uint64(s.Payload[c].Bytes), "output "+s.Name)
		}
		if len(written) < len(s.Payload) {
			s.Numbers = o.Lane.Memory.New(rows*4, "output row numbers, "+s.Name)
		}
	}
	return o.Lane.Memory.Err()
}

// written are the payload columns that the kernel writes: those that are moved, two of all or one of more.
func (in *Input) written() (columns []int) {
	for c := range in.Moved {
		if in.Moved[c].Buffer != nil {
			columns = append(columns, c)
		}
	}
	if len(columns) == len(in.Payload) && len(columns) <= 2 {
		return columns
	}
	return columns[:min(1, len(columns))]
}

// OutputColumn is a column of the output that is written row by row: Out[i] gets From of the row that makes row i, its
// number where From is absent.
type OutputColumn struct {
	From  backend.Range
	Out   *backend.Buffer
	Bytes int
}

// Columns are the payload columns of a side that the kernel writes, two at most.
func (in *Input) Columns() (columns []OutputColumn) {
	for _, c := range in.written() {
		columns = append(columns, OutputColumn{in.Moved[c], in.Out[c], in.Payload[c].Bytes})
	}
	if in.Numbers != nil {
		columns = append(columns, OutputColumn{in.IDs, in.Numbers, 4})
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
	first := [2]kernelColumn{{&config.LeftWords, &c.LeftPayload, &c.LeftOut},
		{&config.RightWords, &c.RightPayload, &c.RightOut}}
	second := [2]kernelColumn{{&config.LeftWords2, &c.LeftPayload2, &c.LeftOut2},
		{&config.RightWords2, &c.RightPayload2, &c.RightOut2}}
	for i, s := range o.Inputs {
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

// Result makes the payload columns that the kernel did not write, and hands the output over; the sides are those of the
// result. untransformed says that row numbers are those of the caller's columns, transform moves columns that are not
// moved.
func (o *Output) Result(ctx context.Context, rows uint64, untransformed bool,
	transform func(side int) error) (*Result, error) {
	memory := o.Lane.Memory
	for _, s := range o.Inputs {
		memory.Release(s.Ordered.Buffer)
		s.releaseMoved(memory)
	}
	for i, s := range o.Inputs {
		if s.Numbers != nil {
			ids := s.Numbers.Range(0, rows*4)
			if err := s.Materialize(ctx, o.Lane, ids, rows, untransformed,
				func() error { return transform(i) }); err != nil {
				return nil, err
			}
			memory.Release(s.Numbers)
		}
	}
	r := &Result{Rows: rows, Keys: o.Keys, memory: o.Lane.Scope(ctx)}
	memory.Move(r.memory, r.Keys)
	for i, s := range o.Inputs {
		r.Payload[i] = s.Out
		memory.Move(r.memory, s.Out...)
	}
	return r, nil
}

// CheckRows is ErrLimit for more output rows than one relation can have.
func CheckRows(rows uint64) error { return primitive.CheckRows("make the output of a join", rows) }
