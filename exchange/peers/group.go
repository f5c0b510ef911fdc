package peers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// RunRanks runs body once for each lane, as ranks in the order of the lanes, and waits for all. The first error, or
// panic, cancels the others and is returned. Devices may occur more than once. weights are the shares of the ranks;
// absent if all have the same. The memory of the lanes stays the caller's.
//
// Errors: ErrInvalidInput if there are not as many weights as lanes, or all are 0; errors of body; ErrCancelled.
func RunRanks(ctx context.Context, links *Links, lanes []*exec.Lane, weights []uint32,
	body func(context.Context, *Rank) error) error {
	if weights == nil {
		weights = slices.Repeat([]uint32{1}, len(lanes))
	}
	if len(weights) != len(lanes) || sum(weights) == 0 {
		return invalid("the weights %v for %d ranks", weights, len(lanes))
	}
	flow := exec.NewFlow(ctx)
	g := &group{links: links, lanes: lanes, flow: flow, now: newRound(len(lanes))}
	for number := range lanes {
		flow.Go(fmt.Sprintf("rank %d", number), func(ctx context.Context) error {
			rank := &Rank{Comm: &member{g, number}, Lane: lanes[number], Weights: weights}
			if err := body(ctx, rank); err != nil {
				return g.reason(number, err)
			}
			g.leave(number)
			return nil
		})
	}
	return flow.Wait()
}

// group is the ranks of one process.
type group struct {
	links *Links
	lanes []*exec.Lane
	flow  *exec.Flow

	mu   sync.Mutex // guards what follows
	now  *round     // that not all ranks have come to
	left []int      // ranks that have ended
}

// round is a meeting of all ranks.
type round struct {
	name string
	come int
	said []any         // by rank
	done chan struct{} // closed when all have come
}

func newRound(size int) *round { return &round{said: make([]any, size), done: make(chan struct{})} }

// meet waits for all ranks and returns what they say.
func (g *group) meet(ctx context.Context, rank int, name string, mine any) ([]any, error) {
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	g.mu.Lock()
	r := g.now
	if r.come == 0 {
		r.name = name
	}
	switch {
	case r.name != name:
		g.mu.Unlock()
		return nil, invalid("rank %d is in round %q, others are in round %q", rank, name, r.name)
	case len(g.left) > 0:
		defer g.mu.Unlock()
		return nil, g.gone()
	}
	r.said[rank] = mine
	if r.come++; r.come == len(r.said) {
		g.now = newRound(len(r.said))
		close(r.done)
	}
	g.mu.Unlock()
	span := exec.BeginWait(ctx, "wait for ranks")
	defer span.End()
	select {
	case <-r.done:
		return r.said, nil
	case <-ctx.Done():
		return nil, backend.ContextError(ctx)
	}
}

// leave ends a rank, for which no other rank may wait any more.
func (g *group) leave(rank int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = append(g.left, rank)
	if g.now.come > 0 {
		g.flow.Fail(g.gone())
	}
}

// gone is the error of those who wait for ranks that have ended.
func (g *group) gone() error { return invalid("ranks %v ended before round %q", g.left, g.now.name) }

// reason is why a rank fails: because all are cancelled, if they are, or because of its error.
func (g *group) reason(rank int, err error) error {
	if ctx := g.flow.Context(); ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	return fmt.Errorf("rank %d: %w", rank, err)
}

// member is the connection of a rank of a process. It implements [Comm].
type member struct {
	group *group
	rank  int
}

func (m *member) Rank() int { return m.rank }

func (m *member) Size() int { return len(m.group.lanes) }

func (m *member) Gather(ctx context.Context, round string, mine []byte) ([][]byte, error) {
	return meet(ctx, m, round, mine)
}

func (m *member) Offer(ctx context.Context, round string, columns []backend.Range) (Offer, error) {
	all, err := meet(ctx, m, round, columns)
	return &offer{m, all}, err
}

// meet is [group.meet] of what has one type.
func meet[T any](ctx context.Context, m *member, round string, mine T) ([]T, error) {
	said, err := m.group.meet(ctx, m.rank, round, mine)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(said))
	for i := range said {
		all[i] = said[i].(T)
	}
	return all, nil
}

func (m *member) Abort(err error) { m.group.flow.Fail(m.group.reason(m.rank, err)) }

// offer is memory of the devices of a process. It implements [Offer].
type offer struct {
	*member
	columns [][]backend.Range // by rank
}

func (o *offer) Put(ctx context.Context, to, column int, offsetBytes uint64, src backend.Range) error {
	lanes, dst := o.group.lanes, o.columns[to][column]
	if offsetBytes > dst.SizeBytes || src.SizeBytes > dst.SizeBytes-offsetBytes {
		return invalid("%d bytes at %d of the %d bytes that rank %d offers", src.SizeBytes, offsetBytes, dst.SizeBytes, to)
	}
	return o.group.links.copy(ctx, lanes[o.rank].Device(), lanes[to].Device(), dst.Part(offsetBytes, src.SizeBytes), src)
}
