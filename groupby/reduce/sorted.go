package reduce

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// batch is rows to be reduced, from a chunk or from partials.
type batch struct {
	rows   uint64
	keys   backend.Range
	ids    backend.Range // where the values of a row are; absent: at its own number
	sorted bool          // by key
	groups groupCount    // if known; 0: to be estimated
	inputs []input
}

// sorted reduces a batch to a partial with unique keys, by a sort of the keys. It suits any number of groups and any
// distribution.
//
// The rows of a group then lie side by side. They are cut into segments of at most cut rows, and an invocation reduces
// each segment ([kernel.GroupReduce]). The result is a sorted partial; with few groups of many rows it is shorter by
// the factor cut. This repeats until the segments are the groups.
func (o *Operator) sorted(ctx context.Context, lane *exec.Lane, b *batch) (*partial, error) {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	err := error(nil)
	if !b.sorted {
		b, err = o.sort(ctx, lane, b)
	}
	for most := uint64(cut); err == nil; {
		var p *partial
		if p, err = o.segments(ctx, lane, b, uint32(most)); err != nil || p.unique {
			return p, err
		}
		if 2*p.rows > b.rows { // groups of few rows lie across multiples of the cut, where all rounds would divide them
			most = min(most*cut, 1<<31)
		}
		b = o.states(p)
		defer p.memory.ReleaseAll()
	}
	return nil, err
}

// movedBits are the most bits of keys with which values are sorted too: each pass reads and writes them once, while a
// gather by row numbers reads a sector of memory for each.
const movedBits = 24

// sort sorts a batch. On the host, and by long keys, its values stay where they are.
func (o *Operator) sort(ctx context.Context, lane *exec.Lane, b *batch) (*batch, error) {
	f := &o.plan.Facts
	if f.KeyBits == 0 {
		return b, nil
	}
	by := operator.Move{Stage: "group, sort", Plan: operator.SortBy(lane.Ops, ^uint64(0)>>(64-f.KeyBits))}
	if f.KeyBits <= movedBits && !onHost(lane) && !b.numbersRows() {
		return o.move(ctx, lane, b, by)
	}
	by.RowNumbers = true
	in := operator.NewInput(lane, &relation.Chunk{Rows: b.rows, Keys: relation.Values{Data: b.keys, Bytes: f.KeyBytes}},
		"rows")
	if err := in.Transform(ctx, by); err != nil {
		return nil, err
	}
	sorted := *b
	sorted.keys, sorted.ids = in.Ordered, in.IDs
	return &sorted, nil
}

// cut is the most rows of a segment. A long one takes fewer rounds, a short one keeps more invocations busy.
const cut = 64

// segments reduces each segment of a sorted batch to a row of a partial.
func (o *Operator) segments(ctx context.Context, lane *exec.Lane, b *batch, most uint32) (*partial, error) {
	p, err := primitive.PlanCompact(lane.Tuning(), b.rows)
	if err != nil {
		return nil, err
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	keyBytes := o.plan.Facts.KeyBytes
	heads := temporary.New((b.rows+31)/32*4, "heads").All()
	groups := temporary.New(4, "groups").All()
	scratch := temporary.New(p.ScratchBytes, "scratch").All()
	if err := temporary.Err(); err != nil {
		return nil, err
	}
	config := kernel.GroupHeads.With(nil)
	config.KeyBits = uint32(keyBytes * 8)
	if onHost(lane) {
		config.Tile = hostTile
	}
	list := lane.List("group, reduce")
	list.Fill(groups, 0)
	err = cmp.Or(kernel.GroupHeads.RecordRows(list, lane.Device(), config, b.rows,
		kernel.GroupHeadsArgs{Keys: b.keys, Heads: heads, Groups: groups, Rows: uint32(b.rows), Cut: most}),
		lane.CompactOffsets(list, p, heads, scratch))
	if err != nil {
		return nil, err
	}
	var found [4]byte
	var segments [8]byte
	if err := lane.Fetch(ctx, list, backend.Transfer{Device: groups, Host: found[:]},
		backend.Transfer{Device: scratch.Part(p.CountOffset, 8), Host: segments[:]}); err != nil {
		return nil, err
	}
	to := o.newPartial(ctx, binary.LittleEndian.Uint64(segments[:]))
	to.unique = to.rows == uint64(binary.LittleEndian.Uint32(found[:]))
	firsts := temporary.New(to.rows*4, "first rows of segments").All()
	return to.fill(ctx, lane, "group, reduce", func(list *backend.List) error {
		if err := temporary.Err(); err != nil {
			return err
		}
		err := cmp.Or(lane.Compact(list, p, keyBytes, heads, b.keys, to.keys, scratch),
			lane.Compact(list, p, 4, heads, backend.Range{}, firsts, scratch))
		for i := range b.inputs {
			err = cmp.Or(err, b.inputs[i].record(list, lane, b, firsts, to, to.states[i]))
		}
		return err
	})
}

// hostTile is the tile of a workgroup on the host, where it is a loop.
var hostTile = kernel.Tile{Workgroup: 1, Items: 1 << 14}

func onHost(lane *exec.Lane) bool { return lane.Device().Info().Backend == "host" }

// newPartial allocates a partial, from memory of the operator, to be filled.
func (o *Operator) newPartial(ctx context.Context, rows uint64) *partial {
	p := &partial{memory: o.lane.Scope(ctx), rows: rows}
	p.keys = p.memory.New(rows*uint64(o.plan.Facts.KeyBytes), "group keys").All()
	for i := range o.plan.Reductions {
		states := make([]backend.Range, o.plan.Reductions[i].columns())
		for c := range states {
			states[c] = p.memory.New(rows*8, "group states").All()
		}
		p.states = append(p.states, states)
	}
	return p
}

// fill fills a partial by what record records for a stage, or releases it if that fails.
func (p *partial) fill(ctx context.Context, lane *exec.Lane, stage string, record func(*backend.List) error) (*partial,
	error) {
	err := p.memory.Err()
	if err == nil {
		err = lane.Run(ctx, stage, record)
	}
	if err != nil {
		p.memory.ReleaseAll()
		return nil, err
	}
	return p, nil
}

// record records the reduction of the segments of a batch.
func (in *input) record(list *backend.List, lane *exec.Lane, b *batch, firsts backend.Range, to *partial,
	states []backend.Range) error {
	config := kernel.GroupReduce.With(nil)
	config.Op = uint32(in.op)
	if onHost(lane) {
		config.Tile = hostTile
	}
	args := in.args(states)
	args.IDs, args.Segments, args.Rows, args.Count = b.ids, firsts, uint32(b.rows), uint32(to.rows)
	return kernel.GroupReduce.RecordRows(list, lane.Device(), config, to.rows, args)
}

// args are the arguments of kernels for a reduction, but for what says which rows belong together.
func (in *input) args(states []backend.Range) kernel.GroupReduceArgs {
	args := kernel.GroupReduceArgs{Value: in.value[0], Value2: in.value[1], Value3: in.value[2], Valid: in.valid,
		State: states[0], Bits: in.bits, Shift: in.shift, Kind: in.kind, ValidBit: in.validBit,
		FirstRow: uint32(in.firstRow), FirstRowHigh: uint32(in.firstRow >> 32), Flip: in.flip}
	if len(states) > 1 {
		args.State2 = states[1]
	}
	if len(states) > 2 {
		args.State3 = states[2]
	}
	return args
}
