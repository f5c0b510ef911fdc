package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Join is the physical tree of a join of two tables:
//
//	deliver       a sink makes record batches or pairs of row numbers from windows, in order or as they come
//	└ filter      only if not all candidates are partners: a sink that tests the pairs
//	└ join        an operator, with the build side once and the probe side in granules
//	  ├ scan      of the build side
//	  └ scan      of the probe side
type Join struct {
	Scans   [2]*Scan          // build and probe
	Output  operator.Want     // which rows the output has
	Keep    deliver.Predicate // which pairs of rows with equal codes are partners; nil: all
	Columns []deliver.Column  // of the output; by sides of the tables
	// Carried are the columns of each table that windows have instead, if the query has a consumer.
	Carried [2]deliver.Carried
	Place   string // where columns are gathered: "host" or "device"
	// Merges says that the rows of the build side that have no partner on any of several devices are found by their
	// numbers: each operator outputs those that have none on its device.
	Merges bool
	// Transfer is the work that scans and delivery add to the operator's.
	Transfer  planner.Transfer
	HeldBytes uint64 // device memory to convert columns from and to Arrow's format
}

// wants is the output of the operator: pairs if there is a filter, otherwise the output of the join.
func (j *Join) wants() operator.Want {
	if j.Keep != nil {
		return operator.Want{Pairs: true}
	}
	want := j.Output
	want.Rest[operator.Build] = want.Rest[operator.Build] || j.Merges
	return want
}

// Spec describes a join to be planned, and its limits.
type Spec struct {
	Title      string         // for explain texts, as "left join of 10 x 20 rows, output rows"
	Trees      []Join         // different ways to run the same join
	Facts      operator.Facts // except those that depend on the tree
	Algorithms []operator.Algorithm
	Meanings   map[string]string // of the names of algorithms, for explain texts
	Forced     bool              // the user has chosen the algorithm
	Product    bool              // every row pairs with every row
	Schema     *arrow.Schema     // of the output
	Numbers    bool              // the output is pairs of row numbers
	Ordered    bool              // rows are in the order of the table First
	First      relation.Side
	// Unique has, by table, the key plan of keys that must be unique, which is checked before anything is joined; nil:
	// rows may share keys.
	Unique [2]*keys.Plan
	// Check checks that the plan holds, while the build side is loaded. Nothing is output before it returns, and its
	// error ends the query. nil: there is nothing to check.
	Check   func(context.Context) error
	Empty   string         // why there is no output row, whatever the keys; "" if there may be some
	Quota   *deliver.Quota // of output rows; nil: no limit
	Divided bool           // other queries make rows of the same output
	// Parts says that the probe side comes part by part: the trees have a probe table without rows.
	Parts      bool
	PartsBytes uint64 // host memory that is best for all parts that exist at a time
	PartsRows  uint64 // number of rows of all parts; 0 if unknown
	// WaitingBytes is the host memory of rows of the probe side that were read already and wait to be parts.
	WaitingBytes uint64
	// Consumer takes the windows on the devices; nil: they are delivered to the host, or counted.
	Consumer  deliver.Consumer
	BatchRows uint64 // maximum number of rows of a record batch
	RowBytes  uint64 // approximate size of an output row on the host
	Progress  *exec.Progress
	Release   func() // releases tables that the query owns, when its result is closed; may be nil
	// Scattered says that rows of both sides with equal keys meet on one of several devices. Otherwise each device has
	// the whole build side. The facts describe one device's share.
	Scattered bool
	// Sorted says that they meet by ranges of keys: both sides are sorted across the devices, all rows at once.
	Sorted   bool
	Strategy string // how the devices share the join, for explain texts and statistics; "" if that has no name
	// Among is the number of devices that run the query together, each with an equal share of host memory beside the
	// tables; 0: one.
	Among uint64
	// DivideTime is the predicted time in which the caller can divide both sides by their keys, which it does if they do
	// not fit the memory of the device; 0: it cannot.
	DivideTime time.Duration
	// Grant is an open grant for what was read already; nil: the query acquires one. The query owns it from Run or
	// Stream on.
	Grant *exec.Grant
}

// Query is a planned join. It refers to its tables, which must live as long as it is used.
type Query struct {
	Spec
	Engine *Engine
	// Alternatives are the ways to run the query. The first is the best, and is the one that runs. Those that cannot
	// run are last, with the reason.
	Alternatives []Alternative
	Rates        *planner.Rates // nil if none were measured on such a device
	// Others are the same query, planned for further devices, which run it together with this one.
	Others []*Query
	// Spread makes each device load a part of the build side and copy it to the others (team.MaySpread). Otherwise
	// each loads all of it.
	Spread bool
	// Ways are those in which one device or several could run the query, the chosen one first; nil if there is only
	// one.
	Ways []Way

	room   room           // the memory that it is planned for
	ahead  bool           // it is planned so that transfers overlap, where device memory allows
	tables map[any]uint64 // memory of the scanned tables, if host memory is limited
}

