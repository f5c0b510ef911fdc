package scaling

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/tableio"
)

// OutOfCore is a sweep over tables, or limits, beyond which joins do not have all in memory at once.
type OutOfCore struct {
	Options
	Device     string
	Algorithms []string // of [join.AlgorithmNames]; none: as each figure says
	Dir        string   // where a folder for temporary files is made, and removed; empty: os.TempDir
}

// outOfCoreScale is the Scale on a CPU.
const outOfCoreScale = 6

// core is a sweep under way.
type core struct {
	*OutOfCore
	open   Open
	folder string
	rates  *endtoend.Rates
	out    measure.Output
	file   *measure.File
}

// Run measures on a device, which it opens anew for each limit, prints a line for each limit of a cell, and writes the
// file. What does not fit is skipped; the first wrong answer ends the sweep, and leaves no file.
func (s OutOfCore) Run(ctx context.Context, open Open, out measure.Output) (err error) {
	folder, remove, err := tableio.TemporaryFolder(s.Dir, "spirjoin-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }()
	c := &core{OutOfCore: &s, open: open, folder: folder, out: out}
	d, err := open.device(ctx, s.Device, s.DeviceMemoryBytes, 0)
	if err != nil {
		return err
	}
	info := *d.info()
	if err := s.scaled(&info, outOfCoreScale); err != nil {
		return errors.Join(err, d.close())
	}
	if c.file, err = measure.Create(s.CSV, s.Command, &info, fileColumns); err != nil {
		return errors.Join(err, d.close())
	}
	defer c.file.Abort()
	out.Println(measure.DeviceText(&info))
	out.Enter("measure the machine")
	c.rates, err = measureRates(ctx, d.ops)
	if err := errors.Join(err, d.close()); err != nil {
		return err
	}
	printRates(out, []int{1}, map[int]*endtoend.Rates{1: c.rates})
	for _, f := range s.Figures {
		if err := c.figure(ctx, f); err != nil {
			return err
		}
	}
	return c.file.Commit(ctx)
}

func (s *core) figure(ctx context.Context, f Figure) error {
	cells := s.cells(f)
	if len(cells) == 0 {
		return nil
	}
	s.out.Println("\n" + measure.TitleLine(f.Name, f.Title, s.Scale))
	table := newMemoryTable(f, cells)
	s.out.Println(table.Head())
	firsts := map[Way]*reference{} // by algorithm and output
	for _, c := range cells {
		s.out.Enter("make " + c.String())
		b, err := newBed(ctx, c)
		if err != nil && !skips(err) {
			return err
		}
		for _, way := range s.ways(f) {
			if firsts[way] == nil || f.capped != deviceAtFirst {
				firsts[way] = &reference{}
			}
			first, failed := firsts[way], err
			show := func(r *Result) {
				l := newLine(f, c, r, s.rates)
				if first.line == nil && r.Skipped == nil {
					first.line = l
				}
				l.base = first.line
				s.out.Println(l.row(table))
				l.addTo(s.file)
			}
			switch {
			case failed != nil:
			case f.capped == deviceAtFirst:
				failed = s.growing(ctx, b, c, way, first, show)
			default:
				failed = s.capped(ctx, b, f, c, way, show)
			}
			if skips(failed) {
				show(&Result{Way: way, Skipped: failed})
			} else if failed != nil {
				b.release()
				return failed
			}
		}
		if b != nil {
			b.release()
		}
	}
	return nil
}

// ways are the algorithms and outputs of a figure.
func (s *core) ways(f Figure) (ways []Way) {
	algorithms := s.Algorithms
	if len(algorithms) == 0 {
		algorithms = f.algorithms
	}
	if len(algorithms) == 0 {
		algorithms = []string{""}
	}
	for _, algorithm := range algorithms {
		for _, output := range s.Outputs {
			ways = append(ways, Way{Output: output, Algorithm: algorithm, Devices: 1})
		}
	}
	return ways
}

// reference is what the following joins of a way are compared with.
type reference struct {
	deviceBytes uint64 // that the first join takes without a limit
	line        *line  // of the first one that was measured
}

// growing measures a cell with the device memory that the first one takes.
func (s *core) growing(ctx context.Context, b *bed, c Cell, way Way, first *reference, show func(*Result)) (err error) {
	if first.deviceBytes == 0 {
		if first.deviceBytes = s.DeviceMemoryBytes; first.deviceBytes == 0 {
			if first.deviceBytes, _, err = s.learn(ctx, b, whole, way); err != nil {
				return err
			}
		}
	}
	way.DeviceMemoryBytes = first.deviceBytes
	r, err := s.limited(ctx, b, c, whole, way)
	if err != nil {
		return err
	}
	show(r)
	return nil
}

// fractions of what a join takes that are its limits.
var fractions = []uint64{1, 2, 4, 8, 16}

// capped measures a cell without a limit, and with fractions of what that takes.
func (s *core) capped(ctx context.Context, b *bed, f Figure, c Cell, way Way, show func(*Result)) error {
	from := whole
	if f.capped == hostMemory {
		from = byBatches
	}
	deviceBytes, hostBytes, err := s.learn(ctx, b, from, way)
	if err != nil {
		return err
	}
	way.DeviceMemoryBytes = s.DeviceMemoryBytes
	for _, n := range append([]uint64{0}, fractions...) {
		switch way.Share = fmt.Sprintf("1/%d", n); {
		case n == 0:
			way.Share = noLimit
		case f.capped == hostMemory:
			way.MemoryLimitBytes = hostBytes / n
		default:
			way.DeviceMemoryBytes = deviceBytes / n
		}
		r, err := s.limited(ctx, b, c, from, way)
		if err != nil {
			return err
		}
		show(r)
	}
	return nil
}

// learn joins once without limits, except the command's, and returns the device and host memory that the join takes.
func (s *core) learn(ctx context.Context, b *bed, from supply, way Way) (deviceBytes, hostBytes uint64, err error) {
	const unlimited = math.MaxUint64 / 2 // of which account is kept
	s.out.Enter("learn what it takes: " + way.String())
	d, err := s.open.device(ctx, s.Device, s.DeviceMemoryBytes, unlimited)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if from.pinned {
		_, unpin := b.memory.pin(ctx, d.ops.Device())
		defer unpin()
	}
	engine := engineOn([]*device{d}, unlimited)
	defer engine.Close()
	r, err := b.run(ctx, &contender{Way: way, engine: engine, begin: from.begin}, nil)
	return r.Stats.DevicePeakBytes, engine.Budget().Most().Host, err
}

// limited measures a cell under the limits of a way.
func (s *core) limited(ctx context.Context, b *bed, c Cell, from supply, way Way) (r *Result, err error) {
	d, err := s.open.device(ctx, s.Device, way.DeviceMemoryBytes, way.MemoryLimitBytes)
	if err != nil {
		return nil, err
	}
	d.untrace = s.Trace.Device(d.ops.Device())
	defer func() { err = errors.Join(err, d.close()) }()
	engine := engineOn([]*device{d}, way.MemoryLimitBytes)
	engine.Trace = s.Trace
	defer engine.Close()
	engine.Spill(s.folder, math.MaxUint64)
	contenders := []*contender{{Way: way, engine: engine, begin: from.begin}}
	var pinned []*device
	if from.pinned {
		pinned = append(pinned, d)
	}
	results, err := s.measured(ctx, b, contenders, pinned, c.String(), s.out)
	if err != nil {
		return nil, err
	}
	return &results[0], nil
}

// supply is how the sides of a join come.
type supply struct {
	begin  begin
	pinned bool // the device imports their memory
}

var (
	// whole are tables in pinned memory; both are divided if the build side does not fit.
	whole = supply{streamTables, true}
	// byBatches are tables as if they were in files: they are no memory of the join before they are read.
	byBatches = supply{streamBatches, false}
)

func streamTables(ctx context.Context, e *engine.Engine, tables [2]arrow.Table, spec join.Spec) (*engine.Result, error) {
	return e.Stream(ctx, source.FromTable(tables[0]), source.FromTable(tables[1]), spec)
}

// batchRows of tables that come batch by batch.
const batchRows = 1 << 16

func streamBatches(ctx context.Context, e *engine.Engine, tables [2]arrow.Table, spec join.Spec) (*engine.Result, error) {
	return e.Stream(ctx, batchesOf(tables[0]), batchesOf(tables[1]), spec)
}

func batchesOf(table arrow.Table) source.Source {
	batches := func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			reader := array.NewTableReader(table, batchRows)
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
	return source.Source{Schema: table.Schema(), Rows: table.NumRows(), Batches: batches}
}
