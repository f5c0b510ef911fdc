package team

import (
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
	met
	method peers.Method
	rows   [][2]*peers.Held // of each rank, by side; nil until they are sorted
}

// Sort joins the tables of a query across the devices that it was planned for, sorted by a method.
func Sort(flow *exec.Flow, q *query.Query, method peers.Method) (*query.Result, error) {
	return query.Start(flow, append([]*query.Query{q}, q.Others...), func(lanes []*query.Lane) query.Team {
		return &sorted{method: method, rows: make([][2]*peers.Held, len(lanes))}
	})
}

// sorter is a lane among those that sort. It implements query.Rows.
type sorter struct {
	*query.Lane
	of  *peers.Rank
	all *sorted
}

// Join implements query.Team.
func (t *sorted) Join(ctx context.Context, lanes []*query.Lane) error {
	return joinMet(ctx, lanes, nil, func(l *query.Lane, p *peers.Rank) loader {
		s := &sorter{Lane: l, of: p, all: t}
		l.Rows, l.Source = s, l.Whole()
		return s.sort
	})
}

// sort loads the rank's shares of both sides, sorts them with the other ranks, and returns the rank's range of the build
// side, for which its operator is planned anew.
func (s *sorter) sort(ctx context.Context) (*relation.Chunk, error) {
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
	both, err := s.of.Sort(ctx, s.all.method, chunks[:]...)
	if err != nil {
		return nil, err
	}
	s.all.rows[s.of.Rank()] = [2]*peers.Held(both)
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
	probe := s.all.rows[s.of.Rank()][operator.Probe]
	return &probe.Chunk, probe.Release, nil
}

// Close releases the rows.
func (t *sorted) Close() {
	for _, rows := range t.rows {
		for _, held := range rows {
			held.Release()
		}
	}
}