// Alternative is a tree with an algorithm, and the predictions for it.
type Alternative struct {
	*Join
	*operator.Plan
	Compare Comparing // where hashed keys are compared: CompareHost or CompareDevice
	Err     error     // why it cannot run; nil if it can
	lacks   uint64    // bytes of memory that it needs, if it cannot run because of too little memory
	batch   uint64    // rows of a record batch
	texts   [2]uint64 // device memory in bytes for the texts of each side
	parts   uint64    // bytes of host memory for the parts of the probe side; 0: no limit
}

// Plan plans a join: it lists the alternatives, the best first. It moves nothing to the device.
//
// Errors: if no alternative can run, the error of the one that lacks the least.
func (e *Engine) Plan(spec Spec) (*Query, error) {
	q := e.Bind(spec)
	q.Rates = planner.RatesFor(e.Device().Info())
	// First try to fit the memory that is free now, then all memory, which may have to be waited for.
	for _, q.room = range q.rooms() {
		for _, q.ahead = range []bool{true, false} {
			if q.ahead && (e.Device().Info().Unified || q.Ordered) { // transfers take no time, or nothing is to overlap
				continue
			}
			// Where device memory is host memory, what else takes of that is known only with a plan.
			for deviceBytes := q.room.deviceBytes; ; {
				if err := q.choose(deviceBytes); err != nil {
					return nil, err
				}
				if q.Alternatives[0].Err == nil {
					return q, q.worthwhile()
				}
				less := q.leftForDevice(deviceBytes)
				if less == deviceBytes {
					break
				}
				deviceBytes = less
			}
		}
	}
	return nil, slices.MinFunc(q.Alternatives, func(a, b Alternative) int {
		return cmp.Or(cmp.Compare(a.missing(), b.missing()), cmp.Compare(a.lacks, b.lacks))
	}).Err
}

// worthwhile is backend.ErrDeviceMemory if even the fastest alternative, in small granules, takes longer than to divide
// both sides and to join their parts as fast as with enough memory.
func (q *Query) worthwhile() error {
	fastest := &q.Alternatives[0] // another one may be the best in memory and time
	if q.DivideTime == 0 || q.Rates == nil || fastest.Facts.Granules() == 1 {
		return nil
	}
	whole := fastest.Time()
	for i := range q.Alternatives {
		a := &q.Alternatives[i]
		if a.Err == nil && a.Time() < fastest.Time() {
			fastest = a
		}
		if a.Err == nil || a.lacks > 0 {
			whole = min(whole, a.Time()-a.ExtraTime)
		}
	}
	if fastest.Time() <= whole+q.DivideTime {
		return nil
	}
	return &backend.OpError{Op: "plan join", Device: q.Engine.Device().Info().Name, Err: backend.ErrDeviceMemory,
		Detail: fmt.Sprintf("%s in %s is predicted to take %s; with enough device memory %s, plus %s for a division",
			fastest.Algorithm.Name(), text.Plural(fastest.Facts.Granules(), "granule"), text.Duration(fastest.Time()),
			text.Duration(whole), text.Duration(q.DivideTime))}
}

// missing ranks what an alternative that cannot run lacks: 0 for host memory alone, so that more device memory is never
// asked for in addition, 1 for device memory, 2 for anything that more memory cannot solve.
func (a *Alternative) missing() int {
	switch {
	case a.lacks == 0:
		return 2
	case errors.Is(a.Err, backend.ErrHostMemory):
		return 0
	}
	return 1
}

// Bind returns a query that is not planned, for [Built.Probe].
func (e *Engine) Bind(spec Spec) *Query {
	q := &Query{Spec: spec, Engine: e}
	if q.Spec.Progress == nil {
		q.Spec.Progress = exec.NewProgress(nil)
	}
	if q.Spec.Quota == nil {
		q.Spec.Quota = new(deliver.Quota)
	}
	return q
}

