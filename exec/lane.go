// Package exec provides what every query needs, whatever it computes: lanes, memory scopes, budgets, flows and pipes,
// and progress. It depends on devices and primitives, but not on relations.
package exec

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Lane is one sequence of work on one device: straight-line code records lists, submits them and occasionally waits for
// a count, while other lanes keep the queues full. A lane belongs to one query and is used by one goroutine at a time.
// Lanes of a query may share a profile and a grant; lanes of different queries share neither.
type Lane struct {
	*primitive.Ops
	Memory  *Scope           // lives as long as the lane; temporary memory comes from [Lane.Scope]
	Profile *backend.Profile // receives the device time of each stage
	Role    backend.Role     // the queue for its lists: Compute, or Ingest or Deliver for those that use host memory
}

// NewLane returns a lane of a query with its own profile. Its memory is charged to grant, if that is not nil. ctx
// bounds the waits of allocations from Memory. The owner releases Memory.
func NewLane(ctx context.Context, ops *primitive.Ops, grant *Grant) *Lane {
	return &Lane{Ops: ops, Memory: NewScope(ctx, ops.Device(), grant), Profile: new(backend.Profile)}
}

// Nested returns a copy of the lane with its own empty Memory, for a step that releases its memory when it ends.
func (l *Lane) Nested(ctx context.Context) *Lane {
	return l.On(ctx, l.Role)
}

// On is Nested for another queue.
func (l *Lane) On(ctx context.Context, role backend.Role) *Lane {
	on := &Lane{Ops: l.Ops, Memory: l.Memory.Child(ctx), Profile: l.Profile, Role: role}
	if role != l.Role && (role == backend.Ingest || role == backend.Deliver) {
		on.Ops = l.OverLink()
	}
	return on
}

// Scope returns an empty scope with the device and the grant of the lane.
func (l *Lane) Scope(ctx context.Context) *Scope { return l.Memory.Child(ctx) }

// List returns an empty command list whose device time is attributed to stage.
func (l *Lane) List(stage string) *backend.List {
	list := &backend.List{Profile: l.Profile}
	list.Stage(stage)
	return list
}

// Draw records a draw by a configuration of a spec, of one instance unless d says how many. Errors: as for
// [backend.Device.DrawProgram].
func (l *Lane) Draw(list *backend.List, spec *backend.DrawSpec, config backend.Config, d backend.Draw) (err error) {
	d.Instances = max(1, d.Instances)
	if d.Program, err = l.Device().DrawProgram(spec, config); err == nil {
		list.Draw(spec.Name, &d)
	}
	return err
}

// Submit submits a list to the queue of the lane and does not wait for it.
func (l *Lane) Submit(ctx context.Context, list *backend.List) error {
	span := Begin(ctx, "submit")
	defer span.End()
	_, err := l.Device().Submit(ctx, l.Role, list)
	return err
}

// Run records a list for a stage and submits it or, if there are results, fetches them ([Lane.Fetch]).
func (l *Lane) Run(ctx context.Context, stage string, record func(*backend.List) error,
	results ...backend.Transfer) error {
	list := l.List(stage)
	if err := record(list); err != nil {
		return err
	}
	if len(results) > 0 {
		return l.Fetch(ctx, list, results...)
	}
	return l.Submit(ctx, list)
}

// SumCounts records the exclusive prefix sums of n 32-bit counts, and their total behind them, as numbers of sumBits bits.
// Scratch memory is allocated from memory, which the caller releases after the list is submitted.
func (l *Lane) SumCounts(list *backend.List, memory *Scope, n uint64, sumBits int, counts, sums backend.Range) error {
	p, err := primitive.PlanScan(l.Tuning(), n, 32, sumBits, true)
	if err != nil {
		return err
	}
	scratch := memory.New(p.ScratchBytes, "scan scratch")
	if err := memory.Err(); err != nil {
		return err
	}
	return l.Scan(list, p, counts, sums, scratch.All())
}

// Download copies from the device and waits for it, see [backend.Device.Download].
func (l *Lane) Download(ctx context.Context, to []byte, from backend.Range) error {
	span := BeginWait(ctx, "download")
	defer span.End()
	return l.Device().Download(ctx, to, from)
}

// Fetch submits a list, waits for it, and copies a few numbers that it leaves to the host, see [backend.Device.Read].
func (l *Lane) Fetch(ctx context.Context, list *backend.List, results ...backend.Transfer) error {
	readings := make([]*backend.Reading, len(results))
	defer func() {
		for _, r := range readings {
			r.Release()
		}
	}()
	for i, result := range results {
		var err error
		if readings[i], err = l.Device().Read(ctx, list, result.Device); err != nil {
			return err
		}
	}
	if err := l.Submit(ctx, list); err != nil {
		return err
	}
	span := BeginWait(ctx, "wait for the device")
	defer span.End()
	for i, result := range results {
		if err := readings[i].Get(ctx, result.Host); err != nil {
			return err
		}
	}
	return nil
}

// FetchNumber is Fetch of a 64-bit number, which the device has in two words, the low one first.
func (l *Lane) FetchNumber(ctx context.Context, list *backend.List, from backend.Range) (uint64, error) {
	var number [8]byte
	err := l.Fetch(ctx, list, backend.Transfer{Device: from, Host: number[:]})
	return binary.LittleEndian.Uint64(number[:]), err
}
