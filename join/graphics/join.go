package graphics

import (
	"cmp"
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// join is a join under way.
type join struct {
	shape
	plan  *operator.Plan
	lane  *exec.Lane // of the build side
	build side
	marks backend.Range // of build rows that have a partner, by number
}

// side is one side, in the order of its partitions.
type side struct {
	operator.Input
	pieces [][]piece // by partition
}

// piece is a range of rows of a partition, at most as many as a unit has.
type piece struct {
	first, end uint64
	height     uint32 // of the stack of its rows: the most rows with the same pixel; 0 if not known
}

func (p *piece) rows() uint64 { return p.end - p.first }

// Build partitions the build side.
func (j *join) Build(ctx context.Context, build *relation.Chunk) error {
	if err := build.Check("graphics join"); err != nil {
		return err
	}
	var err error
	if j.build, err = j.side(ctx, j.lane, build, "build"); err == nil {
		j.marks, err = j.plan.Want.NewBitmap(ctx, j.lane, operator.Build, build.Rows)
	}
	return err
}

// side partitions a side, with row numbers, and cuts it into pieces.
func (j *join) side(ctx context.Context, lane *exec.Lane, c *relation.Chunk, name string) (s side, err error) {
	s.Input = operator.NewInput(lane, c, name)
	starts := []uint32{0, uint32(c.Rows)}
	if j.bits == 0 || c.Rows == 0 {
		s.Stay()
	} else if starts, err = j.partition(ctx, &s.Input); err != nil {
		return s, err
	}
	for p, first := range starts[:len(starts)-1] {
		var pieces []piece
		for at, end := uint64(first), uint64(starts[p+1]); at < end; at = min(end, at+j.unitRows) {
			pieces = append(pieces, piece{first: at, end: min(end, at+j.unitRows)})
		}
		s.pieces = append(s.pieces, pieces)
	}
	return s, nil
}

// partition moves the keys of a side, mixed, and row numbers, and returns where partitions begin, and the end.
func (j *join) partition(ctx context.Context, in *operator.Input) ([]uint32, error) {
	temporary := in.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	starts := make([]uint32, 1<<j.bits+1)
	on := temporary.New(uint64(len(starts))*4, in.Name+" partitions")
	if err := temporary.Err(); err != nil {
		return nil, err
	}
	err := in.Transform(ctx, operator.Move{Stage: "partition", RowNumbers: true,
		Plan: operator.PartitionBy(in.Lane.Ops, j.digit(), on.All())})
	if err != nil {
		return nil, err
	}
	return starts, in.Lane.Download(ctx, backend.AsBytes(starts), on.All())
}

// granule is the join of a granule.
type granule struct {
	*join
	*images
	lane  *exec.Lane
	sides [2]*side
	marks [2]backend.Range // of rows that have a partner, by number
	pairs operator.Pairs
}

// Probe joins a granule, unit by unit.
func (j *join) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	if err := probe.CheckJoin("graphics join", j.build.Chunk); err != nil || probe.Rows == 0 {
		return err
	}
	g := &granule{join: j, lane: lane.Nested(ctx)}
	defer g.lane.Memory.ReleaseAll()
	other, err := j.side(ctx, g.lane, probe, "probe")
	if err != nil {
		return err
	}
	g.sides, g.marks[operator.Build] = [2]*side{&j.build, &other}, j.marks
	g.pairs = operator.Pairs{Lane: g.lane, Chunks: [2]*relation.Chunk{j.build.Chunk, probe}, Keys: j.plan.Want.Keys}
	g.marks[operator.Probe], err = j.plan.Want.NewBitmap(ctx, g.lane, operator.Probe, probe.Rows)
	if err != nil {
		return err
	}
	if j.build.Rows > 0 {
		if err := g.units(ctx, sink); err != nil {
			return err
		}
	}
	return j.rows(ctx, sink, g.sides[operator.Probe], operator.Probe, g.marks[operator.Probe])
}

// units joins each piece of a partition with each piece of the same partition of the other side.
func (g *granule) units(ctx context.Context, sink operator.Sink) (err error) {
	if g.images, err = g.shape.images(ctx, g.lane, g.plan); err != nil {
		return err
	}
	if err := g.statistics(ctx, g.sides[operator.Build], func(int) bool { return g.stackOf != ProbeStack }); err != nil {
		return err
	}
	if err := g.statistics(ctx, g.sides[operator.Probe], func(partition int) bool {
		if g.stackOf != LowerStack {
			return g.stackOf == ProbeStack
		}
		// The other side may take a lower stack only if the build side's is high.
		return slices.ContainsFunc(g.sides[operator.Build].pieces[partition],
			func(p piece) bool { return p.height > mostLayers })
	}); err != nil {
		return err
	}
	for p, pieces := range g.sides[operator.Build].pieces {
		for b := range pieces {
			for o := range g.sides[operator.Probe].pieces[p] {
				u := unit{granule: g, stackSide: operator.Build}
				u.of = [2]*piece{&pieces[b], &g.sides[operator.Probe].pieces[p][o]}
				if err := u.join(ctx, sink); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unit is the join of two pieces.
type unit struct {
	*granule
	of        [2]*piece
	stackSide int // of which the stack consists
}

// join matches the pieces of a unit. The stack consists of the side that takes fewer images (SnakeJoin, 3.4.3).
func (u *unit) join(ctx context.Context, sink operator.Sink) error {
	build, probe := u.of[operator.Build], u.of[operator.Probe]
	order := cmp.Or(cmp.Compare(build.height, probe.height), cmp.Compare(build.rows(), probe.rows()))
	if u.stackOf == ProbeStack || probe.height > 0 && order > 0 { // it is known where it may be lower
		u.stackSide = operator.Probe
	}
	if u.stacked().height >= u.flattenFrom {
		return u.flat(ctx, sink)
	}
	return u.cycles(ctx, sink)
}

func (u *unit) stacked() *piece { return u.of[u.stackSide] }
func (u *unit) other() *piece   { return u.of[1-u.stackSide] }

// columns returns the keys and row numbers of both sides of a unit, the stack's first. Row numbers are absent on a side
// whose rows were not moved.
func (u *unit) columns() (keys, ids [2]backend.Range) {
	for i, side := range [2]int{u.stackSide, 1 - u.stackSide} {
		keys[i], ids[i] = u.sides[side].Ordered, u.sides[side].IDs
	}
	return keys, ids
}

// Finish puts the build rows with or without a partner.
func (j *join) Finish(ctx context.Context, sink operator.Sink) error {
	if j.build.Chunk.Rows == 0 {
		return nil
	}
	return j.rows(ctx, sink, &j.build, operator.Build, j.marks)
}

// rows puts the rows of a side that are wanted for themselves.
func (j *join) rows(ctx context.Context, sink operator.Sink, s *side, of int, marks backend.Range) error {
	in := operator.NewInput(s.Lane, s.Chunk, s.Name) // in the order of the chunk, as marks are
	in.Stay()
	in.Keep = true
	r := operator.Rows{Input: &in, Side: of, Marks: marks}
	return r.WriteWanted(ctx, sink, &j.plan.Want)
}

// Rewind forgets which build rows have a partner.
func (j *join) Rewind(ctx context.Context) error { return operator.ClearBitmap(ctx, j.lane, j.marks) }

// Close releases the build side.
func (j *join) Close() { j.lane.Memory.ReleaseAll() }
