package hmg

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// sorter sorts the chunksets of a side in place.
//
// Chunksets follow one another through three steps at a time (HMG 3.1.3, figure 9): while one is sorted on the devices,
// the next is uploaded, and the last one downloaded to the memory that it came from.
type sorter[K runs.Word] struct {
	*Config
	side     runs.Block[K, uint32]
	numbered bool
	sorted   []runs.Run[K, uint32]
}

// chunkset is rows on all devices.
type chunkset struct {
	first  int // row in the side
	chunks []chunk
}

// chunk is the rows of a chunkset on one device.
type chunk struct {
	relation.Chunk // keys, with row numbers as payload
	release        func()
}

// hold makes other memory that of the chunk, and releases what it had.
func (c *chunk) hold(release func()) {
	if c.release != nil {
		c.release()
	}
	c.release = release
}

// sort sorts the chunk on its device, with these row numbers.
func (c *chunk) sort(ctx context.Context, lane *exec.Lane, numbers ranges.Numbers) error {
	lane = lane.Nested(ctx)
	sorted, err := ranges.Sort(ctx, lane, &c.Chunk, "chunk", numbers)
	if err != nil || sorted.Keys == c.Keys.Data { // they were in order
		lane.Memory.ReleaseAll()
		return err
	}
	c.Keys.Data = sorted.Keys
	if !numbers.None {
		c.Payload[0].Data = sorted.IDs
	}
	c.hold(lane.Memory.ReleaseAll)
	return nil
}

// Release releases the device memory.
func (s *chunkset) Release() {
	for i := range s.chunks {
		s.chunks[i].hold(nil)
	}
}

// run sorts chunksets of equal size, and returns how many.
func (s *sorter[K]) run(ctx context.Context) (count int, err error) {
	rows, devices := len(s.side.Keys), len(s.Lanes)
	setRows := int(s.ChunkRows) * devices
	count = (rows + setRows - 1) / setRows
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
	flow.Go("sort chunksets", func(ctx context.Context) error {
		err := uploaded.Each(ctx, func(set *chunkset) error {
			if err := s.sortSet(ctx, set); err != nil {
				set.Release()
				return err
			}
			return sorted.Put(ctx, set)
		})
		if err == nil {
			sorted.End()
		}
		return err
	})
	flow.Go("download chunksets", func(ctx context.Context) error {
		return sorted.Each(ctx, func(set *chunkset) error {
			defer set.Release()
			return s.download(ctx, set)
		})
	})
	return count, flow.Wait()
}

// upload brings rows first to end-1 to the devices, in equal chunks.
func (s *sorter[K]) upload(ctx context.Context, first, end int) (*chunkset, error) {
	devices := len(s.Lanes)
	set := &chunkset{first: first, chunks: make([]chunk, devices)}
	err := each(ctx, "upload a chunk", devices, func(ctx context.Context, i int) error {
		lane := s.Lanes[i].Nested(ctx)
		c := &set.chunks[i]
		c.hold(lane.Memory.ReleaseAll)
		from, to := first+(end-first)*i/devices, first+(end-first)*(i+1)/devices
		c.Rows = uint64(to - from)
		keys := lane.Memory.New(c.Rows*uint64(bytesOf[K]()), "keys of a chunk").All()
		c.Keys = relation.Values{Data: keys, Bytes: bytesOf[K]()}
		ids := lane.Memory.New(c.Rows*4, "row numbers of a chunk").All()
		c.Payload = []relation.Values{{Data: ids, Bytes: 4}}
		if err := lane.Memory.Err(); err != nil || c.Rows == 0 {
			return err
		}
		transfers := []backend.Transfer{{Device: c.Keys.Data, Host: backend.AsBytes(s.side.Keys[from:to])}}
		if s.numbered {
			list := lane.List("number rows")
			if err := lane.Iota(list, ids, c.Rows, uint32(from)); err != nil {
				return err
			}
			if err := lane.Submit(ctx, list); err != nil {
				return err
			}
		} else {
			transfers = append(transfers, backend.Transfer{Device: ids, Host: backend.AsBytes(s.side.Rows[from:to])})
		}
		_, err := lane.Device().UploadAll(ctx, transfers)
		return err
	})
	if err != nil {
		set.Release()
		return nil, err
	}
	return set, nil
}

// sortSet sorts the chunks of a chunkset: across the devices, or each by itself.
func (s *sorter[K]) sortSet(ctx context.Context, set *chunkset) error {
	if s.alone() {
		return each(ctx, "sort a chunk", len(s.Lanes), func(ctx context.Context, i int) error {
			c := &set.chunks[i]
			return c.sort(ctx, s.Lanes[i], ranges.Numbers{Given: c.Payload[0].Data})
		})
	}
	lanes := make([]*exec.Lane, len(s.Lanes))
	for i, lane := range s.Lanes {
		lanes[i] = lane.Nested(ctx)
	}
	return peers.RunRanks(ctx, s.Links, lanes, nil, func(ctx context.Context, rank *peers.Rank) error {
		c := &set.chunks[rank.Rank()]
		sorted, err := rank.Sort(ctx, peers.Order{Method: s.Sort.method()}, &c.Chunk)
		if err == nil {
			c.Chunk = sorted[0].Chunk
			c.hold(sorted[0].Release)
		}
		return err
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
