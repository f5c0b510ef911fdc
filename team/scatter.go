package team

import (
	"context"
	"iter"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// scattered is the team on whose lanes rows meet by their keys. A build side that is too large for one device, but not
// for all together, is scattered: rows of both sides with equal keys meet on one device, by a hash of the key (a
// partitioned join, DIST 3). Lanes are ranks of an exchange. Each loads its range of the rows of the build side, and of
// each granule of the probe side; then rows move over the links between the devices, and each joins what it received.
//
//	rank 0: load rows 0..n/2 ─┐               ┌─► keys of rank 0 ─► operator
//	rank 1: load rows n/2..n ─┴─► Exchange ───┴─► keys of rank 1 ─► operator
type scattered struct {
	met
	pipe    *exec.Pipe[*query.Part]
	ranks   int
	weights []uint32
	rows    uint64 // of the probe side, that all ranks together exchange at a time

	mu    sync.Mutex // guards what follows
	taken int        // parts
	held  map[int]*sharedPart
}

// sharedPart is a part that some ranks have not taken yet.
type sharedPart struct {
	*query.Part
	lacks int
}

// rank is a lane among those that exchange rows. It implements query.Rows.
type rank struct {
	*query.Lane
	of     *peers.Rank
	all    *scattered
	owners peers.Partitioner // has decided where keys go
	number int               // of the next part
}

// scatterSeed is the seed of the hashes by which rows are scattered; partitions on a device use other seeds.
const scatterSeed = 0x5ca77e4d

// Slack is the room of a device divided by its share of rows: hashed keys do not make equal shares.
const Slack = 1.25

// newScattered divides the work among lanes by the rows that each was planned for. The device with the least room for
// its share tells how many rows are exchanged at a time.
func newScattered(lanes []*query.Lane, parts *exec.Pipe[*query.Part]) *scattered {
	t := &scattered{pipe: parts, ranks: len(lanes), held: make(map[int]*sharedPart), rows: exec.Unlimited}
	rows, all := uint64(0), uint64(0)
	for _, l := range lanes {
		rows += l.Taken().Facts.Rows[operator.Build]
	}
	for _, l := range lanes {
		weight := max(1, l.Taken().Facts.Rows[operator.Build]<<16/max(1, rows))
		t.weights, all = append(t.weights, uint32(weight)), all+weight
	}
	for i, l := range lanes {
		share := float64(t.weights[i]) / float64(all)
		t.rows = min(t.rows, uint64(float64(l.Taken().Facts.Granule)/share/Slack)+1)
	}
	return t
}

// Join implements query.Team.
func (t *scattered) Join(ctx context.Context, lanes []*query.Lane) error {
	return joinMet(ctx, lanes, t.weights, func(l *query.Lane, p *peers.Rank) loader {
		r := &rank{Lane: l, of: p, all: t}
		l.Rows, l.Source = r, r.take
		return r.load
	})
}

// Close releases the parts that not all ranks have taken.
func (t *scattered) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.held {
		h.Release()
	}
	clear(t.held)
}

// mine is the range of rows [from, to) that a rank loads.
func mine(r *peers.Rank, from, to int) (int, int) {
	first, end := r.Share(uint64(to - from))
	return from + int(first), from + int(end)
}

// take returns the next part of the probe side, of which every rank joins rows; nil after the last one.
func (r *rank) take(ctx context.Context) (*query.Portion, error) {
	part, err := r.all.part(ctx, r.number)
	if err != nil || part == nil {
		return nil, err
	}
	r.number++
	if r.Leads {
		r.Probed(part.Table.NumRows())
	}
	return r.Portion(part, func() {}), nil
}

// part returns a part of the probe side by its number, which every rank takes and releases; nil after the last one.
func (t *scattered) part(ctx context.Context, number int) (*query.Part, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if number == t.taken {
		part, some, err := t.pipe.Take(ctx)
		if err != nil || !some {
			return nil, err
		}
		t.taken++
		t.held[number] = &sharedPart{part, t.ranks}
	}
	h := t.held[number]
	h.lacks--
	if h.lacks == 0 {
		delete(t.held, number)
		return h.Part, nil
	}
	h.Table.Retain()
	own := *h.Part
	return &own, nil
}

