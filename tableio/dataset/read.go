package dataset

import (
	"context"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/semaphore"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// Files are begun ahead of the one that is drawn while their bytes fit into a room: of the bound of memory, or without
// one roomBytes on disk. A file takes no more than half of that, so that the next one is ready when a long one ends.
const (
	roomBytes = 128 << 20
	// decodedShare is how many times its bytes on disk a small file is taken to need in memory.
	decodedShare = 4
)

// aheadOf is the bound for a file where memory is bounded.
func (s *Source) aheadOf(m *member) int64 {
	return max(1, min(s.options.AheadBytes/2, decodedShare*m.in.SizeBytes))
}

// weight is the part of the room that a file takes.
func (s *Source) weight(m *member, columns []int) int64 {
	switch {
	case s.options.AheadBytes == 0:
		return min(m.in.SizeBytes, roomBytes/2)
	case m.facts != nil:
		return max(s.aheadOf(m), m.facts.needBytes)
	}
	if source, ok := m.source.(core.Ahead); ok {
		return max(s.aheadOf(m), source.NeedBytes(s.inFile(m, columns), false))
	}
	return min(s.options.AheadBytes, decodedShare*m.in.SizeBytes)
}

// inFile are the columns of a file that columns of the dataset come from.
func (s *Source) inFile(m *member, columns []int) (in []int) {
	for _, column := range columns {
		if at := m.at(s, column); at >= 0 {
			in = append(in, at)
		}
	}
	return in
}

// room is what all files that are begun take at most.
func (s *Source) room(columns []int) int64 {
	if s.options.AheadBytes == 0 {
		return roomBytes
	}
	return s.NeedBytes(columns, true)
}

// SetAhead implements [core.Ahead].
func (s *Source) SetAhead(aheadBytes int64) {
	s.options.AheadBytes = aheadBytes
	for _, m := range s.members {
		if source, ok := m.source.(core.Ahead); ok {
			source.SetAhead(s.aheadOf(m))
		}
	}
}

// NeedBytes implements [core.Ahead]: the bound, or what a single file takes if that is more.
func (s *Source) NeedBytes(columns []int, _ bool) int64 {
	needBytes := s.options.AheadBytes
	for m := range s.read() {
		needBytes = max(needBytes, s.weight(m, columns))
	}
	return needBytes
}

// read yields the files that are not skipped.
func (s *Source) read() iter.Seq[*member] {
	return func(yield func(*member) bool) {
		for _, m := range s.members {
			if !m.skipped && m.from < m.to && !yield(m) {
				return
			}
		}
	}
}

// Batches implements [core.Source]. The next files are opened, and begun to be decoded, while one is drawn.
func (s *Source) Batches(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for _, column := range columns {
			if err := s.faults[column]; err != nil {
				yield(nil, err)
				return
			}
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		roomBytes := s.room(columns)
		room := semaphore.NewWeighted(roomBytes)
		files := func(yield func(*reading, error) bool) {
			for m := range s.read() {
				r := &reading{dataset: s, member: m, room: room, weight: min(roomBytes, s.weight(m, columns))}
				if err := room.Acquire(ctx, r.weight); err != nil {
					yield(nil, err)
					return
				}
				if !yield(r, nil) {
					return
				}
			}
		}
		begin := func(ctx context.Context, r *reading) (*reading, error) { return r, r.begin(ctx, columns, mem) }
		for r, err := range core.InOrder(ctx, runtime.GOMAXPROCS(0), files, begin, (*reading).close) {
			if err != nil {
				cancel() // nobody makes room for further files
				yield(nil, err)
				return
			}
			if !r.draw(yield, cancel) {
				return
			}
		}
	}
}

// reading is a file that is read.
type reading struct {
	dataset *Source
	member  *member
	room    *semaphore.Weighted
	weight  int64

	ready []arrow.RecordBatch                     // and not drawn
	next  func() (arrow.RecordBatch, error, bool) // further ones; nil: there are none
	stop  func()
}

// fewValues of a file are decoded at once, and the file is closed.
const fewValues = 1 << 16

// begin opens the file and decodes its first batch. On an error it is closed.
func (r *reading) begin(ctx context.Context, columns []int, mem memory.Allocator) error {
	s, m := r.dataset, r.member
	err := core.Guard(func() error {
		if err := m.in.Wake(); err != nil {
			return err
		}
		source := m.source
		if source == nil {
			var err error
			if source, err = s.reopened(ctx, m); err != nil {
				return err
			}
		}
		c, batchBytes := s.conversion(m, columns, mem), int64(0)
		if s.options.AheadBytes > 0 {
			batchBytes = s.aheadOf(m)
		}
		batches := c.of(ctx, source.Batches(ctx, c.columns, mem), batchBytes)
		if few := m.rows*int64(len(columns)) <= fewValues; few && m.rows >= 0 && batchBytes == 0 {
			for batch, err := range batches {
				if err != nil {
					return err
				}
				r.ready = append(r.ready, batch)
			}
			return m.in.Rest()
		}
		r.next, r.stop = iter.Pull2(batches)
		return r.pull()
	})
	if err != nil {
		r.close()
	}
	return s.options.Fail("read", m.Path, err)
}

// reopened opens the content of a file whose source was not kept.
func (s *Source) reopened(ctx context.Context, m *member) (core.Source, error) {
	source, err := s.options.Source(ctx, m.in)
	if err != nil {
		return nil, err
	}
	if ahead, ok := source.(core.Ahead); ok && s.options.AheadBytes > 0 {
		ahead.SetAhead(s.aheadOf(m))
	}
	m.take(source)
	m.skip(s, source, s.skips)
	return source, nil
}

// pull decodes the next batch, if there is one.
func (r *reading) pull() error {
	if r.next == nil {
		return nil
	}
	batch, err, ok := r.next()
	if ok && err == nil {
		r.ready = append(r.ready, batch)
	}
	return err
}

// draw yields the batches and closes the file. It tells whether all were taken; if not, also by a panic, it calls left,
// so that no file waits for room.
func (r *reading) draw(yield func(arrow.RecordBatch, error) bool, left func()) (all bool) {
	defer func() {
		if r.close(); !all {
			left()
		}
	}()
	for len(r.ready) > 0 {
		batch := r.ready[0]
		if r.ready = r.ready[1:]; !yield(batch, nil) {
			return false
		}
		if err := core.Guard(r.pull); err != nil {
			yield(nil, r.dataset.options.Fail("read", r.member.Path, err))
			return false
		}
	}
	return true
}

// close ends the reading of the file and makes room for others.
func (r *reading) close() {
	if r.stop != nil {
		r.stop()
	}
	relation.ReleaseAll(r.ready)
	r.ready = nil
	_ = r.member.in.Rest()
	r.room.Release(r.weight)
}
