// Package spirjoin joins Arrow tables by key on a GPU, through Vulkan or OpenCL, or on the CPU, and groups their
// rows.
//
//	engine, err := spirjoin.Open(ctx, spirjoin.Options{})
//	...
//	result, err := engine.Join(ctx, orders, lineitem, spirjoin.JoinSpec{
//		LeftOn: []string{"o_orderkey"}, RightOn: []string{"l_orderkey"},
//	})
//	...
//	defer result.Close()
//	for batch, err := range result.Batches(ctx) {
//		...
//		batch.Release()
//	}
//
// An [Engine] joins two tables ([Engine.Join]), a table with many others ([Engine.BuildSide]), and tables with record
// batches that are read as the join goes on ([Engine.JoinStream]). A [JoinSpec] says what to join and how, a
// [JoinResult] delivers the rows, their number or their row numbers.
//
// # Lifetimes
//
// Inputs must stay alive until the result is closed, results until they are drawn, the engine until its results and
// build sides are closed: [Engine.Close] ends those that are not. A batch belongs to the caller, who must release it:
// its memory may lie outside Go's heap, where the garbage collector does not free it. A batch stays valid after the
// result and the engine are closed. The context of the call that returned a result ends the result too: cancel it only
// after the result is closed.
package spirjoin

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// JoinSpec says what to join and how. Zero values are defaults, except for the key columns. [join.Spec] documents the
// fields in full:
//
//	How              kind of join; default Inner
//	On               key columns that have the same name on both sides
//	LeftOn, RightOn  otherwise the key columns of each side, pair by pair
//	NullsEqual       left key columns in which NULL equals NULL; in others NULL equals nothing
//	Validate         keys that must be unique, otherwise the join fails; default ManyToMany: none
//	Columns          output columns, by their names in the output and in this order; default all
//	Suffix           appended to the name of a right column that the left table has too; default "_right"
//	SeparateKeys     return both key columns of a pair; otherwise one, with the name of the left one
//	Indicator        name of an additional last column with "both", "left_only" or "right_only"
//	MarkName         name of the boolean column that a Mark join adds; default "mark"
//	Output           Rows, Count or Pairs; default Rows
//	Order            order of the output; default Unordered
//	Deterministic    the same order of rows on every device
//	MaxOutputRows    fail with ErrLimit if there are more rows; default no limit, 100 million for Cross
//	BatchRows        maximum rows of an output batch; default 1,048,576
//	Materialize      where columns are put together; default where it is predicted to be faster
//	Algorithm        see ParseJoinAlgorithm; default the one predicted to be fastest
//	Strategy         way to share the join among several devices; default the one predicted to be fastest
//	BuildSide        side that is prepared once; default the one with fewer rows
//	Progress         callback that gets the phase, the rows done and in all, and the time elapsed and left
type JoinSpec = join.Spec

// JoinResult is a join in progress, whose owner closes it. Its output is drawn once, by one goroutine; a second draw is
// an error. [engine.Result] documents it in full:
//
//	Batches(ctx)  iterates over the rows as record batches, which the caller releases; for Output Rows
//	Pairs(ctx)    iterates over the pairs of row numbers; for Output Pairs
//	Rows()        number of output rows: exact for Output Count, and when all rows were drawn
//	Counted()     whether Rows is exact
//	Schema()      schema of the batches
//	Device        device that does the work
//	Stats()       measurements so far
//	Plan()        plan, with predicted times
//	Explain()     plan, with predicted and measured times
//	Close()       ends the join and releases its memory; a second call does nothing
type JoinResult = engine.Result

// JoinBuild is a table on the device that can be joined many times: Join(ctx, table) and JoinStream(ctx, source) return
// results, Explain() returns the plan, Close() releases the memory. See [Engine.BuildSide] and [engine.Built].
type JoinBuild = engine.Built

// JoinPlan is a planned join: String() is the text of the plan, Run(ctx) runs it, Layout describes the output columns.
type JoinPlan = engine.Plan

