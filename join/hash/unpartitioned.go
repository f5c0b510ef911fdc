package hash

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// Unpartitioned is the hash join without partitions, hj: a hash table of row ids in device memory with open addressing,
// at most half full (DIST 3.3). Nothing is moved, so every probe is a random access to the table and another to the key
// column, which suits build sides that fit the caches, and many granules.
//
// For counts, and for rows of one side, the table has each key once, however many rows have it. For pairs every row
// needs a slot, so keys with many rows may not find one for each; the remaining rows are joined by sorting (lost.go).
type Unpartitioned struct{}

const (
	// patience is how many slots a row may lie behind its key's first slot.
	patience  = 256
	tableSeed = 0x9747b28c // not partitionSeed: keys that were made to collide there do not here
	mostSlots = 1 << 30
	// smallRows is the size of build sides up to which a table is made by the submission that uses it first: its kernel
	// takes less time than a submission.
	smallRows = 1 << 17
)

// Name returns "hj".
func (Unpartitioned) Name() string { return "hj" }

// Plan determines the size of the table. Errors: backend.ErrInvalidInput for invalid facts.
func (a Unpartitioned) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	if err := f.Check("plan hash join", &want); err != nil {
		return nil, err
	}
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	return p, a.cost(p)
}

// slots is the size of a table that is at most half full.
func slots(rows uint64) uint64 {
	slots := uint64(2)
	for slots < 2*rows {
		slots *= 2
	}
	return slots
}

// tableTiles are the tuned tiles of the kernels of a table for keys of keyBytes.
func tableTiles(t primitive.Tuning, keyBytes int) backend.Config {
	return t.Config("table_join", backend.Config{"key_bits": uint32(keyBytes * 8)})
}

// Open returns an operator.
func (Unpartitioned) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return &table{plan: p, lane: lane.Nested(ctx), distinct: !p.Want.Pairs || p.Want.Count}
}

// table is a join under way.
type table struct {
	plan     *operator.Plan
	lane     *exec.Lane // of the table
	build    operator.Input
	distinct bool          // each key has one slot
	begun    *backend.List // what makes the table, until it is submitted
	slots    *backend.Buffer
	mask     uint32
	repeats  *backend.Buffer  // with distinct: how many further rows have the key of a row with a slot
	without  backend.Range    // bitmap of build rows without a slot
	number   *backend.Reading // of these rows; nil after findLost
	lost     []uint32         // these rows, ascending, after findLost
	marks    backend.Range    // of build rows that have a partner, for those without a slot
	// Bitmap of build rows: of each key with a partner the row that the probe side meets first.
	met backend.Range
}

// Build makes the table.
//
// Errors: backend.ErrInvalidInput; device errors.
func (t *table) Build(ctx context.Context, build *relation.Chunk) error {
	if err := build.Check("build hash table"); err != nil {
		return err
	}
	t.build = t.input(t.lane, build, "build")
	if build.Rows == 0 {
		return nil
	}
	slots := slots(build.Rows)
	t.mask = uint32(slots - 1)
	t.slots = t.lane.Memory.New(slots*4, "hash table")
	if t.distinct {
		t.repeats = t.lane.Memory.New(build.Rows*4, "repeats of keys")
	}
	bitmapBytes := (build.Rows + 31) / 32 * 4
	places := t.lane.Memory.New(backend.PlanAlignment+bitmapBytes, "rows without a slot")
	if err := t.lane.Memory.Err(); err != nil {
		return err
	}
	config := kernel.TableBuild.With(tableTiles(t.lane.Tuning(), build.Keys.Bytes))
	config.KeyBits, config.Patience = uint32(build.Keys.Bytes*8), patience
	if t.distinct {
		config.Distinct = 1
	}
	number := places.Range(0, 4)
	t.without = places.Range(backend.PlanAlignment, bitmapBytes)
	list := t.lane.List("build")
	list.Fill(t.slots.All(), 0)
	if t.distinct {
		list.Fill(t.repeats.All(), 0)
	}
	list.Fill(places.All(), 0)
	err := kernel.TableBuild.RecordRows(list, t.lane.Device(), config, build.Rows,
		kernel.TableBuildArgs{Keys: build.Keys.Data, Slots: t.slots.All(), Lost: number, LostRows: t.without,
			Repeats: t.repeats.All(), Rows: uint32(build.Rows), Mask: t.mask, Seed: tableSeed})
	if err != nil {
		return err
	}
	if t.number, err = t.lane.Device().Read(ctx, list, number); err != nil {
		return err
	}
	t.begun = list
	if t.met, err = t.plan.Want.NewBitmap(ctx, t.lane, operator.Build, build.Rows); err != nil {
		return err
	}
	switch {
	case t.plan.Facts.Stays: // a probe side that is cancelled must leave a whole table to the next
		return t.findLost(ctx)
	case build.Rows > smallRows:
		return t.submit(ctx)
	}
	return nil
}