// choose lists the alternatives for the memory in room, with at most deviceBytes on the device.
func (q *Query) choose(deviceBytes uint64) error {
	limits := planner.Limits{DeviceMemoryBytes: max(1, deviceBytes), HeldBytes: q.Engine.capBytes() - q.room.deviceBytes,
		BlockBytes: q.Engine.Device().Info().Limits.MaxBlockBytes}
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

// addFitting adds the alternatives of a tree. If texts are compared on the device, it divides the probe side into more
// and more parts until an alternative fits.
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

// add adds the alternatives of a tree, with a probe side in at least this number of parts.
func (q *Query) add(tree *Join, compare Comparing, parts uint64, limits planner.Limits) error {
	device, f, transfer := q.Engine.Device(), q.Facts, tree.Transfer
	f.Granule, f.Window = cmp.Or(q.Engine.GranuleRows, f.Granule), q.Engine.WindowRows
	if parts > 1 {
		f.Granule = (f.Held(operator.Probe) + parts - 1) / parts
	}
	f.Ahead = q.ahead
	f.Tuning, f.HeldBytes, f.Loaded = q.Engine.Ops.Tuning(), tree.HeldBytes, true
	f.On(device)
	for side, s := range tree.Scans {
		f.Payload[side], f.TableRows[side], f.Encoded[side] = s.Payload(), s.loads(), s.Encodes
		if side == operator.Build || f.Granule%inPlaceRows == 0 {
			f.InPlace[side] = s.InPlace
		}
	}
	switch {
	case q.Sorted:
		f.HeldBytes += f.Rows[operator.Probe] * f.RowBytes(operator.Probe)
	case q.Scattered:
		most := limits.DeviceMemoryBytes / scatteredShare / (scatteredCopies * f.RowBytes(operator.Probe))
		f.Granule = min(f.Granule, max(most, minBatchRows))
		f.HeldBytes += f.Held(operator.Probe) * scatteredCopies * f.RowBytes(operator.Probe)
	}
	if err := q.holds(tree, &f); err != nil {
		return err
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
		transfer.Scattered = q.Scattered
		transfer.Predict(p, q.Rates)
		a := Alternative{Join: tree, Plan: p, Err: p.Reject, batch: min(q.BatchRows, primitive.MaxRows),
			Compare: compare, texts: texts}
		if q.Scattered {
			q.fitScattered(&a, limits)
		}
		if errors.Is(a.Err, backend.ErrDeviceMemory) {
			a.lacks = a.PeakBytes
		}
		if a.Err == nil || a.lacks > 0 {
			if err := q.fitProof(&a, limits); err != nil {
				a.Err = err
			}
		}
		if a.lacks > limits.DeviceMemoryBytes && a.lacks <= q.room.deviceBytes { // it is host memory that is short
			a.Err, a.lacks = nil, 0
		}
		if a.Err == nil {
			a.Err = q.fitHost(&a)
		}
		q.Alternatives = append(q.Alternatives, a)
	}
	return nil
}

// holds adds the device memory of an order of rows, and of a filter of pairs.
func (q *Query) holds(tree *Join, f *operator.Facts) error {
	if q.Ordered {
		bytes, err := deliver.RunBytes(f.Tuning, deliver.RunRows)
		if err != nil {
			return err
		}
		f.HeldBytes += bytes
	}
	if tree.Merges || tree.Keep != nil && tree.Output.Pairs && !tree.Output.Count {
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
	return nil
}

// sort puts the best alternative first: by predicted time or, without rates, in the given order; those that cannot run
// last.
func (q *Query) sort() {
	if q.Rates != nil {
		slices.SortStableFunc(q.Alternatives, func(a, b Alternative) int { return cmp.Compare(a.Time(), b.Time()) })
	}
	able := slices.DeleteFunc(slices.Clone(q.Alternatives), func(a Alternative) bool { return a.Err != nil })
	if q.Rates != nil && q.Engine.Device().Info().Unified && len(able) > 0 && q.delivers(&able[0]) {
		frugalFirst(able)
	}
	q.Alternatives = append(able,
		slices.DeleteFunc(q.Alternatives, func(a Alternative) bool { return a.Err == nil })...)
}

// frugalFirst moves one alternative to the front: of those with a predicted time at most a quarter above the first,
// which is within the error of predictions, the one with the least product of memory and squared time. Time counts
// twice, because tables and batches, which every alternative needs, take about as much host memory again.
func frugalFirst(byTime []Alternative) {
	cost := func(a *Alternative) float64 { return a.Time().Seconds() * a.Time().Seconds() * float64(a.PeakBytes) }
	frugal := 0
	for i := range byTime {
		if byTime[i].Time() <= byTime[0].Time()*5/4 && cost(&byTime[i]) < cost(&byTime[frugal]) {
			frugal = i
		}
	}
	taken := byTime[frugal]
	copy(byTime[1:frugal+1], byTime[:frugal])
	byTime[0] = taken
}

// Run runs the query up to its first rows or, if only their number is wanted, to the end. The caller closes the result,
// which releases its memory. Errors: device errors; as for [exec.Budget.Acquire]; backend.ErrLimit for more rows than
// the quota allows; backend.ErrInvalidInput for keys that must be unique and are not.
func (q *Query) Run(ctx context.Context) (*Result, error) {
	flow, begun, err := q.Engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	return Start(flow, []*Query{q}, func([]*Lane) Team { return alone{} })
}
