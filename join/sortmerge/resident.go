package sortmerge

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
)

// Options say how to join relations that are on a device. Whatever they are, the rows of the output are the same.
type Options struct {
	// Untransformed sorts row numbers with the keys and gathers payload from the caller's columns (GFUR, smj-um). Otherwise payload
	// columns are sorted themselves and gathered from there (GFTR, smj-om).
	Untransformed bool
	// OneByOne sorts one payload column at a time (GFTR algorithm 1), which takes less memory (GFTR table 2). Otherwise up to three
	// columns of one width are sorted together.
	OneByOne bool
	// Approve, if set, sees the number of output rows before memory is taken for them; its error ends the join.
	Approve func(rows uint64) error
}

// Join joins relations that are on a device, whose keys are equally wide, by sorting both. Every pair of rows with equal keys is a row
// of the result, which has the key and all payload columns of both; the order of rows is open. The caller releases the result.
// profile receives the device time of each stage and may be nil.
//
// Errors: backend.ErrInvalidInput, backend.ErrLimit for more rows than one relation can have, those of the device.
func Join(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, o Options, profile *backend.Profile) (*resident.Result, error) {
	j := &join{Options: o, ops: ops, profile: profile, memory: resident.Memory{Device: ops.Device()}}
	defer j.memory.ReleaseAll()
	for i, r := range [2]resident.Relation{left, right} {
		if err := r.Check("sort-merge join"); err != nil {
			return nil, err
		}
		j.sides[i].Side = resident.NewSide(r, [2]string{"left", "right"}[i])
	}
	if left.Keys.Bytes != right.Keys.Bytes {
		return nil, &backend.OpError{Op: "sort-merge join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("keys of %d and of %d bytes", left.Keys.Bytes, right.Keys.Bytes)}
	}
	rows := uint64(0)
	if left.Rows > 0 && right.Rows > 0 {
		for i := range j.sides {
			s := &j.sides[i]
			if err := j.varying(ctx, s); err != nil {
				return nil, err
			}
			if err := j.sort(ctx, s); err != nil {
				return nil, err
			}
		}
		var err error
		if rows, err = j.match(ctx); err != nil {
			return nil, err
		}
	}
	result := &resident.Result{Rows: rows, Keys: j.keys}
	j.memory.Keep(j.keys)
	for i := range j.sides {
		result.Payload[i] = j.sides[i].Out
		j.memory.Keep(j.sides[i].Out...)
	}
	return result, nil
}

// join is a join under way.
type join struct {
	Options
	ops     *primitive.Ops
	profile *backend.Profile
	memory  resident.Memory
	sides   [2]side
	keys    *backend.Buffer // of the result
}

// side is one relation and what becomes of it.
type side struct {
	resident.Side
	bits uint64 // of the keys that differ among rows
}

// varying finds the bits in which keys differ: a sort leaves the others out.
func (j *join) varying(ctx context.Context, s *side) error {
	p, err := primitive.PlanVaryingBits(j.ops.Tuning(), s.Rows, s.Keys.Bytes)
	if err != nil {
		return err
	}
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	scratch := temporary.New(p.ScratchBytes, "varying bits")
	if temporary.Err != nil {
		return temporary.Err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("varying bits " + s.Name)
	if err := j.ops.VaryingBits(&list, p, s.Keys.Data, scratch.All()); err != nil {
		return err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return err
	}
	found := make([]byte, 2*s.Keys.Bytes) // AND and OR of all keys
	if err := j.ops.Device().Download(ctx, found, scratch.Range(0, uint64(len(found)))); err != nil {
		return err
	}
	if s.Keys.Bytes == 8 {
		words := backend.Longs(found)
		s.bits = words[1] &^ words[0]
	} else {
		words := backend.Words(found)
		s.bits = uint64(words[1] &^ words[0])
	}
	return nil
}

// sort sorts the keys of a side with the next payload columns, or with row numbers. Keys that are all equal are sorted already.
func (j *join) sort(ctx context.Context, s *side) error {
	return s.Transform(ctx, j.ops, &j.memory, j.profile, "sort", j.Untransformed, j.OneByOne, func(layout primitive.Layout) (t resident.Transformation, err error) {
		p, err := primitive.PlanSort(j.ops.Tuning(), primitive.Sort{Layout: layout, EndBit: bits.Len64(s.bits), Varying: s.bits})
		t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
		t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns, buffers [2]primitive.Columns) error {
			return j.ops.Sort(list, p, scratch, source, buffers)
		}
		return t, err
	})
}

// match finds the matches of the sorted keys, expands them to pairs of sorted rows, and makes the output of these.
func (j *join) match(ctx context.Context) (rows uint64, err error) {
	m, err := j.search(ctx)
	if err != nil {
		return 0, err
	}
	defer m.Release()
	rows = m.Total
	if rows == 0 {
		return 0, nil
	}
	keyBytes := uint64(j.sides[Left].Keys.Bytes)
	j.keys = j.memory.New(rows*keyBytes, "output keys")
	var pairs [2]*backend.Buffer
	for i := range pairs {
		pairs[i] = j.memory.New(rows*4, "output rows, "+j.sides[i].Name)
	}
	if j.memory.Err != nil {
		return 0, j.memory.Err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("expand")
	if err := m.RecordPairs(&list, 0, uint32(rows), pairs[Left].All(), pairs[Right].All()); err != nil {
		return 0, err
	}
	list.Stage("gather keys")
	if err := j.ops.Gather(&list, int(keyBytes), j.sides[Left].Ordered, pairs[Left].All(), j.keys.All(), uint32(rows)); err != nil {
		return 0, err
	}
	if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return 0, err
	}
	m.Release()
	for i := range j.sides {
		s := &j.sides[i]
		j.memory.Release(s.Ordered.Buffer)
		ids := pairs[i]
		if j.Untransformed && len(s.Payload) > 0 {
			ids = j.memory.New(rows*4, "output row numbers, "+s.Name)
			if j.memory.Err != nil {
				return 0, j.memory.Err
			}
			list := backend.List{Profile: j.profile}
			list.Stage("gather " + s.Name)
			if err := j.ops.Gather(&list, 4, s.IDs, pairs[i].All(), ids.All(), uint32(rows)); err != nil {
				return 0, err
			}
			if _, err := j.ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
				return 0, err
			}
		}
		if err := s.Materialize(ctx, j.ops, &j.memory, j.profile, ids.All(), rows, j.Untransformed, func() error { return j.sort(ctx, s) }); err != nil {
			return 0, err
		}
		j.memory.Release(ids, pairs[i])
	}
	return rows, nil
}

