package task

import (
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/query"
)

// notPairs is the output of a join whose output is something else.
func notPairs(yield func(query.Pairs, error) bool) {
	yield(query.Pairs{}, fmt.Errorf("%w: the join was not asked for pairs", backend.ErrInvalidInput))
}

// PairsOf yields pairs of row numbers, which are the two columns of batches ([join.Layout.Numbered]).
func PairsOf(batches iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[query.Pairs, error] {
	return func(yield func(query.Pairs, error) bool) {
		for batch, err := range batches {
			if err != nil {
				yield(query.Pairs{}, err)
				return
			}
			left, right := numbersOf(batch, 0), numbersOf(batch, 1)
			for len(left) > 0 {
				n := min(near(left), near(right))
				var p query.Pairs
				p.Left, p.LeftFirst = narrow(left[:n])
				p.Right, p.RightFirst = narrow(right[:n])
				if left, right = left[n:], right[n:]; !yield(p, nil) {
					batch.Release()
					return
				}
			}
			batch.Release()
		}
	}
}

func numbersOf(batch arrow.RecordBatch, column int) []int64 {
	return batch.Column(column).(*array.Int64).Int64Values()
}

// near returns how many numbers, from the first on, lie within 2^32 of one another.
func near(numbers []int64) int {
	least, most := numbers[0], numbers[0]
	for i, n := range numbers {
		if least, most = min(least, n), max(most, n); most-least > math.MaxUint32 {
			return i
		}
	}
	return len(numbers)
}

// narrow returns near numbers as differences to first: the least of them, or 0 if all have 32 bits.
func narrow(numbers []int64) (narrow []uint32, first uint64) {
	least, most := numbers[0], numbers[0]
	for _, n := range numbers {
		least, most = min(least, n), max(most, n)
	}
	if most <= math.MaxUint32 {
		least = 0
	}
	narrow = make([]uint32, len(numbers))
	for i, n := range numbers {
		narrow[i] = uint32(n - least)
	}
	return narrow, uint64(least)
}
