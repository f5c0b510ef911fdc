package machines

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
)

// Traffic is what ranks put, and how often they met.
type Traffic struct {
	Rounds    int   // in which all ranks met: to agree, to offer memory, and to wait
	Movements int   // for which memory was offered
	Puts      []Put // by movement and pair

	mu sync.Mutex // guards all, while ranks run
}

// Put is bytes from one rank to another.
type Put struct {
	Movement, From, To int
	Bytes              uint64
}

// MovedBytes returns the bytes of all puts: what crosses links.
func (t *Traffic) MovedBytes() (total uint64) {
	for _, p := range t.Puts {
		total += p.Bytes
	}
	return total
}

// Times returns the same messages with factor times the bytes, the traffic of larger chunks with the same distribution
// of keys.
func (t *Traffic) Times(factor float64) *Traffic {
	larger := &Traffic{Rounds: t.Rounds, Movements: t.Movements, Puts: slices.Clone(t.Puts)}
	for i := range larger.Puts {
		larger.Puts[i].Bytes = uint64(factor * float64(t.Puts[i].Bytes))
	}
	return larger
}

// sort brings puts into an order that does not depend on when they happened.
func (t *Traffic) sort() {
	slices.SortFunc(t.Puts, func(a, b Put) int {
		return cmp.Or(cmp.Compare(a.Movement, b.Movement), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.Bytes, b.Bytes))
	})
}

// recorder is the connection of a rank, which notes rounds and puts.
type recorder struct {
	peers.Comm
	to        *Traffic
	movements int // that this rank has begun; all begin the same ones
}

// Gather implements [peers.Comm].
func (r *recorder) Gather(ctx context.Context, round string, mine []byte) ([][]byte, error) {
	r.met()
	return r.Comm.Gather(ctx, round, mine)
}

// Offer implements [peers.Comm].
func (r *recorder) Offer(ctx context.Context, round string, columns []backend.Range) (peers.Offer, error) {
	r.met()
	offer, err := r.Comm.Offer(ctx, round, columns)
	noted := &recordedOffer{Offer: offer, by: r, movement: r.movements}
	r.movements++
	r.to.mu.Lock()
	defer r.to.mu.Unlock()
	r.to.Movements = max(r.to.Movements, r.movements)
	return noted, err
}

// met notes a round.
func (r *recorder) met() {
	r.to.mu.Lock()
	defer r.to.mu.Unlock()
	if r.Rank() == 0 {
		r.to.Rounds++
	}
}

// recordedOffer is memory of the ranks for one movement.
type recordedOffer struct {
	peers.Offer
	by       *recorder
	movement int
}

// Put implements [peers.Offer].
func (o *recordedOffer) Put(ctx context.Context, to, column int, offsetBytes uint64, src backend.Range) error {
	t := o.by.to
	t.mu.Lock()
	t.Puts = append(t.Puts, Put{Movement: o.movement, From: o.by.Rank(), To: to, Bytes: src.SizeBytes})
	t.mu.Unlock()
	return o.Offer.Put(ctx, to, column, offsetBytes, src)
}
