// Package query plans physical trees and runs them: scans load tables onto a device, an operator joins there, and sinks
// deliver the output. The package chooses among alternative plans, keeps within the memory limits, and reports
// predicted and measured times of each stage. A query runs on a [Lane]; package team runs a query on several devices,
// with a lane on each.
package query

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Engine runs queries on one device. Safe for concurrent use. Concurrent queries share the memory of the device and of
// the host: each acquires what its plan needs before it begins, and waits until that is free.
type Engine struct {
	Ops       *primitive.Ops
	Allocator memory.Allocator // of the record batches that are delivered
	// Simulate is for rehearsals, by which kernels are compiled ahead; nil: they are compiled when they are needed.
	Simulate Simulator
	Knobs

	*shared
	rehearsed   *shapes
	pinnedBytes uint64 // the part of host memory that batches may use as pinned memory
	left        room   // memory that queries leave to others ([Engine.Leaving])
}

// shared is what engines of several devices share.
type shared struct {
	// Trace records what the goroutines of queries do; nil: nothing does. It is set before the first query.
	Trace *exec.Trace

	flows     *exec.Flows
	budget    *exec.Budget
	hostBytes uint64       // cap of host memory, or exec.Unlimited
	reserved  uint64       // host memory that was taken out of the cap
	links     *peers.Links // between the devices
}

// Member is a device, with what an engine on it needs.
type Member struct {
	Ops       *primitive.Ops
	Allocator memory.Allocator // of the record batches that come from the device
}

// NewEngine returns an engine on the device of ops, whose record batches are in memory of the allocator.
// memoryLimitBytes is the limit of host memory for inputs, batches in flight, other memory of queries, and all device
// memory if the device uses host memory; 0 is no limit. Memory that the device, or an allocator with a Trim method,
// keeps for reuse is released when queries need it. If the allocator is a [relation.PinnedAllocator], batches are in
// pinned memory.
func NewEngine(ops *primitive.Ops, allocator memory.Allocator, memoryLimitBytes uint64) *Engine {
	return NewEngines([]Member{{ops, allocator}}, memoryLimitBytes)[0]
}

// NewEngines returns an engine for each member, as NewEngine. They share the limit of host memory, so that a query may
// run on several of them.
func NewEngines(members []Member, memoryLimitBytes uint64) []*Engine {
	all := &shared{flows: new(exec.Flows), hostBytes: cmp.Or(memoryLimitBytes, exec.Unlimited),
		links: peers.NewLinks(nil)}
	engines := make([]*Engine, len(members))
	total := exec.Need{Device: make(map[*backend.Device]uint64), Host: all.hostBytes}
	for i, m := range members {
		e := &Engine{Ops: m.Ops, Allocator: m.Allocator, shared: all, rehearsed: new(shapes)}
		if pinned, ok := m.Allocator.(*relation.PinnedAllocator); ok {
			e.pinnedBytes = pinned.CapBytes()
		}
		total.Device[e.Device()] = e.capBytes()
		total.Pinned += e.pinnedBytes
		engines[i] = e
	}
	all.budget = exec.NewBudget(total)
	trimmed := make(map[any]bool) // devices and allocators
	for _, e := range engines {
		if e.Device().Info().InHostMemory() && !trimmed[e.Device()] {
			all.budget.Pool(e.Device(), e.Device().Trim)
			trimmed[e.Device()] = true
		}
		if keeps, ok := e.Allocator.(interface{ Trim(mostBytes uint64) uint64 }); ok && !trimmed[e.Allocator] {
			all.budget.Pool(nil, keeps.Trim)
			trimmed[e.Allocator] = true
		}
	}
	return engines
}

// Begin begins a flow of a query; see [exec.Flows.Begin].
func (e *Engine) Begin(ctx context.Context) (flow *exec.Flow, begun func(), err error) {
	return e.flows.Begin(exec.WithTrace(ctx, e.Trace))
}

