package engine

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// HMG joins tables on several devices by the multi-GPU sort-merge join of HMG (docs/hmg.md): key codes go to the
// devices, row numbers of matches come back, and the host fetches the columns of the output by row number, as with
// MaterializeHost. Safe for concurrent use.
type HMG struct {
	// Cut overrides what follows from the memory of the devices, for measurements and tests; its lanes, links and
	// allocator are not used.
	Cut hmg.Config

	Engine *Engine // whose devices and memory it uses
}

// HMG returns the strategy on the devices of the engine.
func (e *Engine) HMG() *HMG { return &HMG{Engine: e} }

// Join sorts or divides the keys of both tables and matches them up to the first rows; a count is complete when it
// returns. The tables must stay alive until the result is closed.
//
// Errors: backend.ErrInvalidInput; backend.ErrUnsupported for what this strategy does not do: kinds other than inner,
// orders, validation; backend.ErrDeviceMemory or ErrHostMemory with what is needed; backend.ErrLimit for
// more rows than MaxOutputRows; ErrCancelled.
func (h *HMG) Join(ctx context.Context, left, right arrow.Table, spec join.Spec) (*HMGResult, error) {
	if err := tablesGiven(left, right); err != nil {
		return nil, err
	}
	layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
	if err != nil {
		return nil, err
	}
	if err := checkHMG(&layout.Spec); err != nil {
		return nil, err
	}
	return h.join(ctx, layout, [2]arrow.Table{left, right})
}

