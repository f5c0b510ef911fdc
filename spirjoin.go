// Package spirjoin joins Arrow tables on whatever device is there: a GPU through Vulkan, or the host's cores.
//
//	engine, err := spirjoin.Open(ctx, spirjoin.Options{})
//	...
//	result, err := engine.Join(ctx, orders, lineitem, spirjoin.JoinSpec{LeftOn: []string{"o_orderkey"}, RightOn: []string{"l_orderkey"}})
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

// The errors. Each error of this package wraps one of them; its text says what to do. Those of memory are apart from
// ErrLimit because they call for different things: with more memory, or when other joins have ended, the same join
// runs; a limit is one of the caller's (MaxOutputRows) or of the format, and stays.
var (
	ErrInvalidInput = backend.ErrInvalidInput // the specification, a schema or a use of the package is wrong
	ErrUnsupported  = backend.ErrUnsupported  // keys or columns of a type that cannot be joined so
	ErrLimit        = backend.ErrLimit        // more rows than allowed
	ErrDeviceMemory = backend.ErrDeviceMemory // Options.DeviceMemoryBytes, or what the device has, is too little
	ErrHostMemory   = backend.ErrHostMemory   // Options.MemoryLimitBytes, or what the host has, is too little
	ErrNoDevice     = backend.ErrNoDevice     // no device of that name, or no GPU and none named
	ErrDeviceLost   = backend.ErrDeviceLost   // the device or its driver failed; close the engine
	ErrTimedOut     = backend.ErrTimedOut     // the device did not answer, or the context's deadline passed
	ErrCancelled    = backend.ErrCancelled    // the context was cancelled
)

// ParseJoinHow reads the name of a kind of join: inner, left, right, full, semi, anti, right-semi, right-anti, mark,
// not-in or cross.
func ParseJoinHow(name string) (JoinHow, error) { return join.ParseHow(name) }

// FromTable is a source of the rows of a table, which must live until the result is closed.
func FromTable(table arrow.Table) Source { return join.FromTable(table) }

// FromReader is a source of the rows that a reader has left. The reader stays the caller's, who leaves it alone until
// the result is closed.
func FromReader(reader array.RecordReader) Source { return join.FromReader(reader) }

// ParseJoinAlgorithm reads the name of an algorithm: phj-om, phj-um, hj, smj-om, smj-um, or auto for the one that is
// predicted to be fastest.
func ParseJoinAlgorithm(name string) (string, error) { return join.ParseAlgorithm(name) }

// NewJoinLayout derives the output columns of a join, and the input columns that it needs, from the schemas alone.
func NewJoinLayout(left, right *arrow.Schema, spec JoinSpec) (*JoinLayout, error) {
	return join.NewLayout(left, right, spec)
}

// HostDevice is the name of the host's cores as a device.
const HostDevice = "host"

// Options say where an engine runs and within which limits. The zero value takes the best GPU, or the host's cores
// where there is none, and the default limits.
type Options struct {
	// Device is the number, the name or a part of it, the id or the backend of a device, as spirjoin devices lists them;
	// "host" is the host's cores; "" and "auto" are the best GPU, or the host's cores where there is none.
	Device string
	// DeviceMemoryBytes is a hard cap of memory on the device; default 80% of what the device offers.
	DeviceMemoryBytes uint64
	// MemoryLimitBytes is a hard cap of host memory for all that the engine does at a time; 0 is no limit. A join counts
	// with its tables, also where they are the caller's, four batches of output, parts of a source, what it notes of
	// rows, and its device memory where the device lives in host memory. Columns that several joins share count once.
	//
	// A join acquires all of this, and its device memory, before it begins. Where others hold memory, it takes smaller
	// batches or waits, until its context ends; what is more than the cap is refused at once with ErrHostMemory. Results
	// hold their memory until they were drawn or are closed, build sides until they are closed.
	//
	// Not counted are tables that no join reads at the moment, batches that were drawn and not released beyond those
	// four, what sources hold, buffers of 64 MiB through which a GPU copies, and the program itself.
	MemoryLimitBytes uint64
	System           SystemOptions
	Tuning           primitive.Tuning // rows that win over the tuning tables and the user's tuning file
}

// Engine runs queries on one device. Safe for concurrent use; the owner closes it.
type Engine struct {
	system *System
	device *backend.Device
	join   *join.Engine
	pinned *relation.PinnedAllocator

	tuningProblems []error
}

