package joins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Result is a measured join, or sequence of joins.
type Result struct {
	Algorithm    string
	RRows, SRows uint64              // of the inputs; R's of all tables of a sequence together
	Rows         uint64              // of the output
	Times        measure.Summary     // on the device, of all stages together; where it has no time stamps, Wall
	DeviceTime   bool                // the device has time stamps
	Wall         measure.Summary     // by the clock of the host, from the call to the end of the device's work
	Stages       []backend.StageTime // of the run whose time is the median
	PeakBytes    uint64              // device memory, inputs and output included
	Skipped      error               // why it has no times: ErrNotUnique, or the join does not fit
}

// TuplesPerSecond counts the rows of all inputs, as GFTR 5.1 does, by the median.
func (r *Result) TuplesPerSecond() float64 {
	return float64(r.RRows+r.SRows) / r.Times.Median.Seconds()
}

// Phases are the times of the stages by what they do (GFTR 5.1): sorts and partitions, of all columns; what finds the
// matches and writes them; gathers.
func (r *Result) Phases() (transform, match, gather time.Duration) {
	for _, s := range r.Stages {
		switch kind, _, _ := strings.Cut(s.Stage, " "); kind {
		case "varying", "sort", "partition":
			transform += s.Time
		case "gather":
			gather += s.Time
		default:
			match += s.Time
		}
	}
	return transform, match, gather
}

// Bed is the workload of a cell on a device.
type Bed struct {
	ops    *primitive.Ops
	device *backend.Device
	memory *exec.Scope
	lefts  []resident.Relation // what right is joined with, one after the other
	right  resident.Relation
	// the keys of the joins behind the first; then the first payload column on the right is the row number
	foreign []resident.Column
	check   *checker
	unique  bool // no key is twice on the side with fewer rows
}

// NewBed makes the workload of a cell and uploads it. Release gives it back.
func NewBed(ctx context.Context, device *backend.Device, overrides primitive.Tuning, cell Cell) (_ *Bed, err error) {
	ops, err := primitive.New(device, overrides)
	if err != nil {
		return nil, err
	}
	t, err := cell.make(ctx)
	if err != nil {
		return nil, err
	}
	defer t.release()
	b := &Bed{ops: ops, device: device, memory: exec.NewScope(ctx, device, nil)}
	defer func() {
		if err != nil {
			b.Release()
		}
	}()
	relation := func(table arrow.Table) (r resident.Relation, err error) {
		columns, err := b.upload(ctx, table)
		if err != nil {
			return r, err
		}
		return resident.Relation{Rows: uint64(table.NumRows()), Keys: columns[0], Payload: columns[1:]}, nil
	}
	for _, table := range t.lefts {
		left, err := relation(table)
		if err != nil {
			return nil, err
		}
		b.lefts = append(b.lefts, left)
	}
	if b.right, err = relation(t.right); err != nil {
		return nil, err
	}
	if t.foreign != nil {
		if b.foreign, err = b.upload(ctx, t.foreign); err != nil {
			return nil, err
		}
	}
	b.unique = cell.unique(b.lefts[0].Rows, b.right.Rows)
	b.check, err = newChecker(ctx, t.lefts[len(t.lefts)-1], t.last)
	return b, err
}

// Release gives the device memory back.
func (b *Bed) Release() { b.memory.ReleaseAll() }

func (b *Bed) upload(ctx context.Context, table arrow.Table) (columns []resident.Column, err error) {
	for c, bytes := range columnBytes(table) {
		on := resident.Column{Data: b.memory.New(uint64(table.NumRows())*uint64(bytes),
			table.Schema().Field(c).Name).All(), Bytes: bytes}
		if err := b.memory.Err(); err != nil {
			return nil, err
		}
		at := uint64(0)
		for i := range table.Column(c).Data().Chunks() {
			data, _ := chunkData(table, c, i)
			point, err := b.device.Upload(ctx, on.Data.Buffer.Range(at, uint64(len(data))), data)
			if err == nil {
				err = point.Wait(ctx)
			}
			if err != nil {
				return nil, err
			}
			at += uint64(len(data))
		}
		columns = append(columns, on)
	}
	return columns, nil
}

// join runs an algorithm, once for each table on the left.
func (b *Bed) join(ctx context.Context, a Algorithm, lane *exec.Lane) (*resident.Result, error) {
	right := b.right
	out, err := a.join(ctx, lane, b.lefts[0], right)
	for i, foreign := range b.foreign {
		if err != nil {
			return nil, err
		}
		s := step{sides: [2]resident.Relation{b.lefts[i], right}, left: b.lefts[i+1], foreign: foreign}
		out, right, err = s.join(ctx, a, lane, out)
	}
	return out, err
}

// step is a join behind the first.
type step struct {
	sides   [2]resident.Relation // of the join before
	left    resident.Relation
	foreign resident.Column
}

