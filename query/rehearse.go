package query

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// A driver compiles a kernel in up to half a second, so that kernels are best compiled all at once, and before they are
// needed. Which ones are needed follows from the plan, the columns, the tuning and the device, but is known only to the
// code that records commands. So that code runs beforehand: a rehearsal runs the plan with a few rows on a simulated
// device, and every kernel that it asks for is compiled for the real one. Nothing has to be kept in step with the code.
//
// Kernels that only some data need, such as those for a key with very many rows, are compiled when they are needed.

// Simulator opens a driver that claims to be a device and runs the reference kernels. It calls compile with every
// kernel that it is asked for.
type Simulator func(info *backend.DeviceInfo, compile func(*backend.KernelSpec, backend.Config)) (backend.Driver, error)

// rehearsing begins to compile the kernels of the query ahead, in a flow that runs it, if the engine has a simulator
// and the rows are not selected. A rehearsal that fails compiles nothing more ahead, and is no failure of the query.
func (q *Query) rehearsing(flow *exec.Flow) {
	if q.Engine.Simulate == nil || q.Trees[0].selects() {
		return
	}
	pinned := q.pinnedSides() // the first part of a probe side may be released soon
	flow.Go("rehearse", func(ctx context.Context) error {
		_ = exec.Protect("rehearse", func() error { return q.rehearse(ctx, pinned) })
		return nil
	})
}

// Rehearse begins to compile the kernels that the first alternative needs ([backend.Device.Prefetch]), and does not
// wait for them. The engine must have a simulator. It does nothing if the engine has rehearsed such a query before. If
// the rehearsal fails, it returns the error; the query can run all the same.
func (q *Query) Rehearse(ctx context.Context) error { return q.rehearse(ctx, q.pinnedSides()) }

func (q *Query) rehearse(ctx context.Context, pinnedSides [2]bool) (err error) {
	shape := q.shape()
	if !q.Engine.rehearsed.add(shape) {
		return nil
	}
	defer func() {
		if err != nil {
			q.Engine.rehearsed.remove(shape)
		}
	}()
	device := q.Engine.Device()
	driver, err := q.Engine.Simulate(device.Info(), device.Prefetch)
	if err != nil {
		return err
	}
	simulated := backend.NewDevice(driver, device.Options())
	defer func() { _ = simulated.Close() }()
	pinned := relation.NewPinnedArena(simulated)
	defer pinned.Close()
	in := func(imported bool) memory.Allocator { // memory like the query's
		if imported && pinned != nil {
			return pinned
		}
		return memory.NewGoAllocator()
	}
	sides, scale := q.specimenSides()
	for side := range sides {
		sides[side].Allocator = in(pinnedSides[side])
	}
	stage := NewEngine(q.Engine.Ops.Rehearsal(simulated, scale), in(q.Engine.pinnedBytes > 0), 0)
	defer stage.Close()
	if ctx.Err() != nil { // a goroutine would tell the context of the rehearsal, perhaps too late
		return backend.ContextError(ctx)
	}
	return exec.Protect("rehearse", func() error {
		specimen, err := q.specimen(stage, sides)
		if err != nil {
			return err
		}
		// The rehearsal has its own grant and therefore none of the flow that ctx belongs to.
		own, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
		result, err := specimen.Run(own)
		if err != nil {
			return err
		}
		defer result.Close()
		for piece, err := range result.pieces(own) {
			if err != nil {
				return err
			}
			piece.Release()
		}
		return nil
	})
}

// specimenSides describes the specimen of each table, except for its allocator, and returns how many rows of the table
// each row stands for. The specimens have the proportions of the tables, and so few rows that most rows have few
// partners.
func (q *Query) specimenSides() (sides [2]keys.SpecimenSide, scale uint64) {
	const least, most = 4, 1 << 10
	a := &q.Alternatives[0]
	scale = 1
	for side, s := range a.Scans {
		all := a.Facts.Brought(side)
		n := max(1, min(all, most, 4*s.Keys.Distinct()))
		scale = max(scale, (all+n-1)/n)
	}
	for side, s := range a.Scans {
		all := a.Facts.Brought(side)
		sides[s.Side] = keys.SpecimenSide{Rows: int(min(all, max(least, all/scale))), Sorted: a.Facts.Sorted[side],
			Unique: q.Unique[s.Side] != nil || side == operator.Build && a.Facts.Unique}
	}
	return sides, scale
}

