package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
)

// Units are the pairs of a join as a kernel makes them that joins unit by unit (include/join_output.glsl): of each pair
// the key, and of each side two payload columns that are moved. Where a side has more of them, or none is moved, the
// kernel writes the row to gather others by in place of the last.
type Units struct {
	Lane   *exec.Lane
	Inputs [2]*Input // build and probe, left and right as the kernel calls them
	Want   *Want     // whether rows have a key column, or are only counted
	Number uint32    // of units
	// CountFirst counts the output of every unit before any is written, and every unit then writes where it belongs.
	// Otherwise output is written as it comes, into room for Room rows, and again where there are more.
	CountFirst bool
	Room       uint64
	// PageRows, 1 to 8, has each of Invocations take the room that it writes to in pages of so many rows (RT 3.2.2);
	// what stays empty of them is compacted. With 0 workgroups take what they need, and nothing stays empty.
	PageRows    uint32
	Invocations uint64
	// Marks has the kernel mark the rows that have a partner, when output is first written as it comes; nil where they are
	// not, as with PageRows, and where output is counted first ([Facts.CountsFirst]).
	Marks *Marks
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

// Write makes all pairs and puts them, in one window where the sink has room for them, or tells it their number alone.
//
// Errors: those of the sink and of the device; backend.ErrDeviceMemory where a window has no room for a unit, and there
// is no Large.
func (u *Units) Write(ctx context.Context, sink Sink) error {
	if u.Number == 0 {
		return nil
	}
	if u.Want.Count {
		return u.count(ctx, sink)
	}
	counted := false
	if !u.CountFirst {
		room, empty := u.Room, u.Invocations*uint64(max(1, u.PageRows)-1) // rows of pages that may stay empty
		// Once more with as much room as is needed; the third time is for drivers that let a workgroup starve.
		for try := 0; try < 3 && room+empty <= mostRows; try++ {
			w, err := sink.Window(ctx, room+empty)
			if err != nil {
				return err
			}
			short := w.Rows < room+empty
			rows, complete, err := u.reserve(ctx, w, try == 0)
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

// allocate makes room for what the kernel writes, in place of what a window had.
func (u *Units) allocate(w *Window, rows uint64) error {
	w.clear()
	w.Of, w.Matched = [2]bool{true, true}, true
	if u.Want.Keys {
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
