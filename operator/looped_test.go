package operator_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// looped is a join made of the parts of this package, with loops on the host in place of kernels that find matches.
// Both sides are sorted, or stay where they are, and a unit is a few probe rows.
type looped struct {
	stay     bool // nothing moves
	numbers  bool // row numbers move instead of payload
	oneByOne bool

	countFirst bool
	pageRows   uint32 // rows of a page, the first of which stays empty in each window
	starves    int    // attempts in which the kernel reports that a workgroup has found no room
	unitRows   int

	plan  *operator.Plan
	lane  *exec.Lane
	build *operator.Input
	met   []bool // build rows with a partner, in transformed order
}

func (l *looped) Name() string { return fmt.Sprintf("loops %+v", *l) }

func (l *looped) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	return &operator.Plan{Facts: *f, Want: want}, f.Check("plan loops", &want)
}

func (l *looped) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	o := *l
	o.plan, o.lane = p, lane.Nested(ctx)
	return &o
}

func (l *looped) Close() { l.lane.Memory.ReleaseAll() }

func (l *looped) Rewind(context.Context) error {
	clear(l.met)
	return nil
}

func (l *looped) Build(ctx context.Context, build *relation.Chunk) (err error) {
	l.met = make([]bool, build.Rows)
	if l.build, err = l.input(ctx, l.lane, build, operator.Build); err == nil && l.build.Keep && !l.numbers {
		err = l.build.MoveAll(func() error { return l.move(ctx, l.build) })
	}
	return err
}

// input moves the columns of a side.
func (l *looped) input(ctx context.Context, lane *exec.Lane, c *relation.Chunk, side int) (*operator.Input, error) {
	in := operator.NewInput(lane, c, [2]string{"build", "probe"}[side])
	in.Keep = l.plan.Want.Marks(side) || side == operator.Build && l.plan.Facts.Granule > 0
	if l.stay || c.Rows == 0 {
		in.Stay()
		return &in, nil
	}
	return &in, l.move(ctx, &in)
}

func (l *looped) move(ctx context.Context, in *operator.Input) error {
	return in.Transform(ctx, operator.Move{Stage: "sort", RowNumbers: l.numbers && len(in.Payload) > 0,
		OneByOne: l.oneByOne, Plan: operator.SortBy(in.Lane.Ops, ^uint64(0)>>(64-8*in.Keys.Bytes))})
}

