package scaling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
)

// bed is the workload of a cell.
type bed struct {
	memory tableMemory
	tables [2]arrow.Table
	answer *joins.Answer
}

// newBed makes the tables of a cell, and the answer. ErrHostMemory if there is no memory for them, ErrLimit if there
// are too many keys for the check.
func newBed(ctx context.Context, c Cell) (*bed, error) {
	if needBytes, freeBytes := bedBytes(c), freeMemory(); needBytes > freeBytes {
		return nil, fmt.Errorf("%w: tables and their check need %s, %s are available; scale the rows",
			backend.ErrHostMemory, text.Bytes(needBytes), text.Bytes(freeBytes))
	}
	if keys := keysOf(c); keys > joins.MostKeys {
		return nil, fmt.Errorf("%w: the check takes keys below 2^32, there are %d; scale the rows", backend.ErrLimit, keys)
	}
	b := &bed{}
	spec := c.Spec
	spec.Allocator = &b.memory
	var err error
	if b.tables[0], b.tables[1], err = workload.PKFK(ctx, spec); err != nil {
		return nil, err
	}
	if b.answer, err = joins.NewAnswer(ctx, b.tables[0], b.tables[1], "inner"); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (b *bed) release() {
	for _, table := range b.tables {
		table.Release()
	}
}

// checkedKeyBytes is what a check takes for each key that R may have.
const checkedKeyBytes = 24

// bedBytes is the memory of the tables, and of the check while that is prepared.
func bedBytes(c Cell) uint64 {
	return needsOf(c.Spec, join.Count, 0).tableBytes + checkedKeyBytes*keysOf(c)
}

// keysOf is how many keys R may have: all are below it.
func keysOf(c Cell) uint64 {
	keys := uint64(c.Spec.RRows)
	if c.Spec.MatchRatio < 1 {
		keys *= 2
	}
	return keys
}

var freeMemory = hostMemoryAvailable // tests have more

// hostMemoryAvailable is the memory of the host that is available.
func hostMemoryAvailable() uint64 {
	devices, err := host.New(host.Options{}).Devices()
	if err != nil {
		return 0
	}
	_, budgetBytes := devices[0].MemoryBytes()
	return budgetBytes
}

// contender is a way to join the tables of a bed.
type contender struct {
	Way
	engine *engine.Engine
	begin  begin
}

// Way says how tables are joined.
type Way struct {
	Strategy          string // of [StrategyNames]; empty beyond memory
	Output            Output
	Algorithm         string // of [join.AlgorithmNames]; empty: the one predicted to be fastest
	Devices           int
	DeviceMemoryBytes uint64 // limit of each device
	MemoryLimitBytes  uint64 // limit of the host; 0: none
	Share             string // of the limit in the memory that the join takes, or noLimit; empty: unknown
}

const noLimit = "none"

// Result is a measured join: one of its runs, and the times of all.
type Result struct {
	Way
	Run       endtoend.Run // whose wall time is the median, the lower one of two
	Times     measure.Summary
	Parts     int    // that both sides were divided into; 0: they were not
	DiskBytes uint64 // of these
	Skipped   error
}

// run is one join.
type run struct {
	endtoend.Run
	parts     int
	diskBytes uint64
}

// run joins once. each, which may be nil, is called with the rows.
func (b *bed) run(ctx context.Context, c *contender, each func(arrow.RecordBatch) error) (r run, err error) {
	var devices []*backend.Device
	for _, e := range c.engine.Engines() {
		devices = append(devices, e.Device())
	}
	m := endtoend.NewMeter(devices...)
	defer m.Stop()
	start := time.Now()
	result, err := c.begin(ctx, c.engine, b.tables, join.Spec{LeftOn: []string{"r_key"}, RightOn: []string{"s_key"},
		Algorithm: c.Algorithm, Output: c.Output})
	if err != nil {
		return r, err
	}
	defer result.Close()
	if err := draw(ctx, result, b.tables, c.Output, each); err != nil {
		return r, err
	}
	r.Wall, r.CPU = time.Since(start), m.CPU()
	for _, device := range devices {
		if err := device.Run(ctx, new(backend.List)); err != nil { // so that the times of all work are known
			return r, err
		}
	}
	r.Stats = result.Stats()
	r.parts, r.diskBytes = result.Parts()
	m.Report(&r.Run)
	return r, nil
}

// verify joins once and looks at the answer.
func (b *bed) verify(ctx context.Context, c *contender) error {
	check := b.answer.Begin()
	r, err := b.run(ctx, c, func(batch arrow.RecordBatch) error { return check.Add(ctx, batch) })
	switch {
	case err != nil:
		return err
	case r.Stats.OutputRows != b.answer.Rows():
		return measure.Wrongf("%d rows, not %d", r.Stats.OutputRows, b.answer.Rows())
	case c.Output == join.Count:
		return nil
	}
	return check.End()
}

// measure verifies contenders and then times them in rounds; enter is called before each step. What does not fit is
// skipped. The error is measure.ErrWrong if a result is wrong.
func (b *bed) measure(ctx context.Context, contenders []*contender, o *Options, enter func(what string)) (
	[]Result, error) {
	var all []measure.Contender[run]
	for _, c := range contenders {
		all = append(all, measure.Contender[run]{Name: c.Way.String(),
			Verify: func() error { return b.verify(ctx, c) },
			Run:    func() (run, error) { return b.run(ctx, c, nil) }})
	}
	runs, skipped, err := measure.Rounds(all, o.Repeat, o.Warm, enter, skips)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(contenders))
	for i, c := range contenders {
		median, times := measure.Median(runs[i], func(r run) time.Duration { return r.Wall })
		results[i] = Result{Way: c.Way, Run: median.Run, Times: times, Parts: median.parts, DiskBytes: median.diskBytes,
			Skipped: skipped[i]}
	}
	return results, nil
}

// skips reports whether an error means that a join is skipped.
func skips(err error) bool { return measure.DoesNotFit(err) || errors.Is(err, backend.ErrUnsupported) }

// String names the way.
func (w Way) String() string {
	name := fmt.Sprintf("%s %s on %s", w.Strategy, w.Output, text.Plural(w.Devices, "device"))
	if w.Strategy == "" {
		name = fmt.Sprintf("%s %s", cmp.Or(w.Algorithm, "auto"), w.Output)
	}
	return name
}
