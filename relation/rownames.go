package relation

import "fmt"

// RankRows is the distance between the numbers of the first rows of two ranks, if nobody knows how many rows they have:
// the rows of rank r have the numbers from (r+1)·RankRows on. Other rows have lower numbers.
const RankRows = 1 << 40

// RowName is the number of a row for a message.
func RowName(row int64) string {
	if row < RankRows {
		return fmt.Sprint(row)
	}
	return fmt.Sprintf("%d of rank %d", row%RankRows, row/RankRows-1)
}
