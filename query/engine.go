// Package query is the physical tree of a query and its runner: scans bring tables to a device, an operator works
// there, and a sink delivers what it makes. It chooses among alternatives, keeps to the limits of memory, and knows
// afterwards what each stage took beside what was predicted.
package query

import (
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Engine runs queries on one device. Safe for concurrent use. Queries that run at the same time share its memory: each
// takes as much as its plan says before it begins, and waits until there is so much.
type Engine struct {
	Ops       *primitive.Ops
	Allocator memory.Allocator // of the record batches that are delivered
	// MemoryLimitBytes is the cap of host memory: inputs, batches in flight, and all device memory where the device
	// lives in host memory. 0 is no limit.
	MemoryLimitBytes uint64
	// GranuleRows and WindowRows bound the probe rows that are joined and the output rows that are made at a time; 0: as
	// many as memory allows. For measurements and tests.
	GranuleRows, WindowRows uint64
	// Compare says where keys that have hashes are hashed and compared. For measurements and tests.
	Compare Comparing

	budget *exec.Budget
}

// NewEngine returns an engine on the device of ops.
func NewEngine(ops *primitive.Ops, allocator memory.Allocator, memoryLimitBytes uint64) *Engine {
	e := &Engine{Ops: ops, Allocator: allocator, MemoryLimitBytes: memoryLimitBytes}
	e.budget = exec.NewBudget(e.need(e.capBytes()))
	return e
}

// Device is the device that queries run on.
func (e *Engine) Device() *backend.Device { return e.Ops.Device() }

func (e *Engine) capBytes() uint64 { return e.Device().Options().DeviceMemoryBytes }

// freeBytes is what other queries leave of the device memory.
func (e *Engine) freeBytes() uint64 { return e.budget.Free().Device[e.Device()] }

func (e *Engine) need(deviceBytes uint64) exec.Need {
	return exec.Need{Device: map[*backend.Device]uint64{e.Device(): deviceBytes}}
}
