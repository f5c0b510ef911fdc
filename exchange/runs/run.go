package runs

import (
	"fmt"
	"iter"
	"sort"

	"github.com/spirjoin/spirjoin/backend"
)

// Word is the type of key codes and of what travels with them.
type Word interface{ uint32 | uint64 }

// Block is rows in ascending order of the key, in memory of the caller: Keys[i] and Rows[i] belong together.
type Block[K, V Word] struct {
	Keys []K
	Rows []V
}

func (b Block[K, V]) slice(first, end int) Block[K, V] {
	return Block[K, V]{b.Keys[first:end], b.Rows[first:end]}
}

// Run is sorted rows as a list of blocks whose concatenation is sorted, such as the chunks that several devices sorted
// together: one logical sequence, without a copy. Runs are immutable and safe for concurrent use.
type Run[K, V Word] struct {
	blocks []Block[K, V] // none is empty
	ends   []uint64      // row at which each block ends
}

// NewRun returns the run of some blocks, of which empty ones are left out. ErrInvalidInput if a block has more rows
// than keys or fewer, or if a block begins with a key below the last one before it. The order within blocks is the
// caller's promise.
func NewRun[K, V Word](blocks ...Block[K, V]) (Run[K, V], error) {
	var r Run[K, V]
	for i, b := range blocks {
		if len(b.Keys) != len(b.Rows) {
			return r, invalid("run", "block %d has %d keys and %d rows", i, len(b.Keys), len(b.Rows))
		}
		if len(b.Keys) == 0 {
			continue
		}
		if n := len(r.blocks); n > 0 && b.Keys[0] < r.last() {
			return r, invalid("run", "block %d begins with key %d, after key %d", i, b.Keys[0], r.last())
		}
		r.blocks = append(r.blocks, b)
		r.ends = append(r.ends, r.Len()+uint64(len(b.Keys)))
	}
	return r, nil
}

// Len is the number of rows.
func (r Run[K, V]) Len() uint64 {
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// last is the greatest key of a run that is not empty.
func (r Run[K, V]) last() K {
	keys := r.blocks[len(r.blocks)-1].Keys
	return keys[len(keys)-1]
}

// key is the key of a row.
func (r Run[K, V]) key(row uint64) K {
	i := r.block(row)
	return r.blocks[i].Keys[row-r.begin(i)]
}

// block is the block of a row, or the number of blocks beyond the last row.
func (r Run[K, V]) block(row uint64) int {
	return sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > row })
}

// begin is the first row of a block.
func (r Run[K, V]) begin(block int) uint64 { return r.ends[block] - uint64(len(r.blocks[block].Keys)) }

// Blocks yields rows first to end-1 block by block, without a copy.
func (r Run[K, V]) Blocks(first, end uint64) iter.Seq[Block[K, V]] {
	return func(yield func(Block[K, V]) bool) {
		for i := r.block(first); first < end; i++ {
			begin, to := r.begin(i), min(end, r.ends[i])
			if !yield(r.blocks[i].slice(int(first-begin), int(to-begin))) {
				return
			}
			first = to
		}
	}
}

// bound returns the first of rows lo to hi-1 whose key is at least x, or with after the first whose key is greater; hi
// if there is none.
func (r Run[K, V]) bound(x K, after bool, lo, hi uint64) uint64 {
	first, end := r.block(lo), min(r.block(hi)+1, len(r.blocks))
	i := first + sort.Search(max(end-first, 0), func(i int) bool {
		keys := r.blocks[first+i].Keys
		return beyond(keys[len(keys)-1], x, after)
	})
	if i == len(r.blocks) {
		return hi
	}
	keys, begin := r.blocks[i].Keys, r.begin(i)
	from, to := int(max(lo, begin)-begin), int(min(hi, r.ends[i])-min(hi, begin))
	for from < to {
		if middle := int(uint(from+to) / 2); beyond(keys[middle], x, after) {
			to = middle
		} else {
			from = middle + 1
		}
	}
	return min(hi, begin+uint64(from))
}

// beyond reports whether a key is at least x, or with after greater.
func beyond[K Word](key, x K, after bool) bool { return key > x || !after && key == x }

func invalid(op, format string, args ...any) error {
	return &backend.OpError{Op: op, Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(format, args...)}
}
