package deliver

import "github.com/apache/arrow-go/v18/arrow"

// NewPairs returns a piece of pairs of rows, by row numbers of the left and of the right side, whose columns the host
// fetches.
func NewPairs(numbers [2][]uint32, columns []Column) *Piece {
	return &Piece{Rows: uint32(len(numbers[0])), Numbers: numbers, Columns: columns, of: [2]bool{true, true},
		matched: true, arrays: make([]arrow.Array, len(columns))}
}
