package ranges

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Load fills the key column of a side, Rows values of KeyBytes, and, where the problem says HasIDs and not CountOnly,
// its column of 32-bit row numbers, which is absent otherwise. When it returns every write has been submitted.
type Load func(ctx context.Context, side relation.Side, keys, ids backend.Range) error

// Matches are the matching key ranges of a join on the device. The owner releases them; they are used by one goroutine
// at a time.
type Matches struct {
	Total uint64 // matching pairs

	lane    *exec.Lane // whose memory is that of the matches
	plan    Plan
	ids     [2]*backend.Buffer // row numbers of the sorted rows
	begins  *backend.Buffer
	counts  *backend.Buffer
	offsets *backend.Buffer
}

// Match runs a plan up to the matches: sort the first side, sort the second, search, and scan the counts. approve sees
// the total before any memory that depends on it is taken; its error ends the join. Device memory stays within
// plan.PeakBytes.
func Match(
	ctx context.Context, lane *exec.Lane, plan Plan, load Load, approve func(total uint64) error,
) (_ *Matches, err error) {
	m := &Matches{lane: lane.Nested(ctx), plan: plan}
	if plan.Rows[relation.Left] == 0 || plan.Rows[relation.Right] == 0 {
		return m, approve(0)
	}
	defer func() {
		if err != nil {
			m.Release()
		}
	}()
	sorted := lane.Scope(ctx)
	defer sorted.ReleaseAll()
	var keys [2]backend.Range
	first, second := plan.First, 1-plan.First
	for _, side := range []relation.Side{first, second} {
		if keys[side], err = m.sort(ctx, side, load, sorted); err != nil {
			return nil, err
		}
	}
	if err = m.search(ctx, keys[first], keys[second]); err != nil {
		return nil, err
	}
	sorted.ReleaseAll()
	if err = approve(m.Total); err != nil {
		return nil, err
	}
	if plan.CountOnly || m.Total == 0 {
		return m, nil
	}
	return m, m.scan(ctx)
}

// Count returns the number of pairs of rows with equal keys in two sorted columns of keyBytes a key: 64 bits of it.
func Count(ctx context.Context, lane *exec.Lane, keyBytes int, first, second backend.Range) (pairs uint64, err error) {
	m := &Matches{lane: lane, plan: Plan{Problem: Problem{CountOnly: true}}}
	rows := [2]uint64{first.SizeBytes / uint64(keyBytes), second.SizeBytes / uint64(keyBytes)}
	if m.plan.search, err = primitive.PlanRangeSearch(lane.Tuning(), rows[0], rows[1], keyBytes); err != nil {
		return 0, err
	}
	err = m.search(ctx, first, second)
	return m.Total, err
}

// sort loads and sorts one side. Its row numbers become those of the matches, and its sorted keys go to a scope.
func (m *Matches) sort(
	ctx context.Context, side relation.Side, load Load, to *exec.Scope,
) (keys backend.Range, err error) {
	plan, name := &m.plan, side.String()
	rows, idBytes := plan.Rows[side], uint64(plan.idBytes())
	b := m.lane.Scope(ctx)
	defer b.ReleaseAll()
	var k, id [2]*backend.Buffer
	k[0] = b.New(rows*uint64(plan.KeyBytes), name+" keys")
	id[0] = b.New(rows*idBytes, name+" row numbers")
	if err := b.Err(); err != nil {
		return keys, err
	}
	given := backend.Range{}
	if plan.payload(side) == primitive.Given {
		given = id[0].All()
	}
	if err := load(ctx, side, k[0].All(), given); err != nil {
		return keys, err
	}
	unsorted, err := Unordered(ctx, m.lane, plan.KeyBytes, k[0].All())
	if err != nil {
		return keys, err
	}
	p, err := plan.sortOf(m.lane.Tuning(), side, unsorted[0])
	if err != nil {
		return keys, err
	}
	if p.Passes() > 0 {
		k[1] = b.New(rows*uint64(plan.KeyBytes), name+" keys, second")
		id[1] = b.New(rows*idBytes, name+" row numbers, second")
	}
	scratch := b.New(p.ScratchBytes, "sort scratch")
	if err := b.Err(); err != nil {
		return keys, err
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
			return keys, err
		}
		if err := m.lane.Submit(ctx, list); err != nil {
			return keys, err
		}
	}
	m.ids[side] = id[p.Result()]
	b.Move(m.lane.Memory, m.ids[side])
	b.Move(to, k[p.Result()])
	return k[p.Result()].All(), nil
}

// search finds the range of every row of the first side, and the total.
func (m *Matches) search(ctx context.Context, first, second backend.Range) error {
	p := m.plan.search
	temporary := m.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	if !m.plan.CountOnly {
		m.begins = m.lane.Memory.New(p.LeftRows*4, "range begins")
		m.counts = m.lane.Memory.New(p.LeftRows*4, "range counts")
	}
	scratch := temporary.New(p.ScratchBytes, "search scratch")
	if err := cmp.Or(m.lane.Memory.Err(), temporary.Err()); err != nil {
		return err
	}
	list := m.lane.List("range search")
	if err := m.lane.RangeSearch(list, p, first, second, m.begins.All(), m.counts.All(), scratch.All()); err != nil {
		return err
	}
	if err := m.lane.Submit(ctx, list); err != nil {
		return err
	}
	var total [8]byte
	if err := m.lane.Download(ctx, total[:], scratch.Range(p.TotalOffset, 8)); err != nil {
		return err
	}
	m.Total = binary.LittleEndian.Uint64(total[:])
	return nil
}

// scan turns the counts into the place of each row's first pair in the output.
func (m *Matches) scan(ctx context.Context) error {
	temporary := m.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	m.offsets = m.lane.Memory.New((m.plan.scan.Rows+1)*8, "output offsets")
	scratch := temporary.New(m.plan.scan.ScratchBytes, "scan scratch")
	if err := cmp.Or(m.lane.Memory.Err(), temporary.Err()); err != nil {
		return err
	}
	list := m.lane.List("scan")
	if err := m.lane.Scan(list, m.plan.scan, m.counts.All(), m.offsets.All(), scratch.All()); err != nil {
		return err
	}
	return m.lane.Submit(ctx, list)
}

// RecordPairs records the pairs first to first+rows-1, at most Total: left and right receive rows 32-bit row numbers
// each.
func (m *Matches) RecordPairs(list *backend.List, first uint64, rows uint32, left, right backend.Range) error {
	out := [2]backend.Range{left, right}
	return m.lane.Expand(list, primitive.Ranges{
		LeftRows: m.plan.search.LeftRows, Offsets: m.offsets.All(), Begins: m.begins.All(),
		LeftIDs: m.ids[m.plan.First].All(), RightIDs: m.ids[1-m.plan.First].All(),
	}, first, rows, out[m.plan.First], out[1-m.plan.First])
}

// Release gives the device memory back. A second Release does nothing.
func (m *Matches) Release() { m.lane.Memory.ReleaseAll() }
