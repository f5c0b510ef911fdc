package hmg

import (
	"context"
	"errors"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
)

// place gives each device the rows of both sides whose keys are in its range, sorted, and finds the ranges of matching
// rows. The devices bring back only what was found ([Sides.matchPlaced]): until then host memory stays as it is, so
// that the sides can still be sorted in another way if a device has no room.
//
// Example for 2 devices: of 5 1 9 4 and 4 9 2, one gets 1 4 and 2 4, the other 5 9 and 9.
func (s *Sides[K]) place(ctx context.Context) error {
	lanes := make([]*exec.Lane, len(s.config.Lanes))
	for i, lane := range s.config.Lanes {
		lanes[i] = lane.Nested(ctx)
	}
	s.placed = make([]*segment, len(lanes))
	err := peers.RunRanks(ctx, s.config.Links, lanes, nil, func(ctx context.Context, rank *peers.Rank) error {
		i, n := uint64(rank.Rank()), uint64(rank.Size())
		share := func(side int) runs.Span {
			rows := uint64(len(s.buffers[side].Keys))
			return runs.Span{First: rows * i / n, End: rows * (i + 1) / n}
		}
		g, uploaded, err := s.upload(ctx, rank.Lane, runs.Pair{R: share(0), S: share(1)},
			[2]numbers{s.numbers(0), s.numbers(1)})
		if err != nil {
			return err
		}
		s.placed[i] = g
		if err := s.sortPlaced(ctx, rank, g); err != nil {
			return err
		}
		if err := g.search(ctx, rank.Lane, s.out); err != nil {
			return err
		}
		return uploaded.Wait(ctx) // before another device brings row numbers back to where these came from
	})
	if err != nil {
		s.clear()
		for i := range s.How {
			s.How[i].NoRoom = noRoom(err)
		}
		return err
	}
	for i, b := range s.buffers {
		s.How[i].InPlace = true
		rest := b.Rows
		for _, g := range s.placed {
			g.rows[i], rest = rest[:g.chunks[i].Rows], rest[g.chunks[i].Rows:]
		}
	}
	return nil
}

// sortPlaced sorts both sides across the ranks, with common splitters. A side that is in order moves without row
// numbers: they are in the order of its keys already, wherever it is cut.
func (s *Sides[K]) sortPlaced(ctx context.Context, rank *peers.Rank, g *segment) error {
	if rank.Size() == 1 {
		return s.sortSegment(ctx, rank.Lane, g)
	}
	sorted, err := rank.Sort(ctx, s.config.Sort.method(), &g.chunks[0].Chunk, &g.chunks[1].Chunk)
	if err != nil {
		return err
	}
	for i := range g.chunks {
		g.chunks[i].Chunk = sorted[i].Chunk
		g.chunks[i].hold(sorted[i].Release)
	}
	return nil
}

// matchPlaced brings back what was found.
func (s *Sides[K]) matchPlaced(ctx context.Context, put putFound) (how Matched, err error) {
	flow := exec.NewFlow(ctx)
	for i, g := range s.placed {
		if g.memory != nil {
			how.Tasks++
		}
		flow.Go("download ranges", func(ctx context.Context) error {
			return s.bringBack(ctx, s.config.Lanes[i], g, put)
		})
	}
	return how, flow.Wait()
}

// clear releases what is in place on the devices.
func (s *Sides[K]) clear() {
	for _, g := range s.placed {
		if g != nil {
			g.Release()
		}
	}
	s.placed = nil
}

// noRoom reports whether a device lacks memory.
func noRoom(err error) bool {
	large := (*peers.TooLarge)(nil)
	return errors.As(err, &large) || errors.Is(err, backend.ErrDeviceMemory)
}