// join joins the output of a join of two sides, which it releases, with a further relation by a foreign key, which is
// fetched by the row numbers among the payload. It returns what it joined on the right; its columns live no longer than
// the call.
func (s *step) join(
	ctx context.Context, a Algorithm, lane *exec.Lane, out *resident.Result,
) (joined *resident.Result, right resident.Relation, err error) {
	defer out.Release()
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	right.Rows, right.Keys.Bytes = out.Rows, s.foreign.Bytes
	right.Keys.Data = memory.New(out.Rows*uint64(s.foreign.Bytes), "foreign keys").All()
	if err := memory.Err(); err != nil {
		return nil, right, err
	}
	for _, side := range []relation.Side{relation.Right, relation.Left} {
		for p, column := range s.sides[side].Payload {
			data := out.Payload[side][p].Range(0, out.Rows*uint64(column.Bytes))
			right.Payload = append(right.Payload, resident.Column{Data: data, Bytes: column.Bytes})
		}
	}
	list := lane.List("gather foreign keys")
	err = lane.Gather(list, s.foreign.Bytes, s.foreign.Data, right.Payload[0].Data, right.Keys.Data, uint32(out.Rows))
	if err != nil {
		return nil, right, err
	}
	if err := lane.Submit(ctx, list); err != nil {
		return nil, right, err
	}
	joined, err = a.join(ctx, lane, s.left, right)
	return joined, right, err
}

// ErrNotUnique says that an algorithm that takes unique keys only cannot join a workload.
var ErrNotUnique = errors.New("takes unique keys only, on the side with fewer rows")

// Measure verifies algorithms and then times them, in rounds that run each once, so that what a shared machine does
// besides falls on all of them; begin is told of each before, and of the rounds. An algorithm that does not fit, or
// takes unique keys only, is skipped. The error is measure.ErrWrong where an answer is wrong.
func (b *Bed) Measure(ctx context.Context, algorithms []Algorithm, repeat int, warm time.Duration,
	begin func(what string)) ([]Result, error) {
	results := make([]Result, len(algorithms))
	runs := make([][]timed, len(algorithms))
	each := func(run func(i int) error) error {
		for i, a := range algorithms {
			if results[i].Skipped != nil {
				continue
			}
			if err := run(i); errors.Is(err, ErrNotUnique) || measure.DoesNotFit(err) {
				results[i].Skipped = err
			} else if err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
		return nil
	}
	round := func() error {
		return each(func(i int) error {
			t, err := b.time(ctx, algorithms[i])
			runs[i] = append(runs[i], t)
			return err
		})
	}
	if err := each(func(i int) error {
		begin("verify " + algorithms[i].Name)
		return b.verify(ctx, algorithms[i], &results[i])
	}); err != nil {
		return nil, err
	}
	begin("time")
	if err := measure.Warm(warm, round); err != nil {
		return nil, err
	}
	clear(runs)
	for range repeat {
		if err := round(); err != nil {
			return nil, err
		}
	}
	for i := range results {
		if results[i].Skipped == nil {
			results[i].summarize(runs[i])
		}
	}
	return results, nil
}

// verify runs an algorithm and looks at its answer.
func (b *Bed) verify(ctx context.Context, a Algorithm, r *Result) error {
	*r = Result{Algorithm: a.Name, SRows: b.right.Rows}
	for _, left := range b.lefts {
		r.RRows += left.Rows
	}
	if a.unique() && !b.unique {
		return ErrNotUnique
	}
	device := b.device
	device.ResetPeak()
	out, err := b.join(ctx, a, exec.NewLane(ctx, b.ops, nil))
	if err != nil {
		return err
	}
	defer out.Release()
	r.Rows = out.Rows
	if err := b.check.verify(ctx, device, out); err != nil {
		return err
	}
	r.PeakBytes = device.MemoryUse(backend.DeviceLocal).Peak
	return nil
}

func (r *Result) summarize(runs []timed) {
	var times, walls []time.Duration
	for _, t := range runs {
		times, walls = append(times, t.device), append(walls, t.wall)
	}
	r.Times, r.Wall = measure.Summarize(times), measure.Summarize(walls)
	slices.SortFunc(runs, func(a, b timed) int { return int(a.device - b.device) })
	r.Stages = runs[len(runs)/2].stages
	if r.DeviceTime = len(r.Stages) > 0; !r.DeviceTime {
		r.Times = r.Wall
	}
}

// timed is a run and its times.
type timed struct {
	device, wall time.Duration
	stages       []backend.StageTime
}

func (b *Bed) time(ctx context.Context, a Algorithm) (t timed, err error) {
	lane := exec.NewLane(ctx, b.ops, nil)
	start := time.Now()
	out, err := b.join(ctx, a, lane)
	if err != nil {
		return t, err
	}
	defer out.Release()
	var list backend.List // what was submitted before it is over, and its times are known
	if err := b.device.Run(ctx, &list); err != nil {
		return t, err
	}
	t.wall, t.stages = time.Since(start), lane.Profile.Stages()
	for _, s := range t.stages {
		t.device += s.Time
	}
	return t, nil
}
