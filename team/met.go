package team

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// loader loads the rows of the build side that a lane joins.
type loader func(context.Context) (*relation.Chunk, error)

// joinMet joins on lanes on which rows meet by their keys: ranks of these weights. begin readies a lane.
func joinMet(ctx context.Context, lanes []*query.Lane, weights []uint32,
	begin func(*query.Lane, *peers.Rank) loader) error {
	if err := query.Acquire(ctx, lanes); err != nil {
		return err
	}
	return peers.RunRanks(ctx, lanes[0].Query.Engine.Links(), lanesOf(lanes), weights,
		func(ctx context.Context, p *peers.Rank) error {
			l := lanes[p.Rank()]
			err := l.Build(ctx, begin(l, p))
			if err == nil {
				err = l.Probe(ctx)
			}
			if err != nil {
				l.Flow().Fail(cmp.Or(context.Cause(ctx), err)) // the first error; other ranks fail because of it
			}
			return err
		})
}

// met is what teams have in common on whose lanes rows meet by their keys. If a device fails, so does the join.
type met struct{ query.AllOrNone }

// Finish implements query.Team. A row of the build side and its partners have met on one lane, unless a filter decides.
func (met) Finish(ctx context.Context, lanes []*query.Lane) error {
	first, others, finish := lanes[0], lanes[1:], lanes[0].Finish
	var err error
	switch {
	case first.Filtered():
		finish, err = first.MergeMarks(ctx, others)
	case marks(first):
		err = query.Each(others, "finish", nil,
			func(ctx context.Context, _ int, l *query.Lane) error { return l.Finish(ctx) })
	}
	if err != nil {
		return err
	}
	return finish(ctx)
}
