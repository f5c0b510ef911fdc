package keys

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/spirjoin/spirjoin/relation"
)

// StripRows is the maximum number of rows of a strip, and of those in scratch: 16 KiB of codes stay in the first-level
// cache, and processors fetch columns ahead. With half of them, SGO1 took a tenth longer.
const StripRows = 1 << 11

// scratch is the working memory of a core. It is reused, because clearing it takes longer than processing a few rows.
type scratch struct {
	codes    [StripRows]uint64
	packed   [StripRows]uint64
	packed32 [StripRows]uint32
	ids      [StripRows]uint32
	words    [StripRows / 64]uint64
	nulls    [StripRows / 64]uint64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// forBlocks is [relation.ForBlocks] with working memory for each call.
func forBlocks(ctx context.Context, rows int, do func(s *scratch, from, to int) error) error {
	return forBlocksOn(ctx, runtime.GOMAXPROCS(0), rows, do)
}

// forBlocksOn is forBlocks on the given number of cores.
func forBlocksOn(ctx context.Context, cores, rows int, do func(s *scratch, from, to int) error) error {
	return relation.ForBlocksOn(ctx, cores, rows, func(from, to int) error {
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		return do(s, from, to)
	})
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
