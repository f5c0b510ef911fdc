package groupby

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// windowSink is the sink that groups the windows of a lane.
type windowSink struct {
	deliver.Room
	consumer *consumer
	format   deliver.Format
	of       map[shape]*reducing
}

// shape says of which tables a window has rows, and whether they have a partner. It decides which keys and values are
// NULL.
type shape struct {
	of      [2]bool
	matched bool
}

// Count does nothing: the groups count their rows.
func (s *windowSink) Count(context.Context, uint64) error { return nil }

// Window returns an empty window.
func (s *windowSink) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	return s.Room.Window(ctx, rows), nil
}

// Turn implements deliver.WindowSink.
func (s *windowSink) Turn(f *deliver.Format) { s.format = *f }

// Put groups the rows of a window.
func (s *windowSink) Put(ctx context.Context, w *operator.Window) error {
	defer w.Release()
	if came := s.consumer.came.Add(w.Rows); s.consumer.most > 0 && came > s.consumer.most {
		return ErrMany
	}
	is := shape{matched: w.Matched}
	for side, table := range s.format.Sides {
		is.of[table] = w.Of[side]
	}
	r := s.of[is]
	if r == nil {
		var err error
		if r, err = s.reducing(ctx, is); err != nil {
			return err
		}
		s.of[is] = r
	}
	return r.put(ctx, w)
}

// EndPart brings groups to the host whose keys the part gives.
func (s *windowSink) EndPart(ctx context.Context) error { return s.end(ctx, (*reducing).ofPart) }

// End brings the groups to the host.
func (s *windowSink) End(ctx context.Context) error {
	return s.end(ctx, func(*reducing) bool { return true })
}

func (s *windowSink) end(ctx context.Context, which func(*reducing) bool) error {
	for is, r := range s.of {
		if !which(r) {
			continue
		}
		if err := r.end(ctx); err != nil {
			return err
		}
		delete(s.of, is)
	}
	return nil
}

// Close implements deliver.WindowSink.
func (s *windowSink) Close() {
	for _, r := range s.of {
		r.op.Close()
	}
}

// reducing is a group-by of windows of one shape.
type reducing struct {
	*consumer
	shape
	lane    *exec.Lane
	columns []windowColumn // that are the payload of chunks
	keys    []codePart     // of the key codes
	carried [2]*carried    // by table; nil for one without rows in the windows
	plan    *reduce.Plan
	op      *reduce.Operator
	states  []int  // by request, the reduction that gives its state; negative: the values are NULL
	rows    uint64 // of windows, since groups went to the host last
}

// ofPart reports whether a part of the probe side gives keys.
func (r *reducing) ofPart() bool {
	return slices.ContainsFunc(r.keys, func(k codePart) bool { return k.of.part })
}

// windowColumn is a payload column of windows.
type windowColumn struct{ side, word int }

// codePart says which payload column has the codes of the keys that a table gives, and where they are in the key codes.
type codePart struct {
	of     *tableKeys
	column int
	shift  int
}

// reducing plans the group-by of windows of a shape.
func (s *windowSink) reducing(ctx context.Context, is shape) (*reducing, error) {
	r := &reducing{consumer: s.consumer, shape: is, lane: s.Lane}
	f := reduce.Facts{Rows: primitive.MaxRows, Tuning: s.Lane.Tuning(), KeyBytes: 4,
		Strategy: algorithms[r.layout.Spec.Algorithm].strategy}
	_, f.CannotDraw = s.Lane.Device().Rasterizer()
	var first [2]int // payload column, by side
	for side, table := range s.format.Sides {
		if !is.of[table] {
			continue
		}
		r.carried[table], first[side] = s.format.Carried[table].(*carried), len(r.columns)
		for word, bytes := range s.format.Words[side].Bytes {
			r.columns, f.Payload = append(r.columns, windowColumn{side, word}), append(f.Payload, bytes)
		}
	}
	for table := range r.carried {
		if c := r.carried[table]; c != nil && c.keys != nil {
			for i := range r.keys {
				r.keys[i].shift += c.keys.bits
			}
			side := slices.Index(s.format.Sides[:], relation.Side(table))
			r.keys = append(r.keys, codePart{of: c.keys, column: first[side] + s.format.Words[side].Columns[0].First})
			f.KeyBits += c.keys.bits
		}
	}
	if f.KeyBits > 32 || r.ofPart() {
		f.KeyBytes = 8
	}
	if f.KeyBits = max(1, f.KeyBits); f.KeyBits > 64 {
		return nil, ErrUnfit
	}
	var reductions []reduce.Reduction
	for _, q := range r.program.requests {
		v := reduce.Value{ValidWord: -1}
		if name := q.value.column; name != "" {
			origin := r.origin(name)
			table, some := origin.side(is.of)
			if !some {
				r.states = append(r.states, -1)
				continue
			}
			if at := r.carried[table].at[q.value]; at >= 0 {
				side := slices.Index(s.format.Sides[:], table)
				v = place(s.format.Words[side], at)
				v.Word += first[side]
				if v.ValidWord >= 0 {
					v.ValidWord += first[side]
				}
			}
		}
		of := q.of(v)
		if of.Func == reduce.Count && v.ValidWord < 0 {
			of.Value = reduce.Value{ValidWord: -1} // all rows, whatever the column
		}
		at := slices.Index(reductions, of)
		if at < 0 {
			at, reductions = len(reductions), append(reductions, of)
		}
		r.states = append(r.states, at)
	}
	var err error
	if r.plan, err = reduce.NewPlan(f, reductions); err == nil {
		r.op = r.plan.Open(ctx, r.lane)
	}
	return r, err
}

