package query

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Join is the physical tree of a join of two tables:
//
//	deliver       a sink makes record batches of windows, or the pairs of row numbers, in order or as they come
//	└ filter      where not all pairs with equal keys are partners: a sink that tests them
//	└ join        an operator, with the build side once and the probe side in granules
//	  ├ scan      of the build side
//	  └ scan      of the probe side
type Join struct {
	Scans   [2]*Scan          // build and probe
	Output  operator.Want     // the rows of the output
	Keep    deliver.Predicate // of pairs that have equal keys, which are partners; nil: all are
	Columns []deliver.Column  // of the output, by side of the tables
	Place   string            // where columns are put together: "host" or "device"
	// Transfer says what scans and delivery add to the work of the operator.
	Transfer  planner.Transfer
	HeldBytes uint64 // of the device, for columns on their way to words and back
}

// wants is what the operator makes: what the output has, or pairs for a filter.
func (j *Join) wants() operator.Want {
	if j.Keep != nil {
		return operator.Want{Pairs: true}
	}
	return j.Output
}

// Spec is what a query of a join is made of, and what it must keep to.
type Spec struct {
	Title      string         // for explain texts, as "left join of 10 x 20 rows, output rows"
	Trees      []Join         // that do the same in several ways
	Facts      operator.Facts // without what depends on the tree
	Algorithms []operator.Algorithm
	Meanings   map[string]string // of the names of algorithms, for explain texts
	Forced     bool              // the user has chosen the algorithm
	Product    bool              // every row meets every row
	Schema     *arrow.Schema     // of the output
	Numbers    bool              // pairs of row numbers are the output
	Ordered    bool              // rows come in the order of the table First
	First      relation.Side
	// Unique are, by table, the keys that must be unique, which is found before anything is joined; nil: any number of
	// rows may have a key.
	Unique   [2]*relation.KeyPlan
	Empty    string // why there is no row of output, whatever matches; "" where that is not so
	MostRows uint64 // of output; 0: no limit
	// Parts says that the probe side comes part by part: the trees have one without rows.
	Parts      bool
	PartsBytes uint64 // what parts that may come take best of the host, all at a time
	BatchRows  uint64
	RowBytes   uint64 // of a row of output on the host, about
	Progress   *exec.Progress
	Release    func() // of tables that are the query's own, when its result is closed; may be nil
	// Grant is open, with what was read already; nil: the query acquires one. It is the query's from Run or Stream on.
	Grant *exec.Grant
}

// Query is a planned join. It refers to its tables and must be used while they live.
type Query struct {
	Spec
	Engine *Engine
	// Alternatives are the ways to run it, the best first, which is the one that runs. Those that cannot run are last,
	// and say why.
	Alternatives []Alternative
	Rates        *planner.Rates // nil where none were measured on such a device

	room   room           // that it is planned for
	tables map[any]uint64 // memory of what is scanned, where that of the host is limited
}

// Alternative is a tree with an algorithm, and what is predicted for it.
type Alternative struct {
	*Join
	*operator.Plan
	Compare Comparing // where keys that have hashes are compared: CompareHost or CompareDevice
	Err     error     // why it cannot run; nil where it can
	lacks   uint64    // bytes of memory that it needs, where it cannot run for want of them
	batch   uint64    // rows
	texts   [2]uint64 // bytes of the device for the texts of either side
	parts   uint64    // bytes of host memory for the parts of the probe side; 0: no limit
}

// Plan puts the alternatives in order. It moves nothing to the device.
//
// Errors: that of the alternative that lacks the least, where none can run.
func (e *Engine) Plan(spec Spec) (*Query, error) {
	q, err := e.Bind(spec), error(nil)
	if q.Rates, err = planner.RatesFor(e.Device().Info()); err != nil {
		return nil, err
	}
	// What others hold now is avoided where that is possible, and otherwise waited for.
	for _, q.room = range q.rooms() {
		if err := q.choose(); err != nil {
			return nil, err
		}
		if q.Alternatives[0].Err == nil {
			return q, nil
		}
	}
	return nil, slices.MinFunc(q.Alternatives, func(a, b Alternative) int {
		return cmp.Or(cmp.Compare(a.missing(), b.missing()), cmp.Compare(a.lacks, b.lacks))
	}).Err
}

// missing is how much is in the way of an alternative that cannot run: memory of the host alone, so that more on the
// device is never asked for twice, memory of the device, or what memory does not help.
func (a *Alternative) missing() int {
	switch {
	case a.lacks == 0:
		return 2
	case errors.Is(a.Err, backend.ErrHostMemory):
		return 0
	}
	return 1
}

// Bind is a query that is not planned, for [Built.Probe].
func (e *Engine) Bind(spec Spec) *Query {
	q := &Query{Spec: spec, Engine: e}
	if q.Spec.Progress == nil {
		q.Spec.Progress = exec.NewProgress(nil)
	}
	return q
}

// choose lists the alternatives for the memory of the room.
func (q *Query) choose() error {
	device, freeBytes := q.Engine.Device(), q.room.deviceBytes
	limits := planner.Limits{DeviceMemoryBytes: max(1, freeBytes), HeldBytes: q.Engine.capBytes() - freeBytes,
		BlockBytes: device.Info().Limits.MaxBlockBytes}
	q.Alternatives = nil
	for i := range q.Trees {
		for _, compare := range q.comparing(&q.Trees[i]) {
			if err := q.addFitting(&q.Trees[i], compare, limits); err != nil {
				return err
			}
		}
	}
	q.keepAsked()
	q.sort()
	return nil
}

