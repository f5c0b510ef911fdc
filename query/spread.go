package query

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Where bytes go from device to device without the host, each device loads only its range of the rows of the build
// side, and gets the others from the other devices: they cross the links to the host once, however many devices there
// are.
//
//	device 0: load rows 0..n/2 ─┐               ┌─► all rows
//	device 1: load rows n/2..n ─┴── exchange ───┴─► all rows

// leastSpreadBytes is the size of a build side for which that is worth the rounds of an exchange.
const leastSpreadBytes = 16 << 20

// spreads reports whether the build side of the strands is loaded once. All must have the same columns, and the links
// must be there: to make them takes longer than most joins ([Engine.Connect]). It must fit the memory that is planned.
func (r *Result) spreads() bool {
	e, f := r.Query.Engine, &r.taken.Facts
	if len(r.strands) == 1 || r.Query.Empty != "" {
		return false
	}
	sizeBytes := f.Rows[operator.Build] * rowBytes(f, operator.Build)
	for _, s := range r.strands {
		same := slices.Equal(s.taken.Facts.Payload[operator.Build], f.Payload[operator.Build])
		if !same || s.taken.Compare == CompareDevice || exchangedBytes(&s.taken.Facts) > s.taken.PeakBytes && !e.Spread {
			return false
		}
		if s.Query.Engine.Device().Info().Unified && !e.Spread { // which loads nothing over a link
			return false
		}
	}
	if e.Spread || sizeBytes < leastSpreadBytes {
		return e.Spread
	}
	for _, from := range r.strands {
		for _, to := range r.strands {
			if from != to && !e.links.Direct(from.Query.Engine.Device(), to.Query.Engine.Device()) {
				return false
			}
		}
	}
	return true
}

// spread builds on all strands, each of which loads its range of rows.
func (r *Result) spread(ctx context.Context) error {
	lanes, weights := make([]*exec.Lane, len(r.strands)), make([]uint32, len(r.strands))
	for i, s := range r.strands {
		lanes[i], weights[i] = s.built.lane, 1
	}
	return peers.RunRanks(ctx, r.Query.Engine.links, lanes, weights, func(ctx context.Context, p *peers.Rank) error {
		s := r.strands[p.Rank()]
		return s.built.fill(ctx, s.proved(), &r.encode, &rank{of: p})
	})
}

// gather loads the rank's range of the build side piece by piece, and returns all rows, those of all ranks: while a
// piece is exchanged, the next one is loaded.
func (b *Built) gather(ctx context.Context, rank *rank) (*relation.Chunk, error) {
	return b.exchange(ctx, rank, func() peers.Partitioner { return peers.Broadcast() })
}
