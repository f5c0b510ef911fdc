package files

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
)

// Shares of a limit.
const (
	aheadShare    = 32  // of a table that is being read
	rowGroupShare = 128 // of the rows of a row group: the writer of Parquet holds three of these, and what they become
)

// RowGroupBytes returns the size of row groups to write under a limit of memory; 0, the default, without one.
func RowGroupBytes(limitBytes uint64) int64 { return int64(min(limitBytes, 1<<62) / rowGroupShare) }

// Limit is a cap on the memory of tables, which all readers of some files keep together. A nil Limit is none.
type Limit struct {
	TableBytes    int64  // the most that tables and batches take, and the content of pipes
	ReservedBytes uint64 // of the limit of the process, beside TableBytes
	usedBytes     atomic.Int64
}

// NewLimit returns the limit for tables under a limit of the process, of which reservedBytes are for others; nil if
// limitBytes is 0.
func NewLimit(limitBytes, reservedBytes uint64) *Limit {
	if limitBytes == 0 {
		return nil
	}
	return &Limit{TableBytes: int64(min(limitBytes-reservedBytes, 1<<62)), ReservedBytes: reservedBytes}
}

// cappedAllocator refuses what exceeds a limit, so that reading a table that is too large ends in an error and not in
// an exhausted machine. Arrow's allocators cannot return errors: it panics with one, which tableio returns as the error
// of the read.
type cappedAllocator struct {
	inner memory.Allocator
	*Limit
}

// aheadBytes is the memory for reading a table; 0 without a limit.
func (l *Limit) aheadBytes() int64 {
	if l == nil {
		return 0
	}
	return max(l.TableBytes/aheadShare, 1)
}

// of returns an allocator under the limit; inner itself without a limit.
func (l *Limit) of(inner memory.Allocator) memory.Allocator {
	if l == nil {
		return inner
	}
	return &cappedAllocator{inner, l}
}

func (a *cappedAllocator) Allocate(size int) []byte {
	a.take(size)
	return a.inner.Allocate(size)
}

func (a *cappedAllocator) Reallocate(size int, b []byte) []byte {
	a.take(size - len(b))
	return a.inner.Reallocate(size, b)
}

func (a *cappedAllocator) Free(b []byte) {
	a.usedBytes.Add(-int64(len(b)))
	a.inner.Free(b)
}

// used is the memory that is taken; 0 without a limit.
func (l *Limit) used() int64 {
	if l == nil {
		return 0
	}
	return l.usedBytes.Load()
}

func (l *Limit) take(growth int) {
	if used := l.usedBytes.Add(int64(growth)); growth > 0 && used > l.TableBytes {
		l.usedBytes.Add(-int64(growth))
		panic(&backend.OpError{Op: "allocate", Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
			"the tables take more than %d bytes, which the limit leaves for them; raise memory_limit or read fewer columns",
			l.TableBytes)})
	}
}