// values downloads a column.
func values(ctx context.Context, lane *exec.Lane, column backend.Range, rows uint64, width int) ([]uint64, error) {
	data, all := make([]byte, rows*uint64(width)), make([]uint64, rows)
	if rows == 0 {
		return nil, nil
	}
	err := lane.Download(ctx, data, column)
	for i := range all {
		if width == 8 {
			all[i] = binary.LittleEndian.Uint64(data[8*i:])
		} else {
			all[i] = uint64(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
	return all, err
}

func (l *looped) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	in, err := l.input(ctx, lane, probe, operator.Probe)
	if err != nil {
		return err
	}
	var keys [2][]uint64
	for side, in := range []*operator.Input{l.build, in} {
		if keys[side], err = values(ctx, lane, in.Ordered, in.Rows, in.Keys.Bytes); err != nil {
			return err
		}
	}
	m := &matches{ctx: ctx, lane: lane, inputs: [2]*operator.Input{l.build, in}, keys: keys[operator.Probe],
		pageRows: l.pageRows, starves: l.starves}
	met := make([]bool, probe.Rows)
	for p, key := range keys[operator.Probe] {
		if p%l.unitRows == 0 {
			m.begins = append(m.begins, len(m.pairs))
		}
		for b, other := range keys[operator.Build] {
			if key == other {
				m.pairs, met[p], l.met[b] = append(m.pairs, [2]uint32{uint32(b), uint32(p)}), true, true
			}
		}
	}
	units := operator.Units{Lane: lane, Inputs: m.inputs, Want: &l.plan.Want, Number: uint32(len(m.begins)),
		CountFirst: l.countFirst, Room: l.plan.Facts.Room(), PageRows: l.pageRows,
		Invocations: 64 / uint64(max(1, l.pageRows)),
		Record:      m.record, RecordCount: m.recordCount, Untransformed: l.numbers && !l.stay,
		Move: func(ctx context.Context, side int) error { return l.move(ctx, m.inputs[side]) }}
	m.begins = append(m.begins, len(m.pairs))
	if l.plan.Want.Pairs {
		if err := units.Write(ctx, sink); err != nil {
			return err
		}
	}
	return l.rows(ctx, in, operator.Probe, met, sink)
}

func (l *looped) Finish(ctx context.Context, sink operator.Sink) error {
	return l.rows(ctx, l.build, operator.Build, l.met, sink)
}

// rows outputs the wanted rows of one side.
func (l *looped) rows(ctx context.Context, in *operator.Input, side int, met []bool, sink operator.Sink) error {
	if !l.plan.Want.Marks(side) || in.Rows == 0 {
		return nil
	}
	marks, err := l.plan.Want.NewBitmap(ctx, in.Lane, side, in.Rows)
	if err != nil {
		return err
	}
	words := make([]uint32, (in.Rows+31)/32)
	for i, met := range met {
		if met {
			words[i/32] |= 1 << (i % 32)
		}
	}
	if err := upload(ctx, in.Lane, marks, backend.AsBytes(words)); err != nil {
		return err
	}
	r := operator.Rows{Input: in, Side: side, Marks: marks, Untransformed: l.numbers && !l.stay,
		Move: func(ctx context.Context) error { return l.move(ctx, in) }}
	return r.WriteWanted(ctx, sink, &l.plan.Want)
}

func upload(ctx context.Context, lane *exec.Lane, to backend.Range, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	to.SizeBytes = uint64(len(data))
	point, err := lane.Device().Upload(ctx, to, data)
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

// matches are the pairs of a granule. They stand in for the kernels that write and count pairs.
type matches struct {
	ctx      context.Context
	lane     *exec.Lane
	inputs   [2]*operator.Input
	keys     []uint64 // of the probe side
	pairs    [][2]uint32
	begins   []int // first pair of each unit
	pageRows uint32
	starves  int
}

// record writes pairs of the units from first to end-1, as [kernel.PartitionJoin] would.
func (m *matches) record(list *backend.List, first, end uint32, to operator.Target) error {
	for _, in := range m.inputs { // a kernel reads them
		if _, err := values(m.ctx, m.lane, in.Ordered, in.Rows, in.Keys.Bytes); err != nil {
			return err
		}
	}
	pairs, c, config := m.pairs[m.begins[first]:m.begins[end]], &to.Columns, &to.Config
	gap := uint32(0)
	if config.Placing == kernel.Reserving {
		if to.PageRows > 0 { // one page stays empty, as long as a word of the bitmap
			gap = 32
			list.Fill(c.Places.Part(4*kernel.BitmapWord, 4), 0)
		}
		taken := uint32(len(pairs)) + gap
		if m.starves > 0 && len(pairs) > 0 {
			m.starves, taken = m.starves-1, taken-1
		}
		list.Fill(c.Places.Part(0, 4), taken)
		list.Fill(c.Places.Part(4, 4), uint32(len(pairs)))
	} else if to.PageRows > 0 || to.Rows.FirstRow != -uint32(m.begins[first]) || to.Rows.OutRows != uint32(len(pairs)) {
		return fmt.Errorf("units %d to %d are to be written to %+v", first, end, to.Rows)
	}
	pairs = pairs[:min(len(pairs), int(max(to.Rows.OutRows, gap)-gap))]
	put := func(to, from backend.Range, width, side int, value func(row uint32) uint64) error {
		if to.Buffer == nil || width == 0 {
			return nil
		}
		if from.Buffer != nil {
			all, err := values(m.ctx, m.lane, from, m.inputs[side].Rows, width)
			if err != nil {
				return err
			}
			value = func(row uint32) uint64 { return all[row] }
		}
		data := make([]byte, int(gap)*width)
		for _, pair := range pairs {
			data = binary.LittleEndian.AppendUint64(data, value(pair[side]))
			data = data[:len(data)-8+width]
		}
		return upload(m.ctx, m.lane, to, data[:min(uint64(len(data)), to.SizeBytes)])
	}
	row := func(row uint32) uint64 { return uint64(row) }
	width := m.inputs[operator.Probe].Keys.Bytes
	err := put(c.KeysOut, backend.Range{}, width, operator.Probe, func(row uint32) uint64 { return m.keys[row] })
	for _, column := range []struct {
		to, from backend.Range
		words    uint32
		side     int
	}{
		{c.LeftOut, c.LeftPayload, config.LeftWords, operator.Build},
		{c.LeftOut2, c.LeftPayload2, config.LeftWords2, operator.Build},
		{c.RightOut, c.RightPayload, config.RightWords, operator.Probe},
		{c.RightOut2, c.RightPayload2, config.RightWords2, operator.Probe},
	} {
		if err == nil {
			err = put(column.to, column.from, int(column.words)*4, column.side, row)
		}
	}
	return err
}

// recordCount counts the pairs of each unit.
func (m *matches) recordCount(_ *backend.List, to backend.Range) error {
	var data []byte
	for i, begin := range m.begins[1:] {
		data = binary.LittleEndian.AppendUint64(data, uint64(begin-m.begins[i]))
	}
	return upload(m.ctx, m.lane, to, data)
}