// submit submits what makes the table, unless it was.
func (t *table) submit(ctx context.Context) error {
	list := t.begun
	if t.begun = nil; list == nil {
		return nil
	}
	return t.lane.Submit(ctx, list)
}

// begin makes the table in a list for a stage that uses it, unless it was made.
func (t *table) begin(list *backend.List, stage string) {
	if t.begun != nil {
		list.Commands = append(list.Commands, t.begun.Commands...)
		list.Stage(stage)
		t.begun = nil
	}
}

// input readies a side, of which nothing moves.
func (t *table) input(lane *exec.Lane, c *relation.Chunk, name string) operator.Input {
	in := operator.NewInput(lane, c, name)
	in.Stay()
	in.Keep = true
	return in
}

// Probe looks the rows of a granule up.
func (t *table) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	if err := probe.CheckJoin("probe hash table", t.build.Chunk); err != nil || probe.Rows == 0 {
		return err
	}
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	in, want := t.input(lane, probe, "probe"), &t.plan.Want
	marks, err := want.NewBitmap(ctx, lane, operator.Probe, probe.Rows)
	if err != nil {
		return err
	}
	if t.build.Rows > 0 {
		if sides := want.Sides(); sides > 0 {
			args := kernel.TableMarkArgs{LeftMarks: t.met, RightMarks: marks}
			if err := t.mark(ctx, lane, probe, kernel.TableMarkConfig{Sides: sides}, args); err != nil {
				return err
			}
		}
		if want.Pairs {
			if err := t.pairs(ctx, lane, &in, sink); err != nil {
				return err
			}
		}
		if err := t.probeLost(ctx, lane, &in, marks, sink); err != nil {
			return err
		}
	}
	return t.rows(ctx, sink, &in, operator.Probe, marks)
}

// mark looks the rows of a chunk up as far as their first match, and marks rows.
func (t *table) mark(ctx context.Context, lane *exec.Lane, c *relation.Chunk, own kernel.TableMarkConfig,
	args kernel.TableMarkArgs) error {
	config := kernel.TableMark.With(tableTiles(lane.Tuning(), c.Keys.Bytes))
	config.KeyBits, config.Patience, config.Seed = uint32(c.Keys.Bytes*8), patience, tableSeed
	config.Sides, config.Among = own.Sides, own.Among
	args.Slots, args.LeftKeys, args.RightKeys = t.slots.All(), t.build.Chunk.Keys.Data, c.Keys.Data
	args.Rows, args.Mask = uint32(c.Rows), t.mask
	return lane.Run(ctx, "mark", func(list *backend.List) error {
		t.begin(list, "mark")
		return kernel.TableMark.RecordRows(list, lane.Device(), config, c.Rows, args)
	})
}

