// Package spirjoin joins Arrow tables on a GPU, through Vulkan, or on the CPU.
//
//	engine, err := spirjoin.Open(ctx, spirjoin.Options{})
//	...
//	result, err := engine.Join(ctx, orders, lineitem, spirjoin.JoinSpec{
//		LeftOn: []string{"o_orderkey"}, RightOn: []string{"l_orderkey"},
//	})
//	...
//	for batch, err := range result.Batches(ctx) { ... }
package spirjoin

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// The vocabulary of joins; see package join for each.
type (
	JoinSpec        = join.Spec
	JoinHow         = join.How
	JoinOutput      = join.Output
	JoinOrder       = join.Order
	JoinValidate    = join.Validate
	JoinBuildSide   = join.BuildSide
	JoinMaterialize = join.Materialize
	JoinLayout      = join.Layout
	JoinPlan        = join.Plan
	JoinResult      = join.Result
	JoinBuild       = join.Built
	JoinPairs       = query.Pairs
	JoinRanges      = query.KeyRanges
	JoinStats       = query.Stats
	Source          = join.Source
)

// The kinds of joins, for JoinSpec.How.
const (
	Inner     = join.Inner
	Left      = join.Left
	Right     = join.Right
	Full      = join.Full
	Semi      = join.Semi
	Anti      = join.Anti
	RightSemi = join.RightSemi
	RightAnti = join.RightAnti
	Mark      = join.Mark
	NotIn     = join.NotIn
	Cross     = join.Cross
)

// What a join returns, for JoinSpec.Output.
const (
	Rows  = join.Rows
	Count = join.Count
	Pairs = join.Pairs
)

// The orders of rows, for JoinSpec.Order.
const (
	Unordered  = join.Unordered
	LeftOrder  = join.LeftOrder
	RightOrder = join.RightOrder
)

// The keys that must be unique, for JoinSpec.Validate.
const (
	ManyToMany = join.ManyToMany
	OneToOne   = join.OneToOne
	OneToMany  = join.OneToMany
	ManyToOne  = join.ManyToOne
)

// The sides that can be the build side, for JoinSpec.BuildSide.
const (
	BuildAuto  = join.BuildAuto
	BuildLeft  = join.BuildLeft
	BuildRight = join.BuildRight
)

// Where columns are put together, for JoinSpec.Materialize.
const (
	MaterializeAuto   = join.MaterializeAuto
	MaterializeHost   = join.MaterializeHost
	MaterializeDevice = join.MaterializeDevice
)

// The errors. Each error of this package wraps one of them, and its text says what to do. Memory errors are separate
// from ErrLimit because their remedies differ: with more memory, or after other joins have ended, the same join
// succeeds, whereas a limit is set by the caller (MaxOutputRows) or by the format and remains.
var (
	ErrInvalidInput = backend.ErrInvalidInput // an invalid specification, schema or use of the package
	ErrUnsupported  = backend.ErrUnsupported  // keys or columns of a type that this join does not support
	ErrLimit        = backend.ErrLimit        // more rows than allowed
	ErrDeviceMemory = backend.ErrDeviceMemory // more device memory needed than Options.DeviceMemoryBytes or the device allows
	ErrHostMemory   = backend.ErrHostMemory   // more host memory needed than Options.MemoryLimitBytes or the host allows
	ErrNoDevice     = backend.ErrNoDevice     // no device of that name, or no GPU where none is named
	ErrDeviceLost   = backend.ErrDeviceLost   // the device or its driver failed; close the engine
	ErrTimedOut     = backend.ErrTimedOut     // the device did not answer, or the context's deadline passed
	ErrCancelled    = backend.ErrCancelled    // the context was cancelled
)

// ParseJoinHow parses the name of a kind of join: inner, left, right, full, semi, anti, right-semi, right-anti, mark,
// not-in or cross.
func ParseJoinHow(name string) (JoinHow, error) { return join.ParseHow(name) }

// FromTable returns a source of the rows of a table. The table must stay alive until the result is closed.
func FromTable(table arrow.Table) Source { return join.FromTable(table) }

// FromReader returns a source of the remaining rows of a reader. The caller keeps ownership of the reader and must not
// use it until the result is closed.
func FromReader(reader array.RecordReader) Source { return join.FromReader(reader) }

