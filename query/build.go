package query

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// Built is a build side on the device: its operator, and memory for one granule of a probe side and for its output. The
// owner closes it.
//
// A probe never waits for memory, because those that hold it may wait for this build side to be closed. Further memory,
// for larger windows and parts, is taken only if it is free, and returned with the result. The memory of a probe table,
// which exists already, is counted if it fits.
type Built struct {
	Query *Query // the query with which the build side was planned

	taken   *Alternative
	held    *Alternative // taken, with memory for what cannot be used in place
	need    exec.Need
	grant   *exec.Grant // has need, and more while there is a result
	lane    *exec.Lane
	memory  *exec.Scope    // memory of the chunk
	inPlace *exec.Scope    // columns that are used where tables have them
	texts   *deliver.Texts // texts of the chunk; nil unless keys are compared on the device
	op      operator.Operator
	busy    atomic.Bool // there is a result that is not closed
	flow    *exec.Flow  // that ends with it, of a build side that is kept; otherwise nil
}

// Build loads the build side of a query onto the device, to be probed by many tables, which are represented by the
// probe side of the plan. The caller closes the build side.
//
// Errors: device errors; as for [exec.Budget.Acquire].
func (q *Query) Build(ctx context.Context) (built *Built, err error) {
	flow, begun, err := q.Engine.Begin(context.WithoutCancel(ctx)) // which ends with this call, and the flow with Close
	if err != nil {
		return nil, err
	}
	defer begun()
	defer func() {
		if built == nil { // after a panic too
			flow.Stop()
		}
	}()
	q.rehearsing(flow)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(flow.Context(), func() { cancel(context.Cause(flow.Context())) })()
	a := &q.Alternatives[0]
	built, err = q.build(ctx, a, a.Scans[:operator.Probe], new(backend.Profile), new(atomic.Int64))
	if err != nil {
		return nil, err
	}
	built.flow = flow
	flow.AtEnd(built.end)
	return built, nil
}

// build acquires the memory of an alternative, checks that keys of some scans are unique if required, and builds.
func (q *Query) build(ctx context.Context, a *Alternative, proved []*Scan, profile *backend.Profile,
	encode *atomic.Int64) (built *Built, err error) {
	q.Progress.Start(exec.Waiting)
	b, err := q.prepare(ctx, a)
	if err == nil {
		err = b.acquire(ctx, q.need(b.held))
	}
	if err != nil {
		b.giveUp()
		return nil, err
	}
	b.open(ctx, profile)
	defer func() {
		if built == nil { // after a panic too
			b.Close()
		}
	}()
	if err := b.fill(ctx, proved, encode, b.load); err != nil {
		return nil, err
	}
	return b, nil
}

// prepare imports what an alternative uses in place. On an error too, the caller gives up or opens what it returns.
func (q *Query) prepare(ctx context.Context, a *Alternative) (b *Built, err error) {
	b = &Built{Query: q, taken: a, grant: q.Grant, inPlace: exec.NewScope(ctx, q.Engine.Device(), nil)}
	b.held, err = a.hold(b.inPlace, q.Engine.Device().Info())
	return b, err
}

// giveUp ends what was prepared, and its grant. Safe on nil.
func (b *Built) giveUp() {
	if b != nil {
		b.inPlace.ReleaseAll()
		b.grant.Release()
	}
}

// open makes the lane, once there is a grant. Memory outlives this call, and so does the context of its allocations.
func (b *Built) open(ctx context.Context, profile *backend.Profile) {
	e := b.Query.Engine
	scope := exec.NewScope(context.WithoutCancel(ctx), e.Device(), b.grant)
	b.lane = &exec.Lane{Ops: e.Ops, Memory: scope, Profile: profile}
	b.memory = b.lane.Scope(ctx)
}

// load loads all rows of the build side.
func (b *Built) load(ctx context.Context) (*relation.Chunk, error) {
	s := b.held.Scans[operator.Build]
	return s.load(ctx, b.lane, b.memory, 0, int(s.loads()), b.texts)
}

