package hmg

import (
	"context"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
)

// divide divides both sides by the same key ranges into segments that fit a device, as HMG suggests for sides beyond
// the memory of the devices instead of its merge on the host (section 5). A side that is in order stays where it is.
func (s *Sides[K]) divide(ctx context.Context) (err error) {
	var keys [2]runs.Keys[K]
	for i, b := range s.buffers {
		keys[i] = runs.Keys[K]{Keys: b.Keys, Sorted: s.How[i].Presorted}
	}
	if s.divided, err = runs.Divide(ctx, keys, s.config.ChunkRows, s.config.Cores); err != nil {
		return err
	}
	for i, b := range s.buffers {
		s.How[i].Segments = len(s.divided.Segments)
		if s.How[i].Presorted {
			continue
		}
		from := b.Block
		if s.numbered[i] {
			from.Rows = nil
		}
		if err := s.scatter(ctx, i, from); err != nil {
			return err
		}
	}
	return nil
}

// scatter moves a side to memory where each segment is a block; for a count only its keys.
func (s *Sides[K]) scatter(ctx context.Context, side int, from runs.Block[K, uint32]) error {
	moved := runs.NewBuffer[K, uint32](s.config.Alloc, uint64(len(from.Keys)))
	to := moved.Block
	if s.out == OutputCount {
		to.Rows = nil
	}
	if err := runs.Scatter(ctx, s.divided, side, to, from); err != nil {
		moved.Free()
		return err
	}
	s.buffers[side].Free()
	s.buffers[side], s.numbered[side] = moved, false
	return nil
}

// segment is rows of both sides with the same range of keys.
type segment struct {
	chunks [2]chunk
	rows   [2][]uint32 // where their numbers are on the host, or come to be in the order of the keys
	matched
}

// Release releases the device memory.
func (g *segment) Release() {
	g.matched.Release()
	for i := range g.chunks {
		g.chunks[i].hold(nil)
	}
}

// matchSegments joins segment by segment. Devices take the next one when they are free; while a device sorts and
// searches one, it is sent the next one and sends back what it found in the last one. Only what was found comes back,
// and with pairs the row numbers in the order of the keys. Segments of one key are pairs without a search, and those
// without rows on one side are left out.
func (s *Sides[K]) matchSegments(ctx context.Context, put putFound) (Matched, error) {
	var tasks, whole []runs.Pair
	for _, segment := range s.divided.Segments {
		switch {
		case segment.R.Rows() == 0 || segment.S.Rows() == 0:
		case segment.OneKey:
			whole = append(whole, segment.Pair)
		default:
			tasks = append(tasks, segment.Pair)
		}
	}
	flow := exec.NewFlow(ctx)
	next := new(atomic.Int64)
	for _, lane := range s.config.Lanes[:min(len(s.config.Lanes), len(tasks))] {
		s.start(flow, lane, put, func() (runs.Pair, bool) {
			i := int(next.Add(1) - 1)
			if i >= len(tasks) {
				return runs.Pair{}, false
			}
			return tasks[i], true
		})
	}
	flow.Go("pair whole keys", func(ctx context.Context) error { return s.pairWhole(ctx, whole, put) })
	return Matched{Tasks: len(tasks), Whole: len(whole)}, flow.Wait()
}

// start starts the three steps of a device.
func (s *Sides[K]) start(flow *exec.Flow, lane *exec.Lane, put putFound, next func() (runs.Pair, bool)) {
	uploaded, searched := exec.NewPipe[*segment](flow, 0), exec.NewPipe[*segment](flow, 0)
	flow.Go("upload segments", func(ctx context.Context) error {
		for task, some := next(); some; task, some = next() {
			segment, _, err := s.upload(ctx, lane, task, [2]numbers{s.numbers(0), s.numbers(1)})
			if err == nil {
				err = uploaded.Put(ctx, segment)
			}
			if err != nil {
				return err
			}
		}
		uploaded.End()
		return nil
	})
	flow.Go("join segments", func(ctx context.Context) error {
		err := uploaded.Each(ctx, func(segment *segment) error {
			err := s.sortSegment(ctx, lane, segment)
			if err == nil {
				err = segment.search(ctx, lane, s.out)
			}
			if err != nil {
				segment.Release()
				return err
			}
			return searched.Put(ctx, segment)
		})
		if err == nil {
			searched.End()
		}
		return err
	})
	flow.Go("download ranges", func(ctx context.Context) error {
		return searched.Each(ctx, func(segment *segment) error { return s.bringBack(ctx, lane, segment, put) })
	})
}

// upload brings rows of both sides to a device. They must not change before the point has passed.
func (s *Sides[K]) upload(ctx context.Context, lane *exec.Lane, of runs.Pair, numbers [2]numbers) (g *segment,
	uploaded backend.Point, err error) {
	g = new(segment)
	var loads [2]load[K]
	for i, span := range [2]runs.Span{of.R, of.S} {
		g.rows[i] = s.buffers[i].Rows[span.First:span.End]
		loads[i] = load[K]{&g.chunks[i], s.buffers[i].Block, span, numbers[i]}
	}
	if uploaded, err = upload(ctx, lane, loads[:]...); err != nil {
		g.Release()
		return nil, uploaded, err
	}
	return g, uploaded, nil
}

// numbers are the row numbers of a side that make the round trip, to come back in the order of the keys: none for a
// count, nor if they are in order already.
func (s *Sides[K]) numbers(side int) numbers {
	switch {
	case s.out == OutputCount || s.How[side].Presorted:
		return noNumbers
	case s.numbered[side]:
		return countedNumbers
	}
	return givenNumbers
}

// sortSegment sorts the sides of a segment that are not in order, on the device of the lane.
func (s *Sides[K]) sortSegment(ctx context.Context, lane *exec.Lane, g *segment) error {
	for i := range g.chunks {
		if s.How[i].Presorted {
			continue
		}
		if err := g.chunks[i].sort(ctx, lane); err != nil {
			return err
		}
	}
	return nil
}

// bringBack downloads what was found in a segment, and row numbers that were sorted, releases the segment, and puts it.
func (s *Sides[K]) bringBack(ctx context.Context, lane *exec.Lane, g *segment, put putFound) error {
	found, err := s.download(ctx, lane, g)
	g.Release()
	if err != nil || found.Rows == 0 {
		return err
	}
	return put(ctx, found)
}

func (s *Sides[K]) download(ctx context.Context, lane *exec.Lane, g *segment) (*Found, error) {
	var transfers []backend.Transfer
	for i, c := range g.chunks {
		if len(c.Payload) > 0 && g.pairs > 0 {
			transfers = append(transfers, backend.Transfer{Device: c.Payload[0].Data, Host: backend.AsBytes(g.rows[i])})
		}
	}
	if len(transfers) > 0 {
		if err := lane.Device().DownloadAll(ctx, transfers); err != nil {
			return nil, err
		}
	}
	return fetch(ctx, s.config, lane, g, s.out)
}
