package hmg

import (
	"context"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// divide divides both sides by the same key ranges into segments that fit a device, as HMG suggests for sides beyond
// the memory of the devices instead of its merge on the host (section 5). A side that is in order stays where it is.
func (s *Sides[K]) divide(ctx context.Context, numbered [2]bool, out Output) (err error) {
	var keys [2]runs.Keys[K]
	for i, b := range s.buffers {
		keys[i] = runs.Keys[K]{Keys: b.Keys, Sorted: s.How[i].Presorted}
	}
	if s.divided, err = runs.Divide(ctx, keys, s.config.ChunkRows, s.config.Cores); err != nil {
		return err
	}
	for i, b := range s.buffers {
		s.How[i].Segments = len(s.divided.Segments)
		from := b.Block
		if numbered[i] {
			from.Rows = nil
		}
		switch {
		case !s.How[i].Presorted:
			err = s.scatter(ctx, i, from, out)
		case numbered[i] && out == OutputPairs:
			number(b.Rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scatter moves a side to memory where each segment is a block; for a count only its keys.
func (s *Sides[K]) scatter(ctx context.Context, side int, from runs.Block[K, uint32], out Output) error {
	moved := runs.NewBuffer[K, uint32](s.config.Alloc, uint64(len(from.Keys)))
	to := moved.Block
	if out == OutputCount {
		to.Rows = nil
	}
	if err := runs.Scatter(ctx, s.divided, side, to, from); err != nil {
		moved.Free()
		return err
	}
	s.buffers[side].Free()
	s.buffers[side] = moved
	return nil
}

// segment is rows of both sides with the same range of keys.
type segment[K runs.Word] struct {
	own    [2]runs.Block[K, uint32] // on the host
	chunks [2]chunk                 // on a device
	matched
}

// Release releases the device memory.
func (s *segment[K]) Release() {
	s.matched.Release()
	for i := range s.chunks {
		s.chunks[i].hold(nil)
	}
}

// matchSegments joins segment by segment. Devices take the next one when they are free; while a device sorts and
// searches one, it is sent the next one and sends back what it found in the last one. Only what was found comes back,
// and with pairs the row numbers in the order of the keys. Segments of one key are pairs without a search, and those
// without rows on one side are left out.
func (s *Sides[K]) matchSegments(ctx context.Context, out Output, put func(context.Context, *Found) error) (
	how Matched, err error) {
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
		s.start(flow, lane, out, put, func() (runs.Pair, bool) {
			i := int(next.Add(1) - 1)
			if i >= len(tasks) {
				return runs.Pair{}, false
			}
			return tasks[i], true
		})
	}
	sides := [2]runs.Block[K, uint32]{s.buffers[0].Block, s.buffers[1].Block}
	flow.Go("pair whole keys", func(ctx context.Context) error { return pairWhole(ctx, sides, whole, out, put) })
	return Matched{Tasks: len(tasks), Whole: len(whole)}, flow.Wait()
}

// start starts the three steps of a device.
func (s *Sides[K]) start(flow *exec.Flow, lane *exec.Lane, out Output, put func(context.Context, *Found) error,
	next func() (runs.Pair, bool)) {
	uploaded, searched := exec.NewPipe[*segment[K]](flow, 0), exec.NewPipe[*segment[K]](flow, 0)
	flow.Go("upload segments", func(ctx context.Context) error {
		for task, some := next(); some; task, some = next() {
			segment, err := s.upload(ctx, lane, task, out)
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
		err := uploaded.Each(ctx, func(segment *segment[K]) error {
			if err := s.join(ctx, lane, segment, out); err != nil {
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
		return searched.Each(ctx, func(segment *segment[K]) error {
			defer segment.Release()
			found, err := s.download(ctx, lane, segment, out)
			if err != nil || found.Rows == 0 {
				return err
			}
			return put(ctx, found)
		})
	})
}

// upload brings a segment to a device: keys, and with pairs row numbers.
func (s *Sides[K]) upload(ctx context.Context, lane *exec.Lane, task runs.Pair, out Output) (*segment[K], error) {
	segment := new(segment[K])
	var transfers []backend.Transfer
	for i, span := range [2]runs.Span{task.R, task.S} {
		nested, b := lane.Nested(ctx), s.buffers[i]
		own, c := &segment.own[i], &segment.chunks[i]
		own.Keys, own.Rows = b.Keys[span.First:span.End], b.Rows[span.First:span.End]
		c.hold(nested.Memory.ReleaseAll)
		c.Rows = span.Rows()
		c.Keys = relation.Values{Data: nested.Memory.New(c.Rows*uint64(bytesOf[K]()), "keys of a segment").All(),
			Bytes: bytesOf[K]()}
		transfers = append(transfers, backend.Transfer{Device: c.Keys.Data, Host: backend.AsBytes(own.Keys)})
		if s.moves(i, out) {
			ids := nested.Memory.New(c.Rows*4, "row numbers of a segment").All()
			c.Payload = []relation.Values{{Data: ids, Bytes: 4}}
			transfers = append(transfers, backend.Transfer{Device: ids, Host: backend.AsBytes(own.Rows)})
		}
		if err := nested.Memory.Err(); err != nil {
			segment.Release()
			return nil, err
		}
	}
	if _, err := lane.Device().UploadAll(ctx, transfers); err != nil {
		segment.Release()
		return nil, err
	}
	return segment, nil
}

// moves reports whether row numbers of a side make the round trip: not for counts, nor if they are in order already.
func (s *Sides[K]) moves(side int, out Output) bool {
	return out == OutputPairs && !s.How[side].Presorted
}

// join sorts a segment and searches the ranges of its rows.
func (s *Sides[K]) join(ctx context.Context, lane *exec.Lane, segment *segment[K], out Output) (err error) {
	var keys [2]backend.Range
	for i := range segment.chunks {
		c := &segment.chunks[i]
		if !s.How[i].Presorted {
			numbers := ranges.Numbers{None: true}
			if s.moves(i, out) {
				numbers = ranges.Numbers{Given: c.Payload[0].Data}
			}
			if err := c.sort(ctx, lane, numbers); err != nil {
				return err
			}
		}
		keys[i] = c.Keys.Data
	}
	rows := [2]uint64{segment.chunks[0].Rows, segment.chunks[1].Rows}
	segment.matched, err = searchRanges(ctx, lane.Nested(ctx), keys, rows, bytesOf[K](), out)
	return err
}

// download brings what was found to the host, and row numbers to where the segment came from.
func (s *Sides[K]) download(ctx context.Context, lane *exec.Lane, segment *segment[K], out Output) (*Found, error) {
	var transfers []backend.Transfer
	for i, c := range segment.chunks {
		if s.moves(i, out) && segment.pairs > 0 {
			transfers = append(transfers, backend.Transfer{Device: c.Payload[0].Data,
				Host: backend.AsBytes(segment.own[i].Rows)})
		}
	}
	if len(transfers) > 0 {
		if err := lane.Device().DownloadAll(ctx, transfers); err != nil {
			return nil, err
		}
	}
	return fetch(ctx, s.config, lane, &segment.matched, segment.own, out)
}