// Scan returns the scan of the build side.
func (b *Built) Scan() *Scan { return b.held.Scans[operator.Build] }

// Lane returns the lane of the build side.
func (b *Built) Lane() *exec.Lane { return b.lane }

// Memory returns the scope of the memory of its rows.
func (b *Built) Memory() *exec.Scope { return b.memory }

// fill checks keys, and builds from the rows that load returns.
func (b *Built) fill(ctx context.Context, proved []*Scan, encode *atomic.Int64,
	load func(context.Context) (*relation.Chunk, error)) error {
	q, a := b.Query, b.held
	for _, s := range proved {
		if err := q.prove(ctx, b.lane, s); err != nil {
			return err
		}
	}
	if q.Empty != "" {
		return nil
	}
	s := a.Scans[operator.Build]
	defer exec.Begin(ctx, "build").Rows(s.loads()).End()
	q.Progress.Start("load " + s.Side.String())
	chunk, err := timed(encode, func() (_ *relation.Chunk, err error) {
		if a.Compare == CompareDevice {
			if b.texts, err = s.loadTexts(ctx, b.lane, b.memory, 0, int(s.Table.NumRows())); err != nil {
				return nil, err
			}
		}
		return load(ctx)
	})
	if err != nil {
		return err
	}
	a = b.held
	b.op = a.Algorithm.Open(ctx, b.lane, a.Plan)
	return b.op.Build(ctx, chunk)
}

// acquire acquires the memory of a query, or completes the grant that it has.
func (b *Built) acquire(ctx context.Context, need exec.Need) (err error) {
	if b.need = need; b.grant == nil {
		b.grant, err = b.Query.Engine.budget.Acquire(ctx, need)
		return err
	}
	if err = b.grant.Await(ctx, need); err == nil {
		err = b.grant.Complete()
	}
	return err
}

// Probe joins with the probe side of a query that was bound ([Engine.Bind]) with the same specification but another
// probe table. The previous result must be closed. The caller closes the result. Errors: as for [Query.Run];
// backend.ErrInvalidInput if the build side was closed or is in use.
func (b *Built) Probe(ctx context.Context, q *Query) (*Result, error) {
	flow, begun, err := q.Engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	return b.probe(flow, q, func(*Lane) {})
}

// probe joins in a flow, which ends with the result or with the error. from may give the lane another source.
func (b *Built) probe(flow *exec.Flow, q *Query, from func(*Lane)) (*Result, error) {
	if b.lane == nil {
		flow.Stop()
		return nil, &backend.OpError{Op: "join", Err: backend.ErrInvalidInput, Detail: "the build side was closed"}
	}
	q.Alternatives, q.Rates = slices.Clone(b.Query.Alternatives), b.Query.Rates
	a := &q.Alternatives[0]
	a.Join = tree(q.Trees, a.Place)
	if !b.busy.CompareAndSwap(false, true) {
		flow.Stop()
		return nil, &backend.OpError{Op: "join", Err: backend.ErrInvalidInput,
			Detail: "the build side is in use; close the result before"}
	}
	if err := b.op.Rewind(flow.Context()); err != nil {
		flow.Stop()
		b.probed()
		return nil, err
	}
	if q.Engine.hostBytes != exec.Unlimited { // counts the probe table if it fits: a probe never waits
		_ = b.grant.Grow(exec.Need{Shared: relation.SharedBytes(a.Scans[operator.Probe].Table)})
	}
	result, err := Start(flow, []*Query{q}, func(lanes []*Lane) Team {
		lanes[0].built, lanes[0].kept = b, true
		from(lanes[0])
		return alone{}
	})
	if err != nil {
		return nil, err
	}
	b.flow.Go("result", func(ctx context.Context) error { // which ends before the build side does
		select {
		case <-ctx.Done():
			flow.Fail(context.Cause(ctx))
		case <-flow.Context().Done():
		}
		_ = flow.Wait() // the reader gets the error
		return nil
	})
	return result, nil
}