// Open finds the devices, opens the one that the options name, and returns an engine on it. ErrNoDevice when there is
// none: a software driver is only taken when it is named.
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

// Engine opens the device that the options name in a system that outlives the engine.
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

// TuningProblems says which rows of the user's tuning file do not count, and why. The engine runs by its tables
// instead.
func (e *Engine) TuningProblems() []error { return e.tuningProblems }

// Allocator is where tables are best allocated, and where the batches of results are: in host memory that the device
// reads without a staging copy, where it can, otherwise in large pages outside Go's heap. Memory is given back by
// Release alone.
func (e *Engine) Allocator() memory.Allocator { return e.join.Allocator }

// Join plans and runs a join and returns the result, from which the output is drawn; the caller closes it. Both tables
// must stay alive until then.
func (e *Engine) Join(ctx context.Context, left, right arrow.Table, spec JoinSpec) (*JoinResult, error) {
	plan, err := e.join.Plan(ctx, left, right, spec)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// JoinStream joins two sources, tables or what yields record batches, of known or unknown length. One is collected as
// the build side: that which spec.BuildSide names or, for BuildAuto, the one that is known to have fewer rows, else the
// left one, unless spec.Validate or spec.Order ask for the other. The other one comes part by part: its batches are
// joined, delivered and released while the next are read, so that it may be larger than all memory. The caller closes
// the result; sources must stay alive until then.
//
// Errors: those of [Engine.Join] and of the sources; backend.ErrUnsupported for what needs all rows of the probe side
// at once: that its keys are unique, pairs in the order of the build side.
func (e *Engine) JoinStream(ctx context.Context, left, right Source, spec JoinSpec) (*JoinResult, error) {
	return e.join.Stream(ctx, left, right, spec)
}

// JoinStreamLayout is JoinStream for a layout that was made before, from schemas that may have had more columns, so
// that a caller can read just those in layout.Needed.
func (e *Engine) JoinStreamLayout(ctx context.Context, layout *JoinLayout, left, right Source) (*JoinResult, error) {
	return e.join.StreamLayout(ctx, layout, left, right)
}

// PlanJoin plans a join whose layout was made before, from schemas that may have had more columns than the tables, so
// that a caller can read just those in layout.Needed. The plan's Run runs it.
func (e *Engine) PlanJoin(ctx context.Context, layout *JoinLayout, left, right arrow.Table) (*JoinPlan, error) {
	return e.join.PlanLayout(ctx, layout, left, right)
}

// Explain plans a join and returns what it would do; the plan's text is its String, and its Run does it.
func (e *Engine) Explain(ctx context.Context, left, right arrow.Table, spec JoinSpec) (*JoinPlan, error) {
	return e.join.Plan(ctx, left, right, spec)
}

// BuildSide brings one table of a join to the device, transformed or made a hash table once, to be joined with many
// tables by [JoinBuild.Join] or sources by [JoinBuild.JoinStream]. It is the left table, or the right one where
// spec.BuildSide is BuildRight. The tables that it will be joined with have the schema probe and about probeRows rows;
// 0 where that is not known.
//
// The caller closes the build side and keeps the table alive until then. Meanwhile it holds device memory and, under
// MemoryLimitBytes, memory of the host for the table and for what one join takes beside its probe table. So a join with
// it waits for no other; but others that need more than it leaves wait until it is closed, or their context ends. One
// result is under way at a time. Each join stands for itself: rows of the build side without a partner, of kinds that
// return them, are those that this probe table has no partner for.
//
// Errors: those of planning a join; backend.ErrInvalidInput for a cross join, which has no keys.
func (e *Engine) BuildSide(ctx context.Context, table arrow.Table, probe *arrow.Schema, probeRows uint64, spec JoinSpec) (
	*JoinBuild, error) {
	return e.join.Build(ctx, table, probe, probeRows, spec)
}

// KeyRanges returns the matching key ranges of two tables instead of rows: which rows of the one, in order of the key,
// pair with which rows of the other.
func (e *Engine) KeyRanges(ctx context.Context, left, right arrow.Table, spec JoinSpec) (JoinRanges, error) {
	return e.join.KeyRanges(ctx, left, right, spec)
}

// Close closes the device, and the system where Open made it. Results and build sides must have been closed.
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
