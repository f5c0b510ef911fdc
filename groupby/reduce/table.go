package reduce

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// tabled says how a batch is reduced by tables in the caches of CPU cores.
type tabled struct {
	bits  int    // of the mixed key that decide the partition; 0: rows stay where they are
	units uint64 // without partitions: the units that rows are cut into
	slots uint32 // of a table
	dense bool   // key codes are slots
}

const (
	mostUnits     = 16      // of rows that stay where they are
	unitRows      = 1 << 16 // which have at least this many
	tables        = 16      // at work on partitions
	stayingGroups = 1 << 15 // more are divided into partitions
	mostSlots     = 1 << 16
	mostBits      = 12
	groupSeed     = 0x2545f491 // of the mix whose low bits decide the partition
	dividedGroups = 1 << 13    // of a partition
	mostDenseBits = 16
	sampleRows    = 1 << 15
	leastDivided  = 1 << 18 // rows
)

// tableFor returns how to reduce a batch of rows rows with an estimate of groups groups.
func (p *Plan) tableFor(rows, groups uint64) tabled {
	t := tabled{units: min(mostUnits, max(1, rows/unitRows), max(1, rows/(32*max(1, groups)))), slots: mostSlots}
	if p.Facts.KeyBits <= mostDenseBits {
		t.dense, t.slots = true, 1<<p.Facts.KeyBits
		return t
	}
	for t.slots > 64 && uint64(t.slots) > 4*groups {
		t.slots /= 2
	}
	if groups <= stayingGroups || rows < leastDivided {
		return t
	}
	t.slots = mostSlots / 2
	for t.bits = 1; t.bits < mostBits && groups>>t.bits > dividedGroups; t.bits++ {
	}
	if t.bits > 8 && groups>>8 <= 2*dividedGroups { // one pass less
		t.bits = 8
	}
	t.units = 1 << t.bits
	return t
}

// tabled reduces a batch to a partial by [kernel.GroupIDs] and [kernel.GroupAccumulate]. Keys of rows that stay where
// they are may come from several units. Otherwise a partition by mixed keys brings all rows of a key into one unit, and
// keys are unique unless a table was full.
func (o *Operator) tabled(ctx context.Context, lane *exec.Lane, b *batch, t tabled) (*partial, error) {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	units := lane.Memory.New((t.units+1)*4, "units").All()
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	var err error
	if t.bits > 0 {
		b, err = o.divide(ctx, lane, b, primitive.Partition{Bits: t.bits, Mixed: true, Seed: groupSeed}, units)
	} else {
		starts := make([]uint32, t.units+1)
		for i := range starts {
			starts[i] = uint32(b.rows * uint64(i) / t.units)
		}
		_, err = lane.Device().Upload(ctx, units, backend.AsBytes(starts))
	}
	if err != nil {
		return nil, err
	}
	ids, offsets, found, err := o.number(ctx, lane, b, t, units)
	if err != nil {
		return nil, err
	}
	to := o.newPartial(ctx, found.keys)
	to.unique = found.flushes == 0 && (t.units == 1 || t.bits > 0)
	return to.fill(ctx, lane, "group, accumulate", func(list *backend.List) error {
		return o.accumulate(list, lane, b, t, units, ids, offsets, to)
	})
}

// divide partitions the rows of a batch with all columns that its inputs read, and stores where partitions begin.
func (o *Operator) divide(ctx context.Context, lane *exec.Lane, b *batch, by primitive.Partition,
	starts backend.Range) (*batch, error) {
	return o.move(ctx, lane, b,
		operator.Move{Stage: "group, partition", Plan: operator.PartitionBy(lane.Ops, by, starts)})
}

// move moves the keys of a batch with all columns that its inputs read. What is moved is in memory of the lane.
func (o *Operator) move(ctx context.Context, lane *exec.Lane, b *batch, move operator.Move) (*batch, error) {
	c := &relation.Chunk{Rows: b.rows, Keys: relation.Values{Data: b.keys, Bytes: o.plan.Facts.KeyBytes}}
	at := make(map[backend.Range]int)
	for i := range b.inputs {
		for _, r := range b.inputs[i].reads() {
			if _, known := at[*r]; r.Buffer != nil && !known {
				at[*r] = len(c.Payload)
				c.Payload = append(c.Payload, relation.Values{Data: *r, Bytes: int(r.SizeBytes / b.rows)})
			}
		}
	}
	input := operator.NewInput(lane, c, "rows")
	if err := input.TransformAll(ctx, move); err != nil {
		return nil, err
	}
	moved := &batch{rows: b.rows, keys: input.Ordered, inputs: slices.Clone(b.inputs)}
	for i := range moved.inputs {
		for _, r := range moved.inputs[i].reads() {
			if r.Buffer != nil {
				*r = input.Moved[at[*r]]
			}
		}
	}
	return moved, nil
}