// Loads returns the rank's ranges of the rows that all ranks exchange at a time.
func (r *rank) Loads(p *query.Portion, _ *operator.Facts) (ranges [][2]int, skipped uint64) {
	rows := int(p.Scans[operator.Probe].Table.NumRows())
	step := int(min(r.all.rows, uint64(rows)))
	for from := 0; from < rows; from += step {
		first, end := mine(r.of, from, min(from+step, rows))
		ranges = append(ranges, [2]int{first, end})
		r.Bring(uint64(end - first))
	}
	return ranges, 0
}

// Exchange gives rows to the ranks that own their keys, and returns the rows that the rank received.
func (r *rank) Exchange(ctx context.Context, lane *exec.Lane, loaded *relation.Chunk) (*relation.Chunk, func(), error) {
	at := *r.of
	at.Lane = lane
	received, err := at.Exchange(ctx, peers.Alike(r.owners), loaded)
	if err != nil {
		return nil, nil, err
	}
	return &received[0].Chunk, received[0].Release, nil
}

// piece is a part of the build side that a rank has loaded.
type piece struct {
	*relation.Chunk
	memory *exec.Scope
}

// Release releases the rows.
func (p *piece) Release() { p.memory.ReleaseAll() }

// pieces loads the rank's range of the build side piece by piece, so that only a small part of it is there several
// times at once.
func pieces(ctx context.Context, b *query.Built, me *peers.Rank) iter.Seq2[*piece, error] {
	s := b.Scan()
	from, to := mine(me, 0, int(s.Table.NumRows()))
	return func(yield func(*piece, error) bool) {
		lane := b.Lane().On(ctx, backend.Ingest)
		for i := range planner.SpreadPieces {
			p := &piece{memory: lane.Scope(ctx)}
			var err error
			first, end := from+(to-from)*i/planner.SpreadPieces, from+(to-from)*(i+1)/planner.SpreadPieces
			if p.Chunk, err = s.Load(ctx, lane, p.memory, first, end); err != nil {
				p.Release()
				p = nil
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// load returns the rows of the build side that belong to the rank, for which its operator is planned anew.
func (r *rank) load(ctx context.Context) (*relation.Chunk, error) {
	rows, err := r.scatter(ctx)
	if err != nil {
		return nil, err
	}
	return rows, r.Built().Replan(rows.Rows)
}

// scatter loads the rank's range of the build side piece by piece, and returns the rows that it received of all ranks.
// While a piece is exchanged, the next one is loaded. The first piece decides which keys belong to which rank.
func (r *rank) scatter(ctx context.Context) (*relation.Chunk, error) {
	var received []*peers.Received
	defer func() {
		for _, rows := range received {
			rows.Release()
		}
	}()
	rows, b := uint64(0), r.Built()
	load := func(ctx context.Context) iter.Seq2[*piece, error] { return pieces(ctx, b, r.of) }
	for p, err := range exec.Ahead(exec.FlowOf(ctx), "load piece", load) {
		if err != nil {
			return nil, err
		}
		by := r.owners
		if by == nil {
			by = r.of.Hash(scatterSeed)
			r.owners = by
		} else {
			by = peers.Alike(by)
		}
		of, err := r.of.Exchange(ctx, by, p.Chunk)
		p.Release()
		if err != nil {
			return nil, err
		}
		received = append(received, of...)
		rows += of[0].Rows
	}
	return concatenate(ctx, b, received, rows)
}

// concatenate copies pieces into one chunk in the memory of the build side.
func concatenate(ctx context.Context, b *query.Built, pieces []*peers.Received, rows uint64) (*relation.Chunk, error) {
	if err := primitive.CheckRows("exchange", rows); err != nil {
		return nil, err
	}
	whole := &relation.Chunk{Rows: rows, Narrow: true, HighWord: pieces[0].HighWord}
	for _, piece := range pieces {
		whole.Narrow = whole.Narrow && piece.Narrow && piece.HighWord == whole.HighWord
	}
	list, columns := b.Lane().List("copy rows"), pieces[0].Columns()
	for i := range columns {
		bytes, at := uint64(columns[i].Bytes), uint64(0)
		to := b.Memory().New(rows*bytes, "received rows").All()
		if err := b.Memory().Err(); err != nil {
			return nil, err
		}
		for _, piece := range pieces {
			from := piece.Columns()[i].Data.Part(0, piece.Rows*bytes)
			if from.SizeBytes > 0 {
				if err := b.Lane().Copy(list, to.Part(at, from.SizeBytes), from); err != nil {
					return nil, err
				}
			}
			at += from.SizeBytes
		}
		columns[i].Data = to
	}
	whole.Keys, whole.Payload = columns[0], columns[1:]
	return whole, b.Lane().Submit(ctx, list)
}