// Source is a side of a join that is read batch by batch. [FromTable] and [FromReader] return sources; [source.Source]
// says how to write another one.
type Source = source.Source

// Further types of joins. Those that JoinSpec refers to have their values below.
type (
	JoinHow         = join.How
	JoinOutput      = join.Output
	JoinOrder       = join.Order
	JoinValidate    = join.Validate
	JoinBuildSide   = join.BuildSide
	JoinMaterialize = join.Materialize
	JoinStrategy    = join.Strategy
	JoinLayout      = join.Layout     // the output columns of a join and the input columns that it needs
	JoinPairs       = query.Pairs     // pairs of row numbers, from JoinResult.Pairs
	JoinProgress    = join.Progress   // how far a join has come, for JoinSpec.Progress
	JoinStats       = query.Stats     // measurements, from JoinResult.Stats
	JoinExpected    = engine.Expected // facts about a table before it is read, for Engine.PrepareJoin
)

// The kinds of joins, for JoinSpec.How. A partner of a row is a row of the other table with an equal key. Semi, Anti,
// Mark and NotIn return the columns of the left table, RightSemi and RightAnti the columns of the right table, and the
// others the columns of both.
const (
	Inner     = join.Inner     // pairs of partners
	Left      = join.Left      // pairs, and left rows without a partner, with NULL in the columns of the right table
	Right     = join.Right     // pairs, and right rows without a partner, with NULL in the columns of the left table
	Full      = join.Full      // pairs, and the rows of both tables without a partner
	Semi      = join.Semi      // left rows with a partner, each once
	Anti      = join.Anti      // left rows without a partner, also those whose key is NULL
	RightSemi = join.RightSemi // right rows with a partner, each once
	RightAnti = join.RightAnti // right rows without a partner, also those whose key is NULL
	Mark      = join.Mark      // all left rows, with a boolean column that says which have a partner
	NotIn     = join.NotIn     // as SQL's NOT IN: left rows without a partner, none if a right key is NULL
	Cross     = join.Cross     // each left row with each right row, without keys
)

// What a join returns, for JoinSpec.Output.
const (
	Rows  = join.Rows  // record batches
	Count = join.Count // only the number of rows: JoinResult.Rows
	Pairs = join.Pairs // of an inner join: pairs of row numbers
)

// The orders of rows, for JoinSpec.Order.
const (
	Unordered  = join.Unordered  // any order, which may differ between runs
	LeftOrder  = join.LeftOrder  // order of the left table; partners of a left row in the order of the right table
	RightOrder = join.RightOrder // the same with the sides exchanged
)

// The keys that must be unique, for JoinSpec.Validate. Keys that are not fail the join with ErrInvalidInput.
const (
	ManyToMany = join.ManyToMany // none
	OneToOne   = join.OneToOne   // keys of both tables
	OneToMany  = join.OneToMany  // keys of the left table
	ManyToOne  = join.ManyToOne  // keys of the right table
)

// The sides that can be the build side, for JoinSpec.BuildSide.
const (
	BuildAuto  = join.BuildAuto
	BuildLeft  = join.BuildLeft
	BuildRight = join.BuildRight
)

// The ways to share a join among devices, for JoinSpec.Strategy.
const (
	StrategyAuto = join.StrategyAuto
	StrategyHMG  = join.StrategyHMG // sort-merge join on all devices, by ranges of keys; see docs/hmg.md
)

// Where columns are put together, for JoinSpec.Materialize.
const (
	MaterializeAuto   = join.MaterializeAuto
	MaterializeHost   = join.MaterializeHost
	MaterializeDevice = join.MaterializeDevice
)

