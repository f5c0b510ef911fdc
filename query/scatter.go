package query

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// A build side that is too large for one device, but not for all together, is scattered: rows of both sides with equal
// keys meet on one device, by a hash of the key (a partitioned join, DIST 3). Strands are ranks of an exchange. Each
// loads its range of the rows of the build side, and of each granule of the probe side; then rows move over the links
// between the devices, and each joins what it received.
//
//	rank 0: load rows 0..n/2 ─┐               ┌─► keys of rank 0 ─► operator
//	rank 1: load rows n/2..n ─┴─► Exchange ───┴─► keys of rank 1 ─► operator

// rank is a strand among those that exchange rows.
type rank struct {
	of     *peers.Rank
	all    *scattered        // nil where only the build side moves
	owners peers.Partitioner // has decided where keys go
}

// scattered is what the ranks share.
type scattered struct {
	pipe  *exec.Pipe[*Part]
	ranks int
	rows  uint64 // of the probe side, that all ranks together exchange at a time

	mu    sync.Mutex // guards what follows
	taken int        // parts
	held  map[int]*heldPart
}

// heldPart is a part that some ranks have not taken yet.
type heldPart struct {
	*Part
	lacks int
}

// scatterSeed is the seed of the hashes by which rows are scattered; partitions on a device use other seeds.
const scatterSeed = 0x5ca77e4d

// ScatteredSlack is how many times its share of rows a device has room for: shares of hashed keys are not equal.
const ScatteredSlack = 1.25

// scatteredCopies are the copies of a granule beside the one that is joined: as it was loaded, and in the order of its
// parts.
const scatteredCopies = 2

// scatteredShare is the share of device memory, as its inverse, that these copies may take.
const scatteredShare = 4

// meet scatters the build side, and joins.
func (r *Result) meet(ctx context.Context) error {
	all := &scattered{pipe: r.parts, ranks: len(r.strands), held: make(map[int]*heldPart)}
	defer all.release()
	lanes, weights := make([]*exec.Lane, len(r.strands)), make([]uint32, len(r.strands))
	rows := uint64(0)
	for _, s := range r.strands {
		rows += s.taken.Facts.Rows[operator.Build]
	}
	for i, s := range r.strands {
		lanes[i] = s.built.lane
		weights[i] = uint32(max(1, s.taken.Facts.Rows[operator.Build]<<16/max(1, rows)))
	}
	// The device with the least room for its share tells how many rows are exchanged at a time.
	all.rows = exec.Unlimited
	for i, s := range r.strands {
		share := float64(weights[i]) / float64(sum(weights))
		all.rows = min(all.rows, uint64(float64(s.taken.Facts.Granule)/share/ScatteredSlack)+1)
	}
	return peers.RunRanks(ctx, r.Query.Engine.links, lanes, weights, func(ctx context.Context, p *peers.Rank) error {
		s := r.strands[p.Rank()]
		s.rank = &rank{of: p, all: all}
		err := s.built.fill(ctx, s.proved(), &r.encode, s.rank)
		if err == nil {
			err = s.probe(ctx)
		}
		if err != nil {
			r.flow.Fail(cmp.Or(context.Cause(ctx), err)) // the first error; other ranks fail because of it
		}
		return err
	})
}

func sum(weights []uint32) (total uint64) {
	for _, w := range weights {
		total += uint64(w)
	}
	return total
}

// mine is the range of rows [from, to) that the rank loads.
func (r *rank) mine(from, to int) (int, int) {
	before, all, rows := uint64(0), sum(r.of.Weights), uint64(to-from)
	for _, w := range r.of.Weights[:r.of.Rank()] {
		before += uint64(w)
	}
	end := before + uint64(r.of.Weights[r.of.Rank()])
	return from + int(rows*before/all), from + int(rows*end/all)
}

// part returns a part of the probe side by its number, which every rank takes and releases; nil after the last one.
func (s *scattered) part(ctx context.Context, number int) (*Part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number == s.taken {
		part, some, err := s.pipe.Take(ctx)
		if err != nil || !some {
			return nil, err
		}
		s.taken++
		s.held[number] = &heldPart{part, s.ranks}
	}
	h := s.held[number]
	h.lacks--
	if h.lacks == 0 {
		delete(s.held, number)
		return h.Part, nil
	}
	h.Table.Retain()
	own := *h.Part
	return &own, nil
}