// Rows of a window are grouped in pieces if device memory is short: of at least fewPieceRows while there are groups
// that can go to the host instead, and then of at least leastPieceRows. Kernels can read from multiples of these on.
const (
	fewPieceRows   = 1 << 16
	leastPieceRows = 1 << 12
)

// fits reports whether there is device memory to group rows and merge all groups.
func (r *reducing) fits(rows uint64) bool {
	need := r.plan.NeedBytes(rows, r.op.Rows())
	return r.lane.Memory.Reserve(need) >= need
}

// put groups the rows of a window.
func (r *reducing) put(ctx context.Context, w *operator.Window) error {
	for from := uint64(0); from < w.Rows; {
		rows, least := min(w.Rows-from, primitive.MaxRows), uint64(fewPieceRows)
		for !r.fits(rows) {
			if rows > least {
				rows = max(rows/2/least, 1) * least
				continue
			}
			if r.op.Rows() == 0 && rows <= leastPieceRows {
				break
			}
			least = leastPieceRows
			if err := r.finish(ctx, true); err != nil {
				return err
			}
		}
		if err := r.piece(ctx, w, from, rows); err != nil {
			return err
		}
		from, r.rows = from+rows, r.rows+rows
	}
	return nil
}

// piece groups rows of a window, from row from on.
func (r *reducing) piece(ctx context.Context, w *operator.Window, from, rows uint64) error {
	chunk := relation.Chunk{Rows: rows}
	for i, c := range r.columns {
		bytes := r.plan.Facts.Payload[i]
		column := w.Payload[c.side][c.word].Range(from*uint64(bytes), rows*uint64(bytes))
		chunk.Payload = append(chunk.Payload, relation.Values{Data: column, Bytes: bytes})
	}
	memory := r.lane.Scope(ctx)
	defer memory.ReleaseAll()
	var err error
	if chunk.Keys, err = r.codes(ctx, memory, &chunk); err != nil {
		return err
	}
	return r.op.Add(ctx, r.lane, &chunk, 0)
}

// codes returns the key codes of a chunk: the codes of the keys that each table gives, put together.
func (r *reducing) codes(ctx context.Context, memory *exec.Scope, c *relation.Chunk) (relation.Values, error) {
	keyBytes := r.plan.Facts.KeyBytes
	coded := slices.DeleteFunc(slices.Clone(r.keys), func(k codePart) bool { return k.of.bits == 0 })
	if len(coded) == 1 && r.plan.Facts.Payload[coded[0].column] == keyBytes {
		return c.Payload[coded[0].column], nil
	}
	codes := relation.Values{Data: memory.New(c.Rows*uint64(keyBytes), "key codes").All(), Bytes: keyBytes}
	if err := memory.Err(); err != nil {
		return codes, err
	}
	list := r.lane.List("group, key codes")
	if len(coded) == 0 {
		list.Fill(codes.Data, 0)
	}
	for i, k := range coded {
		values, coding := c.Payload[k.column], primitive.KeyCoding{Shift: uint32(k.shift)}
		coding.ValueBits = uint32(8 * values.Bytes)
		if err := r.lane.EncodeKeys(list, coding, primitive.KeyRows{Values: values.Data, Codes: codes.Data,
			KeyBytes: keyBytes, Merge: i > 0}); err != nil {
			return codes, err
		}
	}
	return codes, r.lane.Submit(ctx, list)
}

// end brings all groups to the host.
func (r *reducing) end(ctx context.Context) error {
	defer r.op.Close()
	return r.finish(ctx, !r.fits(0))
}

// finish brings the groups so far to the host, with their keys. If memory is short, they are not merged before.
func (r *reducing) finish(ctx context.Context, short bool) (err error) {
	g := &groups{by: r.layout.Spec.By, first: -1, memory: r.memory(), repeats: short}
	kept := false
	defer func() {
		if !kept {
			g.release()
		}
	}()
	g.states = make([][][]byte, len(r.plan.Reductions))
	bring := r.op.Finish
	if short {
		bring = r.op.Drain
	}
	if err := bring(ctx, func(ctx context.Context, some *reduce.Groups) error {
		return g.collect(ctx, r.lane, some)
	}); err != nil || g.rows == 0 || r.stream == nil {
		return err
	}
	states := g.states
	g.states = make([][][]byte, len(r.states))
	for i, from := range r.states {
		if from >= 0 {
			g.states[i] = states[from]
			continue
		}
		q := r.program.reduction(r.program.requests[i])
		_, words := q.State()
		if err := g.memory.Grow(exec.Need{Host: 8 * uint64(g.rows)}); err != nil {
			return err
		}
		g.states[i] = slices.Repeat([][]byte{make([]byte, 8*g.rows)}, words)
	}
	if err := r.keyColumns(ctx, g); err != nil {
		return err
	}
	rows := r.rows
	kept, r.rows = true, 0
	return r.keep(ctx, g, rows)
}