// probed ends a probe.
func (b *Built) probed() {
	b.grant.Shrink(b.need)
	b.busy.Store(false)
}

// release releases the device memory of the build side.
func (b *Built) release() {
	if b.op != nil {
		b.op.Close()
		b.op = nil
	}
	b.memory.ReleaseAll()
	b.inPlace.ReleaseAll()
}

// Close releases all memory. A result under way, which should have been closed, fails with ErrCancelled. A second
// Close does nothing.
func (b *Built) Close() {
	if b.flow != nil {
		b.flow.Fail(fmt.Errorf("%w: the build side was closed", backend.ErrCancelled))
		b.flow.Stop()
		return
	}
	b.end()
}

func (b *Built) end() {
	b.release()
	b.lane.Memory.ReleaseAll()
	b.grant.Release()
	b.lane = nil
}

// timed adds the time of loading to nanos.
func timed(nanos *atomic.Int64, load func() (*relation.Chunk, error)) (*relation.Chunk, error) {
	start := time.Now()
	defer func() { nanos.Add(int64(time.Since(start))) }()
	return load()
}

// prove checks that the keys of a side are unique, if the query requires it.
//
// Errors: backend.ErrInvalidInput that names a key and two rows that have it.
func (q *Query) prove(ctx context.Context, lane *exec.Lane, s *Scan) error {
	keys := q.proof(s)
	if keys == nil {
		return nil
	}
	rows := keys.loads()
	q.Progress.StartOf("validate "+s.Side.String(), rows)
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	chunk, err := keys.load(ctx, lane, lane.Memory, 0, int(rows), nil)
	if err != nil || chunk.Rows == 0 {
		return err
	}
	q.Progress.Done(rows / 6) // to load, to sort and to search takes about a sixth, four and one of the time
	sorted, err := ranges.Sort(ctx, lane, chunk, s.Side.String(), ranges.Numbers{Given: chunk.Payload[0].Data})
	if err != nil {
		return err
	}
	q.Progress.Done(rows * 5 / 6)
	m, err := ranges.Search(ctx, lane, sorted, sorted, true)
	if err != nil {
		return err
	}
	q.Progress.Done(rows)
	if m.Total == chunk.Rows {
		return nil
	}
	first, second, err := repeated(ctx, lane, sorted, keys)
	if err != nil || first == second {
		return err
	}
	numbers := []int64{s.origin(int64(first)), s.origin(int64(second))}
	slices.Sort(numbers)
	return &backend.OpError{Op: "validate join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
		"keys of the %s table must be unique, but rows %s and %s both have %s; rows count from 0", s.Side,
		relation.RowName(numbers[0]), relation.RowName(numbers[1]), keys.Keys.Text(s.Side, int(first)))}
}

// prove is [Query.prove] for a probe side. Its table was not known when the build side was planned, so memory for the
// check is taken from what is free now.
func (b *Built) prove(ctx context.Context, q *Query, lane *exec.Lane, s *Scan) error {
	if keys := q.proof(s); keys != nil {
		need, err := q.proofBytes(keys, keys.Rows())
		if err != nil {
			return err
		}
		if free := b.grant.Reserve(q.Engine.Device(), need); free < need {
			info, limit := q.Engine.Device().Info(), q.Engine.hostBytes
			if limit != exec.Unlimited && info.InHostMemory() {
				return q.Engine.hostMemoryError(limit+2*(need-free), limit) // batches take half of any further memory
			}
			return q.noProof(keys, need, free, q.Engine.capBytes()-free)
		}
	}
	return q.prove(ctx, lane, s)
}

// proof scans the keys of a side that must be unique; nil if there is no such requirement.
func (q *Query) proof(s *Scan) *Scan {
	if q.Unique[s.Side] == nil {
		return nil
	}
	keys := q.Unique[s.Side]
	scan := &Scan{Side: s.Side, Table: s.Table, Keys: keys, Numbers: true, Selection: s.Selection}
	if s.Proof != nil {
		scan.Selection = s.Proof
	}
	scan.Encodes = q.Engine.EncodesKeys(scan)
	return scan
}

