// Package jointest has relations to join on a device, the simplest join to compare with, and workloads. For tests only.
package jointest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Relation is one side of a join in the memory of the test. The payload of row i is a function of i and the number of
// the column.
type Relation struct {
	KeyBytes int
	Keys     []uint64
	Payload  []int // bytes per value of the columns

	first int // number of the first row
}

func (r *Relation) value(column, row int) uint64 {
	row += r.first
	v := uint64(row)*0x9e3779b97f4a7c15 + uint64(column)
	if r.Payload[column] == 4 {
		v = uint64(uint32(row) ^ uint32(column)<<28)
	}
	return v
}

// sortedRows sorts rows in place. Each row is the bytes of its columns.
func sortedRows(rows [][]byte) [][]byte {
	slices.SortFunc(rows, bytes.Compare)
	return rows
}

func appendValue(row []byte, width int, v uint64) []byte {
	if width == 8 {
		return binary.LittleEndian.AppendUint64(row, v)
	}
	return binary.LittleEndian.AppendUint32(row, uint32(v))
}

// Workload draws the keys of two sides with left and right rows; keys have bits bits. Unique says that left keys are
// unique.
type Workload struct {
	Unique bool
	Draw   func(random *rand.Rand, left, right, bits int) (l, r []uint64)
}

// Workloads have matches of every kind.
var Workloads = map[string]Workload{
	"primary and foreign": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for _, i := range random.Perm(left) {
			l = append(l, uint64(i)*0x9e3779b9)
		}
		for range right {
			r = append(r, uint64(random.IntN(max(1, left)))*0x9e3779b9)
		}
		return l, r
	}},
	"half match": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for i := range left {
			l = append(l, uint64(2*i))
		}
		for range right {
			r = append(r, random.Uint64N(uint64(2*left+1)))
		}
		return l, r
	}},
	"duplicates": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for range left {
			l = append(l, random.Uint64N(uint64(left/3+1)))
		}
		for range right {
			r = append(r, random.Uint64N(uint64(left/3+2)))
		}
		return l, r
	}},
	"one high word": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for range left {
			l = append(l, 0xabcdef01<<32>>(64-bits)|random.Uint64N(uint64(left+1)))
		}
		for range right {
			r = append(r, 0xabcdef01<<32>>(64-bits)|random.Uint64N(uint64(left+1)))
		}
		return l, r
	}},
	"few high words": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		draw := func(rows int) (keys []uint64) {
			for i := range rows {
				key := random.Uint64N(uint64(left + 1))
				if i > 0 && i < rows-1 && i%50 == 7 { // neither in the first row nor in the last
					key |= uint64(1+i%100/50) << (bits - 4)
				}
				keys = append(keys, key)
			}
			return keys
		}
		return draw(left), draw(right)
	}},
	"no match": {true, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for i := range left {
			l = append(l, uint64(i))
		}
		for i := range right {
			r = append(r, uint64(left+i))
		}
		return l, r
	}},
	"hot keys": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for i := range left {
			l = append(l, uint64(i))
			if i%3 == 0 && i < 600 {
				l[i] = 77
			}
		}
		for range right {
			r = append(r, [...]uint64{77, uint64(random.IntN(left + 1)), 5, uint64(left)}[random.IntN(4)])
		}
		return l, r
	}},
	"one key": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		for range min(left, 300) {
			l = append(l, 3)
		}
		for range min(right, 500) {
			r = append(r, 3)
		}
		return l, r
	}},
	"sentinels": {false, func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		greatest := ^uint64(0) >> (64 - bits)
		sentinels := []uint64{0, 1, greatest, greatest - 1, greatest >> 1, 1 << (bits - 1)}
		for i := range left {
			l = append(l, sentinels[i%6])
			if i >= 12 {
				l[i] = random.Uint64() & greatest
			}
		}
		for i := range right {
			r = append(r, sentinels[i%6])
			if i > 40 {
				r[i] = random.Uint64() & greatest
			}
		}
		return l, r
	}},
}

// Payloads are bytes per value of the payload columns of both sides.
var Payloads = [][2][]int{{{4}, {4}}, {{4, 4}, {4, 4}}, {nil, nil}, {{8, 4, 4, 8, 4, 4, 4}, {4}}, {nil, {8, 8}},
	{{8}, {4, 8, 4}}}

// Sizes are numbers of rows of both sides.
var Sizes = [][2]int{{0, 0}, {0, 5}, {7, 0}, {1, 1}, {3, 1000}, {1000, 3}, {2000, 6000}, {2001, 1999}, {6000, 3500},
	{700, 12000}}