// search finds the range of matches of every row of the side with fewer rows, by binary search (HMG 3.3.3).
func (j *join) search(ctx context.Context) (_ *Matches, err error) {
	m := &Matches{ops: j.ops}
	if j.sides[Right].Rows < j.sides[Left].Rows {
		m.plan.First = Right
	}
	first, second := &j.sides[m.plan.First], &j.sides[1-m.plan.First]
	if m.plan.search, err = primitive.PlanRangeSearch(j.ops.Tuning(), first.Rows, second.Rows, first.Keys.Bytes); err != nil {
		return nil, err
	}
	if m.plan.scan, err = primitive.PlanScan(j.ops.Tuning(), first.Rows, 32, 64, true); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.Release()
		}
	}()
	if err := m.search(ctx, first.Ordered, second.Ordered, j.profile); err != nil {
		return nil, err
	}
	if m.Total > primitive.MaxRows {
		return nil, &backend.OpError{Op: "sort-merge join", Err: backend.ErrLimit, Detail: fmt.Sprintf("%d output rows, the limit is %d", m.Total, uint64(primitive.MaxRows))}
	}
	if j.Approve != nil {
		if err := j.Approve(m.Total); err != nil {
			return nil, err
		}
	}
	return m, m.scan(ctx, j.profile)
}
