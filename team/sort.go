package team

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// sorted is the team of lanes among which both sides are sorted, with common splitters (HMG 3.1): each lane gets a range
// of keys of both sides, in order, and merges them. Lanes are ranks of the sort. Each loads its share of the rows of both
// sides, with the columns that the device gathers; rows of the output come from the lane that has their key.
//
//	rank 0: load rows 0..n/2 of both ─┐          ┌─► keys up to a splitter, in order ─► sort-merge join
//	rank 1: load rows n/2..n of both ─┴─► Sort ──┴─► keys behind it, in order ────────► sort-merge join
type sorted struct {
	method  peers.Method
	weights []uint32
	builds  []*peers.Held // by rank; nil until they are sorted
}

// Sort joins the tables of a query across the devices that it was planned for, sorted by a method.
func Sort(flow *exec.Flow, q *query.Query, method peers.Method) (*query.Result, error) {
	return query.Start(flow, append([]*query.Query{q}, q.Others...), func(lanes []*query.Lane) query.Team {
		t := &sorted{method: method, builds: make([]*peers.Held, len(lanes))}
		for range lanes {
			t.weights = append(t.weights, 1)
		}
		return t
	})
}

// sorter is a lane among those that sort. It implements query.Rows.
type sorter struct {
	*query.Lane
	of    *peers.Rank
	probe *peers.Held
}

// Join implements query.Team.
func (t *sorted) Join(ctx context.Context, lanes []*query.Lane) error {
	if err := query.Acquire(ctx, lanes); err != nil {
		return err
	}
	return peers.RunRanks(ctx, lanes[0].Query.Engine.Links(), lanesOf(lanes), t.weights,
		func(ctx context.Context, p *peers.Rank) error {
			l := lanes[p.Rank()]
			s := &sorter{Lane: l, of: p}
			defer func() { s.probe.Release() }()
			l.Rows, l.Source = s, l.Whole()
			err := l.Build(ctx, func(ctx context.Context) (*relation.Chunk, error) { return t.sort(ctx, s) })
			if err == nil {
				err = l.Probe(ctx)
			}
			if err != nil {
				l.Flow().Fail(cmp.Or(context.Cause(ctx), err)) // the first error; other ranks fail because of it
			}
			return err
		})
}

// sort loads the rank's shares of both sides, sorts them with the other ranks, and returns the rank's range of the build
// side, for which its operator is planned anew.
func (t *sorted) sort(ctx context.Context, s *sorter) (*relation.Chunk, error) {
	lane := s.Built().Lane()
	var chunks [2]*relation.Chunk
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	for side, scan := range s.Taken().Scans {
		from, to := mine(s.of, 0, int(scan.Table.NumRows()))
		var err error
		if chunks[side], err = scan.Load(ctx, lane, memory, from, to); err != nil {
			return nil, err
		}
	}
	both, err := s.of.Sort(ctx, peers.Order{Method: t.method}, chunks[:]...)
	if err != nil {
		return nil, err
	}
	t.builds[s.of.Rank()], s.probe = both[operator.Build], both[operator.Probe]
	return &both[operator.Build].Chunk, s.Built().Replan(both[operator.Build].Rows)
}

// Loads returns one range without rows, for the rows that the rank has sorted.
func (s *sorter) Loads(p *query.Portion, _ *operator.Facts) (ranges [][2]int, skipped uint64) {
	from, to := mine(s.of, 0, int(p.Scans[operator.Probe].Table.NumRows()))
	s.Bring(uint64(to - from))
	return [][2]int{{0, 0}}, uint64(to - from)
}

// Exchange returns the rank's range of the probe side.
func (s *sorter) Exchange(context.Context, *exec.Lane, *relation.Chunk) (*relation.Chunk, func(), error) {
	return &s.probe.Chunk, s.probe.Release, nil
}

// Finish implements query.Team. A row of the build side and its partners are on one lane, unless a filter decides.
func (t *sorted) Finish(ctx context.Context, lanes []*query.Lane) error { return finishMet(ctx, lanes) }

// Left implements query.Team.
func (*sorted) Left(lanes []*query.Lane) []*query.Lane { return lanes }

// Failures implements query.Team.
func (*sorted) Failures() []query.DeviceFailure { return nil }

// Close releases the build sides.
func (t *sorted) Close() {
	for _, b := range t.builds {
		b.Release()
	}
}
