package groupby

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// Engine groups tables on a device. It shares memory limits with the queries of the engine in it. Safe for concurrent
// use.
type Engine struct {
	*query.Engine
	Knobs
	// TempDir is a folder for groups of a stream that memory has no room for; "": there is none.
	TempDir string
	quiet   bool // streams report no progress until they have ended
}

// Behind returns an engine for the output of a query: its group-bys leave this much of the memory limits to the query
// ([query.Engine.Leaving]), and report no progress until the output has ended, because the query does.
func (e *Engine) Behind(hostBytes, deviceBytes uint64) *Engine {
	less := *e
	less.quiet = true
	less.Engine = e.Engine.Leaving(hostBytes, deviceBytes)
	return &less
}

// Group plans and runs a group-by of a table. The caller closes the result, which keeps the table; ctx must not end
// before. Errors: as for [NewLayout]; ErrUnsupported if the device cannot run Spec.Algorithm; ErrDeviceMemory and
// ErrHostMemory; device errors; ErrCancelled. Drawing the result may fail with ErrLimit, for a sum that its type does
// not hold.
func (e *Engine) Group(ctx context.Context, table arrow.Table, spec Spec) (*Result, error) {
	if table == nil {
		return nil, &backend.OpError{Op: "group by", Err: backend.ErrInvalidInput, Detail: "the table is nil"}
	}
	layout, err := NewLayout(table.Schema(), spec)
	if err != nil {
		return nil, err
	}
	return e.GroupLayout(ctx, layout, table)
}

// GroupLayout is Group with an existing layout, whose schema may have had more columns: the table must have those in
// layout.Needed.
func (e *Engine) GroupLayout(ctx context.Context, layout *Layout, table arrow.Table) (r *Result, err error) {
	for _, name := range layout.Needed {
		if err := relation.CheckName(table.Schema(), "the table", name); err != nil {
			return nil, fmt.Errorf("group by: %w", err)
		}
	}
	return e.begin(ctx, layout, table, func(ctx context.Context, w *work) error {
		w.result.program = lower(layout, table, false)
		// The squares take more memory than the table.
		if table.NumRows() > 2*e.partRows() && w.result.program.squareBits() > 64 {
			return w.stream(layout).run(ctx, batchesOf(table, e.partRows()))
		}
		w.result.stats.Rows = uint64(table.NumRows())
		g, err := w.all(ctx, w.result.program)
		if errors.Is(err, backend.ErrDeviceMemory) ||
			errors.Is(err, backend.ErrHostMemory) && (e.TempDir != "" || w.result.program.squareBits() > 0) {
			return w.stream(layout).run(ctx, batchesOf(table, e.partRows())) // in parts, and divided if it must be
		}
		if err == nil {
			table.Retain() // the result keeps it
			g.owned = true
		}
		w.result.groups = g
		return err
	})
}

// batchesOf yields the rows of a table in batches of some rows, which the receiver releases.
func batchesOf(table arrow.Table, rows int64) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		reader := array.NewTableReader(table, rows)
		defer reader.Release()
		for reader.Next() {
			batch := reader.RecordBatch()
			batch.Retain()
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// begin acquires what a group-by needs to begin, and runs it. table is the input; nil if it comes part by part.
func (e *Engine) begin(ctx context.Context, layout *Layout, table arrow.Table,
	run func(context.Context, *work) error) (r *Result, err error) {
	if err := e.cannot(layout); err != nil {
		return nil, fmt.Errorf("group by: %w", err)
	}
	flow, begun, err := e.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	result := &Result{Layout: layout, Device: *e.Device().Info(), flow: flow, engine: e}
	defer func() {
		if r == nil { // after a panic too
			result.Close()
		}
	}()
	caller, start := ctx, time.Now()
	ctx = flow.Context()
	w := &work{Engine: e, result: result, progress: exec.NewProgress(layout.Spec.Progress)}
	if e.quiet {
		w.progress = w.progress.Part(w.ended.Load, func(s exec.Status) exec.Status { return s })
	}
	if err = w.acquire(ctx, table); err == nil {
		err = run(ctx, w)
	}
	if err != nil {
		return nil, fmt.Errorf("group by: %w", failure(err, ctx, caller))
	}
	result.stats.GroupSeconds = time.Since(start).Seconds()
	return result, nil
}

// failure is the error of a call or, if a goroutine of the flow failed and so ended the others, the error of the flow.
func failure(err error, flow, caller context.Context) error {
	if cause := context.Cause(flow); caller.Err() == nil && cause != flow.Err() {
		return cause
	}
	return err
}

// work is a group-by in progress.
type work struct {
	*Engine
	result   *Result
	progress *exec.Progress
	ended    atomic.Bool // the stream has
	lane     *exec.Lane
}

// all groups the table of a program and completes its finishers.
func (w *work) all(ctx context.Context, p *program) (g *groups, err error) {
	by := w.result.Layout.Spec.By
	if g, err = w.group(ctx, p, by); err != nil {
		return nil, err
	}
	if g.rows == 0 {
		if len(by) == 0 {
			g.none, g.rows = true, 1
		}
		return g, nil
	}
	err = p.distinct(func(column string) (int, error) { return w.countDistinct(ctx, g, column) })
	if err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

// acquire takes the memory of the engine that the query needs to begin, and makes the lane. A stream needs none and
// does not wait: its source may be a query that holds what others wait for.
func (w *work) acquire(ctx context.Context, table arrow.Table) (err error) {
	grant := w.Budget().Empty()
	if table != nil {
		w.progress.Start(exec.Waiting)
		need := exec.Need{}
		if w.HostCapBytes() != exec.Unlimited {
			need.Shared = relation.SharedBytes(table)
		}
		if grant, err = w.Budget().Acquire(ctx, need); err != nil {
			return err
		}
	}
	w.result.grant = grant
	w.lane = exec.NewLane(ctx, w.Ops, grant)
	w.result.lane = w.lane
	return nil
}
