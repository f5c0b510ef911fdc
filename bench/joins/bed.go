package joins

import (
	"context"
	"errors"
	"math/bits"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Result is a measured join, or sequence of joins.
type Result struct {
	Algorithm    string
	Chosen       string // algorithm of the last plan
	RRows, SRows uint64 // of the inputs; for a sequence, R is all dimension tables together
	Rows         uint64 // of the output
	measure.Sample
	PeakBytes uint64 // device memory, inputs and output included
	Skipped   error  // why there are no times: ErrNotUnique, ErrUnsupported, or the join does not fit
}

// TuplesPerSecond counts the rows of all inputs, as GFTR 5.1 does, by the median.
func (r *Result) TuplesPerSecond() float64 {
	return float64(r.RRows+r.SRows) / r.Times.Median.Seconds()
}

// Phases returns the times of the stages by purpose (GFTR 5.1): sorting and partitioning of all columns, and building
// of tables; finding and writing matches; gathering.
func (r *Result) Phases() (transform, match, gather time.Duration) {
	for _, s := range r.Stages {
		switch planner.StageOf(s.Stage) {
		case operator.Transform:
			transform += s.Time
		case operator.Gather:
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
	lefts  []*relation.Chunk // what right is joined with, one after the other
	right  *relation.Chunk
	// the keys of the joins behind the first; then the first payload column on the right is the row number
	foreign []relation.Values
	check   *checker
	want    operator.Want // of R and S
	granule uint64
	window  uint64
	unique  bool // no key is twice on the side with fewer rows
}

// NewBed generates the workload of a cell and uploads it. The caller releases it.
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
	want, err := Want(cell.How)
	if err != nil {
		return nil, err
	}
	b := &Bed{ops: ops, device: device, memory: exec.NewScope(ctx, device, nil), want: want, granule: cell.Granule,
		window: cell.Window}
	defer func() {
		if err != nil {
			b.Release()
		}
	}()
	chunk := func(table arrow.Table) (*relation.Chunk, error) {
		columns, err := b.upload(ctx, table)
		if err != nil {
			return nil, err
		}
		return chunkOf(uint64(table.NumRows()), columns[0], columns[1:]), nil
	}
	for _, table := range t.lefts {
		left, err := chunk(table)
		if err != nil {
			return nil, err
		}
		b.lefts = append(b.lefts, left)
	}
	if b.right, err = chunk(t.right); err != nil {
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

// chunkOf is a chunk of columns. All keys of a workload are below 2^32 ([newChecker]).
func chunkOf(rows uint64, keys relation.Values, payload []relation.Values) *relation.Chunk {
	return &relation.Chunk{Rows: rows, Keys: keys, Payload: payload, Narrow: keys.Bytes == 8}
}

// Release releases the device memory.
func (b *Bed) Release() { b.memory.ReleaseAll() }

func (b *Bed) upload(ctx context.Context, table arrow.Table) (columns []relation.Values, err error) {
	for c, bytes := range columnBytes(table) {
		on := relation.Values{Data: b.memory.New(uint64(table.NumRows())*uint64(bytes),
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

// output is the output of a join. The owner releases it.
type output struct {
	operator.Collector
	chosen  string   // algorithm
	sides   [2]int   // of the operator that R and S are
	payload [2][]int // bytes of its columns
}

// join runs an algorithm, once for each table on the left, and returns the output of the last join.
func (b *Bed) join(ctx context.Context, a Algorithm, lane *exec.Lane) (*output, error) {
	right := []*relation.Chunk{b.right}
	out, err := b.joinWith(ctx, a, lane, b.lefts[0], right)
	for i, foreign := range b.foreign {
		if err != nil {
			return nil, err
		}
		out, err = b.step(ctx, a, lane, out, b.lefts[i+1], foreign)
	}
	return out, err
}

// joinWith joins a relation with another that is there in several parts or as a whole. The side with fewer rows is the
// build side, unless it is in parts.
func (b *Bed) joinWith(ctx context.Context, a Algorithm, lane *exec.Lane, left *relation.Chunk,
	right []*relation.Chunk) (*output, error) {
	build, probe, sides := left, right, [2]int{sideR: operator.Build, sideS: operator.Probe}
	if len(right) == 1 && right[0].Rows < left.Rows {
		build, probe = right[0], []*relation.Chunk{left}
		sides = [2]int{sideR: operator.Probe, sideS: operator.Build}
	}
	plan, err := b.plan(ctx, a, lane, build, probe, sides)
	if err != nil {
		return nil, err
	}
	op := plan.Algorithm.Open(ctx, lane, plan)
	defer op.Close()
	out := &output{Collector: operator.Collector{Lane: lane, Most: plan.Facts.Window}, sides: sides,
		chosen: plan.Algorithm.Name(), payload: plan.Facts.Payload}
	if err := feed(ctx, lane, op, build, granules(probe, plan.Facts.Granule), out); err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

// feed gives an operator its build side and all of its probe side.
func feed(ctx context.Context, lane *exec.Lane, op operator.Operator, build *relation.Chunk, probe []*relation.Chunk,
	sink operator.Sink) error {
	if err := op.Build(ctx, build); err != nil {
		return err
	}
	for _, granule := range probe {
		if err := op.Probe(ctx, lane, granule, sink); err != nil {
			return err
		}
	}
	return op.Finish(ctx, sink)
}

// plan plans a join, by what is known about the workload. There is room for a partner of each probe row, or for as many
// as there are.
func (b *Bed) plan(ctx context.Context, a Algorithm, lane *exec.Lane, build *relation.Chunk, probe []*relation.Chunk,
	sides [2]int) (*operator.Plan, error) {
	check := b.check
	f := operator.Facts{KeyBytes: build.Keys.Bytes, KeyBits: max(1, bits.Len64(check.greatest)), Narrow: build.Narrow,
		Granule: b.granule, Window: b.window, OutputRows: check.pairs.rows, Unique: b.unique, Tuning: lane.Tuning()}
	f.On(lane.Device())
	var ratios [2]float64
	for side, of := range sides {
		rows := check.matched[side].rows
		ratios[of] = float64(rows) / float64(max(1, rows+check.rest[side].rows))
	}
	f.BuildRatio, f.MatchRatio = ratios[operator.Build], ratios[operator.Probe]
	f.Rows[operator.Build] = build.Rows
	for _, part := range probe {
		f.Rows[operator.Probe] += part.Rows
		if len(probe) > 1 {
			f.Granule = max(f.Granule, part.Rows)
		}
	}
	f.MostRows = f.Rows[operator.Probe]
	for side, c := range [2]*relation.Chunk{operator.Build: build, operator.Probe: probe[0]} {
		for _, column := range c.Payload {
			f.Payload[side] = append(f.Payload[side], column.Bytes)
		}
	}
	want := b.want
	for side, of := range sides {
		want.Matched[of], want.Rest[of] = b.want.Matched[side], b.want.Rest[side]
	}
	return a.plan(ctx, lane, build, probe[0], f, want)
}

// granules cuts parts that have more than rows rows.
func granules(parts []*relation.Chunk, rows uint64) (cut []*relation.Chunk) {
	for _, c := range parts {
		if rows == 0 || c.Rows <= rows {
			cut = append(cut, c)
			continue
		}
		each := rows / granuleRows * granuleRows
		for first := uint64(0); first < c.Rows; first += each {
			some := min(each, c.Rows-first)
			of := func(v relation.Values) relation.Values {
				bytes := uint64(v.Bytes)
				v.Data = v.Data.Part(first*bytes, some*bytes)
				return v
			}
			part := *c
			part.Rows, part.Keys, part.Payload = some, of(c.Keys), nil
			for _, v := range c.Payload {
				part.Payload = append(part.Payload, of(v))
			}
			cut = append(cut, &part)
		}
	}
	return cut
}

// step joins the output of a join, which it releases, with a further relation by a foreign key, which is fetched by the
// row numbers among the payload.
func (b *Bed) step(ctx context.Context, a Algorithm, lane *exec.Lane, out *output, left *relation.Chunk,
	foreign relation.Values) (*output, error) {
	defer out.Release()
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	if len(out.Windows) == 0 {
		return nil, measure.Wrongf("a join of a sequence has no rows")
	}
	var right []*relation.Chunk
	for _, w := range out.Windows {
		keys := relation.Values{Data: memory.New(w.Rows*uint64(foreign.Bytes), "foreign keys").All(),
			Bytes: foreign.Bytes}
		if err := memory.Err(); err != nil {
			return nil, err
		}
		var payload []relation.Values
		for _, side := range []int{sideS, sideR} {
			of := out.sides[side]
			for p, bytes := range out.payload[of] {
				data := w.Payload[of][p].Range(0, w.Rows*uint64(bytes))
				payload = append(payload, relation.Values{Data: data, Bytes: bytes})
			}
		}
		list := lane.List("gather foreign keys")
		if err := lane.Gather(list, foreign.Bytes, foreign.Data, payload[0].Data, keys.Data, uint32(w.Rows)); err != nil {
			return nil, err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return nil, err
		}
		right = append(right, chunkOf(w.Rows, keys, payload))
	}
	return b.joinWith(ctx, a, lane, left, right)
}

// ErrNotUnique says that an algorithm for unique keys cannot join a workload.
var ErrNotUnique = errors.New("takes unique keys only, on the side with fewer rows")

// Measure verifies algorithms and then times them in rounds; begin is called before each, and before the rounds. An
// algorithm is skipped if it does not fit, if the device cannot run it, or if it needs unique keys and has others. The
// error is measure.ErrWrong if a result is wrong.
func (b *Bed) Measure(ctx context.Context, algorithms []Algorithm, repeat int, warm time.Duration,
	begin func(what string)) ([]Result, error) {
	results := make([]Result, len(algorithms))
	var contenders []measure.Contender[measure.Timed]
	for i, a := range algorithms {
		contenders = append(contenders, measure.Contender[measure.Timed]{Name: a.Name,
			Verify: func() error { return b.verify(ctx, a, &results[i]) },
			Run:    func() (measure.Timed, error) { return b.time(ctx, a) }})
	}
	runs, skipped, err := measure.Rounds(contenders, repeat, warm, begin, skips)
	if err != nil {
		return nil, err
	}
	for i := range results {
		results[i].Sample, results[i].Skipped = measure.SampleOf(runs[i]), skipped[i]
	}
	return results, nil
}

// skips tells whether an algorithm is skipped because of an error.
func skips(err error) bool {
	return errors.Is(err, ErrNotUnique) || errors.Is(err, backend.ErrUnsupported) || measure.DoesNotFit(err)
}

// verify runs an algorithm and looks at its answer.
func (b *Bed) verify(ctx context.Context, a Algorithm, r *Result) error {
	*r = Result{Algorithm: a.Name, SRows: b.right.Rows}
	for _, left := range b.lefts {
		r.RRows += left.Rows
	}
	if a.unique && !b.unique {
		return ErrNotUnique
	}
	device := b.device
	device.ResetPeak()
	out, err := b.join(ctx, a, exec.NewLane(ctx, b.ops, nil))
	if err != nil {
		return err
	}
	defer out.Release()
	r.Rows, r.Chosen = out.Rows, out.chosen
	if err := b.check.verify(ctx, device, out, b.want); err != nil {
		return err
	}
	r.PeakBytes = device.MemoryUse(backend.DeviceLocal).Peak
	return nil
}

func (b *Bed) time(ctx context.Context, a Algorithm) (t measure.Timed, err error) {
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
	return measure.Timed{Wall: time.Since(start), Stages: lane.Profile.Stages()}, nil
}