// release releases the parts that not all ranks have taken.
func (s *scattered) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		h.Release()
	}
	clear(s.held)
}

// bounds are the ranges of rows of a part that are exchanged at a time: the same on all ranks.
func (s *scattered) bounds(rows int) (bounds []int) {
	for from := 0; from < rows; from += int(min(s.rows, uint64(rows))) {
		bounds = append(bounds, from)
	}
	return append(bounds, rows)
}

// scatteredPieces is in how many pieces the build side is exchanged, so that only a small part of it is there several
// times at once.
const scatteredPieces = planner.SpreadPieces

// piece is a part of the build side that a rank has loaded.
type piece struct {
	*relation.Chunk
	memory *exec.Scope
}

// Release releases the rows.
func (p *piece) Release() { p.memory.ReleaseAll() }

// pieces loads the rank's range of the build side piece by piece.
func (b *Built) pieces(ctx context.Context, rank *rank) iter.Seq2[*piece, error] {
	s := b.held.Scans[operator.Build]
	from, to := rank.mine(0, int(s.Table.NumRows()))
	return func(yield func(*piece, error) bool) {
		lane := b.lane.On(ctx, backend.Ingest)
		for i := range scatteredPieces {
			p := &piece{memory: lane.Scope(ctx)}
			var err error
			first, end := from+(to-from)*i/scatteredPieces, from+(to-from)*(i+1)/scatteredPieces
			if p.Chunk, err = s.load(ctx, lane, p.memory, first, end, nil); err != nil {
				p.Release()
				p = nil
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// scatter loads the rank's range of the build side piece by piece, and returns the rows that it received of all ranks.
// While a piece is exchanged, the next one is loaded. The first piece decides which keys belong to which rank.
func (b *Built) scatter(ctx context.Context, rank *rank) (*relation.Chunk, error) {
	var received []*peers.Received
	defer func() {
		for _, r := range received {
			r.Release()
		}
	}()
	rows := uint64(0)
	load := func(ctx context.Context) iter.Seq2[*piece, error] { return b.pieces(ctx, rank) }
	for p, err := range exec.Ahead(exec.FlowOf(ctx), "load piece", load) {
		if err != nil {
			return nil, err
		}
		by := rank.owners
		if by == nil {
			by = rank.of.Hash(scatterSeed)
			rank.owners = by
		} else {
			by = peers.Alike(by)
		}
		r, err := rank.of.Exchange(ctx, by, 0, p.Chunk)
		p.Release()
		if err != nil {
			return nil, err
		}
		received = append(received, r...)
		rows += r[0].Rows
	}
	return b.join(ctx, received, rows)
}

// join copies pieces into one chunk.
func (b *Built) join(ctx context.Context, pieces []*peers.Received, rows uint64) (*relation.Chunk, error) {
	if err := primitive.CheckRows("exchange", rows); err != nil {
		return nil, err
	}
	whole := &relation.Chunk{Rows: rows, Narrow: true, HighWord: pieces[0].HighWord}
	for _, piece := range pieces {
		whole.Narrow = whole.Narrow && piece.Narrow && piece.HighWord == whole.HighWord
	}
	list := b.lane.List("copy rows")
	column := func(of func(c *relation.Chunk) relation.Values) (relation.Values, error) {
		bytes := uint64(of(&pieces[0].Chunk).Bytes)
		to, at := b.memory.New(rows*bytes, "received rows").All(), uint64(0)
		if err := b.memory.Err(); err != nil {
			return relation.Values{}, err
		}
		for _, piece := range pieces {
			from := of(&piece.Chunk).Data.Part(0, piece.Rows*bytes)
			if from.SizeBytes > 0 {
				if err := b.lane.Copy(list, to.Part(at, from.SizeBytes), from); err != nil {
					return relation.Values{}, err
				}
			}
			at += from.SizeBytes
		}
		return relation.Values{Data: to, Bytes: int(bytes)}, nil
	}
	var err error
	if whole.Keys, err = column(func(c *relation.Chunk) relation.Values { return c.Keys }); err != nil {
		return nil, err
	}
	for i := range pieces[0].Payload {
		v, err := column(func(c *relation.Chunk) relation.Values { return c.Payload[i] })
		if err != nil {
			return nil, err
		}
		whole.Payload = append(whole.Payload, v)
	}
	return whole, b.lane.Submit(ctx, list)
}

// replan plans for the rows of the build side that came. Memory beyond what was planned must be free.
func (b *Built) replan(rows uint64) error {
	facts := b.held.Facts
	facts.Rows[operator.Build] = rows
	plan, err := b.held.Algorithm.Plan(&facts, b.held.Want)
	if err == nil {
		err = plan.Reject
	}
	if err != nil {
		return err
	}
	held := *b.held
	held.Plan, b.held = plan, &held
	device := b.Query.Engine.Device()
	need := plan.PeakBytes - min(plan.PeakBytes, rows*facts.RowBytes(operator.Build)) // beside the rows
	if b.grant.Reserve(device, need) < need {
		return &backend.OpError{Op: "join", Device: device.Info().Name, Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
			"%d rows of the build side have keys that meet here, planned were %d; raise device_memory", rows,
			b.taken.Facts.Rows[operator.Build])}
	}
	return nil
}

// exchange replaces the rows that a granule has loaded by those that the rank receives of it.
func (r *rank) exchange(ctx context.Context, lane *exec.Lane, g *granule) error {
	at := *r.of
	at.Lane = lane
	received, err := at.Exchange(ctx, peers.Alike(r.owners), 0, g.chunk)
	if err != nil {
		return err
	}
	g.memory.ReleaseAll()
	g.received, g.chunk = received[0], &received[0].Chunk
	return nil
}

// scatteredPiece is a multiple of the rows at which the pieces of a granule begin, so that kernels can read them.
const scatteredPiece = backend.PlanAlignment / 4

// pieces yields a granule in pieces of at most the rows that the operator was planned for: a rank with a frequent key
// receives more.
func (r *strand) pieces(c *relation.Chunk, yield func(*relation.Chunk) error) error {
	most := max(r.taken.Facts.Held(operator.Probe)/scatteredPiece, 1) * scatteredPiece
	if r.rank == nil || c.Rows <= most {
		return yield(c)
	}
	for from := uint64(0); from < c.Rows; from += most {
		rows := min(most, c.Rows-from)
		cut := func(v relation.Values) relation.Values {
			v.Data = v.Data.Part(from*uint64(v.Bytes), rows*uint64(v.Bytes))
			return v
		}
		piece := *c
		piece.Rows, piece.Keys, piece.Payload = rows, cut(c.Keys), nil
		for _, v := range c.Payload {
			piece.Payload = append(piece.Payload, cut(v))
		}
		if err := yield(&piece); err != nil {
			return err
		}
	}
	return nil
}

// exchangedBytes is the device memory of the exchange of a build side: rows in pieces and as a whole, a piece as it was
// loaded and in the order of its parts, and the next one.
func exchangedBytes(f *operator.Facts) uint64 {
	rows := f.Rows[operator.Build] * f.RowBytes(operator.Build)
	need := 2*rows + 3*rows/scatteredPieces
	return need + operator.Slack(need)
}

// fitScattered adds the memory of the exchange of the build side to an alternative.
func (q *Query) fitScattered(a *Alternative, limits planner.Limits) {
	need := exchangedBytes(&a.Facts)
	if a.PeakBytes = max(a.PeakBytes, need); a.Err == nil && a.PeakBytes > limits.DeviceMemoryBytes {
		a.Err = &backend.OpError{Op: "plan join", Device: q.Engine.Device().Info().Name, Err: backend.ErrDeviceMemory,
			Detail: fmt.Sprintf("to exchange the build side takes %d bytes of the device, %d are free; raise device_memory",
				need, limits.DeviceMemoryBytes)}
	}
}
