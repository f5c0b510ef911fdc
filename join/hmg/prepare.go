package hmg

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
)

// Sides are two sides that were prepared for their match: sorted in host memory each, divided there into segments, or
// sorted and searched on the devices. The owner frees them when nothing refers to them any more.
type Sides[K runs.Word] struct {
	How [2]Prepared

	config   *Config
	out      Output
	buffers  [2]*Buffer[K]
	numbered [2]bool
	divided  *runs.Division[K] // nil unless the sides are divided
	placed   []*segment        // of each device, with its ranges; nil unless the sides are in place
}

// Prepared is how a side was prepared.
type Prepared struct {
	Presorted bool // it was in order: nothing had to be done, unless the other side had to be placed
	InPlace   bool // both sides are on the devices
	NoRoom    bool // both sides should have been, but a device had no room for its range of keys
	Segments  int  // of both sides; 0: the side was not divided
	Chunksets int
	Runs      int // that the host merged; less than 2: none
}

// Output is what a match is for.
type Output uint8

const (
	OutputPairs Output = iota
	OutputCount        // the number of pairs only
)

// Prepare sorts both sides, or divides them into segments if one of them takes several chunksets to sort. If both fit
// the devices together, they are placed on them, and their ranges are found. Prepare owns the buffers, also if it
// fails. The row numbers of a numbered side are 0, 1, 2, ...; they are not read. Rows with equal keys are in no
// particular order.
//
// Errors: backend.ErrDeviceMemory if ChunkRows are too many for a device; device errors; ErrCancelled.
func Prepare[K runs.Word](ctx context.Context, c *Config, buffers [2]*Buffer[K], numbered [2]bool, out Output) (
	_ *Sides[K], err error) {
	s := &Sides[K]{config: c, out: out, buffers: buffers, numbered: numbered}
	defer func() {
		if err != nil {
			s.Free()
		}
	}()
	beyond := false
	for i, b := range buffers {
		if s.How[i].Presorted, err = isSorted(ctx, b.Keys); err != nil {
			return nil, err
		}
		if s.How[i].Presorted && numbered[i] && out == OutputPairs {
			number(b.Rows)
		}
		beyond = beyond || !s.How[i].Presorted && uint64(len(b.Keys)) > c.ChunkRows*uint64(len(c.Lanes))
	}
	switch inOrder := s.How[0].Presorted && s.How[1].Presorted; {
	case !inOrder && c.InPlace(len(c.Lanes), [2]uint64{uint64(len(buffers[0].Keys)), uint64(len(buffers[1].Keys))}):
		if err = s.place(ctx); err == nil || !noRoom(err) {
			return s, err
		}
	case beyond && c.Beyond == BeyondSegments:
		return s, s.divide(ctx)
	}
	for i := range buffers {
		if err = s.sort(ctx, i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Free frees the sides. A second Free does nothing.
func (s *Sides[K]) Free() {
	s.clear()
	for _, b := range s.buffers {
		b.Free()
	}
}

// Match finds the pairs of both sides. It may be called once. It calls put from several goroutines at a time, with
// pairs in no particular order; with OutputCount, only with numbers of pairs. The sides must stay as long as a Found is
// used.
//
// Errors: backend.ErrDeviceMemory if TaskRows or ChunkRows are too many for a device; errors of put; device errors;
// ErrCancelled.
func (s *Sides[K]) Match(ctx context.Context, put func(context.Context, *Found) error) (Matched, error) {
	switch {
	case s.placed != nil:
		return s.matchPlaced(ctx, put)
	case s.divided != nil:
		return s.matchSegments(ctx, put)
	}
	return s.matchSorted(ctx, put)
}

// isSorted reports whether keys are in order; it ends at the first that is not.
func isSorted[K runs.Word](ctx context.Context, keys []K) (bool, error) {
	const checkRows = 1 << 20
	for first := 0; first < len(keys); first += checkRows {
		if ctx.Err() != nil {
			return false, backend.ContextError(ctx)
		}
		if !slices.IsSorted(keys[max(first-1, 0):min(first+checkRows, len(keys))]) {
			return false, nil
		}
	}
	return true, nil
}

// sort sorts a side unless it is in order: in place if it becomes one run, and otherwise into memory of its own.
func (s *Sides[K]) sort(ctx context.Context, side int) error {
	b, how := s.buffers[side], &s.How[side]
	if how.Presorted {
		return nil
	}
	sorter := &sorter[K]{Config: s.config, side: b.Block, numbers: givenNumbers}
	if s.numbered[side] {
		sorter.numbers = countedNumbers
	}
	var err error
	if how.Chunksets, err = sorter.run(ctx); err != nil {
		return err
	}
	if how.Runs = len(sorter.sorted); how.Runs < 2 {
		return nil
	}
	merged := runs.NewBuffer[K, uint32](s.config.Alloc, uint64(len(b.Keys)))
	if err = runs.Merge(ctx, merged.Block, sorter.sorted, s.config.Cores); err != nil {
		merged.Free()
		return err
	}
	b.Free()
	s.buffers[side] = merged
	return nil
}

// number numbers rows.
func number(rows []uint32) {
	for i := range rows {
		rows[i] = uint32(i)
	}
}
