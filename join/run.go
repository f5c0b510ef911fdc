package join

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/auto"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// Run executes the plan up to the matches and returns the result, from which the output is drawn. The caller closes it.
//
// Where the algorithm was left to the plan and the output turns out not to fit the device, or keys repeat more often
// than a hash table takes, the output is made piece by piece instead, by smj-um; the statistics of the result say so.
//
// Errors: those of the device, and backend.ErrLimit when there are more pairs than MaxOutputRows.
func (p *Plan) Run(ctx context.Context) (*Result, error) {
	device := p.engine.Ops.Device()
	r := &Result{
		Plan: p, Device: *device.Info(), taken: &p.Alternatives[0], started: time.Now(),
		lane: exec.NewLane(ctx, p.engine.Ops, nil),
	}
	device.ResetPeak()
	err := r.run(ctx)
	smaller := p.smaller(r.taken)
	if smaller != nil && !r.refused && (errors.Is(err, backend.ErrDeviceMemory) || errors.Is(err, backend.ErrLimit)) {
		r.fallback = fmt.Sprintf("%s failed: %v", r.taken.Name(), err)
		r.taken = smaller
		err = r.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.matched = time.Since(r.started)
	return r, nil
}

func (r *Result) run(ctx context.Context) error {
	if r.taken.batchwise() {
		return r.findRanges(ctx)
	}
	return r.joinRelations(ctx)
}

// approve sees the number of output rows before memory is taken for them.
func (r *Result) approve(total uint64) error {
	if most := r.Plan.Spec.MaxOutputRows; most > 0 && total > most {
		r.refused = true
		return fmt.Errorf("join: %w: %d rows, max_output_rows allows %d", backend.ErrLimit, total, most)
	}
	if r.taken.batchwise() || total <= r.taken.facts.Room() {
		return nil
	}
	return r.Plan.fitRows(r.taken, total)
}

// load encodes the keys of a side.
func (r *Result) load(ctx context.Context, side relation.Side, keys, ids backend.Range) error {
	start := time.Now()
	defer func() { r.encode += time.Since(start) }()
	return r.Plan.keys.Load(ctx, r.Plan.engine.Ops.Device(), side, keys, ids)
}

// findRanges finds the ranges of matches, from which output is made piece by piece.
func (r *Result) findRanges(ctx context.Context) (err error) {
	p := r.Plan
	load := func(ctx context.Context, side relation.Side, keys, ids backend.Range) error {
		p.progress.Start("sort "+side.String(), 0)
		return r.load(ctx, side, keys, ids)
	}
	if r.matches, err = ranges.Match(ctx, r.lane, p.sort, load, r.approve); err == nil {
		r.Rows = r.matches.Total
	}
	return err
}

// joinRelations brings both sides to the device as relations and joins them there.
func (r *Result) joinRelations(ctx context.Context) error {
	p := r.Plan
	memory := r.lane.Scope(ctx)
	defer memory.ReleaseAll()
	var relations [2]resident.Relation
	for side := range relations {
		var err error
		p.progress.Start("load "+relation.Side(side).String(), 0)
		if relations[side], err = r.bring(ctx, relation.Side(side), memory); err != nil {
			return err
		}
	}
	p.progress.Start("join", 0)
	options := auto.Options{Room: r.taken.facts.Room(), Approve: r.approve}
	if p.Spec.Output == Count {
		var err error
		r.Rows, err = auto.Count(ctx, r.lane, &r.taken.Alternative, relations[0], relations[1])
		if err == nil {
			err = r.approve(r.Rows)
		}
		return err
	}
	joined, err := auto.Run(ctx, r.lane, &r.taken.Alternative, relations[0], relations[1], options)
	if err != nil {
		return err
	}
	r.joined, r.Rows = joined, joined.Rows
	return nil
}

// bring loads the keys of a side, the columns that are payload, and last, where they are needed, row numbers. Rows
// without a key are left out of all.
func (r *Result) bring(
	ctx context.Context, side relation.Side, memory *exec.Scope,
) (on resident.Relation, err error) {
	p, lane := r.Plan, r.lane
	on.Rows = p.keys.Rows(side)
	column := func(bytes int, label string) resident.Column {
		return resident.Column{Data: memory.New(on.Rows*uint64(bytes), side.String()+" "+label).All(), Bytes: bytes}
	}
	on.Keys = column(p.keys.KeyBytes(), "keys")
	var ids backend.Range
	if p.keys.HasNulls(side) {
		ids = column(4, "row numbers").Data
	}
	if err := memory.Err(); err != nil {
		return on, err
	}
	if err := r.load(ctx, side, on.Keys.Data, ids); err != nil {
		return on, err
	}
	start := time.Now()
	defer func() { r.encode += time.Since(start) }()
	for i, c := range p.Layout.Columns {
		if c.Side != side || p.method(i, r.taken.Place) != asPayload {
			continue
		}
		bytes := relation.DeviceValueBytes(p.column(c).DataType())
		values := memory.New(uint64(p.column(c).Len())*uint64(bytes), "column "+c.Source)
		if err := memory.Err(); err != nil {
			return on, err
		}
		if err := relation.UploadValues(ctx, lane.Device(), p.column(c), values); err != nil {
			return on, err
		}
		payload := resident.Column{Data: values.All(), Bytes: bytes}
		if p.keys.HasNulls(side) {
			if payload = column(bytes, "column "+c.Source+" of rows with a key"); memory.Err() != nil {
				return on, memory.Err()
			}
			list := lane.List("gather " + side.String())
			if err := lane.Gather(list, bytes, values.All(), ids, payload.Data, uint32(on.Rows)); err != nil {
				return on, err
			}
			if err := lane.Submit(ctx, list); err != nil {
				return on, err
			}
			memory.Release(values)
		}
		on.Payload = append(on.Payload, payload)
	}
	if !r.taken.facts.Numbers[side] {
		return on, nil
	}
	if !p.keys.HasNulls(side) {
		ids = column(4, "row numbers").Data
		if memory.Err() != nil || on.Rows == 0 {
			return on, memory.Err()
		}
		list := lane.List("number " + side.String())
		if err := lane.Iota(list, ids, on.Rows, 0); err != nil {
			return on, err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return on, err
		}
	}
	on.Payload = append(on.Payload, resident.Column{Data: ids, Bytes: 4})
	return on, nil
}

// measured is the time of each stage of the plan, of work that is done: of the device, and for loading and delivering
// of the host.
func (r *Result) measured() map[string]time.Duration {
	times := map[string]time.Duration{plan.Load: r.encode, plan.Deliver: time.Duration(r.deliver.Load())}
	for _, stage := range r.lane.Profile.Stages() {
		times[plan.StageOf(stage.Stage)] += stage.Time
	}
	return times
}
