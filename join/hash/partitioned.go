// Package hash has the hash joins: [Partitioned] partitions both sides by a hash of the key (RT 3.2.1, GFTR 4.3) and
// joins corresponding partitions in shared memory (RT 3.2.2); [Unpartitioned] uses one table in device memory (DIST
// 3.3).
package hash

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Partitioned is the partitioned hash join, phj-om. Its fields select variants, which have the same output rows.
type Partitioned struct {
	// Untransformed gathers payload from the columns of the chunks, by row numbers that are partitioned with the keys
	// (phj-um). Otherwise the payload columns themselves are partitioned and gathered from there.
	Untransformed bool
	// OneByOne partitions one payload column at a time (GFTR algorithm 1), which takes less memory (GFTR table 2).
	// Otherwise up to three columns of one width move together.
	OneByOne bool
	// CountFirst counts the output of all units before any is written. Otherwise output is written as it is found, into
	// room for as many rows as are expected, and written again if there are more.
	CountFirst bool
	// PageRows, 1 to 8, makes each invocation reserve room for output in pages of that many rows, which are compacted
	// afterwards (the direct output buffer of RT 3.2.2). With 0, a workgroup reserves room for exactly the rows that it
	// has found.
	PageRows int

	force force
}

// partitionSeed is the seed of the mix whose low bits decide the partition.
const partitionSeed = 0x5bd1e995

const mostPageRows = 8

// Name returns the name in GFTR 5.1.
func (a Partitioned) Name() string {
	name := "phj-om"
	if a.Untransformed {
		name = "phj-um"
	}
	if a.OneByOne {
		name += " one by one"
	}
	return name
}

// Plan divides the join into partitions and units. Errors: backend.ErrInvalidInput for invalid facts or an invalid
// PageRows.
func (a Partitioned) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	if err := f.Check("plan hash join", &want); err != nil {
		return nil, err
	}
	if a.PageRows < 0 || a.PageRows > mostPageRows {
		return nil, &backend.OpError{Op: "plan hash join", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("pages of %d rows, must be 0 to %d", a.PageRows, mostPageRows)}
	}
	s := a.shape(f, want)
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want, Detail: s}
	return p, a.cost(p, &s)
}

// Open returns an operator.
func (a Partitioned) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return &partitioned{Partitioned: a, shape: p.Detail.(shape), plan: p, lane: lane.Nested(ctx)}
}

// partitioned is a join under way.
type partitioned struct {
	Partitioned
	shape
	plan  *operator.Plan
	lane  *exec.Lane // of the build side
	build input
	high  *backend.Buffer // where only low words of keys move: the high word of all, and whether one differs
	marks backend.Range   // of build rows that have a partner, in transformed order; a single granule brings it
}

// input is one side and where its partitions are.
type input struct {
	operator.Input
	starts backend.Range // of the partitions, and where the last one ends
}

// Build partitions the build side.
func (j *partitioned) Build(ctx context.Context, build *relation.Chunk) error {
	if err := build.Check("hash join"); err != nil {
		return err
	}
	j.build.Input = j.input(j.lane, build, operator.Build, "build")
	if err := j.newHigh(ctx); err != nil || build.Rows == 0 {
		return err
	}
	if err := j.transform(ctx, &j.build); err != nil || !j.plan.Facts.Kept() {
		return err
	}
	if !j.Untransformed {
		if err := j.build.MoveAll(func() error { return j.move(ctx, &j.build, backend.Range{}) }); err != nil {
			return err
		}
	}
	var err error
	j.marks, err = j.plan.Want.NewBitmap(ctx, j.lane, operator.Build, build.Rows)
	return err
}

// input readies a side. No payload moves of what is only counted, nor of a side that is not in the output.
func (j *partitioned) input(lane *exec.Lane, c *relation.Chunk, side int, name string) operator.Input {
	if want := &j.plan.Want; want.Count || !want.Pairs && !want.Marks(side) {
		c = &relation.Chunk{Rows: c.Rows, Keys: c.Keys, Narrow: c.Narrow, HighWord: c.HighWord}
	}
	in := operator.NewInput(lane, c, name)
	in.Keep = j.plan.Want.Marks(side) || side == operator.Build && j.plan.Facts.Kept()
	return in
}

// transform partitions the keys of a side together with the first payload columns or, with Untransformed, with row
// numbers.
func (j *partitioned) transform(ctx context.Context, s *input) error {
	if j.narrow {
		s.High = j.high.All()
	}
	starts := s.Lane.Memory.New((1<<j.bits+1)*4, s.Name+" partitions")
	if err := s.Lane.Memory.Err(); err != nil {
		return err
	}
	s.starts = starts.All()
	if j.bits > 0 {
		return j.move(ctx, s, s.starts)
	}
	s.Stay()
	list := new(backend.List)
	list.Fill(starts.Range(0, 4), 0)
	list.Fill(starts.Range(4, 4), uint32(s.Rows))
	return s.Lane.Submit(ctx, list)
}

// move partitions the keys of a side with the next payload columns, or with row numbers.
func (j *partitioned) move(ctx context.Context, s *input, starts backend.Range) error {
	numbers := j.Untransformed && len(s.Payload) > 0
	by := primitive.Partition{Bits: j.bits, Mixed: true, Seed: partitionSeed}
	return s.Transform(ctx, operator.Move{Stage: "partition", RowNumbers: numbers, OneByOne: j.OneByOne,
		Plan: operator.PartitionBy(s.Lane.Ops, by, starts)})
}

// probing is the join of a granule.
type probing struct {
	*partitioned
	lane      *exec.Lane
	probe     input
	unitTable *backend.Buffer // of all units
	units     operator.Units
	oversized uint32 // partitions with too many build rows for units
	marks     operator.Marks
}

// Probe partitions a granule and joins the partitions that belong together.
func (j *partitioned) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	if err := probe.CheckJoin("hash join", j.build.Chunk); err != nil || probe.Rows == 0 {
		return err
	}
	p := &probing{partitioned: j, lane: lane.Nested(ctx)}
	defer p.lane.Memory.ReleaseAll()
	p.probe.Input = j.input(p.lane, probe, operator.Probe, "probe")
	if j.build.Rows == 0 {
		p.probe.Stay()
		return p.rows(ctx, sink, &p.probe, operator.Probe, backend.Range{})
	}
	if err := j.transform(ctx, &p.probe); err != nil {
		return err
	}
	if err := p.cut(ctx); err != nil {
		return err
	}
	if err := p.mark(ctx); err != nil {
		return err
	}
	if j.plan.Want.Pairs {
		if err := p.pairs(ctx, sink); err != nil {
			return err
		}
	}
	return p.rows(ctx, sink, &p.probe, operator.Probe, p.marks.Of[operator.Probe])
}

// pairs makes or counts the pairs of rows, oversized partitions first.
func (p *probing) pairs(ctx context.Context, sink operator.Sink) error {
	if p.oversized > 0 {
		if err := p.peel(ctx, sink); err != nil {
			return err
		}
	}
	return p.units.Write(ctx, sink)
}

// Close releases the build side.
func (j *partitioned) Close() { j.lane.Memory.ReleaseAll() }