// repeated finds two rows with the first key that occurs more than once; the same row twice if all keys are unique. It
// reads the keys piece by piece, without device memory. For rows with equal codes, which may be hashes, it compares the
// keys.
func repeated(ctx context.Context, lane *exec.Lane, sorted *ranges.Sorted, s *Scan) (first, second uint32, err error) {
	width := sorted.KeyBytes
	piece := make([]byte, min(sorted.Rows, 1<<20)*uint64(width))
	repeats := s.Keys.Repeats(s.Side) // rows with the last code, if more may follow
	for from := uint64(0); from+1 < sorted.Rows; {
		rows := min(sorted.Rows-from, uint64(len(piece)/width))
		keys := piece[:rows*uint64(width)]
		if err := lane.Download(ctx, keys, sorted.Keys.Part(from*uint64(width), uint64(len(keys)))); err != nil {
			return 0, 0, err
		}
		for begin := 0; begin < len(keys); {
			end := begin + width
			for end < len(keys) && bytes.Equal(keys[begin:begin+width], keys[end:end+width]) {
				end += width
			}
			if end-begin > width {
				ids := make([]uint32, (end-begin)/width)
				at := sorted.IDs.Part((from+uint64(begin/width))*4, uint64(len(ids)*4))
				if err := lane.Download(ctx, backend.AsBytes(ids), at); err != nil {
					return 0, 0, err
				}
				if repeats.Rows() > 0 { // the first row was the last one of the previous piece
					ids = ids[1:]
				}
				if first, second, found := repeats.Add(ids); found {
					return first, second, nil
				}
			}
			if begin = end; begin < len(keys) && repeats.Rows() > 0 {
				repeats = s.Keys.Repeats(s.Side)
			}
		}
		from += rows - 1 // the last key is compared with the next one
	}
	return 0, 0, nil
}

// fitProof adds the memory of the checks for unique keys, which run before the join one after the other, to an
// alternative. It returns an error if the larger one exceeds the limits.
func (q *Query) fitProof(a *Alternative, limits planner.Limits) error {
	var largest *Scan
	most := uint64(0)
	for _, s := range a.Scans {
		if s = q.proof(s); s == nil {
			continue
		}
		rows := s.Rows()
		if q.Facts.Stays && s.Side == a.Scans[operator.Probe].Side {
			rows = max(rows, provedRows)
		}
		need, err := q.proofBytes(s, rows)
		if err != nil {
			return err
		}
		if need > most {
			largest, most = s, need
		}
	}
	if a.PeakBytes = max(a.PeakBytes, most); most <= max(limits.DeviceMemoryBytes, a.lacks) {
		return nil
	}
	a.lacks = most
	return q.noProof(largest, most, limits.DeviceMemoryBytes, limits.HeldBytes)
}

// provedRows is the number of rows of a later probe table for whose check a build side that stays has memory. A larger
// check needs free memory.
const provedRows = 1 << 10

// proofBytes is the device memory to check that the keys of rows rows of a scan are unique.
func (q *Query) proofBytes(s *Scan, rows uint64) (need uint64, err error) {
	// The sorted side is searched in itself, only to count the matches.
	need, err = ranges.JoinBytes(q.Engine.Ops.Tuning(), s.Keys.KeyBytes(), [2]uint64{rows})
	need = max(need, s.loadingBytes()) + rows*uint64(s.Keys.KeyBytes()+4)
	return need + operator.Slack(need), err
}

// noProof returns the error of too little memory for a check. held is the memory that others hold.
func (q *Query) noProof(s *Scan, need, free, held uint64) error {
	return &backend.OpError{Op: "plan join", Device: q.Engine.Device().Info().Name, Err: backend.ErrDeviceMemory,
		Detail: fmt.Sprintf("to prove that the keys of the %s table are unique takes %d bytes, %d are free; "+
			"raise device_memory to at least %s, or leave out validate", s.Side, need, free, text.Limit(need+held))}
}
