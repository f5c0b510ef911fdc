package sortmerge

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
)

// Load fills the key column of a side, Rows values of KeyBytes, and, where the problem says HasIDs and not CountOnly, its
// column of 32-bit row numbers, which is absent otherwise. When it returns every write has been submitted.
type Load func(ctx context.Context, side int, keys, ids backend.Range) error

// Matches are the matching key ranges of a join on the device. The owner releases them; they are used by one goroutine at
// a time.
type Matches struct {
	Total uint64 // matching pairs

	ops     *primitive.Ops
	plan    Plan
	ids     [2]*backend.Buffer // row numbers of the sorted rows
	begins  *backend.Buffer
	counts  *backend.Buffer
	offsets *backend.Buffer
}

// Match runs a plan up to the matches: sort the first side, sort the second, search, and scan the counts. approve sees the
// total before any memory that depends on it is taken; its error ends the join. Device memory stays within
// plan.PeakBytes. profile receives the device time of each stage and may be nil.
func Match(ctx context.Context, ops *primitive.Ops, plan Plan, load Load, approve func(total uint64) error, profile *backend.Profile) (_ *Matches, err error) {
	m := &Matches{ops: ops, plan: plan}
	if plan.Rows[Left] == 0 || plan.Rows[Right] == 0 {
		return m, approve(0)
	}
	defer func() {
		if err != nil {
			m.Release()
		}
	}()
	var keys [2]*backend.Buffer
	defer func() {
		for _, b := range keys {
			b.Release()
		}
	}()
	first, second := plan.First, 1-plan.First
	for _, side := range []int{first, second} {
		if keys[side], m.ids[side], err = sortSide(ctx, ops, &plan, side, load, profile); err != nil {
			return nil, err
		}
	}
	if err = m.search(ctx, keys[first].All(), keys[second].All(), profile); err != nil {
		return nil, err
	}
	keys[first].Release()
	keys[second].Release()
	keys = [2]*backend.Buffer{}
	if err = approve(m.Total); err != nil {
		return nil, err
	}
	if plan.CountOnly || m.Total == 0 {
		return m, nil
	}
	return m, m.scan(ctx, profile)
}

// sortSide loads and sorts one side and returns its sorted keys and row numbers; the caller releases them.
func sortSide(ctx context.Context, ops *primitive.Ops, plan *Plan, side int, load Load, profile *backend.Profile) (keys, ids *backend.Buffer, err error) {
	name := [2]string{"left", "right"}[side]
	rows := plan.Rows[side]
	idBytes := uint64(plan.idBytes())
	b := resident.Memory{Context: ctx, Device: ops.Device()}
	defer b.ReleaseAll()
	var k, id [2]*backend.Buffer
	k[0] = b.New(rows*uint64(plan.KeyBytes), name+" keys")
	id[0] = b.New(rows*idBytes, name+" row numbers")
	if b.Err != nil {
		return nil, nil, b.Err
	}
	given := backend.Range{}
	if plan.payload(side) == primitive.Given {
		given = id[0].All()
	}
	if err := load(ctx, side, k[0].All(), given); err != nil {
		return nil, nil, err
	}
	unsorted, err := unordered(ctx, ops, profile, resident.Column{Data: k[0].All(), Bytes: plan.KeyBytes})
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.sortOf(ops.Tuning(), side, unsorted[0])
	if err != nil {
		return nil, nil, err
	}
	if p.Passes() > 0 {
		k[1] = b.New(rows*uint64(plan.KeyBytes), name+" keys, second")
		id[1] = b.New(rows*idBytes, name+" row numbers, second")
	}
	scratch := b.New(p.ScratchBytes, "sort scratch")
	if b.Err != nil {
		return nil, nil, b.Err
	}
	list := backend.List{Profile: profile}
	list.Stage("sort " + name)
	var columns [2]primitive.Columns
	for i := range columns {
		columns[i].Keys = k[i].All()
		if !plan.CountOnly {
			columns[i].Payload = []backend.Range{id[i].All()}
		}
	}
	if p.Passes() > 0 || p.Sort.Payload == primitive.RowNumbers {
		if err := ops.Sort(&list, p, scratch.All(), columns[0], columns); err != nil {
			return nil, nil, err
		}
		if _, err := ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
			return nil, nil, err
		}
	}
	keys, ids = k[p.Result()], id[p.Result()]
	b.Keep(keys, ids)
	return keys, ids, nil
}

// search finds the range of every row of the first side, and the total.
func (m *Matches) search(ctx context.Context, first, second backend.Range, profile *backend.Profile) error {
	p := m.plan.search
	b := resident.Memory{Context: ctx, Device: m.ops.Device()}
	defer b.ReleaseAll()
	if !m.plan.CountOnly {
		m.begins = b.New(p.LeftRows*4, "range begins")
		m.counts = b.New(p.LeftRows*4, "range counts")
		b.Keep(m.begins, m.counts)
	}
	scratch := b.New(p.ScratchBytes, "search scratch")
	if b.Err != nil {
		return b.Err
	}
	list := backend.List{Profile: profile}
	list.Stage("range search")
	if err := m.ops.RangeSearch(&list, p, first, second, m.begins.All(), m.counts.All(), scratch.All()); err != nil {
		return err
	}
	if _, err := m.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return err
	}
	var total [8]byte
	if err := m.ops.Device().Download(ctx, total[:], scratch.Range(p.TotalOffset, 8)); err != nil {
		return err
	}
	m.Total = binary.LittleEndian.Uint64(total[:])
	return nil
}

// scan turns the counts into the place of each row's first pair in the output.
func (m *Matches) scan(ctx context.Context, profile *backend.Profile) error {
	b := resident.Memory{Context: ctx, Device: m.ops.Device()}
	defer b.ReleaseAll()
	m.offsets = b.New((m.plan.scan.Rows+1)*8, "output offsets")
	b.Keep(m.offsets)
	scratch := b.New(m.plan.scan.ScratchBytes, "scan scratch")
	if b.Err != nil {
		return b.Err
	}
	list := backend.List{Profile: profile}
	list.Stage("scan")
	if err := m.ops.Scan(&list, m.plan.scan, m.counts.All(), m.offsets.All(), scratch.All()); err != nil {
		return err
	}
	_, err := m.ops.Device().Submit(ctx, backend.Compute, &list)
	return err
}

// RecordPairs records the pairs first to first+rows-1, at most Total: left and right receive rows 32-bit row numbers each.
func (m *Matches) RecordPairs(list *backend.List, first uint64, rows uint32, left, right backend.Range) error {
	out := [2]backend.Range{left, right}
	return m.ops.Expand(list, primitive.Ranges{
		LeftRows: m.plan.search.LeftRows, Offsets: m.offsets.All(), Begins: m.begins.All(),
		LeftIDs: m.ids[m.plan.First].All(), RightIDs: m.ids[1-m.plan.First].All(),
	}, first, rows, out[m.plan.First], out[1-m.plan.First])
}

// Release gives the device memory back.
func (m *Matches) Release() {
	for _, b := range []**backend.Buffer{&m.ids[0], &m.ids[1], &m.begins, &m.counts, &m.offsets} {
		(*b).Release()
		*b = nil
	}
}