// join is Join with a layout.
func (h *HMG) join(ctx context.Context, layout *join.Layout, tables [2]arrow.Table) (_ *HMGResult, err error) {
	r := &HMGResult{Layout: layout, tables: tables, allocator: h.Engine.Allocator, engine: h.Engine,
		started: time.Now()}
	left, right := tables[relation.Left], tables[relation.Right]
	if r.keys, err = keys.PlanJoin(ctx, left, right, layout.Spec.LeftOn, layout.Spec.RightOn,
		layout.Spec.NullEquals()...); err != nil {
		return nil, err
	}
	h.Engine.Collide(r.keys)
	flow, begun, err := h.Engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	r.flow = flow
	if r.keys.KeyBytes() == 4 {
		err = startHMG[uint32](h, r)
	} else {
		err = startHMG[uint64](h, r)
	}
	switch {
	case err != nil:
	case layout.Spec.Output == join.Count:
		err = r.count(ctx)
	default:
		if r.first = r.next(); r.first == nil {
			err = r.flow.Wait()
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.matched = time.Since(r.started)
	return r, nil
}

// startHMG sorts or divides both sides, and starts to match them.
func startHMG[K runs.Word](h *HMG, r *HMGResult) error {
	ctx, c := r.flow.Context(), h.Cut
	c.Links, c.Alloc, c.Lanes, c.Cores = h.Engine.Links(), r.allocator, nil, cmp.Or(c.Cores, runtime.GOMAXPROCS(0))
	r.cores = c.Cores
	grant, err := h.acquire(ctx, &c, r)
	if err != nil {
		return err
	}
	for _, e := range h.Engine.Engines() {
		c.Lanes = append(c.Lanes, exec.NewLane(ctx, e.Ops, grant))
	}
	r.lanes = c.Lanes
	r.found = exec.NewPipe[*hmg.Found](r.flow, len(c.Lanes))
	var sides *hmg.Sides[K]
	r.flow.AtEnd(func() {
		r.reading.Lock()
		defer r.reading.Unlock()
		if r.freed = true; sides != nil {
			sides.Free()
		}
		grant.Release()
	})
	if sides, err = prepareHMG[K](ctx, &c, r); err != nil {
		return err
	}
	r.Prepared = sides.How
	r.flow.Go("match", func(ctx context.Context) (err error) {
		r.Matched, err = sides.Match(ctx, r.put)
		r.all.Store(err == nil && r.keys.Exact())
		r.found.End()
		return err
	})
	return nil
}

// prepareHMG encodes the keys of both sides, and sorts or divides them.
func prepareHMG[K runs.Word](ctx context.Context, c *hmg.Config, r *HMGResult) (*hmg.Sides[K], error) {
	var buffers [2]*hmg.Buffer[K]
	var numbered [2]bool
	for i := range buffers {
		side := relation.Side(i)
		buffers[i], numbered[i] = runs.NewBuffer[K, uint32](c.Alloc, r.keys.Rows(side)), !r.keys.LeavesOut(side)
		if err := r.keys.Encode(ctx, side, backend.AsBytes(buffers[i].Keys), buffers[i].Rows); err != nil {
			for _, b := range buffers[:i+1] {
				b.Free()
			}
			return nil, err
		}
	}
	return hmg.Prepare(ctx, c, buffers, numbered, r.wanted())
}

// acquire fits a join to the memory of the devices and acquires its memory.
func (h *HMG) acquire(ctx context.Context, c *hmg.Config, r *HMGResult) (*exec.Grant, error) {
	lanes, d := h.lanes(), h.weakest()
	rows := [2]uint64{r.keys.Rows(relation.Left), r.keys.Rows(relation.Right)}
	deviceBytes, err := c.Fit(d, r.keys.KeyBytes(), rows)
	if err != nil {
		return nil, err
	}
	need := exec.Need{Device: make(map[*backend.Device]uint64), Host: c.HostBytes(d, r.keys.KeyBytes(), rows)}
	for device, n := range lanes {
		need.Device[device] = n * deviceBytes
	}
	if h.Engine.HostCapBytes() != exec.Unlimited {
		need.Shared = relation.SharedBytes(r.tables[:]...)
	}
	return h.Engine.Budget().Acquire(ctx, need)
}

// checkHMG refuses what the strategy does not do.
func checkHMG(spec *join.Spec) error {
	lacks := ""
	switch {
	case spec.How != join.Inner:
		lacks = spec.How.Noun() + ", only inner ones"
	case spec.Order != join.Unordered || spec.Deterministic:
		lacks = "an order of rows"
	case spec.Validate != join.Any:
		lacks = "validated keys"
	default:
		return nil
	}
	return &backend.OpError{Op: "join", Err: backend.ErrUnsupported,
		Detail: fmt.Sprintf("the strategy hmg does not support %s; choose another strategy", lacks)}
}

// HMGResult is a join of [HMG]. One goroutine may draw its output, once. The owner closes it.
type HMGResult struct {
	Layout   *join.Layout
	Prepared [2]hmg.Prepared // how each table was sorted or divided
	Matched  hmg.Matched     // how they were matched; complete once the output was drawn

	engine    *Engine
	lanes     []*exec.Lane // with the profile of each device
	started   time.Time
	matched   time.Duration // until the first rows could be drawn
	tables    [2]arrow.Table
	allocator memory.Allocator
	keys      *keys.Plan
	flow      *exec.Flow
	found     *exec.Pipe[*hmg.Found]
	first     *hmg.Found // taken from the pipe before the output is drawn
	rows      atomic.Uint64
	all       atomic.Bool // rows is the number of all
	cores     int
	drawn     bool

	reading sync.Mutex // held while the sorted sides are read or freed
	freed   bool
}

// Rows returns the number of output rows known so far; it is complete for a count, and once the output was drawn.
func (r *HMGResult) Rows() uint64 { return r.rows.Load() }

// Counted reports whether Rows is the number of all output rows.
func (r *HMGResult) Counted() bool { return r.all.Load() }

// Schema returns the schema of the record batches.
func (r *HMGResult) Schema() *arrow.Schema { return r.Layout.Schema }

// wanted is the output that devices make: for a count, pairs too if equal hashes have to be verified.
func (r *HMGResult) wanted() hmg.Output {
	if r.Layout.Spec.Output == join.Count && r.keys.Exact() {
		return hmg.OutputCount
	}
	return hmg.OutputPairs
}

// put receives the pairs of a task.
func (r *HMGResult) put(ctx context.Context, f *hmg.Found) error {
	if r.keys.Exact() {
		if err := r.add(f.Rows); err != nil {
			f.Release()
			return err
		}
	}
	if r.wanted() == hmg.OutputCount {
		f.Release()
		return nil
	}
	return r.found.Put(ctx, f)
}

// add counts rows. The error is backend.ErrLimit for more than are allowed.
func (r *HMGResult) add(rows uint64) error {
	spec := &r.Layout.Spec
	advice := deliver.OfRows
	if spec.Output == join.Count {
		advice = deliver.OfCount
	}
	if all := r.rows.Add(rows); spec.MaxOutputRows > 0 && all > spec.MaxOutputRows {
		return deliver.TooManyRows(spec.MaxOutputRows, advice)
	}
	return nil
}

// count waits until all rows are counted. Equal hashes are verified.
func (r *HMGResult) count(ctx context.Context) error {
	if r.wanted() == hmg.OutputCount {
		return r.flow.Wait()
	}
	for _, err := range r.pieces(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close ends the join and releases its memory. A second Close does nothing.
func (r *HMGResult) Close() {
	r.flow.Stop()
	if r.first != nil {
		r.first.Release()
		r.first = nil
	}
}