// numbered is what tables found.
type numbered struct{ keys, flushes uint64 }

// number gives the keys of each unit numbers, and counts them: offsets are where the keys of each unit begin.
func (o *Operator) number(ctx context.Context, lane *exec.Lane, b *batch, t tabled,
	units backend.Range) (ids, offsets backend.Range, found numbered, err error) {
	keyBytes := uint64(o.plan.Facts.KeyBytes)
	config := kernel.GroupIDs.With(nil)
	config.KeyBits, config.Items = uint32(keyBytes*8), uint32((t.units+tables-1)/tables)
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	groups := kernel.Groups(config, t.units)
	table := temporary.New(uint64(groups)*uint64(t.slots)*2*keyBytes, "group tables").All()
	counts := temporary.New(t.units*4, "groups of units").All()
	flushes := temporary.New(4, "flushes").All()
	ids, offsets = lane.Memory.New(b.rows*4, "group ids").All(), lane.Memory.New((t.units+1)*4, "group offsets").All()
	if err := cmp.Or(temporary.Err(), lane.Memory.Err()); err != nil {
		return ids, offsets, found, err
	}
	list := lane.List("group, number")
	list.Fill(table, 0)
	list.Fill(flushes, 0)
	args := kernel.GroupIDsArgs{Keys: b.keys, Units: units, Table: table, IDs: ids, Counts: counts, Flushes: flushes,
		Count: uint32(t.units), Slots: t.slots}
	if t.dense {
		args.Dense = 1
	}
	err = cmp.Or(kernel.GroupIDs.Record(list, lane.Device(), config, groups, args),
		lane.SumCounts(list, temporary, t.units, 32, counts, offsets))
	if err != nil {
		return ids, offsets, found, err
	}
	var total, flushed [4]byte
	err = lane.Fetch(ctx, list, backend.Transfer{Device: offsets.Part(t.units*4, 4), Host: total[:]},
		backend.Transfer{Device: flushes, Host: flushed[:]})
	found.keys = uint64(binary.LittleEndian.Uint32(total[:]))
	found.flushes = uint64(binary.LittleEndian.Uint32(flushed[:]))
	return ids, offsets, found, err
}

// accumulate records the reduction of values by numbers, and fills the keys of a partial.
func (o *Operator) accumulate(list *backend.List, lane *exec.Lane, b *batch, t tabled, units, ids,
	offsets backend.Range, to *partial) error {
	keyBytes, keys := uint64(o.plan.Facts.KeyBytes), to.keys
	if t.bits > 0 {
		keys = lane.Memory.New(to.rows*keyBytes, "mixed keys").All()
	}
	if err := lane.Memory.Err(); err != nil {
		return err
	}
	inputs := append([]input{{op: kernel.GroupAny, value: [3]backend.Range{b.keys}, bits: uint32(keyBytes * 8)}},
		b.inputs...)
	for i := range inputs {
		in, states := &inputs[i], []backend.Range{keys}
		if i > 0 {
			states = to.states[i-1]
		}
		config := kernel.GroupAccumulate.With(nil)
		config.Op, config.Items = uint32(in.op), uint32((t.units+tables-1)/tables)
		r := in.args(states)
		args := kernel.GroupAccumulateArgs{IDs: ids, Units: units, Offsets: offsets, Value: r.Value, Value2: r.Value2,
			Value3: r.Value3, Valid: r.Valid, State: r.State, State2: r.State2, State3: r.State3, Count: uint32(t.units),
			Bits: r.Bits, Shift: r.Shift, Kind: r.Kind, ValidBit: r.ValidBit, FirstRow: r.FirstRow,
			FirstRowHigh: r.FirstRowHigh, Flip: r.Flip}
		if err := kernel.GroupAccumulate.RecordRows(list, lane.Device(), config, t.units, args); err != nil {
			return err
		}
	}
	if t.bits == 0 {
		return nil
	}
	by := primitive.Unmixing{Rows: to.rows, KeyBytes: int(keyBytes), Seed: groupSeed}
	return lane.Unmix(list, by, keys, to.keys)
}
