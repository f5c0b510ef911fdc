package query

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// Part is rows of a probe side that comes part by part. Its trees are those of the query, in this order, with scans of
// these rows.
type Part struct {
	Trees []Join
	Table arrow.Table // that the probe side's scans are of; with the part it is released
	First uint64      // number of its first row in the order of the source
}

// Release releases the rows.
func (p *Part) Release() { p.Table.Release() }

// tree is the one that puts columns together in a place.
func tree(of []Join, place string) *Join {
	return &of[max(0, slices.IndexFunc(of, func(tree Join) bool { return tree.Place == place }))]
}

// Stream is Run for a probe side that comes part by part, out of a pipe of the flow, which is the result's from now on.
// The trees of the query have a probe side without rows. Pieces keep the part alive that their columns are of; when all
// are drawn, it is released.
func (q *Query) Stream(flow *exec.Flow, parts *exec.Pipe[*Part]) (*Result, error) {
	return run(flow, q, &q.Alternatives[0], nil, parts)
}

// Stream is Probe for a probe side that comes part by part, as that of [Query.Stream].
func (b *Built) Stream(flow *exec.Flow, q *Query, parts *exec.Pipe[*Part]) (*Result, error) {
	return b.probe(flow, q, parts)
}

// stream joins with all parts. Rows of the build side that depend on all of them come last, and then those that have no
// key; those of a part come with it, so that they are in its order.
func (r *Result) stream(ctx context.Context, lane *exec.Lane, built *Built) error {
	out := r.output(lane, built.grant)
	defer out.close()
	for {
		part, some, err := r.parts.Take(ctx)
		if err != nil {
			return err
		}
		if !some {
			break
		}
		r.probed.Add(uint64(part.Table.NumRows()))
		if r.Query.Empty == "" {
			err = r.part(ctx, lane, built, out, part)
		}
		part.Release()
		if err != nil {
			return err
		}
	}
	if r.Query.Empty != "" {
		return nil
	}
	a := r.taken
	out.turn(a.Join, nil)
	if r.granules.Load() == 0 { // rows of the build side need one
		if err := r.granule(ctx, lane, built, a.Scans[operator.Probe], 0, 0, out); err != nil {
			return err
		}
	}
	if err := built.op.Finish(ctx, out.pairs); err != nil {
		return err
	}
	if err := r.alone(ctx, lane, a.Scans[operator.Build], operator.Build, out); err != nil {
		return err
	}
	if r.built == nil {
		built.release() // what remains is the output
	}
	return out.end(ctx)
}

// part joins with a part, granule by granule. A granule of which no row has a key that could match is none.
func (r *Result) part(ctx context.Context, lane *exec.Lane, built *Built, out *output, part *Part) error {
	join := tree(part.Trees, r.taken.Place)
	out.turn(join, part)
	s := join.Scans[operator.Probe]
	bounds := s.granules(r.taken.Facts.Granule, r.taken.Facts.Brought(operator.Probe))
	for i := range bounds[1:] {
		if s.Keys.RowsIn(s.Side, bounds[i], bounds[i+1]) == 0 {
			continue
		}
		if err := r.granule(ctx, lane, built, s, bounds[i], bounds[i+1], out); err != nil {
			return err
		}
	}
	if err := r.alone(ctx, lane, s, operator.Probe, out); err != nil {
		return err
	}
	return out.end(ctx)
}

// PartsRoom is what all parts of the probe side may take of the host; 0: no limit. They could have aloneBytes if no
// other query had any.
func (q *Query) PartsRoom() (sizeBytes, aloneBytes uint64) {
	a := &q.Alternatives[0]
	return a.parts, q.aloneBytes(a)
}

// PartsRoom is [Query.PartsRoom] for a stream of parts that take wishBytes best. What is free is taken for them until
// the result is closed; there is room for [LeastPartBytes] each.
func (b *Built) PartsRoom(wishBytes uint64) (sizeBytes, aloneBytes uint64) {
	if b.taken.parts == 0 {
		return 0, 0
	}
	more := wishBytes - min(wishBytes, b.taken.parts)
	return b.taken.parts + b.grant.ReserveHost(more), b.Query.aloneBytes(b.taken)
}

// Taken is the alternative that the build side is there for.
func (b *Built) Taken() *Alternative { return b.taken }
