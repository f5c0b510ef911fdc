package primitive

import (
	"context"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// Case is one point of the axes of a primitive. Widths are in bits; 0 where a primitive has no such column.
type Case struct {
	Primitive    string
	Key, Payload int
	Rows         uint64
	Distribution workload.Distribution
}

// String is the name of the case: its axes and their values.
func (c Case) String() string {
	return fmt.Sprintf("primitive=%s key=%d payload=%d rows=%s distribution=%s", c.Primitive, c.Key, c.Payload,
		text.Rows(c.Rows), c.Distribution)
}

// Options say how cases are measured.
type Options struct {
	Repeat int           // timed runs of a case
	Warm   time.Duration // that a case runs before it is timed, because an idle GPU has a fraction of its clock
	Seed   uint64        // that all keys follow from
}

// Result is a measured case.
type Result struct {
	Case
	Config backend.Config // of its kernels, by the tuning table; nil for what has none
	measure.Sample
	LeastBytes uint64  // that any algorithm must read and write
	CopyRate   float64 // bytes/s that a copy reads and writes on this device
}

// RowsPerSecond is by the median, as are the rates below.
func (r *Result) RowsPerSecond() float64 { return float64(r.Rows) / r.Times.Median.Seconds() }

// BytesPerSecond counts the bytes that any algorithm must move, whatever this one moves.
func (r *Result) BytesPerSecond() float64 { return float64(r.LeastBytes) / r.Times.Median.Seconds() }

// CopyShare is the rate as a fraction of a copy's rate.
func (r *Result) CopyShare() float64 { return r.BytesPerSecond() / r.CopyRate }

// Rig measures cases on one device. It is used by one goroutine.
type Rig struct {
	Options   Options
	ops       *primitive.Ops
	overrides primitive.Tuning
	copyRate  float64
}

// NewRig measures with the device's tables and overrides.
func NewRig(device *backend.Device, overrides primitive.Tuning, options Options) (*Rig, error) {
	ops, err := primitive.New(device, overrides)
	return &Rig{Options: options, ops: ops, overrides: overrides}, err
}

// With is a rig for the same device with further overrides.
func (r *Rig) With(overrides primitive.Tuning) (*Rig, error) {
	ops, err := primitive.New(r.ops.Device(), r.overrides.With(overrides))
	return &Rig{Options: r.Options, ops: ops, overrides: r.overrides.With(overrides), copyRate: r.copyRate}, err
}

// CopyRate measures, once, the bytes/s that a copy of a large column reads and writes.
func (r *Rig) CopyRate(ctx context.Context) (float64, error) {
	if r.copyRate > 0 {
		return r.copyRate, nil
	}
	rows := uint64(1 << 28)
	info := r.ops.Device().Info()
	if info.CPULike() {
		rows = 1 << 24
	}
	rows = min(rows, info.Limits.MaxAllocationBytes/4, r.ops.Device().Options().DeviceMemoryBytes/16)
	result, err := r.measure(ctx, r.ops, Case{Primitive: "copy", Key: 32, Rows: rows, Distribution: workload.Uniform},
		max(r.Options.Repeat, 5))
	if err != nil {
		return 0, fmt.Errorf("measure the copy bandwidth: %w", err)
	}
	r.copyRate = result.BytesPerSecond()
	return r.copyRate, nil
}

// Measure verifies a case and then times it. The error is measure.ErrWrong where the answer is wrong, and wraps
// backend.ErrDeviceMemory or backend.ErrLimit where the case does not fit.
func (r *Rig) Measure(ctx context.Context, c Case) (Result, error) {
	rate, err := r.CopyRate(ctx)
	if err != nil {
		return Result{Case: c}, err
	}
	result, err := r.measure(ctx, r.ops, c, r.Options.Repeat)
	result.CopyRate = rate
	return result, err
}

func (r *Rig) measure(ctx context.Context, ops *primitive.Ops, c Case, repeat int) (result Result, err error) {
	result = Result{Case: c}
	benchmark, err := find(c.Primitive)
	if err != nil {
		return result, err
	}
	if benchmark.Table != "" {
		result.Config = ops.Tuning().ConfigFor(benchmark.Table, benchmark.variant(c.Key, c.Payload), c.Rows)
	}
	b := &bed{Case: c, ctx: ctx, ops: ops, seed: r.Options.Seed}
	defer b.release()
	e := benchmark.set(b)
	if b.err != nil {
		return result, fmt.Errorf("%v: %w", c, b.err)
	}
	result.LeastBytes = e.leastBytes
	if err := b.verify(&e); err != nil {
		return result, fmt.Errorf("%v: %w", c, err)
	}
	runs, err := measure.Repeat(repeat, r.Options.Warm, func() (measure.Timed, error) { return b.run(&e) })
	result.Sample = measure.SampleOf(runs)
	return result, err
}

// experiment is what a benchmark has laid out in a bed.
type experiment struct {
	leastBytes uint64                         // that any algorithm must read and write
	answers    []backend.Range                // what verify looks at; marked before the run that is verified
	restore    func(list *backend.List)       // puts back inputs that a run overwrites; may be nil; not timed
	record     func(list *backend.List) error // what is timed
	verify     func() error                   // the outputs of a run; measure.ErrWrong
}

// verify runs once, on marked outputs, and checks the answer.
func (b *bed) verify(e *experiment) error {
	var list backend.List
	for _, r := range e.answers {
		list.Fill(r, marker)
	}
	if err := b.device().Run(b.ctx, &list); err != nil {
		return err
	}
	if _, err := b.run(e); err != nil {
		return err
	}
	return e.verify()
}

// run runs an experiment once and returns the time of what counts.
func (b *bed) run(e *experiment) (t measure.Timed, err error) {
	if e.restore != nil {
		var list backend.List
		e.restore(&list)
		if err := b.device().Run(b.ctx, &list); err != nil {
			return t, err
		}
	}
	profile := new(backend.Profile)
	list := backend.List{Profile: profile}
	list.Stage("run")
	if err := e.record(&list); err != nil {
		return t, err
	}
	start := time.Now()
	if err := b.device().Run(b.ctx, &list); err != nil {
		return t, err
	}
	return measure.Timed{Wall: time.Since(start), Stages: profile.Stages()}, nil
}
