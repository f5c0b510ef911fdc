package reduce

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Strategy is how rows are reduced to groups.
type Strategy uint8

const (
	Chosen   Strategy = iota // by the device, the keys and the reductions
	Graphics                 // by drawing, of reductions whose states do not depend on the order of rows
	Sort                     // by a sort of the keys
)

// reduce reduces a batch to a partial. On the host that is done by tables, unless the keys are sorted already; on other
// devices in shared memory or by a sort; by drawing only if that is forced.
func (o *Operator) reduce(ctx context.Context, lane *exec.Lane, b *batch) (*partial, error) {
	switch o.plan.Facts.Strategy {
	case Graphics:
		return o.drawn(ctx, lane, b)
	case Sort:
		return o.sorted(ctx, lane, b)
	}
	if !onHost(lane) || o.plan.force.gpu {
		if b.isSums() {
			if p, err := o.sums(ctx, lane, b); p != nil || err != nil {
				return p, err
			}
		}
		return o.sorted(ctx, lane, b)
	}
	groups, sorted, err := o.sample(ctx, lane, b)
	if err != nil {
		return nil, err
	}
	t := o.plan.tableFor(b.rows, groups)
	if force := o.plan.force; force.tables {
		t = force.table
	}
	// Row numbers do not move with the rows.
	b.sorted = sorted
	if sorted || t.bits > 0 && b.numbersRows() {
		return o.sorted(ctx, lane, b)
	}
	return o.tabled(ctx, lane, b, t)
}

// force overrides what is chosen, to reach rare paths in tests.
type force struct {
	gpu    bool // as on devices other than the host
	tables bool
	table  tabled
	slots  uint32 // of shared memory, if not 0; parts of partitions are then short

	drawnSide, drawnRows uint64 // of a hash image in pixels, and of a batch that is drawn, at most
}

// numbersRows tells whether a reduction takes the number of a row from where it is.
func (b *batch) numbersRows() bool {
	return slices.ContainsFunc(b.inputs, func(in input) bool {
		return in.op == kernel.GroupLeast && in.value[0].Buffer == nil
	})
}

// sample estimates the number of groups of a batch from its first rows, as if keys were drawn alike, and finds out
// whether it is sorted. Few rows are taken as one group each.
func (o *Operator) sample(ctx context.Context, lane *exec.Lane, b *batch) (groups uint64, sorted bool, err error) {
	rows, f := min(b.rows, sampleRows), &o.plan.Facts
	isSorted := func(rows uint64) (bool, error) {
		keys := relation.Values{Data: b.keys.Part(0, rows*uint64(f.KeyBytes)), Bytes: f.KeyBytes}
		varying, err := operator.FindVarying(ctx, lane, "group, sample", keys)
		return varying.Sorted, err
	}
	sorted, err = isSorted(rows)
	if err == nil && sorted && b.rows > rows {
		sorted, err = isSorted(b.rows)
	}
	switch {
	case err != nil || sorted:
		return 0, sorted, err
	case f.KeyBits <= mostDenseBits:
		return 1 << f.KeyBits, false, nil
	case b.rows <= rows:
		return rows, false, nil
	case f.Groups > 0:
		return min(f.Groups, b.rows), false, nil
	}
	part, nested := *b, lane.Nested(ctx)
	part.rows, part.keys = rows, b.keys.Part(0, rows*uint64(f.KeyBytes))
	defer nested.Memory.ReleaseAll()
	units := nested.Memory.New(8, "units").All()
	if err := nested.Memory.Err(); err != nil {
		return 0, false, err
	}
	if _, err := lane.Device().Upload(ctx, units, backend.AsBytes([]uint32{0, uint32(rows)})); err != nil {
		return 0, false, err
	}
	_, _, found, err := o.number(ctx, nested, &part, tabled{units: 1, slots: mostSlots}, units)
	return min(b.rows, relation.DrawnFrom(float64(rows), float64(found.keys))), false, err
}
