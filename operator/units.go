package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
)

// Units outputs the pairs of a kernel that joins unit by unit (include/join_output.glsl). For each pair the kernel
// writes the key, and for each side up to two moved payload columns. If a side has more columns, or none is moved, the
// kernel writes in place of the last one the row number by which the others are gathered.
type Units struct {
	Lane   *exec.Lane
	Inputs [2]*Input // build and probe; the kernel calls them left and right
	Want   *Want     // says whether rows have a key column, or are only counted
	Number uint32    // number of units
	// CountFirst counts the output of all units before any is written; each unit then writes to its own place.
	// Otherwise output is written as it is found, into a window with room for Room rows, and written again if there are
	// more.
	CountFirst bool
	Room       uint64
	Counted    bool // the pairs have already been reported to the sink
	// PageRows, 1 to 8, makes each of Invocations reserve room in pages of that many rows (RT, section 3.2.2). Rows of
	// pages that stay empty are removed by compaction. With 0, workgroups reserve exactly what they need.
	PageRows    uint32
	Invocations uint64
	// Marks makes the kernel mark the rows that have a partner during the first attempt to write output. It is nil if
	// the kernel does not mark, as with PageRows, and if output is counted first ([Facts.CountsFirst]).
	Marks *Marks
	// Record records the kernel for units first to end-1, which also takes the keys of both sides.
	Record func(list *backend.List, first, end uint32, to Target) error
	// RecordCount records the kernel that counts the output rows of each unit, in 64 bits.
	RecordCount func(list *backend.List, counts backend.Range) error
	// Large outputs a unit with more rows than a window has room for, in as many windows as it takes; nil if that is
	// not possible.
	Large func(ctx context.Context, unit uint32, sink Sink) error
	// Untransformed says that row numbers refer to the columns of the chunks, from which all payload is gathered.
	Untransformed bool
	// Move moves the next payload columns of a side.
	Move func(ctx context.Context, side int) error
}

// NewUnits returns the list of args.Count units, allocated from the lane, as a kernel cuts them from parts of both sides:
// four words each, the begin and the end of its rows on the left side and on the right one.
func NewUnits(ctx context.Context, lane *exec.Lane, args kernel.PartitionPiecesArgs) (*backend.Buffer, error) {
	units := lane.Memory.New(uint64(args.Count)*16, "units")
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	args.Units = units.All()
	return units, lane.Run(ctx, "cut", func(list *backend.List) error {
		config := kernel.PartitionPieces.With(nil)
		return kernel.PartitionPieces.RecordRows(list, lane.Device(), config, uint64(args.Count), args)
	})
}

// Target says where and in which form a kernel writes its output.
type Target struct {
	Config   kernel.OutputConfig
	PageRows uint32 // 0: no pages
	Sides    uint32 // sides whose rows are marked
	Columns  kernel.JoinColumns[backend.Range]
	Rows     kernel.JoinRows
}

// mostRows is the maximum number of output rows of a kernel (include/join_output.glsl).
const mostRows = 1<<31 - 1

// Write outputs all pairs, in one window if the sink has room for them, or only reports their number.
//
// Errors: errors of the sink; device errors; backend.ErrDeviceMemory if a window has no room for a unit and Large is
// nil.
func (u *Units) Write(ctx context.Context, sink Sink) error {
	if u.Number == 0 {
		return nil
	}
	if u.Want.Count {
		return u.count(ctx, sink)
	}
	counted := u.Counted
	if !u.CountFirst {
		room, empty := u.Room, u.Invocations*uint64(max(1, u.PageRows)-1) // rows of pages that may stay empty
		// The second attempt has as much room as is needed. The third is for drivers that let a workgroup starve.
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

// allocate replaces the columns of a window by those that the kernel writes.
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

// kernelColumn is a payload column as an argument of the kernel.
type kernelColumn struct {
	words     *uint32
	from, out *backend.Range
}

func (k *kernelColumn) set(bytes int, from backend.Range, out *backend.Buffer) {
	*k.words, *k.from, *k.out = uint32(bytes/4), from, out.All()
}

// put gathers the payload columns that the kernel did not write, and passes the window on unless it is empty.
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
