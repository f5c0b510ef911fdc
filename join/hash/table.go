package hash

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
)

// Table is the build side of joins, made once and probed many times: a hash table of row ids in device memory with open
// addressing, at most half full (DIST 3.3). Nothing is partitioned, so that every probe is an access somewhere in the
// table and another in the key column: good for build sides that caches hold. A table is used by one goroutine at a
// time.
type Table struct {
	relation   resident.Relation
	duplicates duplicates
	memory     *exec.Scope
	slots      *backend.Buffer
	repeats    *backend.Buffer // where duplicates are counted: of each row with a slot, how many others have its key
	mask       uint32
}

// duplicates says what becomes of rows that have the key of another.
type duplicates uint8

const (
	kept    duplicates = iota // in slots of their own
	none                      // the caller promises that there are none
	counted                   // one row of a key is in a slot, and the others are counted
)

// MostBuildRows is how many rows a table takes, in slots of which half stay free.
const MostBuildRows = mostSlots / 2

const mostSlots = 1 << 30

// Build makes a table of a relation, whose columns must live as long as the table. unique promises that no two rows
// have the same key. The caller releases the table.
//
// Errors: backend.ErrInvalidInput; backend.ErrLimit for too many rows, or where a key, or keys with the same slot, are
// so frequent that probing would take long; those of the device.
func Build(ctx context.Context, lane *exec.Lane, relation resident.Relation, unique bool) (*Table, error) {
	if unique {
		return buildTable(ctx, lane, relation, none)
	}
	return buildTable(ctx, lane, relation, kept)
}

// BuildDistinct makes a table for Count and Mark alone: one row of each key takes a slot, and the others are counted.
// No key is too frequent for it. The rest is as for [Build].
func BuildDistinct(ctx context.Context, lane *exec.Lane, relation resident.Relation) (*Table, error) {
	return buildTable(ctx, lane, relation, counted)
}