// pairs makes or counts the pairs of rows.
func (t *table) pairs(ctx context.Context, lane *exec.Lane, in *operator.Input, sink operator.Sink) error {
	own := kernel.TableProbe.With(tableTiles(lane.Tuning(), in.Chunk.Keys.Bytes))
	own.KeyBits, own.Patience, own.Seed = uint32(in.Chunk.Keys.Bytes*8), patience, tableSeed
	if t.plan.Facts.Proved {
		own.Unique = 1
	}
	rows, build, probe := uint32(in.Rows), t.build.Chunk.Keys.Data, in.Chunk.Keys.Data
	u := operator.Units{Lane: lane, Inputs: [2]*operator.Input{&t.build, in}, Want: &t.plan.Want,
		Number: kernel.Groups(own, in.Rows), CountFirst: t.plan.Facts.CountsFirst(), Room: t.plan.Facts.Room()}
	u.Record = func(list *backend.List, first, end uint32, to operator.Target) error {
		config := own
		config.OutputConfig = to.Config
		k, err := kernel.TableProbe.On(lane.Device(), config)
		if err != nil {
			return err
		}
		args := kernel.TableProbeArgs{Slots: t.slots.All(), JoinColumns: to.Columns, JoinRows: to.Rows, Rows: rows,
			Mask: t.mask}
		args.LeftKeys, args.RightKeys = build, probe
		t.begin(list, "match")
		k.DispatchPart(list, first, end, args)
		return nil
	}
	u.RecordCount = func(list *backend.List, counts backend.Range) error {
		config := kernel.TableCountConfig{KeyBits: own.KeyBits, Shared: own.Shared, Tile: own.Tile,
			Patience: own.Patience, Unique: own.Unique, Seed: own.Seed}
		if t.distinct {
			config.Distinct = 1
		}
		t.begin(list, "count")
		return kernel.TableCount.Record(list, lane.Device(), config, u.Number, kernel.TableCountArgs{
			Slots: t.slots.All(), LeftKeys: build, RightKeys: probe, Repeats: t.repeats.All(), Counts: counts, Rows: rows,
			Mask: t.mask})
	}
	u.Large = func(ctx context.Context, unit uint32, sink operator.Sink) error {
		tileRows := uint64(kernel.TileRows(own))
		first := uint64(unit) * tileRows
		return t.large(ctx, lane, in, ranges.Span{First: first, End: min(first+tileRows, in.Rows)}, sink)
	}
	return u.Write(ctx, sink)
}

// Finish puts the build rows with or without a partner: each looks up the row that stands for its key, and whether that
// was met.
func (t *table) Finish(ctx context.Context, sink operator.Sink) error {
	if !t.plan.Want.Marks(operator.Build) || t.build.Rows == 0 {
		return nil
	}
	if err := t.findLost(ctx); err != nil {
		return err
	}
	marks, err := t.marks, error(nil)
	if len(t.lost) == 0 {
		if marks, err = t.plan.Want.NewBitmap(ctx, t.lane, operator.Build, t.build.Rows); err != nil {
			return err
		}
	}
	err = t.mark(ctx, t.lane, t.build.Chunk, kernel.TableMarkConfig{Sides: kernel.MarkRight, Among: 1},
		kernel.TableMarkArgs{Partners: t.met, RightMarks: marks})
	if err != nil {
		return err
	}
	return t.rows(ctx, sink, &t.build, operator.Build, marks)
}

// rows puts the rows of a side that are wanted for themselves.
func (t *table) rows(ctx context.Context, sink operator.Sink, in *operator.Input, side int, marks backend.Range) error {
	r := operator.Rows{Input: in, Side: side, Marks: marks}
	return r.WriteWanted(ctx, sink, &t.plan.Want)
}

// Close releases the table.
func (t *table) Close() {
	t.number.Release()
	t.lane.Memory.ReleaseAll()
}

// Rewind forgets which keys were met.
func (t *table) Rewind(ctx context.Context) error {
	return cmp.Or(operator.ClearBitmap(ctx, t.lane, t.met), operator.ClearBitmap(ctx, t.lane, t.marks))
}
