package hmg

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
)

// sorter sorts the chunksets of a side in place.
//
// Chunksets follow one another through three steps at a time (HMG 3.1.3, figure 9): while one is sorted on the devices,
// the next is uploaded, and the last one downloaded to the memory that it came from.
type sorter[K runs.Word] struct {
	*Config
	side     runs.Block[K, uint32]
	numbered bool // rows are 0, 1, 2, ...
	sorted   []runs.Run[K, uint32]
}

// chunkset is a chunk on each device.
type chunkset struct {
	first  int // row in the side
	chunks []chunk
}

// Release releases the device memory.
func (s *chunkset) Release() {
	for i := range s.chunks {
		s.chunks[i].hold(nil)
	}
}

// run sorts chunksets of equal size.
func (s *sorter[K]) run(ctx context.Context) error {
	rows := len(s.side.Keys)
	count := s.Chunksets(uint64(rows))
	flow := exec.NewFlow(ctx)
	uploaded, sorted := exec.NewPipe[*chunkset](flow, 0), exec.NewPipe[*chunkset](flow, 0)
	flow.Go("upload chunksets", func(ctx context.Context) error {
		for i := range count {
			set, err := s.upload(ctx, rows/count*i+min(i, rows%count), rows/count*(i+1)+min(i+1, rows%count))
			if err == nil {
				err = uploaded.Put(ctx, set)
			}
			if err != nil {
				return err
			}
		}
		uploaded.End()
		return nil
	})
	exec.PassOn(flow, "sort chunksets", uploaded, sorted, s.sortSet)
	flow.Go("download chunksets", func(ctx context.Context) error {
		return sorted.Each(ctx, func(set *chunkset) error {
			defer set.Release()
			return s.download(ctx, set)
		})
	})
	return flow.Wait()
}

// upload brings rows first to end-1 to the devices, in equal chunks.
func (s *sorter[K]) upload(ctx context.Context, first, end int) (*chunkset, error) {
	devices := len(s.Lanes)
	set := &chunkset{first: first, chunks: make([]chunk, devices)}
	if err := each(ctx, "upload a chunk", devices, func(ctx context.Context, i int) error {
		from, to := first+(end-first)*i/devices, first+(end-first)*(i+1)/devices
		return upload(ctx, s.Lanes[i], &set.chunks[i], s.side, s.numbered, from, to)
	}); err != nil {
		set.Release()
		return nil, err
	}
	return set, nil
}

// sortSet sorts the chunks of a chunkset, which it releases after an error: across the devices, or each by itself.
func (s *sorter[K]) sortSet(ctx context.Context, set *chunkset) (_ *chunkset, err error) {
	defer func() {
		if err != nil {
			set.Release()
		}
	}()
	size := len(s.Lanes) // of the groups of devices that sort together
	if s.alone() {
		size = 1
	}
	var lanes []*exec.Lane
	for _, lane := range s.Lanes {
		lanes = append(lanes, lane.Nested(ctx))
	}
	groups := slices.Collect(slices.Chunk(lanes, size))
	return set, each(ctx, "sort chunks", len(groups), func(ctx context.Context, group int) error {
		return peers.RunRanks(ctx, s.Links, groups[group], nil, func(ctx context.Context, rank *peers.Rank) error {
			c := &set.chunks[group*size+rank.Rank()]
			sorted, err := rank.Sort(ctx, s.Sort.Method(), &c.Chunk)
			if err == nil {
				c.Chunk = sorted[0].Chunk
				c.hold(sorted[0].Release)
			}
			return err
		})
	})
}

// alone reports whether each chunk is a run of its own.
func (s *sorter[K]) alone() bool { return s.Sort == SortAlone || len(s.Lanes) == 1 }

// download brings sorted chunks back to where the chunkset came from.
func (s *sorter[K]) download(ctx context.Context, set *chunkset) error {
	blocks, at := make([]runs.Block[K, uint32], len(set.chunks)), set.first
	for i, c := range set.chunks {
		end := at + int(c.Rows)
		blocks[i] = runs.Block[K, uint32]{Keys: s.side.Keys[at:end], Rows: s.side.Rows[at:end]}
		at = end
	}
	if err := each(ctx, "download a chunk", len(set.chunks), func(ctx context.Context, i int) error {
		c, b := &set.chunks[i], blocks[i]
		if c.Rows == 0 {
			return nil
		}
		return s.Lanes[i].Device().DownloadAll(ctx, []backend.Transfer{
			{Device: c.Keys.Data, Host: backend.AsBytes(b.Keys)},
			{Device: c.Payload[0].Data, Host: backend.AsBytes(b.Rows)}})
	}); err != nil {
		return err
	}
	if !s.alone() {
		return s.add(blocks...)
	}
	for _, b := range blocks {
		if err := s.add(b); err != nil {
			return err
		}
	}
	return nil
}

// add adds a run of neighbouring blocks.
func (s *sorter[K]) add(blocks ...runs.Block[K, uint32]) error {
	run, err := runs.NewRun(blocks...)
	s.sorted = append(s.sorted, run)
	return err
}