// Close ends all queries of the engine, and of those that share memory with it: those under way fail with ErrCancelled,
// build sides are closed, and those that come are refused with ErrInvalidInput. When it returns, nothing uses the
// devices. It must not be called by a source nor by a callback, for which it waits.
func (e *Engine) Close() {
	e.flows.Close(fmt.Errorf("%w: the engine was closed", backend.ErrCancelled))
	_ = e.links.Close() // what is left there, devices tell when they are closed
}

// Closed returns the error of queries that are under way when the engine is closed, ErrCancelled; nil if it was not.
func (e *Engine) Closed() error { return e.flows.Closed() }

// Device returns the device that queries run on.
func (e *Engine) Device() *backend.Device { return e.Ops.Device() }

// HostCapBytes returns the limit of host memory; exec.Unlimited if there is none.
func (e *Engine) HostCapBytes() uint64 { return e.hostBytes }

// Budget returns the memory that queries share.
func (e *Engine) Budget() *exec.Budget { return e.budget }

// Links returns the links between the devices of all engines that share memory with this one.
func (e *Engine) Links() *peers.Links { return e.links }

// Connect joins the devices of engines that share memory ([link.Join]) and makes the links between them, over which
// large build sides then go from device to device: otherwise links are made when rows must move. It takes up to a
// second for two GPUs. Call it before the first query. Errors: as for [link.Connect].
func (e *Engine) Connect(ctx context.Context, with ...*Engine) error {
	devices := []*backend.Device{e.Device()}
	for _, other := range with {
		devices = append(devices, other.Device())
	}
	link.Join(devices...)
	return e.links.Make(ctx, devices)
}

// Reserve takes memory out of the limit of host memory, for what queries do not have. Call it before the first query.
// The error is ErrHostMemory if the limit is lower.
func (e *Engine) Reserve(sizeBytes uint64) error {
	if err := e.budget.Reserve(sizeBytes); err != nil {
		return err
	}
	if e.hostBytes != exec.Unlimited {
		e.hostBytes, e.reserved = e.hostBytes-sizeBytes, e.reserved+sizeBytes
	}
	return nil
}

// Leaving returns an engine that shares everything with this one, but whose queries leave so much memory to the reader
// of their output: it plans them as if the limits were lower. Nothing is held for the other, who grows a grant of their
// own, which fails if further queries have taken what was left.
func (e *Engine) Leaving(hostBytes, deviceBytes uint64) *Engine {
	all := *e.shared
	if all.hostBytes != exec.Unlimited {
		hostBytes = min(hostBytes, all.hostBytes)
		all.hostBytes, all.reserved = all.hostBytes-hostBytes, all.reserved+hostBytes
	}
	deviceBytes = min(deviceBytes, e.capBytes())
	less := &Engine{Ops: e.Ops, Allocator: e.Allocator, Simulate: e.Simulate, Knobs: e.Knobs, shared: &all,
		rehearsed: e.rehearsed, pinnedBytes: min(e.pinnedBytes, all.hostBytes)}
	less.left = room{hostBytes: e.left.hostBytes + hostBytes, deviceBytes: e.left.deviceBytes + deviceBytes}
	return less
}

// batchShare of the memory that queries leave to the readers of their output is a batch, of which they hold several.
const batchShare = 16

// BatchRows returns the maximum number of rows of a batch of which most are wanted: fewer if host memory is limited and
// some of it is left to others.
func (e *Engine) BatchRows(most int, schema *arrow.Schema) uint64 {
	if e.hostBytes == exec.Unlimited || e.left.hostBytes == 0 {
		return uint64(most)
	}
	rowBytes := max(1, relation.RowBytes(schema.Fields()...))
	return min(uint64(most), max(minBatchRows, e.left.hostBytes/batchShare/rowBytes))
}

// DeviceCapBytes returns the limit of device memory.
func (e *Engine) DeviceCapBytes() uint64 { return e.capBytes() }

// capBytes is the limit of device memory.
func (e *Engine) capBytes() uint64 {
	return e.Device().Options().DeviceMemoryBytes - e.left.deviceBytes
}

func (e *Engine) onDevice(sizeBytes uint64) map[*backend.Device]uint64 {
	return map[*backend.Device]uint64{e.Device(): sizeBytes}
}
