package ranges

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Load fills the key column of a side, Rows values of KeyBytes, and, where the problem says HasIDs and not CountOnly,
// its column of 32-bit row numbers, which is absent otherwise. When it returns every write has been submitted.
type Load func(ctx context.Context, side relation.Side, keys, ids backend.Range) error

// match is a Match under way.
type match struct {
	*Matches
	plan Plan
}

// Match runs a plan up to the matches: sort the first side, sort the second, search, and scan the counts. approve sees
// the total before any memory that depends on it is taken; its error ends the join. Device memory stays within
// plan.PeakBytes.
func Match(
	ctx context.Context, lane *exec.Lane, plan Plan, load Load, approve func(total uint64) error,
) (_ *Matches, err error) {
	m := &match{Matches: &Matches{lane: lane.Nested(ctx), few: int(plan.First)}, plan: plan}
	if plan.Rows[relation.Left] == 0 || plan.Rows[relation.Right] == 0 {
		return m.Matches, approve(0)
	}
	defer func() {
		if err != nil {
			m.Release()
		}
	}()
	sorted := lane.Scope(ctx)
	defer sorted.ReleaseAll()
	first, second := plan.First, 1-plan.First
	for _, side := range []relation.Side{first, second} {
		if err = m.sort(ctx, side, load, sorted); err != nil {
			return nil, err
		}
	}
	if err = m.search(ctx, plan.CountOnly); err != nil {
		return nil, err
	}
	sorted.ReleaseAll()
	if err = approve(m.Total); err != nil {
		return nil, err
	}
	if plan.CountOnly || m.Total == 0 {
		return m.Matches, nil
	}
	return m.Matches, m.scan(ctx)
}

// sort loads and sorts one side. Its row numbers become those of the matches, and its sorted keys go to a scope.
func (m *match) sort(ctx context.Context, side relation.Side, load Load, to *exec.Scope) error {
	plan, name := &m.plan, side.String()
	rows, idBytes := plan.Rows[side], uint64(plan.idBytes())
	b := m.lane.Scope(ctx)
	defer b.ReleaseAll()
	var k, id [2]*backend.Buffer
	k[0] = b.New(rows*uint64(plan.KeyBytes), name+" keys")
	id[0] = b.New(rows*idBytes, name+" row numbers")
	if err := b.Err(); err != nil {
		return err
	}
	given := backend.Range{}
	if plan.payload(side) == primitive.Given {
		given = id[0].All()
	}
	if err := load(ctx, side, k[0].All(), given); err != nil {
		return err
	}
	unsorted, err := Unordered(ctx, m.lane, plan.KeyBytes, k[0].All())
	if err != nil {
		return err
	}
	p, err := plan.sortOf(m.lane.Tuning(), side, unsorted[0])
	if err != nil {
		return err
	}
	if p.Passes() > 0 {
		k[1] = b.New(rows*uint64(plan.KeyBytes), name+" keys, second")
		id[1] = b.New(rows*idBytes, name+" row numbers, second")
	}
	scratch := b.New(p.ScratchBytes, "sort scratch")
	if err := b.Err(); err != nil {
		return err
	}
	var columns [2]primitive.Columns
	for i := range columns {
		columns[i].Keys = k[i].All()
		if !plan.CountOnly {
			columns[i].Payload = []backend.Range{id[i].All()}
		}
	}
	if p.Passes() > 0 || p.Sort.Payload == primitive.RowNumbers {
		list := m.lane.List("sort " + name)
		if err := m.lane.Sort(list, p, scratch.All(), columns[0], columns); err != nil {
			return err
		}
		if err := m.lane.Submit(ctx, list); err != nil {
			return err
		}
	}
	b.Move(m.lane.Memory, id[p.Result()])
	b.Move(to, k[p.Result()])
	m.sides[side] = Sorted{Rows: rows, KeyBytes: plan.KeyBytes, Keys: k[p.Result()].All(), IDs: id[p.Result()].All()}
	return nil
}