// ParseJoinAlgorithm parses the name of an algorithm: phj-om, phj-um, hj, smj-om, smj-um, or auto for the one that is
// predicted to be fastest.
func ParseJoinAlgorithm(name string) (string, error) { return join.ParseAlgorithm(name) }

// NewJoinLayout derives the output columns of a join, and the input columns that it needs, from the schemas alone.
func NewJoinLayout(left, right *arrow.Schema, spec JoinSpec) (*JoinLayout, error) {
	return join.NewLayout(left, right, spec)
}

// HostDevice is the name of the device that stands for the host's CPU cores.
const HostDevice = "host"

// Options select the device of an engine and its limits. The zero value selects the best GPU, or the CPU if there is
// none, and the default limits.
type Options struct {
	// Device is the index of a device, its name or a part of it, its id or its backend, as listed by spirjoin devices;
	// "host" is the CPU; "" and "auto" are the best GPU, or the CPU if there is none.
	Device string
	// DeviceMemoryBytes is a hard cap on device memory; the default is 80% of the device's budget.
	DeviceMemoryBytes uint64
	// MemoryLimitBytes is a hard cap on host memory for all that the engine does at a time; 0 means no limit. A join
	// counts with its tables, even if they are the caller's, with four batches of output, parts of a source, its notes on
	// rows, and its device memory if the device's memory is host memory. Columns that several joins share count once.
	//
	// A join acquires all of this, and its device memory, before it begins. If others hold memory, it takes smaller
	// batches or waits until its context ends; a need beyond the cap is refused at once with ErrHostMemory. Results hold
	// their memory until they are drawn or closed, build sides until they are closed.
	//
	// Not counted are tables that no join is reading, batches that were drawn and not released beyond those four, what
	// sources hold, buffers of 64 MiB through which a GPU copies, and the program itself.
	MemoryLimitBytes uint64
	System           SystemOptions
	Tuning           primitive.Tuning // rows that take precedence over the tuning tables and the user's tuning file
}

// Engine runs queries on one device. Safe for concurrent use; the owner closes it.
type Engine struct {
	system *System
	device *backend.Device
	join   *join.Engine
	pinned *relation.PinnedAllocator

	tuningProblems []error
}

// Open finds the devices, opens the one that the options select, and returns an engine on it. The error is ErrNoDevice
// if there is none; a software driver is used only if it is named.
func Open(ctx context.Context, options Options) (*Engine, error) {
	options.System.HostOnly = options.System.HostOnly || options.Device == HostDevice
	system, err := Discover(options.System)
	if err != nil {
		return nil, err
	}
	engine, err := system.Engine(ctx, options)
	if err != nil {
		return nil, errors.Join(err, system.Close())
	}
	engine.system = system
	return engine, nil
}

// Engine opens the device that the options select. The system must outlive the engine.
func (s *System) Engine(ctx context.Context, options Options) (*Engine, error) {
	limits := backend.DeviceOptions{DeviceMemoryBytes: options.DeviceMemoryBytes}
	device, err := s.Open(ctx, options.Device, limits)
	if err != nil {
		return nil, err
	}
	return newEngine(device, options)
}

// newEngine takes the device.
func newEngine(device *backend.Device, options Options) (*Engine, error) {
	tuning, problems := UserTuning(device.Info())
	ops, err := primitive.New(device, tuning.With(options.Tuning))
	if err != nil {
		return nil, errors.Join(err, device.Close())
	}
	e := &Engine{device: device, tuningProblems: problems}
	var allocator memory.Allocator = &offheap.Shared
	if info := device.Info(); info.Limits.ImportAlignment > 0 && !info.Unified {
		capBytes := device.Options().HostMemoryBytes
		if options.MemoryLimitBytes > 0 { // of which pinned memory is a part, blocks kept for reuse too
			capBytes = min(capBytes, options.MemoryLimitBytes)
		}
		e.pinned = relation.NewPinnedAllocator(device, capBytes)
		allocator = e.pinned
	}
	e.join = join.NewEngine(ops, allocator, options.MemoryLimitBytes)
	return e, nil
}

// Device describes the device that the engine runs on.
func (e *Engine) Device() *backend.DeviceInfo { return e.device.Info() }

