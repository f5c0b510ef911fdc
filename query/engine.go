// Package query is the physical tree of a query and its runner: scans bring tables to a device, an operator works
// there, and a sink delivers what it makes. It chooses among alternatives, keeps to the limits of memory, and knows
// afterwards what each stage took beside what was predicted.
package query

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Engine runs queries on one device. Safe for concurrent use. Queries that run at the same time share its memory, and
// that of the host: each takes as much as its plan says before it begins, and waits until there is so much.
type Engine struct {
	Ops       *primitive.Ops
	Allocator memory.Allocator // of the record batches that are delivered
	// GranuleRows and WindowRows bound the probe rows that are joined and the output rows that are made at a time; 0: as
	// many as memory allows. For measurements and tests.
	GranuleRows, WindowRows uint64
	// Compare says where keys that have hashes are hashed and compared. For measurements and tests.
	Compare Comparing
	// Keys says where the codes of keys are made. For measurements and tests.
	Keys KeyPlace

	flows       exec.Flows
	budget      *exec.Budget
	hostBytes   uint64 // cap of host memory, or exec.Unlimited
	pinnedBytes uint64 // of it that batches may be in
}

// NewEngine returns an engine on the device of ops, whose batches are in memory of the allocator. memoryLimitBytes is
// the cap of host memory: inputs, batches in flight, what queries hold beside them, and all device memory where the
// device lives in host memory; 0 is no limit. Memory that the device keeps for reuse, or an allocator that has Trim, is
// given back when queries need it; batches are in pinned memory where the allocator is a [relation.PinnedAllocator].
func NewEngine(ops *primitive.Ops, allocator memory.Allocator, memoryLimitBytes uint64) *Engine {
	e := &Engine{Ops: ops, Allocator: allocator, hostBytes: cmp.Or(memoryLimitBytes, exec.Unlimited)}
	if pinned, ok := allocator.(*relation.PinnedAllocator); ok {
		e.pinnedBytes = pinned.CapBytes()
	}
	e.budget = exec.NewBudget(exec.Need{Device: e.onDevice(e.capBytes()), Pinned: e.pinnedBytes, Host: e.hostBytes})
	if e.Device().Info().InHostMemory() {
		e.budget.Pool(e.Device(), e.Device().Trim)
	}
	if keeps, ok := allocator.(interface{ Trim(mostBytes uint64) uint64 }); ok {
		e.budget.Pool(nil, keeps.Trim)
	}
	return e
}

// Begin begins a flow of a query; see [exec.Flows.Begin].
func (e *Engine) Begin(ctx context.Context) (flow *exec.Flow, begun func(), err error) {
	return e.flows.Begin(ctx)
}

// Close ends all queries: those under way fail with ErrCancelled, build sides are closed, and those that come are
// refused with ErrInvalidInput. When it returns, nothing uses the device. It must not be called by a source nor by a
// callback, for which it waits.
func (e *Engine) Close() {
	e.flows.Close(fmt.Errorf("%w: the engine was closed", backend.ErrCancelled))
}

// Device is the device that queries run on.
func (e *Engine) Device() *backend.Device { return e.Ops.Device() }

// HostCapBytes is the cap of host memory, exec.Unlimited where there is none.
func (e *Engine) HostCapBytes() uint64 { return e.hostBytes }

// Budget is the memory that queries share.
func (e *Engine) Budget() *exec.Budget { return e.budget }

// capBytes is the cap of device memory.
func (e *Engine) capBytes() uint64 { return e.Device().Options().DeviceMemoryBytes }

func (e *Engine) onDevice(sizeBytes uint64) map[*backend.Device]uint64 {
	return map[*backend.Device]uint64{e.Device(): sizeBytes}
}