func buildTable(ctx context.Context, lane *exec.Lane, relation resident.Relation, d duplicates) (_ *Table,
	err error) {
	if err := relation.Check("build hash table"); err != nil {
		return nil, err
	}
	slots := uint64(2)
	for slots < 2*relation.Rows {
		slots *= 2
	}
	if slots > mostSlots {
		return nil, &backend.OpError{Op: "build hash table", Err: backend.ErrLimit,
			Detail: fmt.Sprintf("%d rows, the limit is %d", relation.Rows, mostSlots/2)}
	}
	t := &Table{relation: relation, duplicates: d, memory: lane.Scope(ctx), mask: uint32(slots - 1)}
	defer func() {
		if err != nil {
			t.Release()
		}
	}()
	t.slots = t.memory.New(slots*4, "hash table")
	lost := t.memory.New(4, "rows without a slot")
	if d == counted {
		t.repeats = t.memory.New(max(1, relation.Rows)*4, "repeats of keys")
	}
	if err := t.memory.Err(); err != nil {
		return nil, err
	}
	config := kernel.TableBuild.With(nil)
	config.KeyBits, config.Patience, config.Distinct = uint32(relation.Keys.Bytes*8), patience, t.distinct()
	k, err := kernel.TableBuild.On(lane.Device(), config)
	if err != nil {
		return nil, err
	}
	list := lane.List("build")
	list.Fill(t.slots.All(), 0)
	list.Fill(lost.All(), 0)
	if d == counted {
		list.Fill(t.repeats.All(), 0)
	}
	k.Dispatch(list, kernel.Groups(config, relation.Rows), kernel.TableBuildArgs{
		Keys: relation.Keys.Data, Slots: t.slots.All(), Lost: lost.All(), Repeats: t.repeats.All(),
		Rows: uint32(relation.Rows), Mask: t.mask, Seed: tableSeed,
	})
	if err := lane.Submit(ctx, list); err != nil {
		return nil, err
	}
	var count [4]byte
	if err := lane.Download(ctx, count[:], lost.All()); err != nil {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(count[:]); n > 0 {
		return nil, &backend.OpError{Op: "build hash table", Err: backend.ErrLimit,
			Detail: fmt.Sprintf("%d of %d rows found no slot among %d", n, relation.Rows, patience)}
	}
	t.memory.Release(lost)
	return t, nil
}

// distinct is the constant of that name of the kernels.
func (t *Table) distinct() uint32 {
	if t.duplicates == counted {
		return 1
	}
	return 0
}

// patience is how many slots a row may lie behind that of its key.
const (
	patience  = 256
	tableSeed = 0x9747b28c // not that of partitions: keys that were made to collide there do not here
)

// Release gives the device memory back.
func (t *Table) Release() { t.memory.ReleaseAll() }

// Probe joins the table's relation, the left one of the result, with another. Of the options it knows CountFirst,
// OutputRows, Approve and PageRows; 0 output rows are as many as the relation has. See [Join] for the rest. A table
// that [BuildDistinct] made lacks rows: backend.ErrInvalidInput.
func (t *Table) Probe(
	ctx context.Context, lane *exec.Lane, right resident.Relation, o Options,
) (*resident.Result, error) {
	if t.duplicates == counted {
		return nil, &backend.OpError{Op: "probe hash table", Err: backend.ErrInvalidInput,
			Detail: "the table holds one row of each key, which counts and marks alone can use; make it by Build"}
	}
	j, err := t.probe(lane.Nested(ctx), right, o)
	if err != nil {
		return nil, err
	}
	defer j.lane.Memory.ReleaseAll()
	rows, err := j.out.Write(ctx)
	if err != nil {
		return nil, err
	}
	return j.result(ctx, rows)
}

// Count returns the number of rows that Probe would make, and makes none.
func (t *Table) Count(ctx context.Context, lane *exec.Lane, right resident.Relation) (rows uint64, err error) {
	j, err := t.probe(lane, right, Options{})
	if err != nil {
		return 0, err
	}
	return j.out.Count(ctx)
}

// Mark tells which rows of another relation have a partner in the table's: bit i%32 of word i/32 is row i. The bitmap,
// nil for no rows, belongs to the lane's memory. Payload is not touched.
//
// Errors: backend.ErrInvalidInput; those of the device.
func (t *Table) Mark(ctx context.Context, lane *exec.Lane, right resident.Relation) (*backend.Buffer, error) {
	right.Payload = nil
	if _, err := t.probe(lane, right, Options{}); err != nil || right.Rows == 0 {
		return nil, err
	}
	config := kernel.TableMark.With(nil)
	config.KeyBits, config.Patience, config.Seed = uint32(right.Keys.Bytes*8), patience, tableSeed
	k, err := kernel.TableMark.On(lane.Device(), config)
	if err != nil {
		return nil, err
	}
	marks := lane.Memory.New((right.Rows+31)/32*4, "marks")
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	list := lane.List("mark")
	list.Fill(marks.All(), 0)
	k.Dispatch(list, kernel.Groups(config, right.Rows), kernel.TableMarkArgs{
		Slots: t.slots.All(), LeftKeys: t.relation.Keys.Data, RightKeys: right.Keys.Data, RightMarks: marks.All(),
		Rows: uint32(right.Rows), Mask: t.mask})
	if err := lane.Submit(ctx, list); err != nil {
		lane.Memory.Release(marks)
		return nil, err
	}
	return marks, nil
}

// probe readies the join with another relation.
func (t *Table) probe(lane *exec.Lane, right resident.Relation, o Options) (*join, error) {
	o = Options{CountFirst: o.CountFirst, OutputRows: o.OutputRows, Approve: o.Approve, PageRows: o.PageRows}
	j := &join{lane: lane, Options: o}
	j.sides = [2]input{{Input: resident.NewInput(t.relation, "left")}, {Input: resident.NewInput(right, "right")}}
	if err := j.begin(); err != nil {
		return nil, err
	}
	for i := range j.sides {
		for c, column := range j.sides[i].Payload {
			j.sides[i].Moved[c] = column.Data
		}
	}
	own := kernel.TableProbe.With(nil)
	own.KeyBits, own.Patience, own.Seed = uint32(right.Keys.Bytes*8), patience, tableSeed
	if t.duplicates == none {
		own.Unique = 1
	}
	j.out.Units = kernel.Groups(own, right.Rows)
	j.out.Invocations = uint64(j.out.Units) * uint64(own.Workgroup)
	j.out.Record = func(list *backend.List, to resident.Target) error {
		config := own
		config.OutputConfig = to.Config
		if to.PageRows > 0 {
			config.Paged, config.PageRows = 1, to.PageRows
		}
		k, err := kernel.TableProbe.On(lane.Device(), config)
		if err != nil {
			return err
		}
		args := kernel.TableProbeArgs{Slots: t.slots.All(), JoinColumns: to.Columns, JoinRows: to.Rows,
			Rows: uint32(right.Rows), Mask: t.mask}
		args.LeftKeys, args.RightKeys = t.relation.Keys.Data, right.Keys.Data
		k.Dispatch(list, j.out.Units, args)
		return nil
	}
	j.out.WideCounts = true
	j.out.RecordCount = func(list *backend.List, counts backend.Range) error {
		k, err := kernel.TableCount.On(lane.Device(), kernel.TableCountConfig{
			KeyBits: own.KeyBits, Tile: own.Tile, Patience: own.Patience, Unique: own.Unique,
			Distinct: t.distinct(), Seed: own.Seed})
		if err != nil {
			return err
		}
		k.Dispatch(list, j.out.Units, kernel.TableCountArgs{Slots: t.slots.All(), LeftKeys: t.relation.Keys.Data,
			RightKeys: right.Keys.Data, Repeats: t.repeats.All(), Counts: counts, Rows: uint32(right.Rows), Mask: t.mask})
		return nil
	}
	return j, nil
}
