package relation

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/errgroup"
)

const (
	// blockRows is the number of rows that a worker takes at a time. It is a multiple of 64, so that no two workers
	// write to the same word of a bitmap, and small enough that a cancelled context is seen within a millisecond.
	blockRows = 1 << 16
	// stripRows is the number of rows in scratch at a time: 16 KiB of codes stay in the first-level cache.
	stripRows = 1 << 11
)

// scratch is the working memory of a worker. It is reused, because clearing it takes longer than processing a few rows.
type scratch struct {
	codes    [stripRows]uint64
	packed   [stripRows]uint64
	packed32 [stripRows]uint32
	ids      [stripRows]uint32
	words    [stripRows / 64]uint64
	nulls    [stripRows / 64]uint64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// forBlocks calls do for every block of rows, on all cores, until one call fails or the context ends. Blocks start at
// multiples of blockRows and come in no particular order.
func forBlocks(ctx context.Context, rows int, do func(s *scratch, from, to int) error) error {
	return forBlocksOn(ctx, runtime.GOMAXPROCS(0), rows, do)
}

// forBlocksOn is forBlocks on so many cores.
func forBlocksOn(ctx context.Context, cores, rows int, do func(s *scratch, from, to int) error) error {
	blocks := (rows + blockRows - 1) / blockRows
	var next atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	for range min(blocks, cores) {
		group.Go(func() error {
			s := scratches.Get().(*scratch)
			defer scratches.Put(s)
			for groupCtx.Err() == nil {
				block := int(next.Add(1)) - 1
				if block >= blocks {
					break
				}
				if err := do(s, block*blockRows, min(rows, (block+1)*blockRows)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	return nil
}

// view reads a buffer's bytes as values of T. The bytes must be a whole number of values.
func view[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(zero))
}

// near returns its argument after it has read one byte of every cache line of it. A loop with more than a few
// operations per value has only a few cache misses in flight, and waits for memory if no hardware prefetcher runs ahead
// of it, as on many virtual machines. This loop has as many in flight as the core supports (measured there: 3.1 ns per
// float64 code without, 1.4 ns with).
func near[T any](values []T) []T {
	var zero T
	touch(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), uintptr(len(values))*unsafe.Sizeof(zero)))
	return values
}

//go:noinline
func touch(b []byte) (sum byte) {
	for i := 0; i < len(b); i += 64 {
		sum += b[i]
	}
	return sum
}

// fetchRows is the maximum number of scattered values that are fetched at a time.
const fetchRows = 1 << 8

// fetch reads scattered values, one for each place. A processor overlaps as many cache misses as there are loads in its
// window of instructions. The places are therefore computed in a loop before this one (measured on two cores, texts of
// 80 M rows: 2.2 s in one loop, 0.83 s in two).
//
//go:noinline
func fetch[T any](out []T, places []*T) {
	out = out[:len(places)]
	for i, at := range places {
		out[i] = *at
	}
}
