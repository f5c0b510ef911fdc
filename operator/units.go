package operator

import (
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Units are the pairs of a join as a kernel makes them that joins unit by unit (include/join_output.glsl): of each pair
// the key, and of each side two payload columns that are moved. Where a side has more of them, or none is moved, the
// kernel writes the row to gather others by in place of the last.
type Units struct {
	Lane   *exec.Lane
	Inputs [2]*Input // build and probe, left and right as the kernel calls them
	Keys   bool      // of which rows have a column
	Number uint32    // of units
	// CountFirst counts the output of every unit before any is written, and every unit then writes where it belongs.
	// Otherwise output is written as it comes, into room for Room rows, and again where there are more.
	CountFirst bool
	Room       uint64
	// PageRows, 1 to 8, has each of Invocations take the room that it writes to in pages of so many rows (RT 3.2.2);
	// what stays empty of them is compacted. With 0 workgroups take what they need, and nothing stays empty.
	PageRows    uint32
	Invocations uint64
	// Marking is a cursor, as [kernel.PartitionJoin] has it with marked=1, with bitmaps of the rows of Sides behind it:
	// the kernel marks in these the rows that have a partner, while output is first written as it comes. Not with
	// PageRows, and only where [Units.Reserves] says that it is.
	Marking backend.Range
	Sides   uint32
	// Record records the kernel, over the units from first to end-1. It adds to the columns the keys of both sides.
	Record func(list *backend.List, first, end uint32, to Target) error
	// RecordCount records the kernel that counts the output of each unit, 64 bits.
	RecordCount func(list *backend.List, counts backend.Range) error
	// Large makes the output of a unit that is more than a window has room for, in as many windows as it takes; nil
	// where there is no way to.
	Large func(ctx context.Context, unit uint32, sink Sink) error
	// Untransformed says that row numbers are those of the columns of the chunks, from which all payload is gathered.
	Untransformed bool
	// Move moves the next payload columns of a side.
	Move func(ctx context.Context, side int) error
}

// Target is where and in what form a kernel writes its output.
type Target struct {
	Config   kernel.OutputConfig
	PageRows uint32 // 0: no pages
	Sides    uint32 // whose rows are marked
	Columns  kernel.JoinColumns[backend.Range]
	Rows     kernel.JoinRows
}

// mostRows is how many output rows a kernel takes (include/join_output.glsl).
const mostRows = 1<<31 - 1

// Reserves tells whether output is written as it comes, at least at first.
func (u *Units) Reserves() bool { return u.Number > 0 && !u.CountFirst && u.Room+u.empty() <= mostRows }

// empty is the number of rows of pages that may stay empty.
func (u *Units) empty() uint64 { return u.Invocations * uint64(max(1, u.PageRows)-1) }

// Write makes all pairs and puts them, in one window where the sink has room for them.
//
// Errors: those of the sink and of the device; backend.ErrDeviceMemory where a window has no room for a unit, and there
// is no Large.
func (u *Units) Write(ctx context.Context, sink Sink) error {
	if u.Number == 0 {
		return nil
	}
	counted := false
	if u.Reserves() {
		room, empty := u.Room, u.empty()
		// Once more with as much room as is needed; the third time is for drivers that let a workgroup starve.
		for try := 0; try < 3 && room+empty <= mostRows; try++ {
			w, err := sink.Window(ctx, room+empty)
			if err != nil {
				return err
			}
			short := w.Rows < room+empty
			rows, complete, err := u.reserve(ctx, w)
			if err == nil && !counted {
				err, counted = sink.Count(ctx, rows), true
			}
			if err == nil && complete {
				return u.put(ctx, sink, w, rows)
			}
			w.Release()
			if err != nil {
				return err
			}
			if room = rows; short {
				break
			}
		}
	}
	return u.countFirst(ctx, sink, counted)
}

// reserve writes output as it comes into a window. It is complete where the rows that there are found room.
func (u *Units) reserve(ctx context.Context, w *Window) (rows uint64, complete bool, err error) {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	places := u.Marking
	if u.Sides == 0 {
		placesBytes := uint64(12)
		if u.PageRows > 0 {
			placesBytes = kernel.BitmapWord*4 + (w.Rows+31)/32*4
		}
		places = temporary.New(placesBytes, "output cursor").All()
		if err := temporary.Err(); err != nil {
			return 0, false, err
		}
	}
	if err := u.allocate(w, w.Rows); err != nil {
		return 0, false, err
	}
	list, cursor := u.Lane.List("match"), slice(places, 0, 12)
	list.Fill(cursor, 0)
	if u.PageRows > 0 {
		list.Fill(slice(places, kernel.BitmapWord*4, places.SizeBytes-kernel.BitmapWord*4), ^uint32(0))
	}
	to := u.target(kernel.Reserving, places, 0, w.Rows)
	to.Sides, u.Sides = u.Sides, 0 // marked once, whether or not there is enough room
	if err := u.record(list, w, 0, u.Number, to); err != nil {
		return 0, false, err
	}
	if err := u.Lane.Submit(ctx, list); err != nil {
		return 0, false, err
	}
	var state [12]byte
	if err := u.Lane.Download(ctx, state[:], cursor); err != nil {
		return 0, false, err
	}
	taken, counted := uint64(binary.LittleEndian.Uint32(state[:])), binary.LittleEndian.Uint64(state[4:])
	if u.PageRows == 0 {
		return counted, counted <= w.Rows && counted == taken, nil
	}
	if taken > w.Rows || counted > taken { // or taken has passed 2^32
		return counted, false, nil
	}
	if taken > counted && counted > 0 {
		err = u.compact(ctx, w, taken, counted, slice(places, kernel.BitmapWord*4, (taken+31)/32*4))
	}
	return counted, true, err
}

// compact keeps the rows of a window whose bits are set, kept of all.
func (u *Units) compact(ctx context.Context, w *Window, all, kept uint64, bits backend.Range) error {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	p, err := primitive.PlanCompact(u.Lane.Tuning(), all)
	if err != nil {
		return err
	}
	scratch := temporary.New(p.ScratchBytes, "scratch")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := u.Lane.List("compact")
	if err := u.Lane.CompactOffsets(list, p, bits, scratch.All()); err != nil {
		return err
	}
	if err := u.Lane.Submit(ctx, list); err != nil {
		return err
	}
	one := func(column **backend.Buffer, bytes int) error { // so that only one column is there twice
		from := *column
		to := w.column(kept, bytes, from.Label())
		if err := w.memory.Err(); err != nil {
			return err
		}
		list := u.Lane.List("compact")
		if err := u.Lane.Compact(list, p, bytes, bits, from.Range(0, all*uint64(bytes)), to.All(),
			scratch.All()); err != nil {
			return err
		}
		if err := u.Lane.Submit(ctx, list); err != nil {
			return err
		}
		w.memory.Release(from)
		*column = to
		return nil
	}
	if u.Keys {
		if err := one(&w.Keys, u.Inputs[0].Keys.Bytes); err != nil {
			return err
		}
	}
	for side, in := range u.Inputs {
		for _, c := range in.written() {
			if err := one(&w.Payload[side][c], in.Payload[c].Bytes); err != nil {
				return err
			}
		}
		if w.numbers[side] != nil {
			if err := one(&w.numbers[side], 4); err != nil {
				return err
			}
		}
	}
	return nil
}

// countFirst counts the output of each unit, and then writes it where it belongs: into one window or, where the sink
// has no room for all of it at once, into several, each with the output of a run of units.
func (u *Units) countFirst(ctx context.Context, sink Sink, counted bool) error {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	offsets, total, err := u.count(ctx, temporary)
	if err != nil {
		return err
	}
	if !counted {
		if err := sink.Count(ctx, total); err != nil {
			return err
		}
	}
	if total == 0 {
		return nil
	}
	w, err := sink.Window(ctx, min(total, mostRows))
	if err != nil {
		return err
	}
	if w.Rows >= total {
		return u.run(ctx, sink, w, offsets, 0, u.Number, 0, total)
	}
	return u.runs(ctx, sink, w, offsets)
}

// runs writes the output of run after run of units, each as long as its window allows. w is the first window.
func (u *Units) runs(ctx context.Context, sink Sink, w *Window, offsets backend.Range) error {
	begins := make([]uint64, u.Number+1)
	err := u.Lane.Download(ctx, backend.AsBytes(begins), offsets)
	for side, in := range u.Inputs {
		in.Keep = true
		if err == nil && !u.Untransformed {
			err = in.MoveAll(func() error { return u.Move(ctx, side) })
		}
	}
	if err != nil {
		w.Release()
		return err
	}
	for first := uint32(0); first < u.Number; {
		if w == nil {
			if w, err = sink.Window(ctx, min(begins[u.Number]-begins[first], mostRows)); err != nil {
				return err
			}
		}
		rest := begins[first+1:]
		end := first + uint32(sort.Search(len(rest), func(i int) bool { return rest[i]-begins[first] > w.Rows }))
		rows := begins[end] - begins[first]
		if end == first {
			room := w.Rows
			w.Release()
			if w, end = nil, first+1; u.Large == nil {
				return &backend.OpError{Op: "write output", Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
					"there is room for %d rows, the least part of the output has %d; raise device_memory, or take "+
						"smj-um", room, rest[0]-begins[first])}
			}
			if err := u.Large(ctx, first, sink); err != nil {
				return err
			}
			first = end
			continue
		}
		if rows > 0 {
			if err := u.run(ctx, sink, w, offsets, first, end, begins[first], rows); err != nil {
				return err
			}
			w = nil
		}
		first = end
	}
	w.Release()
	return nil
}