// pinnedSides says which tables, by side, are pinned.
func (q *Query) pinnedSides() [2]bool {
	return [2]bool{q.pinned(relation.Left), q.pinned(relation.Right)}
}

// pinned reports whether the table of a side is in memory that the device has imported. Later tables are expected there
// if the engine allocates such memory, unless the first part of a stream is not.
func (q *Query) pinned(side relation.Side) bool {
	s := q.Alternatives[0].Scans[operator.Build]
	if s.Side != side {
		if s = q.Alternatives[0].Scans[operator.Probe]; s.Table.NumRows() == 0 {
			return q.Engine.pinnedBytes > 0 && !s.Unpinned
		}
	}
	return s.Keys.Pinned(side, q.Engine.Device())
}

// specimen is the first alternative with specimens of the tables, on another engine.
func (q *Query) specimen(stage *Engine, sides [2]keys.SpecimenSide) (*Query, error) {
	a := q.Alternatives[0]
	tree := *a.Join
	keys, err := tree.Scans[0].Keys.Specimen(sides)
	if err != nil {
		return nil, err
	}
	for side, s := range tree.Scans {
		if tree.Scans[side], err = s.specimen(keys, &sides[s.Side]); err != nil {
			return nil, err
		}
	}
	if tree.Keep != nil {
		tree.Keep = keys.Equal
	}
	a.Join = &tree
	specimen := &Query{Spec: q.Spec, Engine: stage, Alternatives: []Alternative{a}, Rates: q.Rates, room: q.room}
	specimen.Trees, specimen.Parts, specimen.Quota = []Join{tree}, false, new(deliver.Quota)
	specimen.Progress, specimen.Release, specimen.Grant = exec.NewProgress(nil), nil, nil
	if q.Consumer != nil {
		specimen.Consumer = q.Consumer.Rehearsal()
	}
	for side, unique := range q.Unique {
		if unique != nil {
			if specimen.Unique[side], err = unique.Specimen(sides); err != nil {
				return nil, err
			}
		}
	}
	return specimen, nil
}

// specimen is the scan of a specimen of the table.
func (s *Scan) specimen(plan *keys.Plan, of *keys.SpecimenSide) (*Scan, error) {
	specimen := *s
	specimen.Keys, specimen.Columns = plan, nil
	specimen.Table = array.NewTable(arrow.NewSchema(nil, nil), nil, int64(of.Rows))
	for i, c := range s.Columns {
		if key := plan.Column(s.Side, s.Names[i]); key != nil { // the device may make codes of it
			specimen.Columns = append(specimen.Columns, key)
			continue
		}
		values, err := relation.Column(of.Allocator, c.DataType(), make([]uint64, of.Rows), 0)
		if err != nil {
			return nil, err
		}
		specimen.Columns = append(specimen.Columns, arrow.NewChunked(c.DataType(), []arrow.Array{values}))
	}
	return &specimen, nil
}

// shape describes what the kernels of the first alternative depend on. Queries of one shape may differ in their data,
// and in numbers of rows up to the next power of two.
func (q *Query) shape() string {
	a := &q.Alternatives[0]
	f := &a.Facts
	text := fmt.Sprint(a.Algorithm, a.Want, a.Detail, a.Place, a.Compare, f.KeyBytes, f.KeyBits, f.Stays, f.Unique,
		f.Proved,
		f.Sorted, bits.Len64(f.Window), bits.Len64(f.Granule), q.Ordered, q.Numbers, q.Consumer != nil)
	for side, s := range a.Scans {
		text += fmt.Sprint(";", bits.Len64(f.Rows[side]), s.Payload(), s.Keyless, s.Encodes, s.Keys.LeavesOut(s.Side),
			q.Unique[side] != nil)
		for _, c := range s.Words.Columns {
			text += fmt.Sprint(" ", c.Type, c.Valid != nil)
		}
	}
	return text
}

// shapes is the set of shapes of the queries that were rehearsed. Safe for concurrent use.
type shapes struct {
	mu    sync.Mutex
	known map[string]bool
}

// mostShapes bounds the memory of an engine that lives long.
const mostShapes = 1 << 10

// add reports whether a shape is new.
func (s *shapes) add(shape string) (added bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[shape] {
		return false
	}
	if s.known == nil || len(s.known) >= mostShapes {
		s.known = make(map[string]bool)
	}
	s.known[shape] = true
	return true
}

func (s *shapes) remove(shape string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, shape)
}