// addFitting lists the alternatives of a tree, with the texts of so small parts of the probe side on the device that one
// fits.
func (q *Query) addFitting(tree *Join, compare Comparing, limits planner.Limits) error {
	before, parts := len(q.Alternatives), uint64(1)
	if probe := tree.Scans[operator.Probe]; compare == CompareDevice {
		parts = q.Engine.textParts(probe, 0, int(probe.Table.NumRows()))
	}
	for ; ; parts *= 4 {
		q.Alternatives = q.Alternatives[:before]
		if err := q.add(tree, compare, parts, limits); err != nil {
			return err
		}
		fits := slices.ContainsFunc(q.Alternatives[before:], func(a Alternative) bool { return a.Err == nil })
		if fits || compare == CompareHost || parts >= mostTextParts {
			return nil
		}
	}
}

// add lists the alternatives of a tree, of a probe side that comes in no fewer parts.
func (q *Query) add(tree *Join, compare Comparing, parts uint64, limits planner.Limits) error {
	device, f, transfer := q.Engine.Device(), q.Facts, tree.Transfer
	f.Granule, f.Window = cmp.Or(q.Engine.GranuleRows, f.Granule), q.Engine.WindowRows
	if parts > 1 {
		f.Granule = (f.Held(operator.Probe) + parts - 1) / parts
	}
	f.Tuning, f.HeldBytes, f.Loaded = q.Engine.Ops.Tuning(), tree.HeldBytes, true
	f.Software, f.SubgroupSize = device.Info().Type == backend.Software, int(device.Info().SubgroupSize)
	for side, s := range tree.Scans {
		f.Payload[side], f.TableRows[side], f.Encoded[side] = s.Payload(), uint64(s.Table.NumRows()), s.Encodes
	}
	if q.Ordered {
		bytes, err := deliver.RunBytes(f.Tuning, deliver.RunRows)
		if err != nil {
			return err
		}
		f.HeldBytes += bytes
	}
	if tree.Keep != nil && tree.Output.Pairs && !tree.Output.Count {
		rowBytes := uint64(0)
		for _, payload := range f.Payload {
			for _, bytes := range payload {
				rowBytes += uint64(bytes)
			}
		}
		bytes, err := deliver.FilterBytes(f.Tuning, rowBytes)
		if err != nil {
			return err
		}
		f.HeldBytes += bytes
	}
	var texts [2]uint64
	if compare == CompareDevice {
		var others uint64
		texts, others = q.textBytes(tree, &f)
		f.SmallBytes = texts[operator.Build] + texts[operator.Probe] + others
		transfer.Compared, transfer.TextBytes = 0, texts
		transfer.TextBytes[operator.Probe] *= f.Granules()
	}
	all, err := planner.Choose(f, tree.wants(), q.Algorithms, q.Rates, limits)
	if err != nil {
		return err
	}
	for _, p := range all {
		transfer.Predict(p, q.Rates)
		a := Alternative{Join: tree, Plan: p, Err: p.Reject, batch: min(q.BatchRows, primitive.MaxRows),
			Compare: compare, texts: texts}
		if errors.Is(a.Err, backend.ErrDeviceMemory) {
			a.lacks = a.PeakBytes
		}
		if a.Err == nil || a.lacks > 0 {
			if err := q.fitProof(&a, limits); err != nil {
				a.Err = err
			}
		}
		if a.Err == nil {
			a.Err = q.fitHost(&a)
		}
		q.Alternatives = append(q.Alternatives, a)
	}
	return nil
}

// sort puts the best first: by predicted time or, without rates, as they are; those that cannot run last.
func (q *Query) sort() {
	if q.Rates != nil {
		slices.SortStableFunc(q.Alternatives, func(a, b Alternative) int { return cmp.Compare(a.Time(), b.Time()) })
	}
	able := slices.DeleteFunc(slices.Clone(q.Alternatives), func(a Alternative) bool { return a.Err != nil })
	if q.Rates != nil && q.Engine.Device().Info().Unified && len(able) > 0 && !able[0].Output.Count {
		frugalFirst(able)
	}
	q.Alternatives = append(able,
		slices.DeleteFunc(q.Alternatives, func(a Alternative) bool { return a.Err == nil })...)
}

// frugalFirst brings the alternative to the front that needs the least memory of those that are predicted to take at
// most a quarter more time than the first, which is less than predictions are off by. Where device memory is host
// memory, it is what tables and batches lack.
func frugalFirst(byTime []Alternative) {
	frugal := 0
	for i := range byTime {
		if byTime[i].Time() <= byTime[0].Time()*5/4 && byTime[i].PeakBytes < byTime[frugal].PeakBytes {
			frugal = i
		}
	}
	taken := byTime[frugal]
	copy(byTime[1:frugal+1], byTime[:frugal])
	byTime[0] = taken
}

// Run runs the query up to its first rows, or to their number where only that is wanted. The caller closes the result,
// which gives its memory back.
func (q *Query) Run(ctx context.Context) (*Result, error) {
	flow, begun, err := q.Engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	return run(flow, q, &q.Alternatives[0], nil, nil)
}