// run writes the output of a run of units, which begins behind row before of all output.
func (u *Units) run(ctx context.Context, sink Sink, w *Window, offsets backend.Range, first, end uint32,
	before, rows uint64) error {
	list := u.Lane.List("match")
	err := u.allocate(w, rows)
	if err == nil {
		err = u.record(list, w, first, end, u.target(kernel.AtOffsets, offsets, before, rows))
	}
	if err == nil {
		err = u.Lane.Submit(ctx, list)
	}
	if err != nil {
		w.Release()
		return err
	}
	return u.put(ctx, sink, w, rows)
}

// Count returns the number of rows that units make, 64 bits of it, and writes nothing.
func (u *Units) Count(ctx context.Context) (rows uint64, err error) {
	if u.Number == 0 {
		return 0, nil
	}
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	_, rows, err = u.count(ctx, temporary)
	return rows, err
}

// count returns where the output of each unit begins, 64-bit rows, and the number of all rows.
func (u *Units) count(ctx context.Context, temporary *exec.Scope) (offsets backend.Range, rows uint64, err error) {
	units := uint64(u.Number)
	scan, err := primitive.PlanScan(u.Lane.Tuning(), units, 64, 64, true)
	if err != nil {
		return offsets, 0, err
	}
	counts, sums := temporary.New(units*8, "output counts"), temporary.New(units*8+8, "output offsets")
	scratch := temporary.New(scan.ScratchBytes, "scan scratch")
	if err := temporary.Err(); err != nil {
		return offsets, 0, err
	}
	list := u.Lane.List("count")
	if err := u.RecordCount(list, counts.All()); err != nil {
		return offsets, 0, err
	}
	if err := u.Lane.Scan(list, scan, counts.All(), sums.All(), scratch.All()); err != nil {
		return offsets, 0, err
	}
	if err := u.Lane.Submit(ctx, list); err != nil {
		return offsets, 0, err
	}
	var total [8]byte
	if err := u.Lane.Download(ctx, total[:], sums.Range(units*8, 8)); err != nil {
		return offsets, 0, err
	}
	return sums.All(), binary.LittleEndian.Uint64(total[:]), nil
}

