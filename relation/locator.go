package relation

import "math/bits"

// Locator finds the chunk of a row of a column. Safe for concurrent use.
type Locator struct {
	starts []uint64 // first row of each chunk, and the number of rows at the end
	// For each cell of 2^shift rows, the chunks of its first and last row.
	cells []struct{ first, last uint32 }
	shift uint
}

// NewLocator returns the Locator of chunks with these numbers of rows, none of them 0.
func NewLocator(chunks []int) (l Locator) {
	rows := uint64(0)
	l.starts = []uint64{0}
	for _, n := range chunks {
		rows += uint64(n)
		l.starts = append(l.starts, rows)
	}
	if rows == 0 {
		return l
	}
	// Some cells per chunk, so that most cells lie within one.
	l.shift = uint(max(0, bits.Len64(rows/uint64(len(chunks)))-5))
	chunk := uint32(0)
	for row := uint64(0); row < rows; row += 1 << l.shift {
		for row >= l.starts[chunk+1] {
			chunk++
		}
		first, end := chunk, min(rows, row+1<<l.shift)
		for l.starts[chunk+1] < end {
			chunk++
		}
		l.cells = append(l.cells, struct{ first, last uint32 }{first, chunk})
	}
	return l
}

// Find returns the chunk of a row and the row's position in it. It must stay small enough to be inlined: a call in a
// loop that gathers limits how many cache misses a processor overlaps (measured: 300 instead of 35 ns per value).
func (l *Locator) Find(id uint32) (chunk, row int) {
	cell := l.cells[id>>l.shift]
	for cell.first < cell.last {
		if mid := (cell.first + cell.last) / 2; uint64(id) < l.starts[mid+1] {
			cell.last = mid
		} else {
			cell.first = mid + 1
		}
	}
	return int(cell.first), int(uint64(id) - l.starts[cell.first])
}
