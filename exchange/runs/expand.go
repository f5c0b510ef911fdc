package runs

import (
	"context"
	"sort"
)

// Pairs are pairs of row numbers that are not written out yet. Safe for concurrent use.
type Pairs[V Word] interface {
	// Len is the number of pairs.
	Len() uint64
	// Write writes the pairs from first on, as many as probe and other have room for, on at most cores goroutines:
	// probe[i] pairs with other[i]. The goroutines write equally many pairs each, however few rows these come of.
	// Errors: backend.ErrInvalidInput for pairs that there are not; ErrCancelled.
	Write(ctx context.Context, first uint64, probe, other []V, cores int) error
}

// Matches are the matching ranges of a task, as a device found them: row i of the probing rows pairs with Counts[i]
// rows of the other side from Begins[i] on. Rows and Others are the row numbers of the task's rows.
type Matches[V Word] struct {
	Rows           []V
	Begins, Counts []uint32 // as many as Rows
	Others         []V
}

// blockRows is how many probing rows have one entry in the sums of an expansion.
const blockRows = 1 << 12

// fewPairs is up to how many pairs of a row are written one by one: calls to copy them would take longer.
const fewPairs = 16

type expansion[V Word] struct {
	m      Matches[V]
	starts []uint64 // first pair of each block of rows, and the number of all pairs
}

// Expand returns the pairs of matching ranges, which must not change while pairs are written. ErrInvalidInput if the
// lengths differ; backend.ErrCancelled.
func (m Matches[V]) Expand(ctx context.Context, cores int) (Pairs[V], error) {
	if len(m.Begins) != len(m.Rows) || len(m.Counts) != len(m.Rows) {
		return nil, invalid("expand", "%d begins and %d counts for %d rows", len(m.Begins), len(m.Counts), len(m.Rows))
	}
	blocks := (len(m.Rows) + blockRows - 1) / blockRows
	e := &expansion[V]{m, make([]uint64, blocks+1)}
	err := pieces(ctx, uint64(blocks), pieceRows/blockRows, cores, func(ctx context.Context, first, end uint64) error {
		for b := first; b < end; b++ {
			sum := uint64(0)
			for _, n := range m.Counts[b*blockRows : min((b+1)*blockRows, uint64(len(m.Counts)))] {
				sum += uint64(n)
			}
			e.starts[b+1] = sum
		}
		return ended(ctx)
	})
	for b := range blocks {
		e.starts[b+1] += e.starts[b]
	}
	return e, err
}

func (e *expansion[V]) Len() uint64 { return e.starts[len(e.starts)-1] }

func (e *expansion[V]) Write(ctx context.Context, first uint64, probe, other []V, cores int) error {
	return writeShares(ctx, e.Len(), first, probe, other, cores, e.write)
}

// write writes pairs from first on into probe and other, which have the same length.
func (e *expansion[V]) write(first uint64, probe, other []V) {
	m, b := &e.m, sort.Search(len(e.starts), func(i int) bool { return e.starts[i] > first })-1
	i, skip := b*blockRows, first-e.starts[b]
	for ; skip >= uint64(m.Counts[i]); i++ {
		skip -= uint64(m.Counts[i])
	}
	begins, counts := m.Begins[:len(m.Rows)], m.Counts[:len(m.Rows)]
	for at := 0; at < len(probe); i++ {
		for i%blockRows == 0 && e.starts[i/blockRows] == e.starts[i/blockRows+1] { // nothing in the block
			i += blockRows
		}
		row, begin, n := m.Rows[i], uint64(begins[i])+skip, min(int(uint64(counts[i])-skip), len(probe)-at)
		skip = 0
		switch {
		case n == 1:
			probe[at], other[at] = row, m.Others[begin]
		case n <= fewPairs:
			for j := range n {
				probe[at+j], other[at+j] = row, m.Others[begin+uint64(j)]
			}
		default:
			fill(probe[at:at+n], row)
			copy(other[at:at+n], m.Others[begin:])
		}
		at += n
	}
}

func fill[V Word](rows []V, value V) {
	for i := range rows {
		rows[i] = value
	}
}

// Product is the pairs of rows with one key: each of Rows with each of Others.
type Product[V Word] struct{ Rows, Others []V }

// Len implements [Pairs].
func (p Product[V]) Len() uint64 { return uint64(len(p.Rows)) * uint64(len(p.Others)) }

// Write implements [Pairs].
func (p Product[V]) Write(ctx context.Context, first uint64, probe, other []V, cores int) error {
	return writeShares(ctx, p.Len(), first, probe, other, cores, p.write)
}

func (p Product[V]) write(first uint64, probe, other []V) {
	i, skip := first/uint64(len(p.Others)), first%uint64(len(p.Others))
	for ; len(probe) > 0; i++ {
		n := copy(other, p.Others[skip:])
		fill(probe[:n], p.Rows[i])
		probe, other, skip = probe[n:], other[n:], 0
	}
}

// writeShares has goroutines write equal shares of some pairs, of all that there are.
func writeShares[V Word](ctx context.Context, all, first uint64, probe, other []V, cores int,
	do func(first uint64, probe, other []V)) error {
	rows := uint64(len(probe))
	if len(other) != len(probe) || first > all || rows > all-first {
		return invalid("expand", "pairs %d to %d of %d for %d others", first, first+rows, all, len(other))
	}
	return pieces(ctx, rows, pieceRows, cores, func(ctx context.Context, from, end uint64) error {
		for from < end {
			if err := ended(ctx); err != nil {
				return err
			}
			to := min(end, from+checkRows)
			do(first+from, probe[from:to], other[from:to])
			from = to
		}
		return nil
	})
}