// allocate makes room for what the kernel writes, in place of what a window had.
func (u *Units) allocate(w *Window, rows uint64) error {
	w.clear()
	w.Of, w.Matched = [2]bool{true, true}, true
	if u.Keys {
		w.Keys = w.column(rows, u.Inputs[0].Keys.Bytes, "output keys")
	}
	for side, in := range u.Inputs {
		w.Payload[side] = make([]*backend.Buffer, len(in.Payload))
		written := in.written()
		for _, c := range written {
			w.Payload[side][c] = w.column(rows, in.Payload[c].Bytes, "output "+in.Name)
		}
		if len(written) < len(in.Payload) {
			w.numbers[side] = w.column(rows, 4, "output row numbers, "+in.Name)
		}
	}
	return w.memory.Err()
}

func (u *Units) target(placing uint32, places backend.Range, before, rows uint64) Target {
	return Target{
		Config:   kernel.OutputConfig{Placing: placing, LeftWords: 1, RightWords: 1},
		PageRows: u.PageRows * placing,
		Columns:  kernel.JoinColumns[backend.Range]{Places: places},
		Rows:     kernel.JoinRows{FirstRow: -uint32(before), OutRows: uint32(rows)},
	}
}

// record records the kernel for units, with the columns of a window.
func (u *Units) record(list *backend.List, w *Window, unit, end uint32, to Target) error {
	config, c := &to.Config, &to.Columns
	c.KeysOut = w.Keys.All()
	first := [2]kernelColumn{{&config.LeftWords, &c.LeftPayload, &c.LeftOut},
		{&config.RightWords, &c.RightPayload, &c.RightOut}}
	second := [2]kernelColumn{{&config.LeftWords2, &c.LeftPayload2, &c.LeftOut2},
		{&config.RightWords2, &c.RightPayload2, &c.RightOut2}}
	for side, in := range u.Inputs {
		k := []kernelColumn{first[side], second[side]}
		for _, column := range in.written() {
			k[0].set(in.Payload[column].Bytes, in.Moved[column], w.Payload[side][column])
			k = k[1:]
		}
		if w.numbers[side] != nil {
			k[0].set(4, in.IDs, w.numbers[side])
		}
	}
	return u.Record(list, unit, end, to)
}

// kernelColumn is a payload column as the kernel knows it.
type kernelColumn struct {
	words     *uint32
	from, out *backend.Range
}

func (k *kernelColumn) set(bytes int, from backend.Range, out *backend.Buffer) {
	*k.words, *k.from, *k.out = uint32(bytes/4), from, out.All()
}

// put makes the payload columns that the kernel did not write, and hands the window over, unless it is empty.
func (u *Units) put(ctx context.Context, sink Sink, w *Window, rows uint64) error {
	if rows == 0 {
		w.Release()
		return nil
	}
	for side, in := range u.Inputs {
		if !in.Keep {
			in.Lane.Memory.Release(in.Ordered.Buffer)
		}
		in.releaseMoved(w.Payload[side])
	}
	for side, in := range u.Inputs {
		if w.numbers[side] == nil {
			continue
		}
		ids := w.numbers[side].Range(0, rows*4)
		if err := in.gather(ctx, w, side, ids, rows, u.Untransformed,
			func() error { return u.Move(ctx, side) }); err != nil {
			w.Release()
			return err
		}
		w.memory.Release(w.numbers[side])
		w.numbers[side] = nil
	}
	return w.put(ctx, sink, rows)
}