// The errors, for errors.Is. Each error of this package wraps one of them, except errors of sources. A join may return
// them from its first call or, while rows are drawn, from JoinResult.Batches.
//
// The text of an error says what to do. It names options in lower case: max_output_rows is JoinSpec.MaxOutputRows,
// memory_limit is Options.MemoryLimitBytes, device_memory is Options.DeviceMemoryBytes.
//
// Memory errors are separate from ErrLimit because their remedies differ: with more memory, or after other joins have
// ended, the same join succeeds, whereas a limit is set by the caller (MaxOutputRows) or by the format and remains.
var (
	ErrInvalidInput = backend.ErrInvalidInput // invalid specification, schema or use; keys that violate Validate
	ErrUnsupported  = backend.ErrUnsupported  // keys or columns of a type that this join does not support
	ErrLimit        = backend.ErrLimit        // more rows than JoinSpec.MaxOutputRows or the format allows
	ErrDeviceMemory = backend.ErrDeviceMemory // more device memory needed than Options.DeviceMemoryBytes or the device allows
	ErrHostMemory   = backend.ErrHostMemory   // more host memory needed than Options.MemoryLimitBytes or the host allows
	ErrNoDevice     = backend.ErrNoDevice     // no usable device that Options.Device fits
	ErrDeviceLost   = backend.ErrDeviceLost   // the device or its driver failed; close the engine
	ErrTimedOut     = backend.ErrTimedOut     // the device did not answer, or the context's deadline passed
	ErrCancelled    = backend.ErrCancelled    // the context was cancelled
)

// ParseJoinHow parses the name of a kind of join: inner, left, right, full, semi, anti, right-semi, right-anti, mark,
// not-in or cross.
func ParseJoinHow(name string) (JoinHow, error) { return join.ParseHow(name) }

// FromTable returns a source of the rows of a table. The table must stay alive until the result is closed.
func FromTable(table arrow.Table) Source { return source.FromTable(table) }

// FromReader returns a source of the remaining rows of a reader, whose number is unknown. The source can be read once.
// The caller keeps ownership of the reader and must not use it until the result is closed.
func FromReader(reader array.RecordReader) Source { return source.FromReader(reader) }

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
	// Device is the index of a GPU, or a device's name or a part of it, its id or its backend, as listed by spirjoin
	// devices and [Discover]. HostDevice is the CPU. "" and "auto" are the best GPU, or the CPU if there is none, and
	// never a software driver such as lavapipe, which must be named.
	Device string
	// Others are further devices, each named as Device, that join together with it where that is predicted to be
	// faster: either all of them have the build side and take parts of the other side, or rows with equal keys meet on
	// one of them. A name that is there twice opens the device twice. Joins with [Engine.BuildSide], and joins of
	// tables in an order that do not ask for StrategyHMG, run on Device alone.
	Others []string
	// DeviceMemoryBytes is a hard cap on the memory of each device; 0 means 80% of the device's budget.
	DeviceMemoryBytes uint64
	// MemoryLimitBytes is a hard cap on host memory for all that the engine does at a time; 0 means no limit. A join
	// counts with its tables, even if they are the caller's, with four batches of output, parts of a source, its notes
	// on rows, and its device memory if the device's memory is host memory. Columns that several joins share count
	// once. A join of small tables needs up to 1 MiB. A build side needs at least 5 MiB, most of it for parts and
	// batches of a join with it.
	//
	// A join acquires all of this, and its device memory, before it begins. If others hold memory, it takes smaller
	// batches or waits until its context ends; a need beyond the cap is refused at once with ErrHostMemory. Results
	// hold their memory until they are drawn or closed, build sides until they are closed. So a join whose source is a
	// result of the same engine may wait for what that result holds, until its context ends: raise the cap so that both
	// fit, or collect the output of the first join and close its result before the second one begins.
	//
	// A stream acquires memory as its sources give rows, until it has its build side and a first part of the probe
	// side. Only one stream at a time may do so: under this cap streams begin one after the other, even if all would
	// fit, and then run side by side. A source that is slow to give its first rows delays the streams behind it, but no
	// join of tables.
	//
	// Not counted are tables that no join is reading, batches that were drawn and not released beyond those four, what
	// sources hold, buffers of 160 MiB through which a GPU copies, and the program itself. Engine.Reserve sets memory
	// aside for them.
	MemoryLimitBytes uint64
	// TempDir is a folder for temporary files, which have no names there and end with the process. With it, JoinStream
	// divides both sides of a join whose build side does not fit in MemoryLimitBytes into parts, and joins them one
	// after the other. Half of the memory is for parts; those that it has no room for are on disk. Without
	// MemoryLimitBytes parts are in memory, and a device with too little memory needs no TempDir. GroupByStream divides
	// groups in the same way that have more than an eighth of MemoryLimitBytes. "" means that nothing is put on disk.
	TempDir string
	// TempLimitBytes is a hard cap on the size of all temporary files; 0 means no limit.
	TempLimitBytes uint64
	System         SystemOptions    // how the devices are found
	Tuning         primitive.Tuning // rows that take precedence over the tuning tables and the user's tuning file
	// Trace records what the queues of the device, and the goroutines of joins, do; nil: nothing is recorded. Several
	// engines may share one. See [NewTrace].
	Trace *Trace
}

