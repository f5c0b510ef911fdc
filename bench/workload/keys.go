package workload

import (
	"fmt"
	"math/bits"
	"slices"
)

// Distribution names how the keys of a column are distributed.
type Distribution string

// The distributions. All but Sorted and Reverse are in random order.
const (
	Uniform Distribution = "uniform" // any value
	Sorted  Distribution = "sorted"  // distinct, ascending, spread over all values
	Reverse Distribution = "reverse" // distinct, descending
	Equal   Distribution = "equal"   // one value
	Zipfian Distribution = "zipf"    // frequencies by Zipf's law with factor 1 over as many values as rows
	Few     Distribution = "few"     // 16 values
	High    Distribution = "high"    // only the upper half of the bits varies
	Low     Distribution = "low"     // only the lower half of the bits varies
)

// Distributions returns all of them.
func Distributions() []Distribution {
	return []Distribution{Uniform, Sorted, Reverse, Equal, Zipfian, Few, High, Low}
}

const fewValues = 16

// Keys is a column of unsigned keys that needs no memory: every key is a function of its row number, so that rows can
// be generated repeatedly, in any order and on any number of cores.
type Keys struct {
	distribution Distribution
	rows         uint64
	bits         int
	seed, values uint64
	zipf         *Zipf
}

// NewKeys describes a column of rows keys of 1 to 64 bits. ErrSpec for an unknown distribution, and if there are fewer
// values than the distinct keys that it needs.
func NewKeys(distribution Distribution, rows uint64, keyBits int, seed uint64) (*Keys, error) {
	k := &Keys{distribution: distribution, rows: rows, bits: keyBits, seed: derive(seed, 1), values: derive(seed, 2)}
	switch {
	case !slices.Contains(Distributions(), distribution):
		return nil, fmt.Errorf("%w: distribution %q; there are %v", ErrSpec, distribution, Distributions())
	case keyBits < 1 || keyBits > 64:
		return nil, fmt.Errorf("%w: keys of %d bits", ErrSpec, keyBits)
	case (distribution == Sorted || distribution == Reverse) && k.spread() < 0:
		return nil, fmt.Errorf("%w: %d distinct keys of %d bits", ErrSpec, rows, keyBits)
	case distribution == Zipfian && rows > 0:
		var err error
		if k.zipf, err = NewZipf(int64(rows), 1); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSpec, err)
		}
	}
	return k, nil
}

// spread is the distance between sorted keys, in bits.
func (k *Keys) spread() int { return k.bits - bits.Len64(max(k.rows, 1)-1) }

// At returns the key of a row.
func (k *Keys) At(row uint64) uint64 {
	switch k.distribution {
	case Sorted:
		return row << k.spread()
	case Reverse:
		return (k.rows - 1 - row) << k.spread()
	case Equal:
		return k.value(0)
	case Zipfian:
		random := streamAt(k.seed, row)
		return k.value(uint64(k.zipf.draw(&random)))
	case Few:
		return k.value(at(k.seed, row) % fewValues)
	}
	key, half := at(k.seed, row)>>(64-k.bits), k.bits/2
	switch k.distribution {
	case High:
		return key >> half << half
	case Low:
		return key & (1<<half - 1)
	}
	return key
}

// value is the random key with a number.
func (k *Keys) value(number uint64) uint64 { return at(k.values, number) >> (64 - k.bits) }

// Random returns the word at position index of the random sequence of a seed.
func Random(seed, index uint64) uint64 { return at(seed, index) }
