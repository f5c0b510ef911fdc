package reduce

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// Operator reduces the rows of chunks by groups. It is used by one goroutine at a time.
type Operator struct {
	plan     *Plan
	lane     *exec.Lane // whose memory has the partials
	partials []*partial
	merged   uint64 // rows of the last merge
}

// partial are key codes and states. A key may be there several times unless it is unique.
type partial struct {
	memory *exec.Scope
	rows   uint64
	keys   backend.Range
	states [][]backend.Range // by reduction
	unique bool
	groups groupCount // of a table for all rows of a unit; 0: not known
}

// Partials are merged when they have this many rows more than twice the rows of the last merge: a row takes part in few
// merges.
const mergeRows = 1 << 20

// Add reduces the rows of a chunk, whose first row has the number firstRow. Temporary memory comes from the lane of the
// call; when Add returns, the columns of the chunk may be overwritten. Errors: backend.ErrInvalidInput for a chunk that
// does not fit the plan; device errors.
func (o *Operator) Add(ctx context.Context, lane *exec.Lane, c *relation.Chunk, firstRow uint64) error {
	if err := o.check(c); err != nil || c.Rows == 0 {
		return err
	}
	b := batch{rows: c.Rows, keys: c.Keys.Data}
	for i := range o.plan.Reductions {
		b.inputs = append(b.inputs, o.plan.Reductions[i].ofRows(c, firstRow))
	}
	p, err := o.reduce(ctx, lane, &b)
	if err != nil {
		return err
	}
	o.partials = append(o.partials, p)
	if o.Rows() > 2*o.merged+mergeRows && len(o.partials) > 1 {
		return o.merge(ctx)
	}
	return nil
}

func (o *Operator) check(c *relation.Chunk) error {
	if err := c.Check("group-by"); err != nil {
		return err
	}
	f := &o.plan.Facts
	good := c.Keys.Bytes == f.KeyBytes && len(c.Payload) == len(f.Payload)
	for i := 0; good && i < len(f.Payload); i++ {
		good = c.Payload[i].Bytes == f.Payload[i]
	}
	if !good {
		return &backend.OpError{Op: "group-by", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
			"a chunk with keys of %d bytes and %d payload columns; planned are %d and %v", c.Keys.Bytes,
			len(c.Payload), f.KeyBytes, f.Payload)}
	}
	return nil
}

// Rows returns the number of groups that the operator holds, in which a group may be counted several times.
func (o *Operator) Rows() (rows uint64) {
	for _, p := range o.partials {
		rows += p.rows
	}
	return rows
}

// Finish brings every group exactly once, in one or more calls of emit, and none for no rows. An error of emit ends it.
func (o *Operator) Finish(ctx context.Context, emit func(context.Context, *Groups) error) error {
	if len(o.partials) > 1 || len(o.partials) == 1 && !o.partials[0].unique {
		if err := o.merge(ctx); err != nil {
			return err
		}
	}
	return o.emit(ctx, emit)
}

// Drain brings the groups so far, some perhaps several times, and releases their memory. It needs no further memory.
func (o *Operator) Drain(ctx context.Context, emit func(context.Context, *Groups) error) error {
	defer o.release()
	o.merged = 0
	return o.emit(ctx, emit)
}

func (o *Operator) emit(ctx context.Context, emit func(context.Context, *Groups) error) error {
	for _, p := range o.partials {
		g := &Groups{Rows: p.rows, Keys: relation.Values{Data: p.keys, Bytes: o.plan.Facts.KeyBytes}}
		for i, states := range p.states {
			var columns []relation.Values
			_, words := o.plan.Reductions[i].State()
			for _, s := range states[:words] {
				columns = append(columns, relation.Values{Data: s, Bytes: 8})
			}
			g.States = append(g.States, columns)
		}
		if err := emit(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// merge replaces all partials by one with unique keys.
func (o *Operator) merge(ctx context.Context) error {
	lane := o.lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	b, err := o.all(ctx, lane)
	if err != nil {
		return err
	}
	if len(o.partials) > 1 { // b has copies
		o.release()
	}
	p, err := o.reduce(ctx, lane, b)
	if err == nil && !p.unique {
		again := p
		p, err = o.reduce(ctx, lane, o.states(again))
		again.memory.ReleaseAll()
	}
	if err == nil && !p.unique {
		// A sort makes keys unique, whatever they are.
		again := p
		p, err = o.sorted(ctx, lane, o.states(again))
		again.memory.ReleaseAll()
	}
	if err != nil {
		return err
	}
	o.release()
	o.partials, o.merged = []*partial{p}, p.rows
	return nil
}

// all returns the rows of all partials, copied behind each other if there are several.
func (o *Operator) all(ctx context.Context, lane *exec.Lane) (*batch, error) {
	if len(o.partials) == 1 {
		return o.states(o.partials[0]), nil
	}
	b := &batch{rows: o.Rows()}
	list := lane.List("group, merge")
	column := func(of func(p *partial) backend.Range, bytes uint64) (backend.Range, error) {
		to, at := lane.Memory.New(b.rows*bytes, "partials"), uint64(0)
		if err := lane.Memory.Err(); err != nil {
			return backend.Range{}, err
		}
		for _, p := range o.partials {
			if err := lane.Copy(list, to.Range(at, p.rows*bytes), of(p)); err != nil {
				return backend.Range{}, err
			}
			at += p.rows * bytes
		}
		return to.All(), nil
	}
	var err error
	keys := func(p *partial) backend.Range { return p.keys }
	if b.keys, err = column(keys, uint64(o.plan.Facts.KeyBytes)); err != nil {
		return nil, err
	}
	for i := range o.plan.Reductions {
		r := &o.plan.Reductions[i]
		states := make([]backend.Range, r.columns())
		for c := range states {
			if states[c], err = column(func(p *partial) backend.Range { return p.states[i][c] }, 8); err != nil {
				return nil, err
			}
		}
		b.inputs = append(b.inputs, r.ofStates(states))
	}
	return b, lane.Submit(ctx, list)
}

// states are the rows of a partial as they are.
func (o *Operator) states(p *partial) *batch {
	b := &batch{rows: p.rows, keys: p.keys, groups: p.groups}
	for i, states := range p.states {
		b.inputs = append(b.inputs, o.plan.Reductions[i].ofStates(states))
	}
	return b
}

// release releases all partials.
func (o *Operator) release() {
	for _, p := range o.partials {
		p.memory.ReleaseAll()
	}
	o.partials = nil
}

// Close releases all memory of the operator.
func (o *Operator) Close() {
	o.release()
	o.lane.Memory.ReleaseAll()
}