// Trace records when the queues of devices and the goroutines of joins did what, for a picture of it. Write(w), to be
// called when the engines are closed, writes it in the Trace Event Format, which Perfetto and chrome://tracing show.
// What was recorded stays in memory until then, about 300 bytes for each event.
type Trace = exec.Trace

// NewTrace returns an empty trace, which begins now, for [Options].
func NewTrace() *Trace { return exec.NewTrace() }

// Engine runs queries on one device, or on several. Safe for concurrent use; the owner closes it.
type Engine struct {
	options Options
	system  *System
	devices []*openDevice // the first one is Options.Device
	join    *engine.Engine
	groups  *groupby.Engine

	tuningProblems []error
	close          func() error // is called once
}

// openDevice is a device of an engine.
type openDevice struct {
	*backend.Device
	query.Member
	untrace func() // ends its trace
}

// Open finds the devices, opens the one that the options select, and returns an engine on it. The caller closes the
// engine. The error is ErrNoDevice if no device fits, ErrInvalidInput if several do.
func Open(ctx context.Context, options Options) (*Engine, error) {
	options.System.HostOnly = options.System.HostOnly || options.Device == HostDevice
	if options.System.Devices == nil {
		options.System.Devices = append([]string{options.Device}, options.Others...)
	}
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

// Engine opens the devices that the options select. The system must outlive the engine.
func (s *System) Engine(ctx context.Context, options Options) (*Engine, error) {
	limits := backend.DeviceOptions{DeviceMemoryBytes: options.DeviceMemoryBytes}
	var devices []*backend.Device
	for _, name := range append([]string{options.Device}, options.Others...) {
		device, err := s.Open(ctx, name, limits)
		if err != nil {
			for _, device := range devices {
				err = errors.Join(err, device.Close())
			}
			return nil, err
		}
		devices = append(devices, device)
	}
	return newEngine(devices, options)
}

// newEngine takes the devices.
func newEngine(devices []*backend.Device, options Options) (*Engine, error) {
	e := &Engine{options: options}
	e.close = sync.OnceValue(e.end)
	var members []query.Member
	for i, device := range devices {
		tuning, problems := UserTuning(device.Info())
		e.tuningProblems = append(e.tuningProblems, problems...)
		ops, err := primitive.New(device, tuning.With(options.Tuning))
		if err != nil {
			for _, device := range devices[i:] {
				err = errors.Join(err, device.Close())
			}
			return nil, errors.Join(err, e.end())
		}
		member := query.Member{Ops: ops, Allocator: relation.AllocatorFor(device, options.MemoryLimitBytes)}
		members = append(members, member)
		e.devices = append(e.devices, &openDevice{device, member, options.Trace.Device(device)})
	}
	e.join = engine.NewEngine(members[0].Ops, members[0].Allocator, options.MemoryLimitBytes, members[1:]...)
	e.groups = &groupby.Engine{Engine: e.join.Engine, TempDir: options.TempDir}
	if options.TempDir != "" {
		e.join.Spill(options.TempDir, cmp.Or(options.TempLimitBytes, math.MaxUint64))
	}
	e.join.Trace = options.Trace
	if !slices.ContainsFunc(members, func(m query.Member) bool { return m.Allocator == &offheap.Shared }) {
		e.join.Budget().Pool(nil, offheap.Shared.Trim) // into whose memory tables may be read all the same
	}
	for _, on := range e.join.Engines() {
		if on.Device().Info().Type != backend.Host { // whose kernels need no compilation
			on.Simulate = host.Simulate
		}
	}
	return e, nil
}

// Connect makes the links between the devices of the engine, if there are several, and proves them with a pattern. Call
// it before the first join. That takes up to a second for two GPUs, and makes joins with large build sides faster,
// which then cross the link to the host once. Without it, links are made when rows must move between devices. It also
// measures the links to the host, each alone and all at once, so that joins use no more devices than the host can feed.
// Errors: device errors.
func (e *Engine) Connect(ctx context.Context) error { return e.join.Connect(ctx) }

// Options returns the options that the engine was opened with.
func (e *Engine) Options() Options { return e.options }

// Device describes the device that the engine runs on, the first one if there are several.
func (e *Engine) Device() *backend.DeviceInfo { return e.devices[0].Info() }

// TuningProblems reports which rows of the user's tuning file are ignored, and why. The engine uses its built-in tables
// instead.
func (e *Engine) TuningProblems() []error { return e.tuningProblems }

// Allocator returns the allocator of the batches of results, which is also the best one for tables that are joined
// several times: it allocates host memory that the device reads without a staging copy, if the device supports that,
// otherwise large pages outside Go's heap. Memory is freed only by Release.
func (e *Engine) Allocator() memory.Allocator { return e.join.Allocator }

// Reserve takes host memory out of Options.MemoryLimitBytes for good, for what the caller holds beside the tables, so
// that joins keep within the rest. Without a limit it does nothing. Call it before the first join. The error is
// ErrHostMemory if the limit is lower.
func (e *Engine) Reserve(sizeBytes uint64) error { return e.join.Reserve(sizeBytes) }

// Join plans and runs a join. The output is read from the result, which the caller closes. Both tables must stay alive,
// and ctx must not end, until then.
func (e *Engine) Join(ctx context.Context, left, right arrow.Table, spec JoinSpec) (*JoinResult, error) {
	plan, err := e.join.Plan(ctx, left, right, spec)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// JoinStream joins two sources of record batches, of known or unknown length. One is collected in memory as the build
// side; the other, the probe side, is joined part by part: its batches are joined, delivered and released while the
// next ones are read, so it may be larger than memory.
//
// The build side is the one that spec.BuildSide names. With BuildAuto it is the side that is known to have fewer rows,
// or a table beside a reader. If that is unknown, both are read at once, and kept, until one ends, which is the build
// side; if both take a quarter of Options.MemoryLimitBytes before, it is the left one. Some joins leave no choice: the
// side whose keys spec.Validate requires to be unique, the side whose order spec.Order does not request of pairs, or
// the right side of a not-in join. That side is collected even if it is long or its length is unknown; if it exceeds
// Options.MemoryLimitBytes, the join ends with ErrHostMemory.
//
// The caller closes the result; the sources must stay alive, and ctx must not end, until then. Batches that the caller
// keeps are not freed, so a result larger than memory must be released batch by batch.
//
// Errors: as for [Engine.Join]; errors of the sources; ErrUnsupported if all rows of the probe side would be needed at
// once, to check that its keys are unique or to return pairs in the order of the build side.
func (e *Engine) JoinStream(ctx context.Context, left, right Source, spec JoinSpec) (*JoinResult, error) {
	return e.join.Stream(ctx, left, right, spec)
}

// JoinStreamLayout is JoinStream with an existing layout. The layout may come from schemas with more columns than the
// sources, so that a caller can read only the columns in layout.Needed.
func (e *Engine) JoinStreamLayout(ctx context.Context, layout *JoinLayout, left, right Source) (*JoinResult, error) {
	return e.join.StreamLayout(ctx, layout, left, right)
}

// PlanJoin plans a join with an existing layout. The layout may come from schemas with more columns than the tables, so
// that a caller can read only the columns in layout.Needed.
func (e *Engine) PlanJoin(ctx context.Context, layout *JoinLayout, left, right arrow.Table) (*JoinPlan, error) {
	return e.join.PlanLayout(ctx, layout, left, right, nil)
}

// PrepareJoin begins to compile the kernels that a join with this layout is expected to need, while its tables are
// still being read: a driver that compiles them for the first time takes up to half a second for each. left and right
// have facts about the tables, as from the metadata of files. It does nothing on the host, nor if the rows of a
// table or the bounds of a key are unknown: then kernels are compiled from the start of the join on, as others that it
// needs. The caller calls wait at some time, at the latest before it closes the engine: it returns when it is known
// which kernels these are, after milliseconds, and does not wait for them.
func (e *Engine) PrepareJoin(ctx context.Context, layout *JoinLayout, left, right JoinExpected) (wait func()) {
	return e.join.Prepare(ctx, layout, [2]engine.Expected{left, right})
}

// Kernels counts the kernels that the engine's device has compiled.
func (e *Engine) Kernels() backend.KernelStats { return e.devices[0].KernelStats() }

// Explain plans a join without running it. String returns the text of the plan, and Run runs it.
func (e *Engine) Explain(ctx context.Context, left, right arrow.Table, spec JoinSpec) (*JoinPlan, error) {
	return e.join.Plan(ctx, left, right, spec)
}

// BuildSide loads one table of a join onto the device and sorts it, partitions it or makes it a hash table once, to be
// joined with many tables by its method Join or with sources by its method JoinStream. It is the left table of these
// joins, or the right one if spec.BuildSide is BuildRight. probe is the schema of the other tables, which must all have
// it, and probeRows roughly the number of rows of each; 0 if unknown.
//
// The caller closes the build side and keeps the table alive until then. Meanwhile it holds device memory and, under
// MemoryLimitBytes, host memory for the table and for what one join takes beside its probe table. A join with it
// therefore waits for no other, but others that need more than it leaves wait until it is closed or their context ends.
// Only one result can be in progress at a time. Each join is independent: a kind that returns rows of the build side
// without a partner returns those that have none in this probe table.
//
// Errors: as for planning a join; ErrInvalidInput for a cross join, which has no keys.
func (e *Engine) BuildSide(ctx context.Context, table arrow.Table, probe *arrow.Schema, probeRows uint64, spec JoinSpec) (
	*JoinBuild, error) {
	return e.join.Build(ctx, table, probe, probeRows, spec)
}

// Close ends all joins, then closes the device, and the system if Open created it. Results and build sides should be
// closed first: a call or a result under way fails with ErrCancelled, and a join that comes later with ErrInvalidInput.
// Close waits for what joins do at the moment, and for sources that wait for rows, but for no one to draw or to close a
// result. It must not be called by a source nor by a Progress callback. A second Close does nothing.
func (e *Engine) Close() error { return e.close() }

func (e *Engine) end() error {
	if e.join != nil {
		e.join.Close()
	}
	var errs []error
	for _, d := range e.devices {
		if pinned, ok := d.Allocator.(*relation.PinnedAllocator); ok {
			pinned.Close()
		}
		d.untrace()
		errs = append(errs, d.Close())
	}
	if e.system != nil {
		errs = append(errs, e.system.Close())
	}
	return errors.Join(errs...)
}