// TuningProblems reports which rows of the user's tuning file are ignored, and why. The engine uses its built-in tables
// instead.
func (e *Engine) TuningProblems() []error { return e.tuningProblems }

// Allocator returns the allocator of the batches of results, which is also the best one for input tables: it allocates
// host memory that the device reads without a staging copy, if the device supports that, otherwise large pages outside
// Go's heap. Memory is freed only by Release.
func (e *Engine) Allocator() memory.Allocator { return e.join.Allocator }

// Join plans and runs a join. The output is read from the result, which the caller closes. Both tables must stay alive
// until then.
func (e *Engine) Join(ctx context.Context, left, right arrow.Table, spec JoinSpec) (*JoinResult, error) {
	plan, err := e.join.Plan(ctx, left, right, spec)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// JoinStream joins two sources of record batches, of known or unknown length. One is collected as the build side: the
// one that spec.BuildSide names or, with BuildAuto, the one known to have fewer rows, else the left one, unless
// spec.Validate or spec.Order require the other. The other source is joined part by part: its batches are joined,
// delivered and released while the next ones are read, so it may be larger than memory. The caller closes the result;
// the sources must stay alive until then.
//
// Errors: those of [Engine.Join] and of the sources; backend.ErrUnsupported if all rows of the probe side would be
// needed at once, to check that its keys are unique or to return pairs in the order of the build side.
func (e *Engine) JoinStream(ctx context.Context, left, right Source, spec JoinSpec) (*JoinResult, error) {
	return e.join.Stream(ctx, left, right, spec)
}

// JoinStreamLayout is JoinStream with an existing layout. The layout may come from schemas with more columns than the
// sources, so that a caller can read only the columns in layout.Needed.
func (e *Engine) JoinStreamLayout(ctx context.Context, layout *JoinLayout, left, right Source) (*JoinResult, error) {
	return e.join.StreamLayout(ctx, layout, left, right)
}

// PlanJoin plans a join with an existing layout. The layout may come from schemas with more columns than the tables, so
// that a caller can read only the columns in layout.Needed. [JoinPlan.Run] runs the plan.
func (e *Engine) PlanJoin(ctx context.Context, layout *JoinLayout, left, right arrow.Table) (*JoinPlan, error) {
	return e.join.PlanLayout(ctx, layout, left, right)
}

// Explain plans a join without running it. String returns the text of the plan, and Run runs it.
func (e *Engine) Explain(ctx context.Context, left, right arrow.Table, spec JoinSpec) (*JoinPlan, error) {
	return e.join.Plan(ctx, left, right, spec)
}

// BuildSide loads one table of a join onto the device and sorts it, partitions it or makes it a hash table once, to be
// joined with many tables by [JoinBuild.Join] or with sources by [JoinBuild.JoinStream]. It is the left table of these
// joins, or the right one if spec.BuildSide is BuildRight. The other tables have the schema probe and about probeRows
// rows; 0 if unknown.
//
// The caller closes the build side and keeps the table alive until then. Meanwhile it holds device memory and, under
// MemoryLimitBytes, host memory for the table and for what one join takes beside its probe table. A join with it
// therefore waits for no other, but others that need more than it leaves wait until it is closed or their context ends.
// Only one result can be in progress at a time. Each join is independent: a kind that returns rows of the build side
// without a partner returns those that have none in this probe table.
//
// Errors: those of planning a join; backend.ErrInvalidInput for a cross join, which has no keys.
func (e *Engine) BuildSide(ctx context.Context, table arrow.Table, probe *arrow.Schema, probeRows uint64, spec JoinSpec) (
	*JoinBuild, error) {
	return e.join.Build(ctx, table, probe, probeRows, spec)
}

// KeyRanges returns the matching key ranges of two tables instead of rows: which rows of one table, in the order of the
// key, match which rows of the other.
func (e *Engine) KeyRanges(ctx context.Context, left, right arrow.Table, spec JoinSpec) (JoinRanges, error) {
	return e.join.KeyRanges(ctx, left, right, spec)
}

// Close closes the device, and the system if Open created it. Results and build sides must be closed first.
func (e *Engine) Close() error {
	if e.pinned != nil {
		e.pinned.Close()
	}
	err := e.device.Close()
	if e.system != nil {
		err = errors.Join(err, e.system.Close())
	}
	return err
}
